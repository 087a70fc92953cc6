"""Branches along schedules, and curves through folds."""

import numpy as np
import pytest

from phaselect import AMP, InputError, Schedule, gaussian_instance
from phaselect.theory import curve_through_folds, follow, saddle_point


def test_same_columns_as_a_solver():
    problem = gaussian_instance(50, 1.5, seed=0)
    trace = AMP(restarts=0).run(problem, Schedule.matched(mu_max=10, steps=1, unit="iterations")).trace
    branch = follow(1.5, Schedule.matched(mu_max=10))
    assert {"mu", "lam", "mse_y", "m", "O", "energy", "q1", "V"} <= set(trace) & set(branch)
    assert {"free_entropy", "complexity", "replicon", "residual", "converged", "trusted"} <= set(branch)
    assert len({column.size for _, column in branch.items()}) == 1


@pytest.mark.parametrize("product", [1.0, 0.5])
def test_rows_are_saddle_points(product):
    schedule = Schedule.fixed_product(product, mu0=0.5, mu_max=100, eps=0.5)
    branch = follow(1.3, schedule)
    assert branch["converged"].all()
    for i in (0, 5, -1):
        point = saddle_point(1.3, branch["mu"][i], branch["lam"][i])
        assert branch["m"][i] == pytest.approx(point.m, abs=1e-9)
        assert branch["free_entropy"][i] == pytest.approx(point.free_entropy, abs=1e-10)


def test_a_schedule_is_asked_for():
    with pytest.raises(InputError, match=r"schedule = \[1, 2, 3\]: give a phaselect.Schedule"):
        follow(1.2, [1, 2, 3])


def test_an_anneal_stays_on_its_branch_until_it_ends():
    """alpha = 1.6, lam = 0: the uninformed branch ends at mu = 9.35, the informed one begins at 4.13."""
    up = Schedule.fixed_lambda(0.0, mu0=3.0, mu_max=12.0, eps=0.06)
    uninformed, informed = (follow(1.6, up, start=start) for start in ("uninformed", "informed"))
    both = (up.mu > 4.2) & (up.mu < 9.3)
    assert (uninformed["m"][both] < 0.42).all()
    assert (informed["m"][both] > 0.8).all()
    assert uninformed["m"][-1] > 0.98
    assert informed["m"][0] < 0.1


def test_cooling_and_heating_differ_where_branches_coexist():
    mu = np.concatenate([np.geomspace(3, 12, 40), np.geomspace(12, 3, 40)])
    loop = follow(1.6, Schedule(mu, np.zeros_like(mu)))
    down, up = loop["m"][:40], loop["m"][40:][::-1]
    assert np.max(up - down) > 0.5
    assert up[0] == pytest.approx(down[0], abs=1e-6)


def test_curve_through_folds_at_1_6():
    curve = curve_through_folds(1.6, 20.0, 0.0)
    assert curve["converged"].all()
    assert (curve["residual"] < 1e-10).all()
    assert np.sum(np.diff(curve["stable"].astype(int)) != 0) == 2  # stable, unstable, stable
    unstable = ~curve["stable"]
    assert curve["mu"][unstable].min() == pytest.approx(4.129, abs=0.05)
    assert curve["mu"][unstable].max() == pytest.approx(9.3455, abs=0.05)
    assert (np.diff(curve["m"]) > 0).all()  # m parametrises the whole curve
    inside = np.flatnonzero(unstable & (curve["mu"] > 5) & (curve["mu"] < 8))[0]
    mu, m = curve["mu"][inside], curve["m"][inside]
    assert saddle_point(1.6, mu).m < m < saddle_point(1.6, mu, start="informed").m


def test_curve_at_fixed_product_has_no_folds_when_matched_and_above_threshold():
    curve = curve_through_folds(1.2, 1e3, product=1.0)
    assert curve["stable"].all()
    assert (np.diff(np.log(curve["mu"])) > 0).all()
    below = curve_through_folds(1.1, 1e4, product=1.0)
    assert not below["stable"].all()


def test_a_closed_branch_is_walked_once():
    """alpha = 1.12, lam = 0.005: the informed branch is an island, from mu = 195 to 8465."""
    curve = curve_through_folds(1.12, 1e3, 0.005)
    assert len(curve["mu"]) < 600
    assert curve["mu"].min() == pytest.approx(194.8, abs=2)
    assert curve["mu"].max() == pytest.approx(8465, rel=0.02)


def test_informed_rows_that_are_not_informed_say_so():
    branch = follow(1.2, Schedule.fixed_lambda(0.0, mu0=5.0, mu_max=200.0, eps=0.5), start="informed")
    fell = branch["m"] < 0.5
    assert fell.any()
    assert (branch["status"][fell] == "one_branch").all()
    assert (branch["status"][~fell] == "converged").all()


def test_curve_needs_one_rule_and_a_point_to_start_from():
    with pytest.raises(InputError, match="either lam or product"):
        curve_through_folds(1.6, 10.0)
    with pytest.raises(InputError, match="choose another mu"):
        curve_through_folds(1.2, 5.0, 0.0)
    with pytest.raises(InputError, match="mu_range"):
        curve_through_folds(1.6, 10.0, 0.0, mu_range=(-1.0, 50.0))
    with pytest.raises(InputError, match="product = 0"):
        curve_through_folds(1.6, 10.0, product=0.0)

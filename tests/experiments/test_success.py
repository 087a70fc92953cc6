import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import binomtest

from phaselect import InputError
from phaselect.experiments.success import (
    Interval,
    Threshold,
    alpha_50,
    large_n_limit,
    logistic_midpoint,
    success_table,
    thresholds,
    time_to_solution,
    wilson,
)
from phaselect.tables import Table

ALPHAS = np.round(np.arange(1.1, 1.476, 0.025), 3)


def rows(outcomes, alphas=ALPHAS, seconds=1.0, **parameters):
    """A table as a store gives it; `outcomes` has a line for each instance and a column for each alpha."""
    count = outcomes.size
    fixed = {"solver": "amp", "n": 100, "eps": 0.1, "product": 1.0, "replicas": math.nan} | parameters
    columns = {name: np.array([value] * count) for name, value in fixed.items()}
    columns["alpha"] = np.tile(alphas, len(outcomes))
    columns["seed"] = np.repeat(np.arange(len(outcomes)), alphas.size)
    columns["m"] = np.where(outcomes.ravel(), 1.0, 0.2)
    columns["mse_y"] = np.where(outcomes.ravel(), 1e-30, 1e-3)
    columns["status"] = np.where(outcomes.ravel(), "RECOVERED", "NOT_RECOVERED")
    columns["seconds"] = np.full(count, seconds)
    return Table(columns)


def draw(rng, middle, width, instances=100):
    return rng.random((instances, ALPHAS.size)) < expit((ALPHAS - middle) / width)


@pytest.mark.parametrize(("k", "n"), [(0, 10), (3, 10), (10, 10), (57, 100)])
def test_wilson_is_scipys(k, n):
    expected = binomtest(k, n).proportion_ci(method="wilson")
    assert np.allclose(wilson(k, n), (expected.low, expected.high), atol=1e-12)


def test_success_needs_both_conditions_and_crashes_are_no_runs():
    table = rows(np.ones((4, 1), dtype=bool), alphas=np.array([1.2]), seconds=2.0)
    table["mse_y"][0] = 1e-5
    table["m"][1] = 0.98
    table["status"][2] = "FAILED"
    found = success_table(table)
    assert (found["trials"][0], found["crashed"][0], found["successes"][0]) == (3, 1, 1)
    assert found["p"][0] == pytest.approx(1 / 3)
    assert found["seconds"][0] == 2.0


def test_midpoint_is_the_maximum_of_the_likelihood():
    rng = np.random.default_rng(0)
    hits, trials = draw(rng, 1.23, 0.03).sum(axis=0), np.full(ALPHAS.size, 100)

    def cost(parameters):
        middle, log_width = parameters
        p = expit((ALPHAS - middle) / math.exp(log_width)).clip(1e-12, 1 - 1e-12)
        return -np.sum(hits * np.log(p) + (trials - hits) * np.log(1 - p))

    best = minimize(cost, [1.2, math.log(0.05)], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10})
    found = logistic_midpoint(ALPHAS, hits[None].astype(float), trials[None].astype(float))
    assert found[0] == pytest.approx(best.x[0], abs=1e-4)  # the weak prior on the slope moves it by less


def test_midpoint_of_a_steep_curve_on_an_uneven_grid():
    """Most alphas lie far above the transition, where the likelihood is flat."""
    alphas = np.array([1.05, 1.1, 1.15, 1.2, 1.25, 1.3, 1.4, 1.5, 1.6, 1.8, 2.0, 2.5, 3.0, 4.0])
    hits = np.array([[0.0, 2, 9, 9, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10]])
    (found,) = logistic_midpoint(alphas, hits, np.full((1, 14), 10.0))
    assert 1.1 < found < 1.15


def test_interval_of_alpha_50_covers_the_truth():
    """95 % nominal: of 200 intervals 182 to 198 must cover (within three standard deviations)."""
    rng = np.random.default_rng(1)
    middle, covered = 1.21, 0
    for _ in range(200):
        _, low, high = alpha_50(rows(draw(rng, middle, 0.03, instances=50))).interval
        covered += low <= middle <= high
    assert 182 <= covered <= 198


def test_bootstrap_is_over_instances():
    """If an instance fails or succeeds at all alphas alike, a hundred runs of it count as one."""
    rng = np.random.default_rng(2)
    alphas = np.linspace(1.1, 1.4, 31)
    own = rng.normal(1.25, 0.05, 20)  # each instance has a threshold of its own
    interval = alpha_50(rows(alphas >= own[:, None], alphas=alphas)).interval
    assert interval.high - interval.low > 2 * 1.96 * 0.05 / math.sqrt(20) * 0.7


def test_a_jump_between_two_alphas_is_known_to_the_gap():
    value, low, high = alpha_50(rows(np.repeat(ALPHAS[None] > 1.21, 30, axis=0))).interval
    assert (low, high) == (1.2, 1.225)
    assert value == pytest.approx(1.2125, abs=1e-3)


def test_midpoints_that_the_data_do_not_reach():
    alphas, trials = np.array([1.1, 1.2, 1.3]), np.full((3, 3), 100.0)
    hits = np.array([[10.0, 10.1, 10.2], [90.0, 90.1, 90.2], [60.0, 50.0, 40.0]])
    flat_low, flat_high, falling = logistic_midpoint(alphas, hits, trials)
    assert (flat_low, flat_high) == (math.inf, -math.inf)
    assert math.isnan(falling)


def test_curves_that_do_not_cross_one_half():
    value, low, high = alpha_50(rows(np.zeros((10, ALPHAS.size), dtype=bool))).interval
    assert math.isnan(value)
    assert (low, high) == (1.475, math.inf)
    value, low, high = alpha_50(rows(np.ones((10, ALPHAS.size), dtype=bool))).interval
    assert math.isnan(value)
    assert (low, high) == (1.0, 1.1)


def test_thresholds_tell_curves_apart():
    rng = np.random.default_rng(3)
    parts = [rows(draw(rng, middle, 0.02), n=n) for n, middle in ((100, 1.25), (200, 1.2))]
    table = Table({name: np.concatenate([part[name] for part in parts]) for name in parts[0].columns})
    found = thresholds(table)
    assert found["n"].tolist() == [100, 200]
    assert np.allclose(found["alpha_50"], [1.25, 1.2], atol=0.01)
    assert found["runs_each"].tolist() == [100, 100]


def test_large_n_limit_of_exact_thresholds():
    sizes = [100, 200, 400, 800, 1600]
    rng = np.random.default_rng(4)

    def threshold(n):
        value = 1.13 + 0.9 * n**-0.5
        return Threshold(Interval(value, value, value), value + 0.001 * rng.standard_normal(1000))

    fit = large_n_limit(sizes, [threshold(n) for n in sizes])
    assert fit.limit.value == pytest.approx(1.13, abs=1e-6)
    assert fit.amplitude == pytest.approx(0.9, abs=1e-5)
    assert fit.exponent.value == pytest.approx(0.5)
    assert fit.limit.low < 1.13 < fit.limit.high
    assert fit.limit.high - fit.limit.low < 0.03


def test_large_n_limit_needs_three_sizes():
    known = Threshold(Interval(1.2, 1.1, 1.3), np.full(1000, 1.2))
    with pytest.raises(InputError, match="three sizes"):
        large_n_limit([100, 200], [known, known])
    unknown = Threshold(Interval(math.nan, 1.1, math.inf), np.full(1000, math.nan))
    assert math.isnan(large_n_limit([100, 200, 400], [known, known, unknown]).limit.value)


def test_time_to_solution_is_that_of_repeated_runs():
    rng = np.random.default_rng(5)
    runs = rng.geometric(0.2, 100_000)
    assert time_to_solution(0.2, 3.0, 0.99) == pytest.approx(3.0 * math.log(0.01) / math.log(0.8))
    assert np.mean(runs * 3.0 <= time_to_solution(0.2, 3.0, 0.99)) == pytest.approx(0.99, abs=0.003)
    assert time_to_solution(1.0, 3.0, 0.99) == time_to_solution(0.999, 3.0, 0.5) == 3.0
    assert time_to_solution(0.0, 3.0, 0.5) == math.inf

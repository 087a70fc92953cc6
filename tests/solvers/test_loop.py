"""The trace is thinned by counted work: looks are as rare as they are dear, and a clock has no say."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

from phaselect import AMP, PopulationAnnealing, Schedule, SimulatedAnnealing, gaussian_instance
from phaselect.solvers import loop
from phaselect.solvers.cohort import Alone, Cohort
from phaselect.solvers.loop import EARLY, LOOK_ON_HOST, SPARED, Loop, temperatures_between_looks
from phaselect.solvers.protocol import Work

PROBLEM = gaussian_instance(40, 1.5, seed=0)
FEW = Schedule.matched(mu_max=20, eps=0.02, steps=3, unit="proposals")


@pytest.mark.parametrize(
    ("move", "look", "temperatures", "between"),
    [(1.0, 1.0, 100, 8), (100.0, 1.0, 100, 1), (20.0, 1.0, 100, 1), (19.9, 1.0, 100, 2), (1.0, 0.0, 100, 1)],
)
def test_looks_take_as_long_as_half_a_segment(move, look, temperatures, between):
    """If the run is done after a tenth of its schedule, neither twice nor half as many would have been much better."""

    def wasted(segment):
        return EARLY * temperatures / segment * look + segment / 2 * move

    assert temperatures_between_looks(Work(move, look), temperatures) == between
    assert wasted(between) <= 1.3 * min(wasted(2**k) for k in range(10))


def loop_of(solver, schedule, problem=PROBLEM):
    return Loop(Cohort(solver, problem.normalised, Alone()), solver, schedule, True, np.inf, 0.0)


def test_a_look_has_a_price_of_its_own():
    """What is counted for the solver, and what any look costs beside that."""
    for solver in (SimulatedAnnealing(), AMP(), PopulationAnnealing(8)):
        own = solver.work(60, 40, FEW)
        found = loop_of(solver, FEW).work()
        assert (found.move, found.look, found.quench) == (own.move, own.look + LOOK_ON_HOST, own.quench)


def rows_of(schedule, seed=0, **options):
    return SimulatedAnnealing(eager=False, **options).run(PROBLEM, schedule, seed=seed).trace


def test_few_proposals_few_rows():
    between = temperatures_between_looks(loop_of(SimulatedAnnealing(eager=False), FEW).work(), len(FEW))
    trace = rows_of(FEW)
    assert between > 1
    assert len(trace["mu"]) == math.ceil(len(FEW) / between) < len(FEW) / 10
    assert (trace["mu"][-1], trace["lam"][-1]) == FEW[-1]  # the last row is of the last temperature
    assert trace["sweeps"][-1] == pytest.approx(3 * len(FEW) / 60)
    expected = FEW.mu[between - 1 :: between]
    np.testing.assert_array_equal(trace["mu"][: len(expected)], expected)


def test_many_proposals_a_row_per_temperature():
    busy = Schedule.matched(mu_max=20, eps=0.3, steps=3000)
    np.testing.assert_array_equal(rows_of(busy)["mu"], busy.mu)


def test_a_slow_clock_changes_nothing(monkeypatch):
    """The same rows though every look at the clock takes a second of it."""
    before = rows_of(FEW, seed=3)
    ticks = itertools.count(10**9)
    monkeypatch.setattr(loop, "time", SimpleNamespace(perf_counter=lambda: float(next(ticks))))
    after = rows_of(FEW, seed=3)
    assert after["seconds"][-1] > 1
    for name in set(before) - {"seconds"}:
        np.testing.assert_array_equal(before[name], after[name])


def test_thinning_changes_the_rows_and_not_the_run(monkeypatch):
    solver = SimulatedAnnealing(eager=False)
    thin = solver.run(PROBLEM, FEW)
    monkeypatch.setattr(loop, "EARLY", 0.0)
    thick = solver.run(PROBLEM, FEW)
    assert len(thick.trace["mu"]) == len(FEW) > len(thin.trace["mu"])
    np.testing.assert_array_equal(thick.state.copies.signs, thin.state.copies.signs)
    assert thick.trace["mse_y"][-1] == pytest.approx(thin.trace["mse_y"][-1], rel=1e-9)


def test_quenched_is_looked_at_now_and_then():
    """From mu = 2 on, when mu has grown by a quarter, and only once the anneal has earned it."""
    one, work = loop_of(SimulatedAnnealing(), FEW), Work(move=1.0, look=1.0, quench=5.0)

    def now(before, after, done):
        one.mu, one.since_quench = before, done
        return one.time_to_quench(after, work)

    assert not now(1.0, 1.9, 1e9)
    assert not now(3.10, 3.11, 1e9)
    assert now(2.9, 5.0, 5.0 * SPARED)
    assert not now(2.9, 5.0, 4.9 * SPARED)


def test_an_eager_run_stops_where_its_quench_solves_the_problem():
    schedule = Schedule.matched(mu_max=1e3, eps=0.05, steps=300)
    result = SimulatedAnnealing().run(gaussian_instance(40, 2.0, seed=0), schedule)
    assert result.certified
    assert result.trace["mu"][-1] < 1e3
    assert result.trace["quenched"][-1] < 1e-12
    assert (np.nan_to_num(result.trace["quenched"][:-1], nan=1.0) >= 1e-12).all()
    assert np.isnan(result.trace["quenched"]).any()

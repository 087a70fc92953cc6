"""Work to recovery: that of the shortest anneal, and ratios of pairs with an interval that covers."""

import math

import numpy as np
import pytest

from phaselect import AMP, Schedule, SimulatedAnnealing, gaussian_instance
from phaselect.experiments import work_to_recovery
from phaselect.experiments.work_to_recovery import iterations_of_message_passing, mean_ratio, sweeps_of_annealing
from phaselect.solvers.registry import recipe


def test_the_shortest_anneal_that_recovers():
    """N = 60, alpha = 1.5: some instances need more than a sweep at each temperature."""
    doublings = set()
    for seed in range(4):
        problem = gaussian_instance(60, 1.5, seed=seed)
        runs = (SimulatedAnnealing().run(problem, Schedule.matched(steps=2**k), seed=seed) for k in range(9))
        first, sweeps = next((k, run.sweeps) for k, run in enumerate(runs) if run.truth["m"] > 0.99)
        assert sweeps_of_annealing(problem, 1.0, seed) == sweeps
        doublings.add(first)
    assert len(doublings) > 1


def test_iterations_of_message_passing():
    problem = gaussian_instance(100, 1.6, seed=0)
    _, schedule = recipe("amp").plan(eps=0.1, product=1.0, restarts=0, iterations=3000)
    run = AMP(restarts=0).run(problem, schedule, seed=0)
    assert run.truth["m"] > 0.99
    assert iterations_of_message_passing(problem, 1.0, 0) == run.sweeps


def test_what_is_not_recovered_took_no_known_work(monkeypatch):
    monkeypatch.setattr(work_to_recovery, "DOUBLINGS", 1)
    assert math.isnan(sweeps_of_annealing(gaussian_instance(100, 1.1, seed=0), 0.0, 0))
    assert math.isnan(iterations_of_message_passing(gaussian_instance(100, 1.1, seed=0), 0.0, 0))


def test_the_interval_of_a_ratio_covers():
    """Log-normal pairs of known ratio 2: 95 % of the intervals, four standard errors of that share."""
    rng = np.random.default_rng(0)
    intervals = [mean_ratio(2 * np.exp(0.5 * rng.standard_normal(12)), np.ones(12)) for _ in range(500)]
    share = np.mean([it.low < 2 < it.high for it in intervals])
    assert share == pytest.approx(0.95, abs=0.04)
    assert math.isnan(mean_ratio(np.array([2.0]), np.array([1.0])).value)

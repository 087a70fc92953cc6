"""Does it find the signal? Fixed seeds, so a change of behaviour shows."""

import numpy as np
import pytest

from phaselect import (
    AMP,
    Langevin,
    PopulationAnnealing,
    SimulatedAnnealing,
    VectorMessagePassing,
    gaussian_instance,
    solve,
)
from phaselect.equations.signs import overlap


def recovered(solver, n, alpha):
    """How many of ten instances with so many unknowns; the certificate must agree with the knowledge of x0 on each."""
    count = 0
    for seed in range(10):
        problem = gaussian_instance(n, alpha, seed=seed)
        result = solver.run(problem, seed=seed)
        success = overlap(problem.x0, result.x) > 0.99 and result.mse_y < 1e-6
        assert success == result.certified
        if success:
            sign = np.sign(problem.x0 @ result.x)
            np.testing.assert_allclose(sign * result.x, problem.x0, atol=1e-9)
        count += success
    return count


@pytest.mark.parametrize(
    ("solver", "n", "alpha", "at_least"),
    [
        (AMP(), 200, 1.35, 9),
        (VectorMessagePassing(restarts=0), 200, 1.35, 8),
        pytest.param(PopulationAnnealing(), 200, 1.35, 9, marks=pytest.mark.slow),
        (SimulatedAnnealing(), 200, 1.35, 7),
        (Langevin(), 100, 1.7, 7),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_recovery(solver, n, alpha, at_least):
    assert recovered(solver, n, alpha) >= at_least


def test_front_door_recovers_all_at_alpha_1_3():
    for seed in range(10):
        problem = gaussian_instance(200, 1.3, seed=seed)
        result = solve(problem.A, problem.y, seed=seed)
        assert result.certified
        assert overlap(problem.x0, result.x) == pytest.approx(1, abs=1e-10)


def test_nobody_recovers_a_signal_that_is_not_there():
    """Magnitudes of no signal at all: never certified."""
    rng = np.random.default_rng(0)
    A, y = rng.standard_normal((78, 60)), np.abs(rng.standard_normal(78))
    result = solve(A, y, time_limit=1)
    assert not result.certified
    assert result.mse_y > 1e-6

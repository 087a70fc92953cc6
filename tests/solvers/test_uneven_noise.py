"""A variance for each measurement: better than one number for all, for every solver that can use it, wherever A is."""

import numpy as np
import pytest

from phaselect import (
    AMP,
    Instance,
    PopulationAnnealing,
    SimulatedAnnealing,
    Status,
    VectorMessagePassing,
    gaussian_instance,
    solve,
)

N, M = 80, 240
CLEAN = gaussian_instance(N, M / N, seed=3)
VARIANCES = np.where(np.arange(M) % 2, 1e-4, 0.2)
NOISY = np.abs(CLEAN.y + np.sqrt(VARIANCES) * np.random.default_rng(0).standard_normal(M))
EACH, ONE = (Instance(CLEAN.A, NOISY, CLEAN.x0, noise=noise) for noise in (VARIANCES, VARIANCES.mean()))
SOLVERS = [AMP(), VectorMessagePassing(), SimulatedAnnealing(), PopulationAnnealing(32)]


@pytest.fixture(scope="module")
def best():
    return PopulationAnnealing().run(EACH)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
def test_it_beats_one_number(solver, best):
    each, one = solver.run(EACH), solver.run(ONE)
    assert each.status is Status.ESTIMATE
    assert each.truth["mse_x"] < one.truth["mse_x"] / 50
    assert each.truth["mse_x"] < 1.5 * best.truth["mse_x"]
    np.testing.assert_array_equal(each.noise, VARIANCES)
    assert np.mean(np.abs(np.abs(each.x) - np.abs(CLEAN.x0)) < 2 * each.x_std) > 0.85


def test_operators():
    operator = Instance((CLEAN.measure, CLEAN.backproject), NOISY, noise=VARIANCES)
    dense, found = solve(EACH), solve(operator)
    np.testing.assert_allclose(np.abs(found.x), np.abs(dense.x), atol=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS[:2], ids=lambda solver: solver.name)
def test_batches(solver):
    pytest.importorskip("jax")
    alone, (found, _) = solver.run(EACH), solver.run_batch([EACH, EACH], device="cpu", dtype="float64")
    assert (
        np.abs(np.abs(found.x) - np.abs(alone.x)) < alone.x_std
    ).all()  # conjugate gradients go no further than that
    np.testing.assert_array_equal(found.noise, VARIANCES)
    assert np.mean(found.x_std**2) == pytest.approx(np.mean(alone.x_std**2), rel=0.05)

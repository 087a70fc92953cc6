import gc
import weakref

import numpy as np
import pytest

from phaselect import Instance, gaussian_instance
from phaselect.equations.regression import sign_columns
from phaselect.equations.signs import sign_overlap, signs_of
from phaselect.solvers.registry import REGISTRY
from tests.exact import all_signs, energies, normalised


@pytest.fixture(scope="module")
def problem():
    return gaussian_instance(4, 2.0, seed=1)


@pytest.mark.parametrize("lam", [0.0, 0.1, 3.0])
def test_energy_and_estimate_against_the_definition(problem, lam):
    A, y = normalised(problem)
    own = problem.normalised
    x0, ridge = own.x0, own.ridge.at(lam)
    V = all_signs(8) * y
    found = ridge.regress(V)
    np.testing.assert_allclose(found.energy, energies(A, y, lam), atol=1e-12)
    copies = ridge.copies(all_signs(8))
    np.testing.assert_allclose(ridge.energies(copies), energies(A, y, lam), atol=1e-12)
    for by_copies, by_rows in zip(ridge.regressed(copies), found, strict=True):
        np.testing.assert_allclose(by_copies, by_rows, atol=1e-12)
    rows = sign_columns(found, sign_overlap(own.signs, signs_of(V)), 8, 4)
    for k, v in enumerate(V[:5]):
        x = np.linalg.solve(A.T @ A + lam / 2 * np.eye(4), A.T @ v)
        np.testing.assert_allclose(ridge.estimate(v), x, atol=1e-12)
        np.testing.assert_allclose(ridge.fitted(v[None])[0], A @ x, atol=1e-12)
        np.testing.assert_allclose(v - ridge.explaining()(v), residual_twice(A, lam, v), atol=1e-12)
        assert found.residual[k] == pytest.approx(np.sum((v - A @ x) ** 2))
        assert rows["m"][k] == pytest.approx(abs(x0 @ x) / (x0 @ x0))
        assert rows["q1"][k] == pytest.approx(x @ x / 4)
        assert rows["mse_y"][k] == pytest.approx(np.mean((v - A @ x) ** 2))
        assert rows["energy"][k] == pytest.approx((np.sum((v - A @ x) ** 2) + lam / 2 * x @ x) / 4)
        assert rows["O"][k] == pytest.approx(abs(np.sign(v) @ np.sign(A @ x0)) / 8)


def residual_twice(A, lam, v):
    """`(I - K)^2 v`."""
    for _ in range(2):
        v = v - A @ np.linalg.solve(A.T @ A + lam / 2 * np.eye(A.shape[1]), A.T @ v)
    return v


def test_couplings_are_the_hat_matrix(problem):
    A, _ = normalised(problem)
    ridge = problem.normalised.ridge
    K = A @ np.linalg.solve(A.T @ A + 0.25 * np.eye(4), A.T)
    np.testing.assert_allclose(ridge.couplings(0.5), K, atol=1e-6)
    I_minus_K = np.eye(8) - K
    np.testing.assert_allclose(np.eye(8) - ridge.couplings(0.5, "residual"), I_minus_K @ I_minus_K, atol=1e-6)
    exact = A @ np.linalg.solve(A.T @ A, A.T)
    np.testing.assert_allclose(ridge.exact_couplings(), exact, atol=1e-12)
    np.testing.assert_allclose(ridge.leverage, np.diag(exact), atol=1e-12)


def test_one_svd_for_all_and_none_kept_alive():
    problem = gaussian_instance(10, 1.5, seed=0)
    assert problem.normalised.ridge is problem.normalised.ridge
    assert problem.normalised.ridge is problem.with_noise(1e-3).normalised.ridge  # the same rows
    assert problem.normalised.ridge is not gaussian_instance(10, 1.5, seed=0).normalised.ridge


def test_rows_of_other_weights_get_an_svd_of_their_own():
    problem = gaussian_instance(10, 1.5, seed=0)
    problem.normalised.ridge  # noqa: B018
    noisy = problem.with_noise(np.linspace(1e-4, 1e-3, 15))
    assert noisy.normalised.ridge is not problem.normalised.ridge
    A = noisy.units.scale[:, None] * problem.A
    np.testing.assert_allclose(noisy.normalised.ridge.s2, np.linalg.svd(A)[1] ** 2)


def test_rank_deficiency_is_seen():
    A = np.random.default_rng(0).standard_normal((12, 5))
    A[:, 4] = A[:, 0] + A[:, 1]
    own = Instance(A, np.abs(A @ np.ones(5))).normalised
    assert own.ridge.rank == 4
    v = own.y * signs_of(A @ np.ones(5))
    assert own.ridge.at(0.0).regress(v[None]).energy[0] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", ["sa", "pa", "langevin", "vmp"])
def test_an_instance_is_let_go_at_once_with_its_svd(name):
    """A cycle of references would keep the arrays of many instances until Python's collector comes by."""
    problem = gaussian_instance(30, 2.0, seed=0)
    REGISTRY[name].run(problem, 0)
    kept = weakref.ref(problem.normalised.matrix), weakref.ref(problem.normalised.ridge)
    gc.disable()
    try:
        del problem
        assert [it() for it in kept] == [None, None]
    finally:
        gc.enable()

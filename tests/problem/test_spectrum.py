import numpy as np
import pytest
from phaselect.problem.observables import of_signs
from phaselect.problem.spectrum import spectrum

from phaselect import Instance, gaussian_instance
from phaselect.problem.instance import signs_of
from tests.exact import all_signs, energies, normalised


@pytest.fixture
def problem():
    return gaussian_instance(4, 2.0, seed=1)


@pytest.mark.parametrize("lam", [0.0, 0.1, 3.0])
def test_energy_and_ridge_against_the_definition(problem, lam):
    A, y = normalised(problem)
    spectral = spectrum(problem)
    V = all_signs(8) * y
    C = spectral.coordinates(V)
    np.testing.assert_allclose(spectral.energy(C, lam), energies(A, y, lam), atol=1e-12)
    for v, c in zip(V[:5], C, strict=False):
        x = np.linalg.solve(A.T @ A + lam / 2 * np.eye(4), A.T @ v)
        np.testing.assert_allclose(spectral.ridge(c, lam), x, atol=1e-12)
        assert spectral.energy(c, lam, "residual") == pytest.approx(np.sum((v - A @ x) ** 2))
        row = of_signs(spectral, np.sign(v), c, lam)
        x0 = problem.target_x0
        assert row["m"] == pytest.approx(abs(x0 @ x) / (x0 @ x0))
        assert row["q1"] == pytest.approx(x @ x / 4)
        assert row["mse_y"] == pytest.approx(np.mean((v - A @ x) ** 2))
        assert row["energy"] == pytest.approx((np.sum((v - A @ x) ** 2) + lam / 2 * x @ x) / 4)
        assert row["O"] == pytest.approx(abs(np.sign(v) @ np.sign(A @ x0)) / 8)


def test_couplings_are_the_hat_matrix(problem):
    A, _ = normalised(problem)
    K = A @ np.linalg.solve(A.T @ A + 0.25 * np.eye(4), A.T)
    np.testing.assert_allclose(spectrum(problem).couplings(0.5), K, atol=1e-6)
    I_minus_K = np.eye(8) - K
    np.testing.assert_allclose(
        np.eye(8) - spectrum(problem).couplings(0.5, "residual"), I_minus_K @ I_minus_K, atol=1e-6
    )


def test_gibbs_identity_sign_marginal():
    """Integrating x out of exp(-mu H(x, S)) on a grid leaves exp(-mu E(S)), up to one constant for all S."""
    A = np.random.default_rng(0).standard_normal((4, 2))
    y = np.abs(A @ [0.7, -1.1])
    mu, lam = 1.3, 0.6
    axis = np.linspace(-12, 12, 801)
    X = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    penalty = lam / 2 * np.sum(X**2, axis=1)
    weight = [np.exp(-mu * (np.sum((S * y - X @ A.T) ** 2, axis=1) + penalty)).sum() for S in all_signs(4)]
    problem = Instance(A, y)
    spectral = spectrum(problem)  # in normalised units H is H/y_scale^2, and lam becomes lam * x_scale^2/y_scale^2
    energy = spectral.energy(spectral.coordinates(all_signs(4) * problem.target), lam * problem.gain**2)
    expected = np.exp(-mu * problem.y_scale**2 * energy)
    expected /= expected.sum()
    np.testing.assert_allclose(np.array(weight) / np.sum(weight), expected, rtol=1e-9)


def test_gibbs_identity_conditional_of_the_signs():
    """Given x the signs are independent: P(S_i = +1) = 1/(1 + exp(-4 mu y_i (A x)_i))."""
    rng = np.random.default_rng(0)
    A, x, mu = rng.standard_normal((5, 3)), rng.standard_normal(3), 0.8
    y = np.abs(A @ rng.standard_normal(3))
    joint = np.exp([-mu * np.sum((S * y - A @ x) ** 2) for S in all_signs(5)])
    joint /= joint.sum()
    marginal = joint @ (all_signs(5) > 0)
    np.testing.assert_allclose(marginal, 1 / (1 + np.exp(-4 * mu * y * (A @ x))))


def test_one_svd_for_all_and_none_kept_alive():
    problem = gaussian_instance(10, 1.5, seed=0)
    assert spectrum(problem) is spectrum(problem)
    assert spectrum(problem) is not spectrum(gaussian_instance(10, 1.5, seed=0))


def test_rank_deficiency_is_seen():
    A = np.random.default_rng(0).standard_normal((12, 5))
    A[:, 4] = A[:, 0] + A[:, 1]
    spectral = spectrum(Instance(A, np.abs(A @ np.ones(5))))
    assert spectral.rank == 4
    c = spectral.coordinates(spectral.problem.target * signs_of(A @ np.ones(5)))
    assert float(spectral.energy(c, 0.0)) == pytest.approx(0, abs=1e-12)

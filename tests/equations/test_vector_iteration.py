"""The channel against integration, the linear part against its definition, the whole against AMP for an iid matrix."""

import numpy as np
import pytest
from scipy.integrate import quad

from phaselect import AMP, Schedule, Sparse, VectorMessagePassing, gaussian_instance
from phaselect.backends.host import in_memory
from phaselect.equations.channels import mean_sign, measurement_posterior, output_channel_with
from phaselect.equations.lanczos import Eigenvalues
from phaselect.equations.priors import Gaussian
from phaselect.equations.vector_iteration import SignalBeliefs, VectorBeliefs, vector_iteration


@pytest.mark.parametrize(("p", "tau", "y", "nu"), [(0.3, 0.5, 0.8, 0.2), (-0.1, 1.0, 1.3, 0.01), (2.0, 0.1, 0.2, 1.0)])
def test_the_channel_by_integration(p, tau, y, nu):
    def weight(z):
        likelihood = sum(np.exp(-((s * y - z) ** 2) / (2 * nu)) for s in (-1, 1))
        return likelihood * np.exp(-((z - p) ** 2) / (2 * tau))

    places = sorted({-y, y, p})
    norm, mean, square = (
        quad(lambda z, k=k: z**k * weight(z), -9, 9, points=places, epsabs=1e-13)[0] for k in range(3)
    )
    found, variance = measurement_posterior(np.float64(p), tau, y, nu)
    assert found == pytest.approx(mean / norm, rel=1e-7)
    assert variance == pytest.approx(square / norm - (mean / norm) ** 2, rel=1e-6)
    g, curvature = output_channel_with(mean_sign)(p, y, 1 / (tau + nu))  # the channel of AMP, in other words
    assert (found, variance) == (pytest.approx(p + tau * g), pytest.approx(tau - tau**2 * curvature))


def test_the_variance_keeps_its_digits_at_low_temperature():
    _, variance = measurement_posterior(np.float64(0.5), 1e-3, 0.7, 1e-14)
    assert variance == pytest.approx(1e-14, rel=1e-9)


def problem_and_beliefs(scale=1.0):
    problem = gaussian_instance(12, 1.5, seed=0).normalised
    rng = np.random.default_rng(1)
    h = scale * rng.standard_normal(18)
    return problem, VectorBeliefs(h, np.float64(scale * 0.7), np.float64(1), np.zeros(12), ())


def test_an_iteration_is_its_equations():
    """All of them, by inverses."""
    problem, old = problem_and_beliefs()
    A, mu, lam, psi = problem.dense()[0], 2.0, 0.4, 0.3
    node = problem.gaussian_node
    eigenvalues = node.eigenvalues(np.zeros((1, 12)))
    new, found = vector_iteration(old, mu, lam, psi, problem.y, problem.powers, eigenvalues, node, Gaussian())
    inverse = np.linalg.inv(old.g * A.T @ A + mu * lam * np.eye(12))
    z, v = A @ inverse @ A.T @ old.h, np.trace(A @ inverse @ A.T) / 18
    tau = 1 / (1 / v - old.g)
    p = tau * (z / v - old.h)
    mean, variance = measurement_posterior(p, tau, problem.y, 1 / (2 * mu))
    V = variance.mean()
    np.testing.assert_allclose(found, z, rtol=1e-9)
    np.testing.assert_allclose(node.signal(new.kept), inverse @ A.T @ old.h, rtol=1e-9)
    assert new.v == pytest.approx(v)
    assert new.g == pytest.approx(0.7 * (1 / V - 1 / tau) + 0.3 * old.g)
    np.testing.assert_allclose(new.h, 0.7 * (mean / V - p / tau) + 0.3 * old.h, rtol=1e-9)


def test_an_iteration_with_a_prior_is_its_equations():
    """Fewer measurements than unknowns, so that A does not see all of x."""
    problem = gaussian_instance(18, 0.6, seed=0, density=0.3).normalised
    rng, psi, mu, lam = np.random.default_rng(1), 0.3, 2.0, 0.4
    A, prior = problem.dense()[0], Sparse(0.3)
    n, m_rows = 18, len(A)
    signal = SignalBeliefs(rng.standard_normal(n), np.float64(1.7), np.zeros(n), np.zeros(n), np.float64(0.3), 1.1)
    old = VectorBeliefs(rng.standard_normal(m_rows), np.float64(0.7), 1.0, np.zeros(n), signal)
    node = problem.gaussian_node
    given = problem.powers, node.eigenvalues(np.zeros((1, n))), node, prior
    new, found = vector_iteration(old, mu, lam, psi, problem.y, *given)
    inverse = np.linalg.inv(0.7 * A.T @ A + 1.7 * np.eye(n))
    x, v_x = inverse @ (A.T @ old.h + 1.7 * signal.mean), np.trace(inverse) / n
    z, v = A @ x, np.trace(A @ inverse @ A.T) / m_rows
    np.testing.assert_allclose(found, z, rtol=1e-9)
    assert new.v == pytest.approx(v)
    mean, variance = measurement_posterior((z / v - old.h) / (1 / v - 0.7), 1 / (1 / v - 0.7), problem.y, 1 / (2 * mu))
    np.testing.assert_allclose(new.h, 0.7 * (mean / variance.mean() - (z / v - old.h)) + 0.3 * old.h, rtol=1e-9)
    told = 1 / v_x - 1.7
    found = prior.posterior((x / v_x - 1.7 * signal.mean) / told, 1 / told, 1.1 / (mu * lam), np.float64(0.3))
    V = found.variance.mean()
    precision = 0.7 * (1 / V - told) + 0.3 * 1.7
    assert new.signal.precision == pytest.approx(precision)
    h = 0.7 * (found.mean / V - (x / v_x - 1.7 * signal.mean)) + 0.3 * 1.7 * signal.mean
    np.testing.assert_allclose(new.signal.mean, h / precision, rtol=1e-9)
    np.testing.assert_allclose(new.signal.x, found.mean, rtol=1e-9)


def test_conjugate_gradients_do_what_the_svd_does(monkeypatch):
    problem, old = problem_and_beliefs()
    by_svd = problem.gaussian_node
    monkeypatch.setattr(in_memory, "WORTH_AN_SVD", 0)
    problem = gaussian_instance(12, 1.5, seed=0).normalised
    by_gradients = problem.gaussian_node
    target, shift = old.h / old.g, 0.8 / old.g
    z, kept = by_svd.regress(target, shift, np.zeros(12), 0.0)
    found, x = by_gradients.regress(target, shift, np.ones(12), np.float64(1e-9))
    assert type(by_gradients) is not type(by_svd)
    np.testing.assert_allclose(found, z, atol=1e-8)
    np.testing.assert_allclose(by_gradients.signal(x), by_svd.signal(kept), atol=1e-8)
    rough, _ = by_gradients.regress(target, shift, np.ones(12), np.float64(0.5))
    assert 1e-4 < np.abs(rough - z).max() < 1


def test_at_a_fixed_point_it_agrees_with_amp():
    """Both are exact for a large iid matrix: m and mse_y of the posterior of noisy data."""
    problem = gaussian_instance(800, 2.5, seed=0, noise=0.05).with_noise(0.05)
    schedule = Schedule.matched(mu0=10, mu_max=10, steps=1, unit="iterations", hold=60)
    amp, vector = (
        solver.run(problem, schedule, seed=1) for solver in (AMP(restarts=0), VectorMessagePassing(restarts=0))
    )
    for name in ("m", "mse_y", "q1"):
        assert vector.trace[name][-1] == pytest.approx(amp.trace[name][-1], rel=0.03)
    assert 0.8 < vector.trace["m"][-1] < 0.995


def test_no_precision_is_lost_or_negative():
    """Beliefs that are weak, or very firm, stay finite."""
    for scale in (1e-9, 1e9):
        problem, old = problem_and_beliefs(scale)
        given = np.float64(1), Eigenvalues(np.ones(12), np.ones(12)), problem.gaussian_node, Gaussian()
        new, _ = vector_iteration(old, 1e6, 1e-6, 0.3, problem.y, *given)
        assert new.g > 0
        assert np.isfinite(new.h).all()

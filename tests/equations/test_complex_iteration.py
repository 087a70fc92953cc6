"""One iteration of either kind of message passing in the complex field, by inverses."""

import numpy as np
import pytest

from phaselect import Instance
from phaselect.equations.amp_iteration import Beliefs, iteration, pass_by_products
from phaselect.equations.channels import measurement_posterior
from phaselect.equations.gaussian_node import NodeByDiagonal, NodeByGradients
from phaselect.equations.priors import GAUSSIAN
from phaselect.equations.vector_iteration import VectorBeliefs, vector_iteration

M, N, MU, LAM, PSI = 18, 7, 2.0, 0.4, 0.3
RNG = np.random.default_rng(0)
A = RNG.standard_normal((M, N)) + 1j * RNG.standard_normal((M, N))
H = RNG.standard_normal(M) + 1j * RNG.standard_normal(M)


def problem(real):
    return Instance(A, np.abs(A @ np.arange(1.0, N + 1)), real=real).normalised


def covariance(B, g, real):
    """Of x, of which a Gaussian belief of precision g about complex measurements is one of 2g where it is real."""
    normal = 2 * (B.conj().T @ B).real if real else B.conj().T @ B
    return np.linalg.inv(g * normal + MU * LAM * np.eye(N))


@pytest.mark.parametrize("real", [False, True])
def test_an_iteration_is_its_equations(real):
    own = problem(real)
    B, node, g = own.dense()[0], own.gaussian_node, np.float64(0.7)
    old = VectorBeliefs(H, g, np.float64(1), np.zeros(N, own.field.x), ())
    eigenvalues = node.eigenvalues(np.zeros((1, N)))
    new, z = vector_iteration(old, MU, LAM, PSI, own.y, own.powers, eigenvalues, node, GAUSSIAN)
    C = covariance(B, g, real)
    x = C @ (2 * (B.conj().T @ H).real if real else B.conj().T @ H)
    v = np.trace(B @ C @ B.conj().T).real / M
    tau = 1 / (1 / v - g)
    mean, variance = measurement_posterior(tau * (B @ x / v - H), tau, own.y, 1 / (2 * MU))
    V = variance.mean()
    np.testing.assert_allclose(node.signal(new.kept), x, rtol=1e-9)
    np.testing.assert_allclose(z, B @ x, rtol=1e-9)
    assert new.v == pytest.approx(v)
    assert new.g == pytest.approx((1 - PSI) * (1 / V - 1 / tau) + PSI * g)
    np.testing.assert_allclose(new.h, (1 - PSI) * (mean / V - (B @ x / v - H)) + PSI * H, rtol=1e-8)
    np.testing.assert_allclose(node.variances(g, MU * LAM, eigenvalues), np.diag(C).real, rtol=1e-9)


@pytest.mark.parametrize("real", [False, True])
def test_conjugate_gradients_find_the_same(real):
    own = problem(real)
    roughly, exact = NodeByGradients(own.linear, own.field), own.gaussian_node  # an SVD serves all after it
    given = H, 0.3, np.zeros(N, own.field.x), np.float64(1e-12)
    np.testing.assert_allclose(roughly.regress(*given)[0], exact.regress(*given)[0], rtol=1e-9)
    probes = np.where(RNG.random((4000, N)) < 0.5, -1.0, 1.0)
    both = [node.eigenvalues(probes).mean_variance(0.7, MU * LAM, M) for node in (exact, roughly)]
    assert both[1] == pytest.approx(both[0], rel=0.02)


@pytest.mark.parametrize("real", [False, True])
def test_how_far_x_has_moved(real):
    own = problem(real)
    for node in (NodeByGradients(own.linear, own.field), own.gaussian_node):
        old, new = (RNG.standard_normal(N).astype(own.field.x) for _ in range(2))
        moved = np.mean(np.abs(node.signal(new) - node.signal(old)) ** 2)
        assert node.moved(old, new) == pytest.approx(moved)


@pytest.mark.parametrize("real", [False, True])
def test_an_iteration_of_amp(real):
    """A real x takes the real part of what comes back, and twice as much of it."""
    own = problem(real)
    B, x = own.dense()[0], RNG.standard_normal(N).astype(own.field.x)
    V, w, g = 0.8, H, 0.5 * H
    old = Beliefs(x, np.float64(V), np.float64(V), w, g, w)
    fold = own.field.fold
    new = iteration(old, MU, LAM, 0.0, pass_by_products(own.forward, own.adjoint, own.y), fold)
    tau, nu = V, 1 / (2 * MU)
    means = B @ x - V * g
    posterior, variance = measurement_posterior(means, tau, own.y, nu)
    told, chi = (posterior - means) / tau, fold * np.sum((1 - variance / tau) / tau) / N
    back = fold * (B.conj().T @ told)
    expected = ((back.real if real else back) + chi * x) / (MU * LAM + chi)
    np.testing.assert_allclose(new.x, expected, rtol=1e-9)
    np.testing.assert_allclose(new.V, 1 / (MU * LAM + chi))


def test_a_diagonal_is_solved_at_once():
    diagonal = RNG.uniform(0.5, 2, N)
    U = np.linalg.qr(A)[0] * np.sqrt(diagonal)  # U^H U is that diagonal
    node = NodeByDiagonal(lambda x: U @ x, lambda z: U.conj().T @ z, diagonal, 1.0)
    z, x = node.regress(H, 0.3, None, None)
    np.testing.assert_allclose(x, np.linalg.solve(U.conj().T @ U + 0.3 * np.eye(N), U.conj().T @ H), rtol=1e-9)
    np.testing.assert_allclose(z, U @ x)
    values = node.eigenvalues(None)
    assert values.mean_variance(2.0, 0.5, M) == pytest.approx(np.sum(diagonal / (2 * diagonal + 0.5)) / M)


def test_eigenvalues_of_a_long_diagonal():
    """A thousand of them stand for all."""
    diagonal = RNG.gamma(2.0, 1.0, 100_003)
    found = NodeByDiagonal(None, None, diagonal, 1.0).eigenvalues(None)
    assert found.values.size == 1000
    assert found.mean_variance(2.0, 0.5, 1) == pytest.approx(np.sum(diagonal / (2 * diagonal + 0.5)), rel=1e-3)

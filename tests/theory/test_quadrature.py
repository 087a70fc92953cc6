"""Averages over a measurement against 30-digit integrals of the Bessel law, and against each other."""

import mpmath as mp
import numpy as np
import pytest
from scipy.special import digamma, polygamma

from phaselect.equations.channels import phi_out
from phaselect.theory.averages import averages, squared_curvature
from phaselect.theory.quadrature import alternating_beta, angles, panelled_gaussian, radial, radial_fourth
from tests.theory import gaussian

slow = pytest.mark.slow
NASTY = [  # s2, spread, m, phi
    pytest.param(1.0, 0.3, 0.5, 0.0, marks=slow),
    pytest.param(1e-2, 0.3, 0.5, 0.0, marks=slow),
    (1e-5, 0.3, 0.5, 0.0),  # very cold, far from the signal
    pytest.param(1e-8, 0.2, 0.9, 0.0, marks=slow),
    pytest.param(1e-4, 1e-6, 0.999, 0.0, marks=slow),  # q0 -> m^2, as on the way to recovery
    pytest.param(1e-6, 1e-9, 1.0 - 1e-9, 0.0, marks=slow),
    pytest.param(0.5, 1e-8, 0.7, 0.0, marks=slow),
    pytest.param(3.0, 1e-4, 1e-4, 0.0, marks=slow),  # m -> 0
    (3.0, 1e-10, 1e-6, 0.0),
    pytest.param(0.05, 0.9, 1e-7, 0.0, marks=slow),
    pytest.param(600.0, 0.2, 0.3, 0.0, marks=slow),  # very hot
    pytest.param(1.0, 0.3, 0.5, 0.4, marks=slow),
    pytest.param(1e-3, 0.3, 0.5, 0.4, marks=slow),
    (1e-3, 0.2, 0.4, -1.5),
    (1e-5, 1e-7, 0.999, 0.8),
    pytest.param(0.3, 0.2, 0.4, 6.0, marks=slow),
]


@pytest.mark.parametrize(("s2", "spread", "m", "phi"), NASTY)
def test_against_thirty_digits(s2, spread, m, phi):
    """log_z = I - (1 + q0)/(2 s2), misfit = 1 + q0 - 2 E[p T]: both cancel by orders of magnitude near recovery.
    gain = s2 dI/dm at fixed q0, sech = 2 s2^2 dI/dq0, force = misfit - sech."""
    out = ours(s2, spread, m, phi)
    s2, spread, m, phi = map(mp.mpf, (s2, spread, m, phi))
    q0 = m * m + spread
    log_z = gaussian.log_cosh(s2, q0, m, phi) - (1 + q0) / (2 * s2)
    assert float(out.log_z) == pytest.approx(float(log_z), rel=1e-11, abs=1e-12)
    assert float(out.O) == pytest.approx(float(gaussian.tanh(s2, q0, m, phi)), abs=1e-13)
    misfit = 1 + q0 - 2 * gaussian.product_tanh(s2, q0, m, phi)
    assert float(out.misfit) == pytest.approx(float(misfit), rel=1e-10)
    by_m, by_q0 = gaussian.slopes(s2, q0, m, phi)
    assert float(out.gain) == pytest.approx(float(s2 * by_m), rel=1e-9)
    assert float(out.sech) == pytest.approx(float(2 * s2**2 * by_q0), rel=1e-11)
    assert float(out.force) == pytest.approx(float(misfit - 2 * s2**2 * by_q0), rel=1e-9)


def ours(s2, spread, m, phi):
    return averages(*map(np.asarray, (s2, spread, m, phi)))


def test_the_channel_of_message_passing_is_the_one_averaged():
    """log_z = E[phi_out(w; |u0|, 1/s2)], by Gauss-Hermite where that is accurate."""
    node, weight = np.polynomial.hermite_e.hermegauss(180)
    weight = np.outer(weight, weight) / (2 * np.pi)
    s2, spread, m = 2.5, 0.3, 0.6
    u0, z = np.meshgrid(node, node, indexing="ij")
    w = m * u0 + np.sqrt(spread) * z
    exact = np.sum(weight * phi_out(w, np.abs(u0), 1 / s2))
    assert float(ours(s2, spread, m, 0.0).log_z) == pytest.approx(exact, abs=1e-10)
    x = u0 * w / s2
    curvature = -(1 - u0**2 / np.cosh(x) ** 2 / s2) / s2
    assert squared_curvature(s2, spread, m, 0.0) == pytest.approx(np.sum(weight * curvature**2), rel=1e-9)


@pytest.mark.parametrize(
    ("c", "phi"),
    [(c, 0.0) for c in (1e-5, 0.0119, 0.0121, 0.3, 1e3, -0.3)]
    + [(c, phi) for phi in (0.7, -2.0) for c in (1e-3, 5.0, -1e3)]
    + [pytest.param(c, phi, marks=slow) for phi in (0.0, 0.7, -2.0) for c in (0.3, -1e-3, -5.0)],
)
def test_radial_averages(c, phi):
    kink = max(0.0, -phi / c)
    points = sorted({0.0, kink, *(kink + x / abs(c) for x in (0.5, 1, 3, 10, 30)), 1, 5, 20, 60, 100})
    points = [p for p in points if p <= 100]

    def exact(function):
        return float(mp.quad(lambda t: mp.exp(-t) * function(t, phi + c * t), points))

    tanh, wrong, slope, flat = radial(c, phi)
    fourth = radial_fourth(c, phi)
    assert tanh == pytest.approx(exact(lambda t, x: mp.tanh(x)), rel=1e-12, abs=1e-15)
    assert wrong == pytest.approx(exact(lambda t, x: 1 - mp.tanh(x)), rel=1e-12)
    assert flat == pytest.approx(exact(lambda t, x: t * mp.tanh(x) ** 2), rel=1e-11)
    assert slope == pytest.approx(exact(lambda t, x: t * mp.sech(x) ** 2), rel=1e-12)
    assert fourth == pytest.approx(exact(lambda t, x: t**2 * mp.sech(x) ** 4), rel=1e-10)


def test_beta_is_a_difference_of_digammas():
    x = np.array([1.0, 1.3, 2.0, 7.5, 40.0])
    beta, slope = np.transpose([alternating_beta(value) for value in x])
    np.testing.assert_allclose(beta, 0.5 * (digamma((x + 1) / 2) - digamma(x / 2)), rtol=1e-12)
    np.testing.assert_allclose(slope, 0.25 * (polygamma(1, (x + 1) / 2) - polygamma(1, x / 2)), rtol=1e-12)


@pytest.mark.parametrize(("spread", "m"), [(0.3, 0.5), (0.9, 0.0), (1e-12, 0.999), (0.4, -0.3), (0.0, 0.0)])
def test_moments_of_the_angles(spread, m):
    """E[u0 w] = m, E[u0^2] = 1, E[(u0 w)^2] = 1 + ..., by Wick's theorem."""
    nodes = angles(spread, m)
    q0 = m * m + spread
    assert nodes.weight @ (np.ones_like(nodes.rate)) == pytest.approx(1, abs=1e-14)
    assert nodes.weight @ (nodes.rate) == pytest.approx(m, abs=1e-14)
    assert nodes.weight @ (nodes.square) == pytest.approx(1, abs=1e-14)
    assert 2 * nodes.weight @ (nodes.rate**2) == pytest.approx(q0 + 2 * m * m, rel=1e-13)
    assert 2 * nodes.weight @ (nodes.fourth) == pytest.approx(3, rel=1e-13)


@pytest.mark.parametrize("kink", [-20.0, -7.0, 0.0, 0.4, 3.0, 9.0])
@pytest.mark.parametrize("blur", [1e-8, 0.01, 1.0, 100.0])
def test_gaussian_with_a_kink(kink, blur):
    """A blurred step has mean Phi of a sum when the blur is small; moments are exact whatever the kink."""
    mean, width, where, length = (np.array([v]) for v in (0.3, 1.5, kink, blur))
    nodes, weights = panelled_gaussian(mean, width, [(where, length), (mean, 0.01 * width)], 32)
    assert weights.sum() == pytest.approx(1, abs=1e-9)
    assert (weights * (nodes - 0.3) ** 2).sum() == pytest.approx(1.5**2, rel=1e-8)

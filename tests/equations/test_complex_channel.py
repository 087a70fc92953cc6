"""The channel of phases against sums over the circle, and its derivatives against differences."""

import numpy as np
import pytest

from phaselect.backends.host import loops
from phaselect.equations.channels import mean_sign, measurement_posterior, misfit, output_channel_with
from phaselect.equations.uncertainty import belief_before, slope

CIRCLE = np.exp(2j * np.pi * np.arange(4096) / 4096)
CASES = pytest.mark.parametrize(
    ("p", "tau", "y", "nu"),
    [(0.7 * np.exp(0.3j), 0.4, 1.1, 0.2), (-0.02j, 1.0, 0.8, 0.05), (3.0, 0.1, 2.5, 0.02), (0.3 - 0.1j, 0.5, 0.0, 0.3)],
)


def weights(p, tau, y, nu):
    """Of the phases of y, in `y S = z + n`, E|n|^2 = nu, where z was believed to be p to tau."""
    w = np.exp(-(np.abs(y * CIRCLE - p) ** 2) / (tau + nu))
    return w / w.sum()


@CASES
def test_the_posterior_of_a_measurement(p, tau, y, nu):
    w, v = weights(p, tau, y, nu), 1 / (1 / tau + 1 / nu)
    given = v * (p / tau + y * CIRCLE / nu)
    mean = w @ given
    found, variance = measurement_posterior(np.array([p], complex), tau, np.array([y]), nu)
    assert found[0] == pytest.approx(mean, rel=1e-7, abs=1e-9)
    assert variance[0] == pytest.approx(v + w @ np.abs(given - mean) ** 2, rel=1e-6)
    assert misfit(np.array([p], complex), tau, np.array([y]), nu)[0] == pytest.approx(
        w @ np.abs(y * CIRCLE - p) ** 2, rel=1e-6
    )


@CASES
def test_the_output_channel_of_amp_says_the_same(p, tau, y, nu):
    """And its curvature is the mean of the derivatives along both directions."""
    given, step = np.array([p], complex), 1e-5
    channel, c = output_channel_with(mean_sign), 1 / (tau + nu)
    g, curvature = channel(given, y, c)
    mean, variance = measurement_posterior(given, tau, y, nu)
    np.testing.assert_allclose(given + tau * g, mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(tau - tau**2 * curvature, variance, rtol=1e-9)
    along = [(channel(given + d, y, c)[0] - channel(given - d, y, c)[0]) / (2 * d) for d in (step, 1j * step)]
    assert -np.mean(np.real(along)) == pytest.approx(curvature[0], rel=1e-4, abs=1e-6)


def test_the_belief_that_leads_to_an_estimate():
    p, tau, y, nu = np.array([0.3, 1.2, 2.0], complex), 0.2, np.array([0.5, 1.0, 2.2]), 0.05
    mean, _ = measurement_posterior(p, tau, y, nu)
    found = belief_before(abs(mean).astype(complex), tau, y, nu, abs(mean).astype(complex), loops)
    for _ in range(3):
        found = belief_before(abs(mean).astype(complex), tau, y, nu, found, loops)
    np.testing.assert_allclose(found, p, rtol=1e-6)
    step = 1e-6
    difference = (measurement_posterior(p + step, tau, y, nu)[0] - measurement_posterior(p - step, tau, y, nu)[0]).real
    np.testing.assert_allclose(slope(p, tau, y, nu, np.nan), difference / (2 * step), rtol=1e-5)

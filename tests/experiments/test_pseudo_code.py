"""The transcribed algorithms against the definitions: derivatives of the printed channel, variances of the ridge."""

import numpy as np
import pytest

from phaselect.experiments.pseudo_code import message_passing, output_channel, regression, split_start


def phi_out(w, y, V0, V1, mu):
    """eq:channels, as printed."""
    D = 1 + 2 * V1 + 2 * mu * V0
    both = np.logaddexp(-mu * (w + y) ** 2 / D, -mu * (w - y) ** 2 / D)
    return 0.5 * np.log((1 + 2 * V1) / D) + both


def test_derivatives_of_the_channel():
    w, y = np.random.default_rng(0).standard_normal((2, 40))
    V0, V1, mu, h = 0.3, 0.7, 2.5, 1e-4
    found = output_channel(w, y, V0, V1, mu)
    up, at, down = (phi_out(w + step, y, V0, V1, mu) for step in (h, 0, -h))
    by_V1 = (phi_out(w, y, V0, V1 + h, mu) - phi_out(w, y, V0, V1 - h, mu)) / (2 * h)
    np.testing.assert_allclose(found.slope, (up - down) / (2 * h), atol=1e-7)
    np.testing.assert_allclose(found.curvature, (up - 2 * at + down) / h**2, atol=1e-6)
    np.testing.assert_allclose(found.by_V1, by_V1, atol=1e-7)


def test_the_second_variance_is_that_of_the_regression():
    """Delta_1 knows nothing of y: it comes to the response of the ridge, V1 (lam + 2 alpha/(1 + 2 V1)) = 1."""
    rng = np.random.default_rng(0)
    A = rng.choice([-1.0, 1.0], (300, 200)) / np.sqrt(200)
    mu, product = 5.0, 1.0
    start = split_start(rng.standard_normal(200), 300, mu, 0.5)
    *_, last = message_passing(A, np.abs(rng.standard_normal(300)), start, [mu] * 80, product, 0.3)
    V1 = last.delta1
    np.testing.assert_allclose(V1 * (product / mu + 2 * 1.5 / (1 + 2 * V1)), 1.0, rtol=1e-9)


@pytest.mark.parametrize("lam", [0.0, 0.6])
def test_regression(lam):
    """M_ols v minimises |v - A x|^2 + (lam/2)|x|^2: least squares on A with rows added for the penalty."""
    A, v = np.random.default_rng(1).standard_normal((12, 7)), np.random.default_rng(2).standard_normal(12)
    taller = np.vstack([A, np.sqrt(lam / 2) * np.eye(7)])
    x = np.linalg.lstsq(taller, np.append(v, np.zeros(7)), rcond=None)[0]
    M_ols, errors_of = regression(A, lam)
    np.testing.assert_allclose(M_ols @ v, x, atol=1e-12)
    np.testing.assert_allclose(errors_of @ v, v - A @ x, atol=1e-12)

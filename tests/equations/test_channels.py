import numpy as np
import pytest

from phaselect.equations.channels import input_channel, mean_sign, misfit, output_channel_with, phi_in, phi_out

STEP = 1e-4
output_channel = output_channel_with(mean_sign)


@pytest.mark.parametrize("w", [-2.0, -0.01, 0.3, 5.0])
@pytest.mark.parametrize("y", [0.0, 0.2, 1.7])
@pytest.mark.parametrize("c", [0.3, 4.0, 200.0])
def test_output_channel_is_the_derivative_of_phi_out(w, y, c):
    left, here, right = (phi_out(w + shift, y, c) for shift in (-STEP, 0.0, STEP))
    g, curvature = output_channel(w, y, c)
    assert g == pytest.approx((right - left) / (2 * STEP), rel=1e-3, abs=1e-5 * c)
    assert curvature == pytest.approx(-(right - 2 * here + left) / STEP**2, rel=2e-2, abs=1e-4 * c)


def test_phi_out_is_the_log_of_the_two_gaussians():
    w, y, c = 0.4, 1.1, 2.5
    assert phi_out(w, y, c) == pytest.approx(np.log(sum(np.exp(-c * (s * y - w) ** 2 / 2) for s in (-1, 1))))


def test_input_channel_is_the_derivative_of_phi_in():
    B, precision, product = 0.8, 2.0, 1.5
    left, here, right = (phi_in(B + shift, precision, product) for shift in (-STEP, 0.0, STEP))
    x, variance = input_channel(B, precision, product)
    assert x == pytest.approx((right - left) / (2 * STEP), rel=1e-6)
    assert variance == pytest.approx((right - 2 * here + left) / STEP**2, rel=1e-5)


def test_phi_in_is_the_log_partition_of_a_gaussian_prior():
    B, precision, product = 0.8, 2.0, 1.5
    x = np.linspace(-20, 20, 200_001)
    prior = np.exp(-product * x**2 / 2)
    integral = np.sum(prior * np.exp(B * x - precision * x**2 / 2)) / np.sum(prior)
    assert phi_in(B, precision, product) == pytest.approx(np.log(integral), rel=1e-9)


@pytest.mark.parametrize(("p", "tau", "y", "nu"), [(0.3, 0.5, 0.8, 0.2), (-0.1, 1.0, 1.3, 0.01), (2.0, 0.1, 0.2, 1.0)])
def test_the_evidence_of_noise_grows_with_the_misfit(p, tau, y, nu):
    """d log p(y)/d nu = (misfit - s2)/(2 s2^2), with s2 = tau + nu the variance of S y - p."""

    def evidence(nu):
        return float(phi_out(p, y, 1 / (tau + nu))) - 0.5 * np.log(tau + nu)

    slope = (evidence(nu + 1e-6) - evidence(nu - 1e-6)) / 2e-6
    s2 = tau + nu
    assert slope == pytest.approx((float(misfit(np.float64(p), tau, y, nu)) - s2) / (2 * s2**2), rel=1e-6)

"""What magnitudes tell: closed identities, another way of integrating, and a small Monte Carlo."""

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.special import i0e, i1e, ive

from phaselect.theory.magnitudes import doubt, evidence, phase_deficit

POINTS = [(0.5, 0.25, 0.5), (0.05, 1.0, 0.01), (1.2, 0.3, 0.6), (0.02, 0.01, 1.0)]


def sampled(s2, spread, m, degrees, count=400_000):
    rng = np.random.default_rng(0)
    parts = rng.standard_normal((2, 2, count)) / np.sqrt(degrees)
    u0, z = parts[0] + (1j * parts[1] if degrees == 2 else 0)
    w = m * u0 + np.sqrt(spread) * z
    y, x = np.abs(u0), np.abs(u0 * w) / s2
    t = i1e(2 * x) / i0e(2 * x) if degrees == 2 else np.tanh(x)
    both = np.array([y**2 * (1 - t**2), y**2 - y * t * np.real(np.conj(u0) * w) / np.abs(w)])
    return both.mean(axis=1), both.std(axis=1) / np.sqrt(count)


@pytest.mark.parametrize("degrees", [1, 2])
@pytest.mark.parametrize("point", POINTS)
def test_monte_carlo(point, degrees):
    mean, error = sampled(*point, degrees)
    np.testing.assert_array_less(np.abs(np.array(doubt(*point, degrees)) - mean), 4 * error)


def test_complex_averages_to_nine_digits():
    """Against two integrals, over y and |w|, of the density they have before r = y |w| is singled out."""
    s2, spread, m = 0.5, 0.2, 0.6

    def density(w, y):
        near = 2 * m * y * w / spread
        return 4 * y * w / spread * np.exp(-(y**2) - (w - m * y) ** 2 / spread) * ive(0, near)

    def ratio(x):
        return ive(1, x) / ive(0, x)

    box = (0, 7, 0, 8)
    found = doubt(s2, spread, m, 2)
    for value, integrand in (
        (found.variance, lambda w, y: y**2 * (1 - ratio(2 * y * w / s2) ** 2) * density(w, y)),
        (found.miss, lambda w, y: y**2 * (1 - ratio(2 * y * w / s2) * ratio(2 * m * y * w / spread)) * density(w, y)),
    ):
        assert value == pytest.approx(dblquad(integrand, *box, epsabs=1e-10, epsrel=1e-10)[0], rel=1e-9)


@pytest.mark.parametrize("degrees", [1, 2])
def test_the_best_estimate_knows_its_error(degrees):
    """Nishimori: `miss = variance`; where all is known but the sign or phase, that is a share of tau."""
    tau = np.array([0.999, 0.5, 1e-3, 1e-9])
    found = doubt(tau, tau * (1 - tau), 1 - tau, degrees)
    np.testing.assert_allclose(found.variance, found.miss, rtol=1e-9)
    assert found.variance[-1] / tau[-1] == pytest.approx(0.0 if degrees == 1 else 0.5, abs=1e-3)


@pytest.mark.parametrize("degrees", [1, 2])
@pytest.mark.parametrize("g", [1.0 + 1e-3, 3.0, 100.0])
def test_slope_of_the_evidence(g, degrees):
    """Information and error: `d evidence/dg1 = (degrees/2) (tau - variance)`."""
    step = 1e-4 * (g - 0.9)
    slope = (evidence(1 / (g + step), degrees) - evidence(1 / (g - step), degrees)) / (2 * step)
    tau = 1 / g
    variance = doubt(tau, tau * (1 - tau), 1 - tau, degrees).variance
    assert slope == pytest.approx(0.5 * degrees * (tau - variance), rel=1e-4)


def test_evidence_of_nothing_is_the_entropy_of_magnitudes():
    assert evidence(1.0, 1) == pytest.approx(np.log(2) - 0.5 * np.log(2 * np.pi * np.e))
    assert evidence(1.0, 2) == pytest.approx(np.log(2) - 0.5 * np.euler_gamma - 1)


def test_phase_deficit_has_no_seam():
    x = np.array([1e-3, 1.0, 199.999, 200.001, 1e12])
    np.testing.assert_allclose(phase_deficit(x)[:4], 1 - i1e(x[:4]) / i0e(x[:4]), rtol=1e-12)
    assert phase_deficit(x)[4] == pytest.approx(5e-13, rel=1e-11)

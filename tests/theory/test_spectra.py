"""Averages over spectra: against the density of Marchenko and Pastur, against sums, against numerical derivatives."""

import numpy as np
import pytest
from scipy.integrate import quad

from phaselect import InputError
from phaselect.theory.spectra import MarchenkoPastur, Shape, as_spectrum

UNEVEN = np.geomspace(1, 50, 40)
POINTS = [(0.5, 1.0), (20.0, 0.3), (-0.05, 1.0)]


def average(function, alpha):
    """Over Marchenko and Pastur's density, by brute force."""
    low, high = (1 - np.sqrt(alpha)) ** 2, (1 + np.sqrt(alpha)) ** 2

    def integrand(angle):
        s2 = 0.5 * (low + high) - 0.5 * (high - low) * np.cos(angle)
        return function(s2) * (0.5 * (high - low) * np.sin(angle)) ** 2 / (2 * np.pi * s2)

    return quad(integrand, 0, np.pi, epsabs=1e-13)[0] + max(0.0, 1 - alpha) * function(0.0)


@pytest.mark.parametrize("alpha", [0.6, 1.5])
@pytest.mark.parametrize(("g", "prior"), POINTS)
def test_marchenko_pastur_in_closed_form(alpha, g, prior):
    found = MarchenkoPastur().response(np.asarray(g), np.asarray(prior), alpha)
    assert float(found.V) == pytest.approx(average(lambda s2: 1 / (g * s2 + prior), alpha), rel=1e-9)
    assert found.gain == pytest.approx(average(lambda s2: s2 / (g * s2 + prior), alpha), rel=1e-9)
    assert found.V_slope == pytest.approx(average(lambda s2: -s2 / (g * s2 + prior) ** 2, alpha), rel=1e-9)
    assert found.gain_slope == pytest.approx(average(lambda s2: -((s2 / (g * s2 + prior)) ** 2), alpha), rel=1e-9)
    pull = average(lambda s2: s2**2 / (g * s2 + prior), alpha) / found.gain - 1
    assert found.pull == pytest.approx(pull, rel=1e-9)


def test_marchenko_pastur_log_det():
    found = MarchenkoPastur().log_det(np.asarray(3.0), np.asarray(1.4))
    assert found == pytest.approx(average(lambda s2: np.log1p(3.0 * s2), 1.4), rel=1e-9)


@pytest.mark.parametrize("spectrum", ["gaussian", "orthogonal", UNEVEN])
@pytest.mark.parametrize(("g", "prior"), [*POINTS[:2], (2.0, 0.0)])
def test_derivatives_and_answers(spectrum, g, prior):
    """Slopes are slopes, and the node answers g with `prior + g pull = alpha/gain - g`."""
    law, step = as_spectrum(spectrum), 1e-6
    found, left, right = (law.response(np.asarray(g + d), np.asarray(prior), 1.5) for d in (0, -step, step))
    for name, slope in (("V", "V_slope"), ("gain", "gain_slope"), ("pull", "pull_slope")):
        numerical = (getattr(right, name) - getattr(left, name)) / (2 * step)
        assert getattr(found, slope) == pytest.approx(numerical, rel=1e-5, abs=1e-8)
    assert prior + g * found.pull == pytest.approx(1.5 / found.gain - g, rel=1e-10)


def test_without_a_prior_all_matrices_are_orthogonal():
    """The column space is all that is left."""
    for spectrum in ("gaussian", "orthogonal", UNEVEN):
        assert as_spectrum(spectrum).response(np.asarray(2.0), np.asarray(0.0), 1.7).pull == pytest.approx(0.7)


@pytest.mark.parametrize("spectrum", ["gaussian", "orthogonal", UNEVEN, np.geomspace(1e-12, 1, 30)])
def test_alpha_at_inverts_the_answer(spectrum):
    law, g2 = as_spectrum(spectrum), np.array([0.01, 1.0, 1e4])
    g1 = np.array([1 + g * law.response(g, np.asarray(1.0), 1.3).pull for g in g2])
    np.testing.assert_allclose(law.alpha_at(g1, g2), 1.3, rtol=1e-9)


def test_units_of_singular_values_do_not_matter():
    one, other = as_spectrum([1, 2, 3]), as_spectrum(np.array([1, 2, 3]) * 1e200)
    assert isinstance(one, Shape)
    np.testing.assert_allclose(one.values, other.values)
    assert one.values.mean() == pytest.approx(1)


@pytest.mark.parametrize(
    ("spectrum", "message"),
    [
        ("random", "spectrum = 'random': use"),
        ([1.0, 0.0], "must be positive"),
        ([], "non-empty"),
        ([[1.0]], "non-empty list"),
        (["a"], "list of numbers"),
    ],
)
def test_bad_input(spectrum, message):
    with pytest.raises(InputError, match=message):
        as_spectrum(spectrum)


def test_a_spectrum_without_zeros_needs_as_many_rows_as_columns():
    with pytest.raises(InputError, match="alpha of at least 1"):
        as_spectrum("orthogonal").check(0.9)

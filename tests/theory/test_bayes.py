"""Bayes-optimal errors and free entropies for any spectrum; published errors are in test_evolution.py."""

import math

import numpy as np
import pytest

from phaselect.theory import bayes_optimal, critical_alpha, saddle_point
from phaselect.theory.bayes import channel_precision, free_entropy
from phaselect.theory.spectra import MarchenkoPastur, as_spectrum

UNEVEN = np.geomspace(1, 100, 50)


@pytest.mark.parametrize("alpha", [0.4, 0.7, 0.9])
def test_free_entropy_is_that_of_the_saddle_point(alpha):
    """`p(y|A)` is a sum over signs: Phi at large mu, the width of the Gaussians and the determinant of the ridge."""
    mu = 1e8
    point, nu = saddle_point(alpha, mu, 1 / mu), 0.5 / mu
    found = bayes_optimal(alpha)
    log_det = float(MarchenkoPastur().log_det(np.asarray(1 / nu), np.asarray(alpha)))
    assert found.free_entropy == pytest.approx(
        point.free_entropy - 0.5 * alpha * math.log(2 * math.pi * nu) - 0.5 * log_det, abs=1e-6
    )
    assert found.mse_x == pytest.approx(point.V, abs=1e-6)


@pytest.mark.parametrize(
    ("alpha", "spectrum", "degrees"), [(0.9, "gaussian", 1), (1.6, "gaussian", 2), (1.5, UNEVEN, 2), (1.02, UNEVEN, 1)]
)
def test_free_entropy_is_stationary_where_message_passing_rests(alpha, spectrum, degrees):
    field, law = ("real", "complex")[degrees - 1], as_spectrum(spectrum)
    error = bayes_optimal(alpha, spectrum=spectrum, field=field).mse_x

    def rest(g1):
        return float(law.response(np.asarray(channel_precision(g1, degrees)), np.asarray(1.0), alpha).V) - error

    low, high = 1.0 + 1e-6, 1e4
    for _ in range(80):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if rest(middle) > 0 else (low, middle)
    g2, step = channel_precision(low, degrees), 1e-4
    assert error < 0.99
    for dg1, dg2 in ((step, 0.0), (0.0, step)):
        up, down = (free_entropy(low + side * dg1, g2 + side * dg2, alpha, law, degrees) for side in (1, -1))
        assert (up - down) / (2 * step) == pytest.approx(0, abs=1e-6)


def test_orthogonal_columns_tell_nothing_below_weak_recovery():
    assert bayes_optimal(1.45, spectrum="orthogonal").mse_x == 1.0
    assert bayes_optimal(1.55, spectrum="orthogonal").mse_x < 0.99
    assert bayes_optimal(1.95, spectrum="orthogonal", field="complex").mse_x_informed == 1.0
    assert math.isfinite(bayes_optimal(1.95, spectrum="orthogonal", field="complex").free_entropy)


@pytest.mark.parametrize("field", ["real", "complex"])
@pytest.mark.parametrize("spectrum", ["gaussian", "orthogonal", UNEVEN])
def test_phases(spectrum, field):
    degrees, threshold = {"real": 1, "complex": 2}[field], critical_alpha(spectrum=spectrum, field=field)
    phases = [
        bayes_optimal(alpha, spectrum=spectrum, field=field).phase
        for alpha in (degrees, 0.5 * (degrees + threshold), threshold + 1e-4)
    ]
    assert phases[0] == "impossible" or threshold == degrees
    assert phases[1] == "hard" or threshold == degrees
    assert phases[2] == "easy"
    assert bayes_optimal(threshold + 1e-4, spectrum=spectrum, field=field).free_entropy == math.inf

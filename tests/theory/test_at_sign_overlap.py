"""Sign vectors counted at fixed overlap: Legendre relations, limits, and brute force."""

import math
from itertools import combinations

import numpy as np
import pytest

from phaselect import InputError, gaussian_instance
from phaselect.theory import complexity_curve, saddle_point
from phaselect.theory.at_sign_overlap import complexity_at_random
from tests import exact


@pytest.mark.parametrize("overlap", [0.2, -0.3, pytest.param(0.8, marks=pytest.mark.slow)])
def test_curve_at_fixed_overlap(overlap):
    """The overlap is met; Sigma starts at the binary entropy, decreases, and dSigma/de = mu."""
    mus = np.geomspace(0.01, 30, 80)
    curve = complexity_curve(1.7, mus, sign_overlap=overlap)
    assert curve["converged"].all()
    np.testing.assert_allclose(curve["O"], overlap, atol=1e-10)
    assert curve["complexity"][0] == pytest.approx(complexity_at_random(1.7, overlap), abs=1e-4)
    assert (np.diff(curve["complexity"]) < 0).all()
    energy = 1.7 * curve["mse_y"]
    slope = np.diff(curve["complexity"]) / np.diff(energy)
    np.testing.assert_allclose(slope, np.sqrt(mus[1:] * mus[:-1]), rtol=2e-2)


def test_slope_in_the_overlap_is_the_chemical_potential():
    """At fixed mu the potential Phi - phi alpha O, a function of (mu, O), has slope -alpha phi in O."""
    O, h = 0.4, 1e-3
    at = {x: complexity_curve(1.7, [2.0], sign_overlap=x) for x in (O - h, O, O + h)}

    def potential(x):
        return at[x]["free_entropy"][0] - at[x]["phi"][0] * 1.7 * x

    slope = (potential(O + h) - potential(O - h)) / (2 * h)
    assert slope == pytest.approx(-1.7 * at[O]["phi"][0], rel=1e-4)


def test_agrees_with_the_saddle_point_at_its_phi():
    curve = complexity_curve(1.7, [0.5, 2.0], 0.1, sign_overlap=0.5)
    point = saddle_point(1.7, 2.0, 0.1, phi=float(curve["phi"][1]))
    for name in ("m", "mse_y", "complexity", "V0"):
        assert curve[name][1] == pytest.approx(getattr(point, name), abs=1e-9)


def test_zero_overlap_is_the_paramagnet():
    curve = complexity_curve(1.3, [1.0, 10.0], sign_overlap=0.0)
    assert (curve["m"] == 0).all()
    assert curve["mse_y"][1] == pytest.approx(saddle_point(1.3, 10.0).mse_y, rel=1e-12)


def test_against_enumeration():
    """Mean residual of the sign vectors at one overlap, weighted by exp(-mu E), N = 10, M = 17: 10 % on the mean of 15
    instances is what so small a system allows."""
    mu, overlap = 0.4, 1 - 2 * 5 / 17
    five_wrong = np.ones((math.comb(17, 5), 17))
    for signs, wrong in zip(five_wrong, combinations(range(17), 5), strict=True):
        signs[list(wrong)] = -1
    measured = []
    for seed in range(15):
        problem = gaussian_instance(10, 1.7, seed=seed)
        A, y = exact.normalised(problem)
        V = five_wrong * np.sign(problem.A @ problem.x0) * y
        E = np.sum((V - V @ np.linalg.pinv(A).T @ A.T) ** 2, axis=1)
        weight = np.exp(-mu * (E - E.min()))
        measured.append(weight @ E / weight.sum() / 17)
    predicted = complexity_curve(1.7, [mu], sign_overlap=overlap)["mse_y"][0]
    error = np.std(measured) / math.sqrt(len(measured))
    assert np.mean(measured) == pytest.approx(predicted, abs=0.1 * predicted + 2 * error)


@pytest.mark.parametrize(
    ("overlap", "mus"),
    [
        (1.0, [1.0]),
        (-1.5, [1.0]),
        (0.5, []),
        (0.5, [2.0, 1.0]),
        (0.5, [-1.0]),
        (0.5, [1.0, np.inf]),
        (0.5, [1.0, np.nan]),
    ],
)
def test_bad_input(overlap, mus):
    with pytest.raises(InputError):
        complexity_curve(1.7, mus, sign_overlap=overlap)

"""One potential, everything else its derivative: checked numerically."""

import math
from dataclasses import replace

import numpy as np
import pytest

from phaselect.base.errors import InputError
from phaselect.theory import saddle_point
from phaselect.theory.control import Conjugates, Control, Overlaps
from phaselect.theory.free_entropy import conjugates_at, free_entropy, g_e, g_i, g_s, gradient

CONTROLS = [
    (Control(1.7, 3.577), "uninformed"),
    (Control(1.2, 112.13), "informed"),
    (Control(1.2, 49.15, 0.005), "uninformed"),
    (Control(1.3, 1.921, 1 / 1.921), "uninformed"),
    (Control(1.7, 2.5, 0.1, 0.3), "uninformed"),
    (Control(1.4, 6.0, 0.0, -0.2), "uninformed"),
]


def point_of(control, start="uninformed"):
    return saddle_point(control.alpha, control.mu, control.lam, phi=control.phi, start=start)


def numerical_gradient(order, conjugates, control, h=1e-5):
    def slope(function, x):
        return (function(x + h) - function(x - h)) / (2 * h)

    def moved(values, i, x):
        return values._replace(**{values._fields[i]: x})

    by_order = [slope(lambda x, i=i: free_entropy(moved(order, i, x), conjugates, control), order[i]) for i in range(4)]
    by_hats = [
        slope(lambda x, i=i: free_entropy(order, moved(conjugates, i, x), control), conjugates[i]) for i in range(4)
    ]
    a, mu, lam, phi = control.alpha, control.mu, control.lam, control.phi
    by_mu = slope(lambda x: free_entropy(order, conjugates, Control(a, x, lam, phi)), mu)
    by_phi = slope(lambda x: free_entropy(order, conjugates, Control(a, mu, lam, x)), phi)
    return np.array([*by_order, *by_hats, by_mu, by_phi])


@pytest.mark.parametrize("phi", [0.0, 0.4])
def test_gradient_anywhere(phi):
    control, order = Control(1.3, 2.1, 0.3, phi), Overlaps(0.8, 0.5, 0.6, 0.5)
    conjugates = Conjugates(3.1, 1.2, 0.7, 0.9)
    mine = np.array(gradient(order, conjugates, control))
    np.testing.assert_allclose(mine, numerical_gradient(order, conjugates, control), atol=1e-8)


@pytest.mark.parametrize(("control", "start"), CONTROLS)
def test_stationary_in_all_eight_parameters(control, start):
    """The saddle point of the collapsed form is one of the paper's four-parameter form."""
    point = point_of(control, start)
    conjugates = conjugates_at(point.overlaps, control)
    slopes = numerical_gradient(point.overlaps, conjugates, control, h=1e-6)
    np.testing.assert_allclose(slopes[:8], 0, atol=2e-6 * max(1, control.mu))  # the second derivatives grow with mu
    np.testing.assert_allclose(gradient(point.overlaps, conjugates, control)[:8], 0, atol=1e-9 * max(1, control.mu))
    assert free_entropy(point.overlaps, conjugates, control) == pytest.approx(point.free_entropy, abs=1e-10)


@pytest.mark.parametrize(("control", "start"), CONTROLS)
def test_energy_is_minus_the_slope_in_mu(control, start):
    """At fixed lam and phi, along the branch: e = -dPhi/dmu."""
    h = 1e-4 * control.mu
    up, down = (point_of(replace(control, mu=control.mu + x), start) for x in (h, -h))
    slope = (up.free_entropy - down.free_entropy) / (2 * h)
    assert point_of(control, start).energy == pytest.approx(-slope, rel=1e-5)


@pytest.mark.parametrize(("control", "start"), CONTROLS[-2:])
def test_sign_overlap_is_the_slope_in_phi(control, start):
    h = 1e-4
    up, down = (point_of(replace(control, phi=control.phi + x), start) for x in (h, -h))
    slope = (up.free_entropy - down.free_entropy) / (2 * h)
    assert pytest.approx(slope / control.alpha, rel=1e-6) == point_of(control).O


@pytest.mark.parametrize(("control", "start"), CONTROLS)
def test_energy_is_residual_plus_penalty(control, start):
    point = point_of(control, start)
    assert point.energy == pytest.approx(control.alpha * point.mse_y + control.lam * point.q1 / 2, rel=1e-12)


def test_legendre_round_trip():
    """Sigma(e), obtained at one mu, gives Phi back at a nearby mu as the maximum of Sigma - mu e."""
    mus = np.linspace(2.0, 3.0, 41)
    points = [saddle_point(1.7, mu, 0.02) for mu in mus]
    sigma, energy = (np.array([getattr(p, name) for p in points]) for name in ("complexity", "energy"))
    for i in (10, 20, 30):
        values = sigma - mus[i] * energy
        assert np.argmax(values) == i
        assert values[i] == pytest.approx(points[i].free_entropy, abs=1e-12)
    slopes = np.gradient(sigma, energy)
    np.testing.assert_allclose(slopes[2:-2], mus[2:-2], rtol=2e-3)  # dSigma/de = mu


@pytest.mark.parametrize("lam", [0.0, 0.3])
def test_every_sign_vector_counts_at_infinite_temperature(lam):
    point = saddle_point(1.7, 1e-3, lam)
    assert point.complexity == pytest.approx(1.7 * math.log(2), abs=1e-5)
    assert point.mse_y > 0


def test_infinite_temperature_residual():
    """Random signs leave a fraction 1 - 1/alpha of the power at lam = 0."""
    assert saddle_point(1.7, 1e-3).mse_y == pytest.approx(1 - 1 / 1.7, abs=1e-3)


def test_parts_add_up():
    control, order = Control(1.3, 2.1, 0.3, 0.1), Overlaps(0.8, 0.5, 0.6, 0.5)
    hats = Conjugates(3.1, 1.2, 0.7, 0.9)
    total = g_i(order, hats, 2.1) + g_s(hats, 0.63) + 1.3 * g_e(order, 2.1, 0.1)
    assert free_entropy(order, hats, control) == pytest.approx(total, rel=1e-14)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": 1.5, "mu": 0.0}, "mu = 0 must be a positive"),
        ({"alpha": 1.5, "mu": math.nan}, "mu = nan"),
        ({"alpha": -1.0, "mu": 1.0}, "alpha = -1 must be a positive"),
        ({"alpha": 1.5, "mu": 1.0, "lam": -0.1}, "lam = -0.1 must be 0 or more"),
        ({"alpha": 1.0, "mu": 1.0}, "without a regulariser alpha must exceed 1"),
        ({"alpha": 1.5, "mu": 1.0, "phi": math.nan}, "phi = nan must lie between"),
        ({"alpha": 1.5, "mu": 1.0, "phi": math.inf}, "phi = inf must lie between"),
    ],
)
def test_control_is_checked(arguments, message):
    with pytest.raises(InputError, match=message):
        Control(**arguments)


@pytest.mark.parametrize(("alpha", "lam"), [(1.7, 0.0), (1.2, 0.005), (0.7, 1e-6), (0.7, 0.4), (1.0, 1e-9), (2.0, 5.0)])
def test_response_of_the_regression(alpha, lam):
    V1 = Control(alpha, 1.0, lam).response
    assert V1 * (lam + 2 * alpha / (1 + 2 * V1)) == pytest.approx(1, rel=1e-9)

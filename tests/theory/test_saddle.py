"""Saddle points: published rows, extreme temperatures, which branch, and honest statuses."""

import json
import math

import numpy as np
import pytest

from phaselect import InputError
from phaselect.theory import Overlaps, Point, saddle_point
from phaselect.theory.control import Control, State
from phaselect.theory.flow import flow, growth_rates, paramagnet, residual, saddle_map
from phaselect.theory.replicon import replicon
from phaselect.theory.saddle import PointStatus

# alpha, mu, lam, start, V0, V1, q0, m, Phi, mse_y, Sigma: computed once with independent code, to the digits shown.
# Rows 2 and 6 were tabled there at mu = 3.577 and 1.921, which cannot be: V1 depends on lam alone, and lam = 1/1.921
# gives 0.5799, not 0.5792. At the mu below every digit of the row is met. Row 5 needs mu = 49.148, i.e. 49.15.
ROWS = [
    (1.7, 1.0, 0, "uninformed", "2.05742", "0.714286", "0", "0", "0.754032", "0.152825", "1.01384"),
    (1.7, 3.5792, 0, "uninformed", "0.2235", "0.714286", "0.9195", "0.91625", "0.4039", "0.035518", "0.6200"),
    (1.2, 5.0, 0, "uninformed", "5.90780", "2.5", "0", "0", "0.584615", "0.015366", "0.67681"),
    (1.2, 112.13, 0, "informed", "0.0153", "2.5", "1.0012", "0.99813", "0.0833", "0.000361", "0.1318"),
    (1.2, 49.148, 0.005, "uninformed", "1.2301", "2.3346", "0.4298", "0.43259", "0.0384", "0.00176", "0.3462"),
    (1.3, 1.9158, 1 / 1.9158, "uninformed", "0.2680", "0.5792", "0.2814", "0.40350", "0.1349", "0.10055", "0.6600"),
    (1.2, 49.15, 1 / 49.15, "uninformed", "0.0362", "1.9940", "0.8843", "0.92492", "-0.3533", "0.00142", "0.1910"),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"alpha={row[0]} mu={row[1]}")
def test_reference_rows(row):
    alpha, mu, lam, start, *printed = row
    point = saddle_point(alpha, mu, lam, start=start)
    assert point.converged
    assert point.residual < 1e-10
    names = ("V0", "V1", "q0", "m", "free_entropy", "mse_y", "complexity")
    for name, text in zip(names, printed, strict=True):
        digits = len(text.partition(".")[2])
        assert getattr(point, name) == pytest.approx(float(text), abs=0.76 * 10.0**-digits), name


def test_the_tabled_mu_of_row_six_contradicts_its_own_response():
    assert Control(1.3, 1.921, 1 / 1.921).response == pytest.approx(0.5799, abs=5e-5)
    assert Control(1.3, 1.9158, 1 / 1.9158).response == pytest.approx(0.5792, abs=5e-5)


@pytest.mark.parametrize("mu", [1e-3, 1e-1, 1e1, 1e3, 1e5, 1e8])
@pytest.mark.parametrize("start", ["uninformed", "informed"])
@pytest.mark.parametrize(("alpha", "product"), [(1.2, 1.0), (1.2, 0.0), (1.7, 0.0), (1.4, 3.0)])
def test_every_temperature(alpha, product, start, mu):
    point = saddle_point(alpha, mu, product / mu, start=start)
    assert point.converged
    assert point.residual < 1e-10
    assert 0 <= point.m <= 1.01
    assert point.q0 >= point.m**2
    assert point.V0 > 0
    assert point.mse_y > 0
    assert point.replicon_regression < 1


@pytest.mark.parametrize("mu", [0.5, 5.0, 50.0, 5000.0])
def test_nishimori_line(mu):
    """m = q0 at the matched product as mu -> infinity; at finite mu the noise that mu assumes is not there."""
    point = saddle_point(1.2, 1e8, 1e-8)
    assert point.m == pytest.approx(point.q0, abs=1e-6)
    hot = saddle_point(1.3, mu, 1 / mu)
    assert hot.q0 <= hot.m + 1e-9 or mu < 1


def test_error_of_the_estimate():
    """|x0 - x|^2/N = 1 - 2 m + q1."""
    for control in ((1.7, 3.6, 0.0), (1.3, 2.0, 0.5), (1.2, 5.0, 0.0)):
        point = saddle_point(*control)
        assert point.mse_x == pytest.approx(1 - 2 * point.m + point.q1, rel=1e-12)


def test_recovery_is_exact_to_rounding():
    """At mu = 1e8 the signs' share of the error is mu^-3/2: nothing has cancelled."""
    cold, colder = (saddle_point(1.2, mu, start="informed") for mu in (1e8, 1e10))
    assert colder.mse_x / cold.mse_x == pytest.approx(1e-3, rel=0.02)
    assert colder.complexity / cold.complexity == pytest.approx(0.1, rel=0.02)


@pytest.mark.parametrize(
    ("alpha", "mu", "lam"),
    [
        (1.7, 3.6, 0.0),
        (1.2, 49.0, 0.005),
        (1.6, 7.0, 0.0),
        (1.6, 9.3, 0.0),
        (1.3, 5.0, 0.2),
        (1.55, 20.0, 0.0),
        (1.58, 1e3, 0.0),
        (1.58, 1e5, 0.0),
    ],
)
def test_flow_ends_where_plain_iteration_ends(alpha, mu, lam):
    """The definition of the uninformed branch: undamped iteration from a small overlap."""
    control = Control(alpha, mu, lam)
    values = [np.asarray(x) for x in (paramagnet(control).V, 1e-6, 1e-3)]
    for _ in range(6000):
        V, spread, m, _O = saddle_map(*values, control)
        values = [V, spread, m]
    point = saddle_point(alpha, mu, lam)
    assert point.m == pytest.approx(float(values[2]), abs=1e-7)
    assert pytest.approx(float(values[0]), rel=1e-7) == point.V
    assert point.iterations < 1500


def test_flow_does_not_leap_over_a_pair_of_fixed_points():
    """At alpha = 1.6 the uninformed branch ends in a fold at mu = 9.34554; just before it, stable and unstable points
    are 0.002 apart in m."""
    assert saddle_point(1.6, 9.3455).m < 0.41
    assert saddle_point(1.6, 9.3456).m > 0.98


def test_paramagnet_solves_its_equation():
    for control in (Control(1.7, 1.0), Control(1.2, 1e8), Control(1.3, 1e-3, 4.0), Control(0.5, 10.0, 3.0)):
        assert residual(paramagnet(control), control) < 1e-12


def test_growth_rates_are_those_of_the_map():
    control = Control(1.7, 3.0)
    state = paramagnet(control)
    by_spread, by_m = growth_rates(state, control)
    eps = 1e-5
    _, spread, _, _ = saddle_map(*map(np.asarray, (state.V, eps, 0.0)), control)
    assert float(spread) / eps == pytest.approx(by_spread, rel=1e-3)
    _, _, m, _ = saddle_map(*map(np.asarray, (state.V, 1e-9, eps)), control)
    assert float(m) / eps == pytest.approx(by_m, rel=1e-3)
    assert by_spread == pytest.approx(replicon(state, control), rel=1e-9)


def test_replicon_by_brute_force():
    """alpha V^2 E[(d2 phi_out)^2] by Monte Carlo on two million measurements."""
    point = saddle_point(1.7, 3.6)
    rng = np.random.default_rng(0)
    u0, z = rng.standard_normal((2, 2_000_000))
    w = point.m * u0 + math.sqrt(point.q0 - point.m**2) * z
    s2 = point.V + 0.5 / point.mu
    second = -(1 - u0**2 / np.cosh(u0 * w / s2) ** 2 / s2) / s2
    values = point.alpha * point.V**2 * second**2
    assert point.replicon == pytest.approx(values.mean(), abs=5 * values.std() / math.sqrt(values.size))


def test_type_two_is_one_over_alpha_without_regulariser():
    assert saddle_point(1.4, 3.0).replicon_regression == pytest.approx(1 / 1.4, rel=1e-12)


def test_statuses_tell_branches_apart():
    assert saddle_point(1.2, 112.0, start="informed").status is PointStatus.CONVERGED
    merged = saddle_point(1.2, 5.0, start="informed")
    assert merged.status is PointStatus.ONE_BRANCH
    assert merged.converged
    assert merged.m == 0
    assert saddle_point(1.7, 3.6, start="informed").status is PointStatus.ONE_BRANCH


def test_a_point_that_did_not_converge_says_so(monkeypatch):
    monkeypatch.setattr("phaselect.theory.flow.MAX_EVALUATIONS", 8)
    point = saddle_point(1.7, 3.6)
    assert point.status is PointStatus.NOT_CONVERGED
    assert not point.converged
    assert not point.trusted
    assert "no saddle point" in point.to_dict()["message"]


def test_trusted_means_stable_and_countable():
    assert saddle_point(1.5, 60.0).trusted
    assert not saddle_point(1.5, 90.0).trusted  # complexity < 0
    assert not saddle_point(1.1, 600.0, 0.005).trusted  # replicon > 1


def test_start_from_given_overlaps():
    point = saddle_point(1.6, 7.0, start=Overlaps(0.1, 0.8, 0.95, 0.95))
    assert point.m > 0.9
    again = saddle_point(1.6, 7.0, start=point.overlaps)
    assert again.m == pytest.approx(point.m, abs=1e-12)
    with pytest.raises(InputError, match="q0 >= m"):
        saddle_point(1.6, 7.0, start=Overlaps(0.1, 0.8, 0.5, 0.95))
    with pytest.raises(InputError, match="uninformed"):
        saddle_point(1.6, 7.0, start="hopeful")


def test_the_two_global_signs_are_one():
    control = Control(1.7, 3.6)
    minus = flow(State(0.4, 0.1, -0.9), control)
    assert minus.state.m == pytest.approx(-saddle_point(1.7, 3.6).m, abs=1e-9)


def test_phi_reverses_with_the_signs():
    up, down = (saddle_point(1.7, 2.0, 0.1, phi=phi) for phi in (0.3, -0.3))
    assert pytest.approx(-down.O, abs=1e-9) == up.O
    assert up.free_entropy == pytest.approx(down.free_entropy, abs=1e-10)


@pytest.mark.parametrize(("alpha", "mu", "phi"), [(1.2, 1e6, 1.0), (1.7, 1e5, 0.5), (1.2, 1e8, 3.0), (1.7, 2.0, 20.0)])
def test_mirror_images_are_equally_accurate(alpha, mu, phi):
    up, down = (saddle_point(alpha, mu, phi=sign * phi) for sign in (1, -1))
    assert up.converged
    assert down.converged
    assert up.m == pytest.approx(-down.m, abs=1e-10)
    assert up.mse_y == pytest.approx(down.mse_y, rel=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": "a", "mu": 1.0}, "alpha = 'a' must be a number"),
        ({"alpha": 1.2, "mu": 1e300}, "mu = 1e.300 must be a positive number, at most"),
        ({"alpha": 1.2, "mu": 1.0, "phi": 1e9}, "phi = 1e.09 must lie between"),
        ({"alpha": 1.2, "mu": 1.0, "start": np.zeros(4)}, "start: use"),
    ],
)
def test_odd_input(arguments, message):
    with pytest.raises(InputError, match=message):
        saddle_point(**arguments)


def test_numpy_numbers_are_numbers():
    record = saddle_point(np.float32(1.5), np.int64(3)).to_dict()
    assert json.loads(json.dumps(record)) == record


def test_record_is_plain():
    record = saddle_point(1.7, 2.0).to_dict()
    assert json.loads(json.dumps(record)) == record
    assert set(Point.__dataclass_fields__) <= set(record)

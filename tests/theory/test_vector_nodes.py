"""Vector message passing: the nodes against samples and sums, fixed points against the replica theory, thresholds."""

import numpy as np
import pytest
from scipy.special import i0e, i1e

from phaselect import InputError, Schedule, theory
from phaselect.theory.spectra import as_spectrum
from phaselect.theory.vector_anneal import slow_anneal_recovers
from phaselect.theory.vector_nodes import Ensemble, Message, from_channel, from_gaussian, vector_map

UNEVEN = np.geomspace(1, 100, 50)


@pytest.mark.parametrize("degrees", [1, 2])
def test_the_channel_against_samples(degrees):
    """Overlap with z0 and noise of what it sends back, the latter free of what it was sent."""
    given, nu, count = Message(np.asarray(2.0), np.asarray(0.9), np.asarray(0.7)), 0.2, 400_000
    rng = np.random.default_rng(1)
    parts = rng.standard_normal((2, 2, count)) / np.sqrt(degrees)
    z0, xi = parts[0] + (1j * parts[1] if degrees == 2 else 0)
    h1 = given.overlap * z0 + np.sqrt(given.noise) * xi
    y, p, tau = np.abs(z0), h1 / given.precision, 1 / given.precision
    v, x = 1 / (1 / tau + 1 / nu), np.abs(p) * np.abs(z0) / (tau + nu)
    t = (np.tanh(x) if degrees == 1 else i1e(2 * x) / i0e(2 * x)) * p / np.abs(p)
    z, variance = v * (p / tau + y * t / nu), np.mean(v + (v * y / nu) ** 2 * (1 - np.abs(t) ** 2))
    h2 = z / variance - h1
    back = from_channel(given, nu, degrees)
    overlap = np.mean(np.real(np.conj(z0) * h2))
    assert back.precision == pytest.approx(1 / variance - given.precision, rel=0.01)
    assert back.overlap == pytest.approx(overlap, rel=0.01)
    assert back.noise == pytest.approx(np.mean(np.abs(h2) ** 2) - overlap**2, rel=0.01)
    assert np.mean(np.real(np.conj(xi) * h2)) == pytest.approx(0, abs=0.01)


def test_the_gaussian_node_against_sums():
    """`m_1 + m_2 = m/v`, `chi_1 + chi_2 = q/v^2 - (m/v)^2`, with m, q and v mode by mode."""
    alpha, prior, given = 1.6, 0.7, Message(np.asarray(0.8), np.asarray(0.5), np.asarray(0.3))
    s2 = alpha * UNEVEN / UNEVEN.mean()
    filtered = s2 / (given.precision * s2 + prior)
    v = np.mean(filtered) / alpha
    m = np.mean(filtered * s2) * given.overlap / alpha
    q = np.mean(filtered**2 * (given.overlap**2 * s2 + given.noise)) / alpha
    sent = from_gaussian(given, as_spectrum(UNEVEN).response(given.precision, np.asarray(prior), alpha), prior)
    assert sent.precision == pytest.approx(1 / v - given.precision)
    assert sent.overlap == pytest.approx(m / v - given.overlap)
    assert sent.noise == pytest.approx(q / v**2 - (m / v) ** 2 - given.noise)


@pytest.mark.parametrize(("alpha", "mu", "lam"), [(1.3, 1.9158, 1 / 1.9158), (1.7, 3.5792, 0.0), (1.2, 49.15, 0.005)])
def test_saddle_points_are_fixed_points(alpha, mu, lam):
    """Matched, without and with too little of a prior."""
    point = theory.saddle_point(alpha, mu, lam)
    state = np.array([point.V, point.q0 - point.m**2, point.m])
    moved = vector_map(*state, mu * lam, 0.5 / mu, Ensemble(alpha, as_spectrum("gaussian"), 1))
    np.testing.assert_allclose(moved, state, rtol=1e-9)


@pytest.mark.parametrize("product", [1.0, 2.0])
def test_state_evolution_ends_at_the_saddle_point(product):
    schedule = Schedule.fixed_product(product, mu0=0.5, mu_max=5.0, eps=0.1, steps=1, unit="iterations", hold=300)
    run = theory.state_evolution(1.3, schedule, m0=0.2, damping=0.5, spectrum="gaussian")
    point = theory.saddle_point(1.3, 5.0, product / 5.0)
    found = {name: run[name][-1] for name in ("V", "m", "q1")}
    assert found == pytest.approx({"V": point.V, "m": point.m, "q1": point.q0}, abs=1e-6)


def test_matched_messages_stay_matched():
    """Without temperature, from a start that knows what it knows: overlap and noise are the precision (Nishimori)."""
    for degrees in (1, 2):
        back = from_channel(Message(*map(np.asarray, (1.5, 0.5, 0.5))), 0.0, degrees)
        assert back.overlap == pytest.approx(float(back.precision))
        assert back.noise == pytest.approx(float(back.precision))
        response = as_spectrum(UNEVEN).response(back.precision, np.asarray(1.0), 1.5)
        sent = from_gaussian(back, response, 1.0)
        assert sent.overlap == pytest.approx(float(sent.precision) - 1)
        assert sent.noise == pytest.approx(float(sent.precision) - 1)


@pytest.mark.parametrize(("spectrum", "alpha"), [("gaussian", 2.4), ("orthogonal", 2.6), (UNEVEN, 2.3)])
def test_state_evolution_of_complex_runs(spectrum, alpha):
    schedule = Schedule.matched(mu0=1.0, mu_max=1e6, eps=0.05, steps=1, unit="iterations")
    run = theory.state_evolution(alpha, schedule, n=1000, damping=0.5, spectrum=spectrum, field="complex")
    assert set(run) == {"sweeps", "mu", "lam", "v", "V", "m", "q1", "O", "mse_x"}
    assert 0 < run["m"][0] < 0.01
    assert 0 < run["O"][0] < 0.1
    assert run["O"][-1] > 0.99
    assert run["mse_x"][-1] < 1e-3
    np.testing.assert_allclose(run["mse_x"], 1 - 2 * run["m"] + run["q1"], atol=1e-12)


def test_state_evolution_says_what_is_wrong():
    schedule = Schedule.matched(mu0=1.0, mu_max=60.0, eps=0.1, steps=1, unit="iterations")
    with pytest.raises(InputError, match="AMP is real"):
        theory.state_evolution(1.3, schedule, field="complex")
    with pytest.raises(InputError, match="diverges at iteration 6: raise the damping"):
        theory.state_evolution(2.2, schedule, m0=0.4, damping=0.0, spectrum=np.geomspace(1, 100, 1000), field="complex")


@pytest.mark.parametrize(
    ("spectrum", "field", "alpha"),
    [("gaussian", "complex", 2.0268), ("orthogonal", "real", 1.5840), ("orthogonal", "complex", 2.2640)],
)
def test_published_thresholds(spectrum, field, alpha):
    assert theory.critical_alpha(spectrum=spectrum, field=field) == pytest.approx(alpha, abs=2e-4)


def test_uneven_spectra_need_fewer_measurements_and_complex_ones_two():
    conditions = [theory.critical_alpha(spectrum=np.geomspace(1, last, 50)) for last in (1, 100, 900)]
    assert conditions == pytest.approx([1.5839, 1.1410, 1.0579], abs=1e-3)
    assert theory.critical_alpha(spectrum=np.geomspace(1, 900, 50), field="complex") == 2.0


@pytest.mark.parametrize(
    ("product", "spectrum", "degrees", "alpha"),
    [(0.5, "gaussian", 1, 1.1596), (1.0, "gaussian", 2, 2.0268), (3.0, "orthogonal", 1, 1.5839)],
)
def test_slow_anneals(product, spectrum, degrees, alpha):
    """As in the replica theory; as on the curve of the matched product; where |z| is known no product matters."""
    for side in (-1, 1):
        ensemble = Ensemble(alpha + side * 2e-3, as_spectrum(spectrum), degrees)
        assert slow_anneal_recovers(product, ensemble) == (side > 0)


def test_an_overlap_that_fades_on_the_way():
    """Far too strong a prior: the overlap grows and dies again, and later states are none that a start could reach."""
    assert not slow_anneal_recovers(10.0, Ensemble(2.0075, as_spectrum("gaussian"), 2))


def test_annealed_threshold_of_other_products():
    found = theory.critical_alpha(2.0, spectrum=UNEVEN[::10], tolerance=0.05)
    assert found == pytest.approx(theory.critical_alpha(spectrum=UNEVEN[::10]), abs=0.05)

"""One step of replica symmetry breaking: limits, stationarity, transitions, and anneals that get stuck."""

import math

import numpy as np
import pytest

from phaselect import InputError, Schedule, SimulatedAnnealing, gaussian_instance, theory
from phaselect.theory import one_step_rsb, saddle_point
from phaselect.theory.clusters import (
    ClusterState,
    cluster_free_entropy,
    cluster_map,
    free_entropy_by_tau,
    overlaps_and_conjugates,
)
from phaselect.theory.control import Control
from phaselect.theory.flow import growth_rates, paramagnet
from phaselect.theory.replicon import replicon

POINTS = [(1.7, 3.6, 0.0), (1.3, 1.921, 1 / 1.921), (1.2, 49.15, 0.005)]


def unbroken(point, D1=0.0):
    return ClusterState(point.V, D1, point.q0 - point.m**2, point.m)


@pytest.mark.parametrize("tau", [0.2, 0.7, 1.0])
@pytest.mark.parametrize("control", POINTS)
def test_equal_overlaps_are_replica_symmetric_at_every_tau(control, tau):
    point = saddle_point(*control)
    state = unbroken(point)
    moved, out = cluster_map(state, point.control, tau)
    np.testing.assert_allclose(moved, state, atol=1e-8)
    order, hats = overlaps_and_conjugates(state, out, point.control)
    assert cluster_free_entropy(order, hats, point.control, tau) == pytest.approx(point.free_entropy, abs=1e-8)
    assert pytest.approx(point.O, abs=1e-9) == out.O


@pytest.mark.parametrize("tau", [0.4, 1.0])
@pytest.mark.parametrize("phi", [0.0, 0.1])
def test_stationary_in_the_overlaps(tau, phi):
    """With the conjugates of a state, Phi has no slope in any of its five overlaps."""
    control, state, h = Control(1.3, 3.0, 0.2, phi), ClusterState(0.6, 0.3, 0.15, 0.4), 1e-5
    order, hats = overlaps_and_conjugates(state, cluster_map(state, control, tau)[1], control)
    for name in order._fields:
        up, down = (
            cluster_free_entropy(order._replace(**{name: getattr(order, name) + x}), hats, control, tau)
            for x in (h, -h)
        )
        assert (up - down) / (2 * h) == pytest.approx(0, abs=1e-8), name


@pytest.mark.parametrize("tau", [0.5, 1.0])
def test_stationary_in_the_conjugates_at_a_solution(tau):
    point = one_step_rsb(1.5, 40.0, tau=tau)
    assert point.broken
    assert point.converged
    control, h = Control(1.5, 40.0), 1e-5
    order, hats = overlaps_and_conjugates(point.state, cluster_map(point.state, control, tau)[1], control)
    for name in hats._fields:
        up, down = (
            cluster_free_entropy(order, hats._replace(**{name: getattr(hats, name) + x}), control, tau) for x in (h, -h)
        )
        assert (up - down) / (2 * h) == pytest.approx(0, abs=1e-6), name


@pytest.mark.parametrize(("alpha", "mu"), [(1.5, 25.0), (1.5, 40.0), (1.3, 150.0)])
def test_clusters_at_tau_one_do_not_change_the_free_entropy(alpha, mu):
    broken, symmetric = one_step_rsb(alpha, mu), saddle_point(alpha, mu)
    assert broken.broken
    assert broken.p1 > 0.9 * symmetric.q1
    assert broken.free_entropy == pytest.approx(symmetric.free_entropy, abs=1e-8)
    assert broken.complexity == pytest.approx(symmetric.complexity, abs=1e-7)
    assert broken.q1 == pytest.approx(symmetric.q1, rel=1e-6)


def test_cluster_complexity_is_the_slope_in_tau():
    at = {tau: one_step_rsb(1.5, 40.0, tau=tau) for tau in (0.699, 0.7, 0.701)}
    slope = (at[0.701].free_entropy - at[0.699].free_entropy) / 0.002
    assert at[0.7].complexity_clusters == pytest.approx(-(0.7**2) * slope, rel=1e-3)


@pytest.mark.parametrize("tau", [0.4, 0.9])
def test_explicit_slope_in_tau_anywhere(tau):
    control, state, h = Control(1.3, 3.0, 0.2), ClusterState(0.6, 0.3, 0.15, 0.4), 1e-5
    out = cluster_map(state, control, tau)[1]
    order, hats = overlaps_and_conjugates(state, out, control)
    up, down = (cluster_free_entropy(order, hats, control, x) for x in (tau + h, tau - h))
    assert free_entropy_by_tau(order, hats, out, control, tau) == pytest.approx((up - down) / (2 * h), rel=1e-6)


def test_energy_is_minus_the_slope_in_mu():
    up, down = (one_step_rsb(1.5, mu, tau=0.6).free_entropy for mu in (40.01, 39.99))
    assert one_step_rsb(1.5, 40.0, tau=0.6).energy == pytest.approx(-(up - down) / 0.02, rel=1e-5)


@pytest.mark.parametrize("control", POINTS)
def test_small_clusters_grow_by_the_replicon(control):
    point = saddle_point(*control)
    moved, _ = cluster_map(unbroken(point, 1e-5), point.control, 0.8)
    assert pytest.approx(point.replicon, rel=1e-4) == moved.D1 / 1e-5


@pytest.mark.parametrize("alpha", [1.55, 1.7])
def test_clusters_are_born_where_the_replicon_is_one(alpha):
    """Continuous birth, alpha > 1.5 and lam = 0, on the paramagnet."""
    mu = theory.dynamical_transition(alpha)
    control = Control(alpha, mu)
    assert replicon(paramagnet(control), control) == pytest.approx(1, abs=1e-4)
    assert growth_rates(paramagnet(control), control).spread == pytest.approx(1, abs=1e-4)
    just_above = one_step_rsb(alpha, 1.01 * mu, start="paramagnet")
    assert just_above.broken
    assert just_above.p1 < 0.1 * just_above.V0


@pytest.fixture(scope="module")
def trap():
    return {name: column[0] for name, column in theory.traps([1.5]).items()}


def test_order_of_the_transitions(trap):
    """Discontinuous birth well before the replicon would tell: clusters, then few clusters, then the entropy crisis."""
    assert trap["mu_dynamical"] == pytest.approx(19.49, abs=0.02)
    assert trap["mu_dynamical"] < trap["mu_static"] < theory.entropy_crisis(1.5)
    assert saddle_point(1.5, trap["mu_dynamical"]).replicon < 1
    assert math.isinf(trap["mu_leave"])
    born = one_step_rsb(1.5, trap["mu_dynamical"] * 1.0001, start="paramagnet")
    assert born.p1 > 10 * born.V0
    assert born.complexity_clusters > 0
    assert not one_step_rsb(1.5, trap["mu_dynamical"] * 0.999, start="paramagnet").broken


def test_equilibrium_clusters():
    assert theory.equilibrium_clusters(1.5, 15.0).tau == 1.0
    assert theory.equilibrium_clusters(1.5, 25.0).tau == 1.0
    point = theory.equilibrium_clusters(1.5, 60.0)
    assert 0 < point.tau < 1
    assert point.complexity_clusters == pytest.approx(0, abs=1e-8)
    for tau in (0.9 * point.tau, min(1.0, 1.1 * point.tau)):  # Phi is least there
        assert one_step_rsb(1.5, 60.0, tau=tau, start=point.state).free_entropy > point.free_entropy
    assert point.energy > saddle_point(1.5, 60.0).energy  # the symmetric energy is too low


def test_annealing_without_regulariser_ends_in_the_trap(trap):
    """Six anneals at alpha = 1.5, lam = 0, N = 400: none finds the signal, each ends above the ground state of the
    clusters, and their mean within 20 % of the misfit where clusters form."""
    schedule = Schedule.fixed_lambda(0.0, mu0=0.5, mu_max=3e3, eps=0.1, steps=20)
    ends = []
    for seed in range(6):
        problem = gaussian_instance(400, 1.5, seed=seed)
        trace = SimulatedAnnealing(eager=False).run(problem, schedule, seed=seed).trace
        assert trace["m"][-1] < 0.6
        ends.append(trace["mse_y"][-1])
    assert min(ends) > trap["mse_y_ground"]
    assert np.mean(ends) == pytest.approx(trap["mse_y_dynamical"], rel=0.2)


@pytest.mark.slow
def test_traps_with_a_regulariser():
    """Clusters form continuously, where the replicon of m = 0 is 1, and then at once dominate."""
    row = {name: column[0] for name, column in theory.traps([1.3], lam=0.1).items()}
    assert math.isnan(row["product"])
    assert row["mu_leave"] < row["mu_dynamical"] == row["mu_static"]
    control = Control(1.3, row["mu_dynamical"], 0.1)
    assert replicon(paramagnet(control), control) == pytest.approx(1, abs=1e-4)


@pytest.mark.slow
def test_births_change_from_discontinuous_to_continuous():
    """At lam = 0 between alpha = 1.53, where the replicon is still below 1, and 1.55."""
    for alpha, continuous in ((1.53, False), (1.55, True)):
        mu = theory.dynamical_transition(alpha)
        control = Control(alpha, mu)
        assert (replicon(paramagnet(control), control) > 1 - 1e-4) == continuous
        assert (theory.static_transition(alpha) == mu) == continuous


def test_bad_input(monkeypatch):
    with pytest.raises(InputError, match="ClusterState needs"):
        one_step_rsb(1.5, 20.0, start=ClusterState(-1.0, 1.0, 0.0, 0.0))
    with pytest.raises(InputError, match=r"tau = 1.5 must lie in \(0, 1\]"):
        one_step_rsb(1.5, 20.0, tau=1.5)
    with pytest.raises(InputError, match="uninformed"):
        one_step_rsb(1.5, 20.0, start="hopeful")
    monkeypatch.setattr("phaselect.theory.glass.MU_MAX", 3.0)
    with pytest.raises(InputError, match="no clusters dominate up to mu = 3; try a larger alpha"):
        theory.ground_state(1.05)

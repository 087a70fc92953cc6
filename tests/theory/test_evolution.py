"""State evolution against runs of AMP, against the saddle point, and against published errors."""

import math

import numpy as np
import pytest

from phaselect import AMP, InputError, Schedule, gaussian_instance
from phaselect.theory import bayes_optimal, saddle_point, state_evolution
from phaselect.theory.control import Control
from phaselect.theory.flow import saddle_map

BEGIN = 0.25


def anneal(**options):
    return Schedule.matched(unit="iterations", steps=1, **options)


def run_amp(n, alpha, schedule, damping, seed):
    """m, |x|^2/N and V before each iteration, from a start of overlap BEGIN."""
    problem = gaussian_instance(n, alpha, seed=seed)
    solver = AMP(damping=damping, restarts=0)
    own = problem.normalised
    x0 = own.x0
    noise = np.random.default_rng(seed + 100).standard_normal(n)
    noise -= (noise @ x0) / (x0 @ x0) * x0
    noise *= math.sqrt((1 - BEGIN**2) * n) / np.linalg.norm(noise)
    drawn = solver.draw(np.random.default_rng(0), own.m_rows, n, schedule, 0)._replace(x=BEGIN * x0 + noise)
    state = solver.start(own, drawn, *schedule[0], None)
    rows = []
    for i in range(len(schedule)):
        x, V, *_ = state.beliefs
        rows.append((x0 @ x / n, x @ x / n, V))
        state = solver.advance(own, state, schedule[i : i + 1].stretch(own.m_rows))
    return np.array(rows)


@pytest.mark.parametrize(
    ("schedule", "damping", "bias"),
    [
        (anneal(mu0=1e3, mu_max=1e5, eps=0.15), 0.0, 0.01),
        pytest.param(anneal(mu0=1.0, mu_max=50.0, eps=0.1), 0.0, 0.01, marks=pytest.mark.slow),
        (anneal(mu0=1.0, mu_max=50.0, eps=0.1), 0.3, 0.007),  # without the memory of x, these two fail
        pytest.param(anneal(mu0=1e3, mu_max=1e5, eps=0.15), 0.3, 0.016, marks=pytest.mark.slow),
    ],
)
def test_against_message_passing(schedule, damping, bias):
    """Mean of eight runs at N = 1500, iteration by iteration, within four standard errors plus `bias`: without damping
    what a finite N leaves, with damping the error of the approximation. Four, not three: a hundred numbers are
    compared, and eight runs know their own standard error to a quarter."""
    runs = np.array([run_amp(1500, 1.4, schedule, damping, seed) for seed in range(8)])
    theory = state_evolution(1.4, schedule, damping=damping, m0=BEGIN)
    mean, error = runs.mean(axis=0), runs.std(axis=0) / math.sqrt(len(runs))
    for column, name in enumerate(("m", "q1", "V")):
        np.testing.assert_array_less(np.abs(mean[:, column] - theory[name]), 4 * error[:, column] + bias, name)
    assert theory["m"][-1] > 0.8


def test_without_damping_it_is_the_saddle_point_iteration():
    schedule = anneal(mu0=2.0, mu_max=40.0, eps=0.3)
    evolution = state_evolution(1.3, schedule, damping=0.0, m0=0.1)
    state = [np.asarray(x) for x in (1.0, 0.99, 0.1)]
    for i, (mu, lam) in enumerate(schedule):
        assert evolution["V"][i] == pytest.approx(float(state[0]), rel=1e-12)
        assert evolution["m"][i] == pytest.approx(float(state[2]), rel=1e-12)
        V, spread, m, _O = saddle_map(*state, Control(1.3, mu, lam))
        state = [V, spread, m]


@pytest.mark.parametrize("damping", [0.0, 0.3, 0.5])
def test_fixed_points_are_saddle_points(damping):
    mu = np.full(600, 5.0)
    end = state_evolution(1.3, Schedule(mu, 1 / mu, 1, "iterations"), damping=damping, m0=0.2)
    point = saddle_point(1.3, 5.0, 0.2)
    assert end["m"][-1] == pytest.approx(point.m, abs=1e-8)
    assert end["V"][-1] == pytest.approx(point.V, abs=1e-8)
    assert end["q1"][-1] == pytest.approx(point.q0, abs=1e-8)  # AMP's x is the mean over the signs


def test_larger_systems_take_longer_to_leave_the_start():
    schedule = anneal(mu0=1e3, mu_max=1e6, eps=0.05)
    small, large = (state_evolution(1.3, schedule, n=n) for n in (100, 10_000))
    assert small["m"][0] == pytest.approx(0.1)
    assert np.argmax(small["m"] > 0.5) < np.argmax(large["m"] > 0.5)
    assert set(small) == {"sweeps", "mu", "lam", "V", "m", "q1", "O", "mse_x"}


# Mean squared errors of uninformed Bayes-optimal message passing, from the data of Maillard, Loureiro, Krzakala and
# Zdeborova, "Phase retrieval in high dimensions" (2020).
@pytest.mark.parametrize(
    ("alpha", "mse"), [(0.70, 0.8758), (1.006, 0.51356), (1.1005, 0.3076), (1.123, 0.2165), (1.1275, 0.1788)]
)
def test_published_bayes_optimal_errors(alpha, mse):
    assert bayes_optimal(alpha).mse_x == pytest.approx(mse, rel=0.01)
    assert pytest.approx(mse, rel=0.01) == saddle_point(alpha, 1e7, 1e-7).V


def test_weak_recovery_begins_continuously():
    assert bayes_optimal(0.501).mse_x == pytest.approx(saddle_point(0.501, 1e9, 1e-9).V, rel=1e-6)


def test_bayes_optimal_phases():
    assert bayes_optimal(0.4).mse_x == 1.0  # no weak recovery below 1/2
    assert bayes_optimal(0.7).phase == "impossible"
    assert bayes_optimal(1.1).phase == "hard"
    assert bayes_optimal(1.132).phase == "easy"
    assert bayes_optimal(1.132).mse_x == 0.0


@pytest.mark.parametrize("options", [{"damping": 1.0}, {"n": 0}, {"m0": 1.5}])
def test_bad_input(options):
    with pytest.raises(InputError):
        state_evolution(1.3, anneal(mu_max=10.0), **options)
    with pytest.raises(InputError):
        bayes_optimal(-1.0)

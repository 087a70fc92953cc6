"""Descent from Langevin's start: the start, that the loss falls to a minimum, and what that is."""

import numpy as np
import pytest

from phaselect import Langevin, Schedule, gaussian_instance
from phaselect.experiments import gradient_descent
from phaselect.experiments.gradient_descent import (
    descend_in_signs,
    descend_in_x,
    median_of_random_overlaps,
    start_of_langevin,
)


@pytest.fixture
def followed(monkeypatch):
    """Every place of a descent, in a list."""
    places, follow = [], gradient_descent._until_converged

    def watch(step, place):
        places.append(place)
        return follow(lambda now: places.append(step(now)) or places[-1], place)

    monkeypatch.setattr(gradient_descent, "_until_converged", watch)
    return places


def test_the_start_is_that_of_langevin_dynamics():
    """One iteration with hardly any step leaves a run of Langevin dynamics where it started."""
    problem = gaussian_instance(30, 1.6, seed=3)
    run = Langevin(step_size=1e-12).run(problem, Schedule([1e30], [0.0], 1, "iterations"), seed=7)
    np.testing.assert_allclose(run.state.theta, start_of_langevin(problem, 7), atol=1e-6)


def test_descent_in_x_ends_in_a_minimum_of_the_amplitude_loss(followed):
    problem = gaussian_instance(30, 2.0, seed=0)
    A, y = problem.A, problem.normalised.y
    reached = descend_in_x(problem, 0)
    Z = np.array(followed) @ problem.normalised.ridge.U.T
    losses = np.sum((np.abs(Z) - y) ** 2, axis=1)
    assert (np.diff(losses) <= 1e-12).all()
    assert losses[-1] < losses[0]
    assert reached.sweeps == len(followed) - 1
    signs = np.sign(Z[-1])
    best = A @ np.linalg.lstsq(A, signs * y, rcond=None)[0]  # of these signs; and its signs are these
    np.testing.assert_allclose(Z[-1], best, atol=1e-4)
    x = np.linalg.lstsq(A, Z[-1], rcond=None)[0]
    cosine = abs(x @ problem.x0) / np.linalg.norm(x) / np.linalg.norm(problem.x0)
    assert reached.converged_to == pytest.approx(cosine, rel=1e-9)


def test_descent_in_signs_lowers_the_loss_of_langevin_within_the_walls(followed):
    problem = gaussian_instance(30, 2.0, seed=0)
    descend_in_signs(problem, 0)
    V = np.array(followed) * problem.normalised.y
    left = V.T - problem.A @ np.linalg.lstsq(problem.A, V.T, rcond=None)[0]
    losses = np.sum(left**2, axis=0)
    assert (np.diff(losses) <= 1e-12).all()
    assert losses[-1] < 1e-4 * losses[0]  # the loss is convex: theta ends inside the cube, at zero
    assert np.abs(followed[-1]).max() <= 1 - 1 / 30 + 1e-15


@pytest.mark.parametrize("descend", [descend_in_x, descend_in_signs])
def test_what_descent_recovers(descend):
    easy = [descend(gaussian_instance(12, 8.0, seed=seed), seed) for seed in range(4)]
    hard = [descend(gaussian_instance(60, 1.3, seed=seed), seed) for seed in range(4)]
    assert sum(it.m > 0.99 and it.mse_y < 1e-20 for it in easy) >= 2
    assert sum(it.m > 0.99 for it in hard) <= 1


@pytest.mark.parametrize("runs", [1, 11, 12])
def test_the_median_overlap_of_random_directions(runs):
    drawn = np.random.default_rng(3).normal(size=(4000, runs, 20))
    overlaps = np.abs(drawn[..., 0]) / np.linalg.norm(drawn, axis=2)
    medians = np.median(overlaps, axis=1)
    for level in (0.5, 0.95):
        assert np.mean(medians < median_of_random_overlaps(20, runs, level)) == pytest.approx(level, abs=0.02)

"""The anneal of x: its stationary law, its two sets of directions, and what it recovers."""

import numpy as np
import pytest

from phaselect import Schedule, gaussian_instance
from phaselect.backends.host.random import random_chains
from phaselect.experiments.search_in_x import _metropolis, anneal_in_x, entries, singular_directions

MU, LAM = 1.5, 0.4


@pytest.mark.parametrize("along", [entries, singular_directions])
def test_it_samples_the_amplitude_loss(along):
    """Two unknowns: moments of |A x| against the integral over a grid of x, within four standard errors."""
    problem = gaussian_instance(2, 2.0, seed=4).normalised
    A = np.array([problem.forward(unit) for unit in np.eye(2)]).T
    line = np.linspace(-8, 8, 801)
    Z = np.stack(np.meshgrid(line, line), axis=-1) @ A.T
    penalty = LAM / 2 * np.sum(np.stack(np.meshgrid(line, line)) ** 2, axis=0)
    weight = np.exp(-MU * (np.sum((np.abs(Z) - problem.y) ** 2, axis=-1) + penalty))
    expected = np.average(np.abs(Z).reshape(-1, 4), axis=0, weights=weight.ravel())

    b, p = along(problem)
    np.testing.assert_allclose(b.T @ b, A @ A.T if along is entries else b.T @ b)
    c, z, state = np.zeros(2), np.zeros(4), random_chains(np.random.default_rng(0), 1)[0]
    drawn = []
    for _ in range(4000):
        accepted = _metropolis(b, p, problem.y, c, z, np.array([2.0, 2.0]), MU, LAM, 20, state)
        drawn.append(np.abs(z))
        assert 0 < accepted <= 40
    np.testing.assert_allclose(z, c @ b, atol=1e-9)
    error = np.std(drawn, axis=0) / np.sqrt(len(drawn) / 4)
    assert (np.abs(np.mean(drawn, axis=0) - expected) < 4 * error).all()
    assert (error < 0.03).all()


def test_directions_span_x():
    """The norm of x from its coordinates."""
    problem = gaussian_instance(8, 1.5, seed=0).normalised
    x = np.arange(1.0, 9.0)
    for along in (entries, singular_directions):
        b, p = along(problem)
        c = np.linalg.lstsq(b.T, problem.forward(x), rcond=None)[0]
        assert p @ c**2 == pytest.approx(x @ x)


@pytest.mark.parametrize("along", [entries, singular_directions])
def test_it_recovers_what_is_easy(along):
    schedule = Schedule.matched(mu_max=1e3, steps=30)
    reached = [anneal_in_x(gaussian_instance(30, 4.0, seed=seed), seed, schedule, along) for seed in range(4)]
    assert sum(it.m > 0.99 and it.mse_y < 1e-20 for it in reached) >= 3
    assert reached[0] == anneal_in_x(gaussian_instance(30, 4.0, seed=0), 0, schedule, along)


def test_it_says_so_where_it_fails():
    reached = anneal_in_x(gaussian_instance(60, 1.05, seed=0), 0, Schedule.matched(mu_max=100, steps=5))
    assert reached.m < 0.9
    assert reached.mse_y > 1e-8

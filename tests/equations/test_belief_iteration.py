"""What a measurement tells of an unknown, by integration; and of many unknowns, as AMP has it."""

import numpy as np
import pytest

from phaselect import gaussian_instance
from phaselect.backends.host.sparse import dense
from phaselect.equations.amp_iteration import Beliefs, iteration
from phaselect.equations.belief_iteration import belief_iteration, estimate, summed

A = np.array([[0.9, -0.7, 0.0], [0.0, 0.8, 0.6], [0.5, 0.0, 1.1]])
Y = np.array([0.8, 0.6, 0.3])
NONZEROS = dense(A).nonzeros(np.ones(3))


def messages(seed):
    """In the order of the entries of A that are not zero, row by row."""
    rng = np.random.default_rng(seed)
    return summed(rng.standard_normal(6), rng.uniform(0.2, 2, 6), NONZEROS)


@pytest.mark.parametrize("mu", [0.5, 5.0])
def test_an_unknown_gets_the_moments_that_a_measurement_gives_it(mu):
    """The first measurement, which sees two unknowns: believed as the others say, and weighted by how they fit."""
    old, Lam = messages(0), 1.3
    new = belief_iteration(old, mu, Lam / mu, 0.0, Y, NONZEROS)
    precision = Lam + np.array([old.q[4], old.q[2]])  # by the third, by the second
    mean = np.array([old.h[4], old.h[2]]) / precision
    grid = np.linspace(-12, 12, 1201)
    u, v = np.meshgrid(grid, grid, indexing="ij")
    fits = sum(np.exp(-mu * (sign * Y[0] - A[0, 0] * u - A[0, 1] * v) ** 2) for sign in (-1, 1))
    weight = fits * np.exp(-(precision[0] * (u - mean[0]) ** 2 + precision[1] * (v - mean[1]) ** 2) / 2)
    for k, x in enumerate((u, v)):
        expected = np.average(x, weights=weight)
        variance = np.average((x - expected) ** 2, weights=weight)
        told = precision[k] + new.q[k]
        assert (precision[k] * mean[k] + new.h[k]) / told == pytest.approx(expected, rel=1e-6)
        assert 1 / told == pytest.approx(variance, rel=1e-6)


def test_messages_are_damped():
    old = messages(1)
    at_once, damped = (belief_iteration(old, 2.0, 0.5, psi, Y, NONZEROS) for psi in (0.0, 0.3))
    for before, after, found in zip(old, at_once, damped, strict=True):
        np.testing.assert_allclose(found, 0.7 * after + 0.3 * before, rtol=1e-12)


def test_x_is_what_all_measurements_tell_together():
    told = messages(2)
    x = estimate(told, 0.7)
    assert x[1] == pytest.approx((told.h[1] + told.h[2]) / (0.7 + told.q[1] + told.q[2]))


def test_where_all_unknowns_are_seen_alike_amp_is_left():
    """An iteration from the same start, up to what one entry of many makes."""
    problem = gaussian_instance(300, 1.5, seed=0).normalised
    nonzeros, rng = problem.nonzeros, np.random.default_rng(0)
    start = 0.3 * rng.standard_normal(300)
    first = summed(0.01 * nonzeros.in_columns(start), np.full(nonzeros.values.shape, 0.01), nonzeros)
    second = belief_iteration(first, 0.2, 5.0, 0.0, problem.y, nonzeros)
    x, V = estimate(first, 1.0), np.float64(1 / (1 + 0.01 * problem.m_rows))
    zeros = np.zeros(problem.m_rows)
    beliefs = Beliefs(x, V, V, zeros, zeros, zeros)
    amp = problem.with_message_pass(False, lambda pass_over: iteration(beliefs, 0.2, 5.0, 0.0, pass_over))
    found = estimate(second, 1.0)
    assert np.linalg.norm(found - amp.x) < 0.1 * np.linalg.norm(amp.x)

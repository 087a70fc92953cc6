"""The AMP iteration against plain NumPy, and the collapsed form against the paper's two-level form."""

import numpy as np
import pytest

from phaselect import Instance, Schedule, gaussian_instance
from phaselect.backends.host import passes
from phaselect.equations.amp_iteration import Beliefs, diverged, iteration, pass_by_products
from phaselect.experiments.pseudo_code import message_passing, split_start
from tests.exact import normalised

MU = Schedule.matched(mu0=30, mu_max=1e3, eps=0.1).mu


def collapsed(A, y, x, mus, product, psi):
    """The collapsed equations, in plain NumPy; yields x after each iteration."""
    V = Vd = 1.0
    w, g = np.zeros(y.size), np.zeros(y.size)
    for t, mu in enumerate(mus):
        damping = psi if t else 0.0
        Vd = (1 - damping) * V + damping * Vd
        c = 1 / (1 / (2 * mu) + Vd)
        w = (1 - damping) * (A @ x - V * g) + damping * w
        g = c * (y * np.tanh(c * y * w) - w)
        chi = max(0.0, np.sum(c - (c * y) ** 2 * (1 - np.tanh(c * y * w) ** 2)) / x.size)
        x = (A.T @ g + chi * x) / (product + chi)
        V = 1 / (product + chi)
        yield x


def amp_states(problem, x, mus, product, psi, pass_over=None):
    own = problem.normalised
    pass_over = pass_over or own.with_message_pass(False, lambda given: given)
    zeros = np.zeros(own.m_rows)
    state = Beliefs(x, 1.0, 1.0, zeros, zeros, zeros)
    for t, mu in enumerate(mus):
        state = iteration(state, mu, product / mu, psi if t else 0.0, pass_over)
        yield state


@pytest.mark.parametrize("m_rows", [52, 53, 54, 55])  # every remainder of rows by four
def test_iteration_is_the_plain_formula(m_rows):
    problem = gaussian_instance(40, m_rows / 40, seed=0)
    A, y = normalised(problem)
    x = np.random.default_rng(0).standard_normal(40)
    states = amp_states(problem, x, MU, 1.2, 0.3)
    by_products = pass_by_products(lambda x: A @ x, lambda z: A.T @ z, y)
    others = amp_states(problem, x, MU, 1.2, 0.3, by_products)
    for state, other, expected in zip(states, others, collapsed(A, y, x, MU, 1.2, 0.3), strict=True):
        np.testing.assert_allclose(state.x, expected, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(other.x, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])  # of the variance to start with, inside the regression
def test_two_level_form_gives_the_same_iterates(share):
    """On a matrix with entries +-1/sqrt(N), where entrywise and scalar variances coincide, at fixed mu."""
    rng = np.random.default_rng(0)
    A = rng.choice([-1.0, 1.0], (60, 40)) / np.sqrt(40)
    problem = Instance(A, np.abs(A @ rng.standard_normal(40)))
    A, y = normalised(problem)
    x = rng.standard_normal(40)
    mus = np.full(40, 50.0)
    states = amp_states(problem, x, mus, 1.0, 0.0)
    for state, expected in zip(states, message_passing(A, y, split_start(x, 60, 50.0, share), mus, 1.0), strict=True):
        np.testing.assert_allclose(state.x, expected.x, rtol=1e-7, atol=1e-9)


def test_blocks_of_rows_change_nothing(monkeypatch):
    problem = gaussian_instance(40, 1.4, seed=0)
    x = np.random.default_rng(0).standard_normal(40)
    whole = list(amp_states(problem, x, MU, 1.0, 0.3))[-1]
    monkeypatch.setattr(passes, "BLOCK_BYTES", 2000)
    assert len(passes.row_blocks(problem.A)) > 5
    split = list(amp_states(problem, x, MU, 1.0, 0.3))[-1]
    np.testing.assert_allclose(split.x, whole.x, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(
    ("dtype", "compute", "error"),
    [("float64", "float64", 1e-13), ("float32", "float64", 1e-13), ("float32",) * 2 + (1e-5,)],
)
@pytest.mark.parametrize("vectors", [1, 2, 3, 4])
def test_residual_pass(dtype, compute, error, vectors, monkeypatch):
    """Any number of vectors, and rows that fill no fours; in one block, and in several."""
    rng = np.random.default_rng(0)
    A, scale = rng.standard_normal((57, 13)).astype(dtype), rng.uniform(0.5, 2, 57)
    x, target = rng.standard_normal((vectors, 13)).astype(compute), rng.standard_normal((vectors, 57)).astype(compute)
    rows = scale[:, None] * A.astype(float)
    z = x @ rows.T
    for block_bytes in (passes.BLOCK_BYTES, 512):
        monkeypatch.setattr(passes, "BLOCK_BYTES", block_bytes)
        found = passes.residual_pass(A, scale, x, target)
        assert found[0].dtype == found[1].dtype == compute
        for one, expected in zip(found, (z, (target - z) @ rows), strict=True):
            np.testing.assert_allclose(one, expected, rtol=0, atol=error * np.abs(expected).max())


def test_divergence():
    assert not diverged(np.full(9, 900.0))
    assert diverged(np.full(9, 2000.0))
    assert diverged(np.array([0.0, np.nan]))

"""Sums over eigenvalues against the eigenvalues themselves."""

import numpy as np
import pytest

from phaselect.backends.host import loops
from phaselect.equations.lanczos import Eigenvalues, quadrature


def normal_of(A):
    return lambda p: p @ A.T @ A


def test_one_vector_is_a_gauss_quadrature():
    """Sums over the eigenvalues that r has components of, to all digits, once there were as many steps as unknowns."""
    rng = np.random.default_rng(0)
    A, r = rng.standard_normal((30, 20)), rng.choice([-1.0, 1.0], (1, 20))
    found = quadrature(normal_of(A), r, loops)
    values, vectors = np.linalg.eigh(A.T @ A)
    for g, Lam in ((1e-2, 1.0), (10.0, 1.0), (1e6, 0.3)):
        exact = np.sum((r @ vectors) ** 2 * values / (g * values + Lam)) / 30
        assert found.mean_variance(g, Lam, 30) == pytest.approx(exact, rel=1e-9)
    assert found.weights.sum() == pytest.approx(20)


def test_all_unknowns_together_give_the_trace():
    """Signs whose mean outer product is one; the steps lose some digits where eigenvalues are far apart."""
    rng = np.random.default_rng(1)
    A = rng.standard_normal((18, 12)) * np.geomspace(1, 30, 12)
    signs = np.array([[(-1.0) ** bin(i & j).count("1") for j in range(16)] for i in range(16)])[:, :12]
    found = quadrature(normal_of(A), signs, loops)
    values = np.linalg.eigvalsh(A.T @ A)
    assert found.mean_variance(0.1, 1.0, 18) == pytest.approx(np.sum(values / (0.1 * values + 1)) / 18, rel=1e-4)


def test_few_steps_are_enough_for_a_smooth_sum():
    rng = np.random.default_rng(2)
    A = rng.standard_normal((420, 300)) / np.sqrt(300)
    found, values = quadrature(normal_of(A), rng.choice([-1.0, 1.0], (40, 300)), loops), np.linalg.eigvalsh(A.T @ A)
    assert found.values.shape == (40 * 60,)
    for g in (0.01, 1.0, 1e4):
        exact = Eigenvalues(values, np.ones(300)).mean_variance(g, 1.0, 420)
        assert found.mean_variance(g, 1.0, 420) == pytest.approx(exact, rel=0.03)


def test_it_ends_where_there_is_one_eigenvalue():
    """Columns that are orthogonal: a step finds all there is."""
    Q = np.linalg.qr(np.random.default_rng(3).standard_normal((60, 40)))[0]
    calls = []

    def normal(p):
        calls.append(1)
        return 2.0 * p @ Q.T @ Q

    found = quadrature(normal, np.random.default_rng(4).choice([-1.0, 1.0], (2, 40)), loops)
    counts = found.weights > 1e-9
    np.testing.assert_allclose(found.values[counts], 2.0)
    assert (len(calls), found.weights[counts].sum()) == (1, pytest.approx(40))

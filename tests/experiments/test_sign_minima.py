"""Minima over all signs: against regressions one by one, and against the amplitude loss itself."""

import numpy as np
import pytest

from phaselect import gaussian_instance
from phaselect.experiments.sign_minima import sign_minima
from tests import exact


def brute_force(A, y, lam):
    """Numbers of SignMinima, one of S and -S counted: each S regressed by itself, each flip by its own energy."""
    m_rows = y.size
    signs = exact.all_signs(m_rows)
    energy = exact.energies(A, y, lam)
    X = np.linalg.solve(A.T @ A + lam / 2 * np.eye(A.shape[1]), A.T @ (signs * y).T).T
    own = (np.sign(X @ A.T) == signs).all(axis=1)
    flips = np.arange(2**m_rows)[:, None] ^ (1 << np.arange(m_rows))
    stable = (energy[:, None] <= energy[flips]).all(axis=1)
    misfit = np.sort(np.sum((signs * y - X @ A.T) ** 2, axis=1))[::2] / np.sum(y**2)
    exactly = int(np.sum(misfit < 1e-20))
    return own.sum() / 2, stable.sum() / 2, np.sum(stable & ~own) / 2, exactly, misfit[exactly]


@pytest.mark.parametrize(("n", "m_rows", "lam"), [(4, 7, 0.0), (5, 10, 0.3), (6, 11, 0.0), (6, 13, 1.0)])
def test_counts_by_brute_force(n, m_rows, lam):
    problem = gaussian_instance(n, m_rows / n, seed=m_rows)
    found, expected = sign_minima(problem.A, problem.y, lam), brute_force(problem.A, problem.y, lam)
    assert found[:4] == expected[:4]
    assert found.runner_up == pytest.approx(expected[4], rel=1e-9)


def test_retrieval_has_a_minimum_wherever_descent_ends():
    """Descent on the amplitude loss, from everywhere, ends in as many places as are counted, and in each of them."""
    problem = gaussian_instance(3, 2.0, seed=1)
    A, y, rate = problem.A, problem.y, 1 / np.linalg.norm(problem.A, 2) ** 2
    X = 3 * np.random.default_rng(0).standard_normal((4000, 3))
    for _ in range(600):
        Z = X @ A.T
        X = X - rate * (Z - y * np.sign(Z)) @ A
    ends = {tuple(signs * signs[0]) for signs in np.sign(X @ A.T)}
    assert len(ends) == sign_minima(A, y).retrieval > 3


@pytest.mark.parametrize("m_rows", [4, 6])
def test_without_measurements_in_excess_everything_fits(m_rows):
    problem = gaussian_instance(6, 2.0, seed=0)
    found = sign_minima(problem.A[:m_rows], problem.y[:m_rows])
    assert found[:4] == (2 ** (m_rows - 1), 2 ** (m_rows - 1), 0, 2 ** (m_rows - 1))
    assert found.runner_up == np.inf


def test_rivals_are_found():
    """Two blocks that nothing joins: the sign of the one is free."""
    first, second = gaussian_instance(3, 5 / 3, seed=0), gaussian_instance(3, 5 / 3, seed=1)
    A = np.block([[first.A, np.zeros((5, 3))], [np.zeros((5, 3)), second.A]])
    assert sign_minima(A, np.concatenate([first.y, second.y])).exact == 2


def test_rounding_does_not_add_up():
    """65536 flips: the truth, visited late, still fits exactly."""
    problem = gaussian_instance(10, 1.7, seed=2)
    found = sign_minima(problem.A, problem.y)
    assert found.exact == 1
    assert 1e-12 < found.runner_up < 1e-2

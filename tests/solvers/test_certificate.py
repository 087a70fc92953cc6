"""What cannot be determined is never certified; what can be, is."""

import numpy as np
import pytest
from phaselect.problem.observables import mse_x, mse_y
from phaselect.problem.spectrum import spectrum

from phaselect import Instance, Status, gaussian_instance, solve
from phaselect.solvers.certificate import EXACT_FIT, certified, determined, evidence
from tests.exact import all_signs

rng = np.random.default_rng(0)


def judged(problem, x, signs, rank):
    return certified(evidence(problem, x, signs, rank), problem.m_rows, rank)


def gauss(m_rows, n):
    return rng.standard_normal((m_rows, n))


def repeated():
    square = gauss(20, 20)
    return np.vstack([square, square]), rng.standard_normal(20)


def nearly_repeated():
    square = gauss(20, 20)
    return np.vstack([square, -2 * square + 1e-10 * gauss(20, 20)]), rng.standard_normal(20)


def blocks():
    return np.kron(np.eye(2), gauss(40, 20)), rng.standard_normal(40)


def rotated_blocks():
    rotation = np.linalg.qr(gauss(40, 40))[0]
    return np.kron(np.eye(2), gauss(40, 20)) @ rotation, rng.standard_normal(40)


def lonely_columns():
    """Ten columns that only ten measurements see."""
    A = gauss(50, 30)
    A[:40, 20:] = 0
    return A, rng.standard_normal(30)


def bridge_of_zero():
    """Two blocks tied together by a column where the signal is zero."""
    A = np.zeros((60, 31))
    A[:30, :15], A[30:, 15:30], A[:, 30] = gauss(30, 15), gauss(30, 15), rng.standard_normal(60)
    x0 = rng.standard_normal(31)
    x0[30] = 0
    return A, x0


def row_of_zero():
    """Two blocks and rows across both that see nothing of either."""
    A, x0 = np.zeros((62, 30)), rng.standard_normal(30)
    A[:30, :15], A[30:60, 15:] = gauss(30, 15), gauss(30, 15)
    for part in (slice(0, 15), slice(15, 30)):
        across = gauss(2, 15)
        A[60:, part] = across - np.outer(across @ x0[part], x0[part]) / (x0[part] @ x0[part])
    return A, x0


def twins():
    A = gauss(60, 30)
    A[:, 4] = A[:, 17]
    return A, rng.standard_normal(30)


@pytest.mark.parametrize(
    "make", [repeated, nearly_repeated, blocks, rotated_blocks, lonely_columns, bridge_of_zero, row_of_zero, twins]
)
def test_what_the_data_leave_open_is_not_certified(make):
    A, x0 = make()
    problem = Instance(A, np.abs(A @ x0), x0)
    assert not judged(problem, x0, problem.signs, spectrum(problem).rank)
    result = solve(A, problem.y, time_limit=5)
    assert not result.certified
    if result.mse_y < 1e-20:
        assert result.status is Status.AMBIGUOUS


@pytest.mark.parametrize("with_svd", [True, False])
def test_what_the_data_fix_is_determined(with_svd):
    problems = [gaussian_instance(40, 1.3, seed=0), gaussian_instance(60, 1.5, seed=1, density=0.2)]
    sparse = gauss(120, 40) * (rng.random((120, 40)) < 0.2)
    problems.append(Instance(sparse, np.abs(sparse @ np.ones(40)), np.ones(40)))
    for problem in problems:
        if with_svd:
            spectrum(problem)
        assert determined(problem, problem.x0, problem.signs, problem.n)


def test_a_wrong_sign_at_a_tiny_magnitude_is_not_certified():
    """Its residual is below what counts as exact; only the miss at that one measurement tells."""
    A, x0 = gauss(130, 100) / 10, rng.standard_normal(100)
    A[7] -= (A[7] @ x0 - 1e-6) * x0 / (x0 @ x0)
    problem = Instance(A, np.abs(A @ x0), x0)
    signs = problem.signs * (1 - 2 * np.eye(130)[7])
    fitted = np.linalg.lstsq(A, signs * problem.y, rcond=None)[0]
    assert mse_y(problem, fitted, signs) < EXACT_FIT
    assert not judged(problem, fitted, signs, 100)
    assert judged(problem, x0, problem.signs, 100)


def test_a_close_fit_is_not_an_exact_one():
    """Every measurement met to 1e-5, and no impostor could: the right signs, but not the exact x."""
    problem = gaussian_instance(100, 1.3, seed=0)
    assert not judged(problem, 1.00001 * problem.x0, problem.signs, 100)


def test_small_discrete_problems_by_enumeration():
    """Certified exactly when no other sign vector fits: entries +-1, integer signals, where coincidences abound."""
    seen = set()
    for _ in range(150):
        n = int(rng.integers(2, 6))
        A = rng.choice([-1.0, 1.0], (int(rng.integers(n + 1, 10)), n))
        x0 = rng.integers(-3, 4, n).astype(float)
        if not (A @ x0).any() or np.linalg.matrix_rank(A) < n:
            continue
        y = np.abs(A @ x0)
        fits = np.unique(
            [
                np.round(np.linalg.lstsq(A, S * y, rcond=None)[0] * np.sign(S @ y), 6)
                for S in all_signs(y.size)
                if np.linalg.norm(A @ np.linalg.lstsq(A, S * y, rcond=None)[0] - S * y) < 1e-9
            ],
            axis=0,
        )
        distinct = {min(tuple(x), tuple(-x)) for x in fits + 0.0}
        result = solve(A, y, time_limit=2)
        if result.certified:
            assert len(distinct) == 1
            assert mse_x(x0, result.x) < 1e-12
        seen.add((result.certified, len(distinct) == 1))
    assert {(True, True), (False, False)} <= seen

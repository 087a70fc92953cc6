"""What cannot be determined is never certified; what can be, is."""

import numpy as np
import pytest

from phaselect import AMP, Instance, Status, gaussian_instance, solve
from phaselect.equations.signs import missed, mse_x
from phaselect.solvers.certificate import EXACT_FIT, determined, judge, probe_points
from phaselect.solvers.finish import Answer, examine
from phaselect.solvers.verdict import Grade
from tests.exact import all_signs

rng = np.random.default_rng(0)


def given(problem, x, signs):
    """An answer, in the units of the data."""
    own = problem.normalised
    x = x / problem.units.x_scale
    residual = signs * own.y - own.forward(x)
    return Answer(x, signs, np.mean(residual**2), missed(own.y, residual))


def support_of(problem):
    own = problem.normalised
    return examine(own, probe_points(own.y, own.n))


def grade(problem, x, signs):
    own = problem.normalised
    return judge(lambda: own, own.y, given(problem, x, signs), support_of(problem)).grade


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
    assert grade(problem, x0, problem.signs) is Grade.AMBIGUOUS
    result = AMP(restarts=0).run(problem, AMP().default_schedule()[-1:], init=x0)
    assert result.mse_y < 1e-20
    assert result.status is Status.AMBIGUOUS
    assert not result.certified


@pytest.mark.parametrize("with_svd", [True, False])
def test_what_the_data_fix_is_determined(with_svd):
    problems = [gaussian_instance(40, 1.3, seed=0), gaussian_instance(60, 1.5, seed=1, density=0.2)]
    sparse = gauss(120, 40) * (rng.random((120, 40)) < 0.2)
    problems.append(Instance(sparse, np.abs(sparse @ np.ones(40)), np.ones(40)))
    for problem in problems:
        own, answer = problem.normalised, given(problem, problem.x0, problem.signs)
        if with_svd:
            own.ridge  # noqa: B018
        assert determined(lambda own=own: own, own.y, answer, support_of(problem))
        assert grade(problem, problem.x0, problem.signs) is Grade.CERTIFIED


def test_a_wrong_sign_at_a_tiny_magnitude_is_not_certified():
    """Its residual is below what counts as exact; only the miss at that one measurement tells."""
    A, x0 = gauss(130, 100) / 10, rng.standard_normal(100)
    A[7] -= (A[7] @ x0 - 1e-6) * x0 / (x0 @ x0)
    problem = Instance(A, np.abs(A @ x0), x0)
    signs = problem.signs * (1 - 2 * np.eye(130)[7])
    fitted = np.linalg.lstsq(A, signs * problem.y, rcond=None)[0]
    assert given(problem, fitted, signs).fit < EXACT_FIT
    assert grade(problem, fitted, signs) is Grade.UNCERTIFIED
    assert grade(problem, x0, problem.signs) is Grade.CERTIFIED


def test_a_close_fit_is_not_an_exact_one():
    """Every measurement met to 1e-5, and no impostor could: the right signs, but not the exact x."""
    problem = gaussian_instance(100, 1.3, seed=0)
    assert grade(problem, 1.00001 * problem.x0, problem.signs) is Grade.INEXACT


def test_the_truth_is_certified_and_a_wrong_sign_never():
    """One wrong sign, at the smallest y too, or several; with the true x or with the best x for those signs."""
    for seed in range(4):
        problem = gaussian_instance(60, 1.25, seed=seed)
        assert grade(problem, problem.x0, problem.signs) is Grade.CERTIFIED
        smallest = np.argsort(problem.y)
        for wrong in ([smallest[0]], smallest[:2], [smallest[40]], smallest[-10:]):
            signs = problem.signs.copy()
            signs[wrong] *= -1
            fitted = np.linalg.lstsq(problem.A, signs * problem.y, rcond=None)[0]
            for x in (problem.x0, fitted):
                assert grade(problem, x, signs) is not Grade.CERTIFIED


def test_small_discrete_problems_by_enumeration():
    """Certified exactly when no other sign vector fits: entries +-1, integer signals, where coincidences abound."""
    seen = set()
    for _ in range(60):
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
        result = solve(A, y)
        if result.certified:
            assert len(distinct) == 1
            assert mse_x(x0, result.x) < 1e-12
        seen.add((result.certified, len(distinct) == 1))
    assert {(True, True), (False, False)} <= seen

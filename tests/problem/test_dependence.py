"""Columns that depend on each other are named, of any form of A; those that nearly do are not."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.linalg import aslinearoperator

import phaselect
from phaselect import DataWarning, Instance, Status, ensemble_instance, solve
from phaselect.problem.dependence import dependent_columns
from phaselect.problem.matrix_kinds import KINDS
from tests.fuzz import kinds


def gauss(m, n, seed=0):
    return np.random.default_rng(seed).standard_normal((m, n))


def said(A, **options):
    columns = A.shape[1]
    return " ".join(dependent_columns(Instance(A, np.abs(A @ gauss(1, columns)[0]), **options)))


def equal_columns():
    A = gauss(60, 30)
    A[:, 7], A[:, 20] = A[:, 3], -0.5 * A[:, 11]
    return A


def with_phases(A):
    return A * np.exp(1j * np.arange(60))[:, None]


@pytest.mark.parametrize("form", [np.asarray, np.float32, csr_array, aslinearoperator, with_phases])
def test_equal_columns_are_named(form):
    line = said(form(equal_columns()))
    assert line.startswith("A does not determine x, whatever y is: ")
    assert "columns 3 and 7 are equal" in line
    assert "columns 11 and 20 are multiples of each other" in line


def test_multiples_are_rounded():
    A = gauss(60, 30)
    A[:, 20] = 0.3 * A[:, 11]
    assert "columns 11 and 20" in said(A)


def test_real_parts_alone_do_not_make_columns_equal():
    A = gauss(60, 30) + 1j * gauss(60, 30, 1)
    A[:, 7] = A[:, 3].conj()
    assert said(A, real=True) == ""
    A[:, 7] = A[:, 3]
    assert "3 and 7" in said(A, real=True)


def one_hot(m, n):
    """Groups of which one entry is one, and a column of ones."""
    A = np.zeros((m, n))
    A[:, 0] = 1
    A[np.arange(m), np.random.default_rng(0).integers(1, n // 2, m)] = 1
    A[:, n // 2 :] = gauss(m, n - n // 2) > 0
    return A


DEFICIENT = {
    "rank 25": gauss(60, 25) @ gauss(25, 30, 1),
    "rank 29": np.column_stack([gauss(60, 29), 1e-12 * gauss(60, 29).sum(axis=1)]),
    "rank 20": np.vstack([gauss(20, 30)] * 3),
    "rank 39": one_hot(100, 40),
}


@pytest.mark.parametrize("rank", DEFICIENT)
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_a_rank_that_is_too_low_is_told(rank, form):
    assert rank in said(form(DEFICIENT[rank]))


def with_condition(power, m=60, n=30):
    return np.linalg.qr(gauss(m, n))[0] * np.logspace(0, -power, n) @ np.linalg.qr(gauss(n, n, 1))[0]


def signs_of_condition_2_to_the(n):
    """Whole numbers, of full rank as it is triangular."""
    triangle = np.triu(-np.ones((n, n)), 1) + np.eye(n)
    return np.vstack([triangle, triangle[::-1]])


FULL = {
    "condition 1e8": with_condition(8),
    "condition 1e15": with_condition(15),
    "weak columns": gauss(60, 30) * np.logspace(0, -200, 30),
    "weak rows": gauss(60, 30) * np.logspace(0, -140, 60)[:, None],
    "signs": signs_of_condition_2_to_the(80),
    "signs, scaled": 0.1 * signs_of_condition_2_to_the(80),
    "nearly equal": np.column_stack([gauss(60, 29), gauss(60, 29)[:, 3] * (1 + 1e-14 * gauss(60, 1)[:, 0])]),
}


@pytest.mark.parametrize("name", FULL)
def test_ill_conditioned_is_not_dependent(name):
    assert said(FULL[name]) == ""


@pytest.mark.parametrize("kind", KINDS)
def test_no_kind_of_random_matrix_is_suspected(kind):
    for n, alpha, seed in ((40, 1.2, 0), (41, 1.5, 1), (150, 1.1, 2)):
        assert dependent_columns(ensemble_instance(kind, n, alpha, seed=seed)) == ()


@pytest.mark.parametrize("kind", [kinds.low_rank, kinds.null_space_of_a_known_seed, kinds.deficient_by_zeros])
def test_null_spaces_of_the_fuzz(kind):
    for seed in range(5):
        assert "rank" in said(kind(np.random.default_rng(seed), 50, 30))


def test_the_user_is_told_before_and_after():
    A = equal_columns()
    with pytest.warns(DataWarning, match="columns 3 and 7 are equal"):
        result = solve(A, np.abs(A @ gauss(1, 30)[0]))
    assert result.status is Status.AMBIGUOUS
    assert "columns 3 and 7" in result.message
    assert "columns 3 and 7" in result.warnings[0]


@pytest.mark.filterwarnings("error::phaselect.DataWarning")
def test_a_prior_may_tell_what_a_does_not():
    problem = phaselect.gaussian_instance(60, 0.9, seed=0, density=0.1)
    assert solve(problem, prior="sparse").status is not Status.NOT_RECOVERED
    A = np.column_stack([problem.A, problem.A[:, 0]])
    solve(np.vstack([A, A[:20]]), np.concatenate([problem.y, problem.y[:20]]), prior="sparse", time_limit=1)


def test_digits_beyond_float64_count():
    A = [["1", "1.00000000000000000001"], ["2", "2"], ["3", "3"]]
    assert dependent_columns(Instance.exact(A, ["1", "2", "3"])) == ()
    assert "columns 0 and 1 are equal" in said(np.array(A, dtype=float))

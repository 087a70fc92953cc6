"""Kinds of matrices are what their names say: moments and products against closed forms."""

import pickle

import numpy as np
import pytest
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator

from phaselect import InputError, ensemble_instance, ensembles, gaussian_instance
from phaselect.problem.matrix_kinds import KINDS, can_be_complex

M, N = 400, 40
HEAVY = {"student_t", "uneven_rows", "uneven_columns"}
"""Kinds of which 400 rows do not know the mean square well."""


def drawn(kind, m_rows=M, n=N, seed=0, **options):
    return ensembles.matrix(kind, m_rows, n, seed, **options)


def row_powers(A):
    return np.sum(A**2, axis=1)


@pytest.mark.parametrize("kind", KINDS)
def test_shape_and_seed(kind):
    A = drawn(kind, 45, 30)
    assert A.shape == (45, 30)
    assert A.dtype == np.float64
    np.testing.assert_array_equal(drawn(kind, 45, 30), A)
    assert not np.array_equal(drawn(kind, 45, 30, seed=1), A)
    assert not np.array_equal(drawn(kind, 46, 30)[:45], A)  # shapes have nothing in common


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in HEAVY])
def test_rows_have_unit_mean_square(kind):
    assert np.mean(row_powers(drawn(kind))) == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("kind", ["uneven_rows", "uneven_columns"])
def test_uneven_ones_have_unit_mean_square_too(kind):
    """With a spread that 400 rows, or columns, can average over."""
    assert np.mean(row_powers(drawn(kind, 400, 400, spread=0.3))) == pytest.approx(1, abs=0.1)
    np.testing.assert_allclose(drawn(kind, spread=0.0), drawn("gaussian"))


def test_the_law_of_entries():
    assert set(np.round(drawn("signs").ravel() * np.sqrt(N), 12)) == {-1.0, 1.0}
    assert set(np.round(drawn("binary").ravel() * np.sqrt(N / 2), 12)) == {0.0, 1.0}
    flat = drawn("uniform") / np.sqrt(3 / N)
    assert 0 < flat.min() < 0.01
    assert 0.99 < flat.max() < 1
    assert np.mean(flat) == pytest.approx(1 / 2, abs=0.01)
    for mean in (0.1, 1.0):
        entries = drawn("biased", mean=mean)
        assert np.mean(entries) / np.std(entries) == pytest.approx(mean, abs=0.03)
    tails = [np.mean(np.abs(drawn("student_t", degrees=degrees)) * np.sqrt(N) > 10) for degrees in (1.5, 2.5, 30)]
    assert tails[0] > 2 * tails[1] > tails[2] == 0


def test_correlated_columns():
    correlations = np.corrcoef(drawn("toeplitz", 4000).T)
    for apart in (1, 3):
        np.testing.assert_allclose(np.diag(correlations, apart), 0.9**apart, atol=0.02 * apart)
    assert np.corrcoef(drawn("toeplitz", 4000, rho=-0.5).T)[5, 6] == pytest.approx(-0.5, abs=0.05)
    np.testing.assert_allclose(
        np.mean(drawn("toeplitz", 4000) ** 2, axis=0), 1 / N, rtol=0.1
    )  # from the first column on


def test_uneven_norms():
    assert np.std(np.log(row_powers(drawn("uneven_rows"))) / 2) == pytest.approx(1, abs=0.1)
    assert np.std(np.log(row_powers(drawn("uneven_columns", 100, 400).T)) / 2) == pytest.approx(1, abs=0.1)
    assert np.std(np.log(row_powers(drawn("uneven_columns")))) < 1  # rows see all columns


def test_orthogonal_columns_or_rows():
    A = drawn("orthogonal")
    np.testing.assert_allclose(A.T @ A, M / N * np.eye(N), atol=1e-12)
    B = drawn("orthogonal", 30, 40)
    np.testing.assert_allclose(B @ B.T, np.eye(30), atol=1e-12)


def test_directions_are_uniform():
    """By the Haar measure an entry is positive as often as negative; LAPACK's signs alone make the first negative."""
    first = [drawn("orthogonal", 6, 3, seed=seed)[0, 0] for seed in range(60)]
    assert 15 < np.sum(np.array(first) > 0) < 45


def test_a_given_spectrum():
    values = np.linspace(3, 0, N)
    np.testing.assert_allclose(np.linalg.svd(drawn("spectrum", values=values))[1], values, atol=1e-12)
    found = np.linalg.svd(drawn("spectrum"))[1]
    np.testing.assert_allclose(found[1:] / found[:-1], 30 ** (-1 / (N - 1)), rtol=1e-10)
    assert np.sum(found**2) == pytest.approx(M)
    assert np.linalg.cond(drawn("spectrum", condition=7)) == pytest.approx(7)
    assert np.linalg.cond(drawn("spectrum", 20, 30)) == pytest.approx(30)


def test_rows_of_a_circulant_are_shifts_of_one_another():
    rows = drawn("circulant", N)
    assert all(any(np.array_equal(np.roll(rows[0], k), row) for k in range(N)) for row in rows)


# ------------------------------------------------------------------ complex ones


@pytest.mark.parametrize("kind", [kind for kind in KINDS if can_be_complex(kind)])
def test_complex_kinds_have_the_moments_of_real_ones(kind):
    """Rows of unit mean square, and phases without a preferred direction."""
    steady = {"spread": 0.1} if kind.startswith("uneven") else {}
    A = drawn(kind, field="complex", **steady)
    assert A.shape == (M, N)
    assert A.dtype == np.complex128
    power = np.mean(np.abs(A) ** 2)
    assert N * power == pytest.approx(1, abs=0.15)
    assert abs(np.mean(A**2)) < 0.1 * power
    np.testing.assert_array_equal(drawn(kind, field="complex", **steady), A)
    np.testing.assert_array_equal(drawn(kind, field="real", **steady), drawn(kind, **steady))


def test_complex_columns_are_unitary_in_uniform_directions():
    A, B = drawn("orthogonal", field="complex"), drawn("orthogonal", 30, 40, field="complex")
    np.testing.assert_allclose(A.conj().T @ A, M / N * np.eye(N), atol=1e-12)
    np.testing.assert_allclose(B @ B.conj().T, np.eye(30), atol=1e-12)
    first = [drawn("orthogonal", 6, 3, seed=seed, field="complex")[0, 0] for seed in range(60)]
    assert 15 < np.sum(np.real(first) > 0) < 45  # LAPACK's phases alone make it negative
    values = np.linspace(3, 0, N)
    np.testing.assert_allclose(np.linalg.svd(drawn("spectrum", values=values, field="complex"))[1], values, atol=1e-12)


def test_kinds_without_a_complex_version_say_so():
    with pytest.raises(InputError, match=r"ensemble dct is real: .* gaussian, orthogonal, .* can be complex"):
        drawn("dct", field="complex")
    with pytest.raises(InputError, match="field 'whole': use one of real, complex"):
        drawn("gaussian", field="whole")


# ------------------------------------------------------------------ sparse matrices and cosine transforms


def test_sparse_rows_have_as_many_entries_as_they_are_told():
    for count in (10, 3):
        A = drawn("sparse", nonzeros=count)
        assert (np.sum(A != 0, axis=1) == count).all()
        assert np.var(A[A != 0]) == pytest.approx(1 / count, rel=0.1)
    assert np.std(np.sum(drawn("sparse") != 0, axis=0)) == pytest.approx(np.sqrt(M * 0.25 * 0.75), rel=0.4)


def test_no_column_of_a_sparse_matrix_is_empty():
    """Left to chance, 13 % of these would be."""
    A = drawn("sparse", 5000, 5000, dense=False, nonzeros=2)
    degrees = np.bincount(A.indices, minlength=5000)
    assert degrees.min() == 1
    assert A.nnz == 10_000
    assert (np.diff(A.tocsc().tocsr().indptr) == 2).all()  # two different places in each row


def test_forms():
    """An array where it is small, what it is drawn as where it is large, or as it is told."""
    assert isinstance(drawn("dct"), np.ndarray)
    assert isinstance(drawn("sparse"), np.ndarray)
    assert isinstance(drawn("dct", 2100, 2001), LinearOperator)
    assert issparse(drawn("sparse", 2100, 2001))
    assert issparse(drawn("sparse", dense=False))
    np.testing.assert_array_equal(drawn("sparse", dense=False).toarray(), drawn("sparse"))
    assert isinstance(drawn("gaussian", dense=False), np.ndarray)


@pytest.mark.parametrize("m_rows", [30, 40, 55, 80, 100])
def test_operator_and_array_of_cosines_agree(m_rows):
    operator, A = drawn("dct", m_rows, dense=False), drawn("dct", m_rows)
    rng = np.random.default_rng(1)
    x, z = rng.standard_normal(N), rng.standard_normal(m_rows)
    np.testing.assert_allclose(operator.matvec(x), A @ x, atol=1e-12)
    np.testing.assert_allclose(operator.rmatvec(z), A.T @ z, atol=1e-12)
    assert operator.matvec(x) @ z == pytest.approx(x @ operator.rmatvec(z))
    np.testing.assert_allclose(operator.H @ np.eye(m_rows), A.T, atol=1e-12)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(operator)) @ x, A @ x, atol=1e-12)


def test_cosines_are_rows_of_the_transform_behind_masks():
    """With 37 entries, a prime, the frequency zero alone has even magnitudes: its two rows are the masks."""
    n = 37
    A = drawn("dct", 2 * n, n)
    np.testing.assert_allclose(A.T @ A, 2 * np.eye(n), atol=1e-12)  # two masks, whole
    masks = np.sign(A[np.ptp(np.abs(A), axis=1) < 1e-9])
    assert masks.shape == (2, n)
    assert np.abs(masks @ np.vstack([masks, np.ones(n)]).T)[np.triu_indices(2, 1, 3)].max() < 4 * np.sqrt(n)
    cosines = np.sqrt(2 / n) * np.cos(np.pi * np.arange(n)[:, None] * (np.arange(n) + 0.5) / n)
    cosines[0] /= np.sqrt(2)
    distances = np.abs(A[:, None] - np.vstack([cosines * mask for mask in masks])).max(axis=2)
    assert ((distances < 1e-12).sum(axis=0) == 1).all()  # every frequency once behind each mask


# ------------------------------------------------------------------ instances, and what is refused


@pytest.mark.parametrize("kind", KINDS)
def test_instances_are_measurements_of_one_signal(kind):
    problem, gaussian = ensemble_instance(kind, 30, 1.5, seed=1), gaussian_instance(30, 1.5, seed=1)
    np.testing.assert_allclose(problem.y, np.abs(problem.A @ problem.x0))
    np.testing.assert_array_equal(problem.x0, gaussian.x0)
    np.testing.assert_array_equal(problem.A, drawn(kind, 45, 30, seed=1))
    assert (problem.A_test is None) == (kind != "gaussian")


def test_instances_take_what_matrices_and_signals_can_be_told():
    problem = ensemble_instance(
        "toeplitz", 300, 1.5, seed=0, rho=0.0, signal_variance=4.0, noise=0.01, density=0.5, activation="square"
    )
    np.testing.assert_allclose(problem.A, gaussian_instance(300, 1.5, seed=0).A)
    assert np.mean(problem.x0**2) == pytest.approx(4)
    assert np.mean(problem.x0 == 0) == pytest.approx(0.5, abs=0.1)
    assert np.std(problem.y**2 - (problem.A @ problem.x0) ** 2) == pytest.approx(0.1, rel=0.2)


def test_large_instances_are_operators():
    problem = ensemble_instance("dct", 2048, 1.5, seed=0)
    np.testing.assert_allclose(problem.measure(problem.x0), np.abs(problem.y) * problem.signs)
    assert isinstance(problem.A, LinearOperator)


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("magic", {}, "ensemble 'magic': use one of gaussian, signs, orthogonal"),
        (["dct"], {}, "use one of gaussian"),
        ("gaussian", {"rho": 0.5}, "rho: no such parameter; ensemble gaussian has none"),
        ("toeplitz", {"spread": 0.5}, "ensemble toeplitz has rho"),
        ("toeplitz", {"rho": 1}, "rho = 1: give a correlation, between -1 and 1"),
        ("sparse", {"nonzeros": 41}, "1 to n = 40"),
        ("sparse", {"nonzeros": 2.5}, "a whole number"),
        ("sparse", {"m_rows": 5, "nonzeros": 3}, "16 or more, or columns stay empty"),
        ("student_t", {"degrees": 0}, "degrees of freedom, 1 or more"),
        ("biased", {"mean": "a"}, "mean = 'a'"),
        ("biased", {"mean": 1e300}, "1e9 at most"),
        ("uneven_rows", {"spread": -1}, "spread = -1"),
        ("uneven_columns", {"spread": np.nan}, "spread = nan"),
        ("spectrum", {"condition": 0.5}, "condition = 0.5"),
        ("spectrum", {"values": [1.0, 2.0]}, "give 40 singular values"),
        ("spectrum", {"values": "a"}, "give 40 singular values"),
        ("spectrum", {"values": -np.ones(40)}, "give 40 singular values"),
        ("gaussian", {"m_rows": 0}, "m_rows = 0"),
        ("gaussian", {"n": 2.5}, "n = 2.5"),
        ("gaussian", {"seed": -1}, "seed"),
        ("signs", {"m_rows": 10**13, "n": 10**7}, "too large for memory"),
    ],
)
def test_what_cannot_be_is_told_in_one_line(kind, options, message):
    with pytest.raises(InputError, match=message) as caught:
        drawn(kind, **options)
    assert "\n" not in str(caught.value)

"""Arrays that are mostly zeros, and sparse matrices: what an array without zeros would give, without touching any."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array

from phaselect import InputError, Instance
from phaselect.backends.host.dense import Dense
from phaselect.backends.host.sparse import MOST_ENTRIES, MostlyZeros, dense, sparse

rng = np.random.default_rng(0)
A = rng.standard_normal((90, 60)) * (rng.random((90, 60)) < 0.08)
SCALE = rng.uniform(0.5, 2, 90)


@pytest.mark.parametrize("matrix", [dense(A), sparse(csr_array(A))], ids=["array", "sparse"])
def test_it_is_the_matrix_of_its_entries(matrix):
    plain, x, z = Dense(A), rng.standard_normal((3, 60)), rng.standard_normal((3, 90))
    np.testing.assert_allclose(matrix.measure(x), plain.measure(x), atol=1e-13)
    np.testing.assert_allclose(matrix.backproject(z), plain.backproject(z), atol=1e-13)
    np.testing.assert_allclose(matrix.apply_magnitudes(x[0]), plain.apply_magnitudes(x[0]), atol=1e-13)
    np.testing.assert_allclose(matrix.some_rows(np.array([3, 5])), A[[3, 5]])
    np.testing.assert_array_equal(matrix.entries(), A)
    for one, other in zip(matrix.linear(SCALE).look(x, z), plain.linear(SCALE).look(x, z), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    assert matrix.density() == plain.density() == np.count_nonzero(A) / A.size


@pytest.mark.parametrize("matrix", [dense(A), Dense(A), sparse(csr_array(A))], ids=["array", "plain", "sparse"])
def test_sums_over_the_entries_that_are_not_zero(matrix):
    nonzeros, scaled = matrix.nonzeros(SCALE), SCALE[:, None] * A
    of_rows, of_columns = rng.standard_normal(90), rng.standard_normal(60)
    assert nonzeros.values.size == np.count_nonzero(A)
    np.testing.assert_allclose(nonzeros.over_rows(nonzeros.values), scaled.sum(axis=1), atol=1e-13)
    np.testing.assert_allclose(nonzeros.over_columns(nonzeros.values), scaled.sum(axis=0), atol=1e-13)
    there = nonzeros.values * nonzeros.in_rows(of_rows) * nonzeros.in_columns(of_columns)
    assert there.sum() == pytest.approx(of_rows @ scaled @ of_columns)


def test_which_arrays_are_mostly_zeros():
    assert isinstance(Instance(A, A.any(axis=1)).matrix, MostlyZeros)
    assert not isinstance(Instance(A + 1, np.ones(90)).matrix, MostlyZeros)


def test_what_is_made_of_it_is_of_its_kind():
    kept = A.any(axis=1) & (np.arange(90) < 80)
    for made in (pickle.loads(pickle.dumps(dense(A))), dense(A).rows_kept(kept)):
        assert isinstance(made, MostlyZeros)
    np.testing.assert_array_equal(dense(A).rows_kept(kept).A, A[kept])


def test_an_entry_that_is_given_in_parts_is_one():
    parts = csr_array(([1.0, 2.0, 5.0], [1, 1, 0], [0, 2, 3]), shape=(2, 2))
    np.testing.assert_array_equal(np.sort(sparse(parts).nonzeros(np.ones(2)).values), [3.0, 5.0])


def test_zeros_are_not_written_out_where_they_would_fill_the_memory():
    side = int(MOST_ENTRIES**0.5) + 1
    large = sparse(csr_array(([1.0], ([0], [0])), shape=(side, side)))
    assert not large.has_entries
    with pytest.raises(InputError, match="needs its zeros written out"):
        large.entries()

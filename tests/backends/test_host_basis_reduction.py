"""Reduced bases span the same lattice, and their vectors are as short as all combinations show."""

import itertools

import numpy as np
import pytest

from phaselect.backends.host.basis_reduction import DELTA, ETA, Basis, insert, shortest

rng = np.random.default_rng(3)


def random_basis(size=8, digits=20):
    """A row of large numbers beside the identity, as in a knapsack."""
    return np.hstack([np.eye(size), rng.integers(-(2**digits), 2**digits, (size, 2)).astype(float)])


def combinations(rows, most):
    """Every vector with coefficients up to `most`, but the zero one."""
    numbers = np.array(list(itertools.product(range(-most, most + 1), repeat=len(rows))))
    vectors = numbers @ rows
    return vectors[(vectors != 0).any(axis=1)]


def same_lattice(rows, given):
    """Do both span it? Those given begin with the identity, so that the first entries of a row are its coefficients."""
    assert np.array_equal(rows[:, : len(rows)] @ given, rows)
    volumes = [np.log(orthogonal_parts(basis)[0]).sum() for basis in (rows, given)]
    return volumes[0] == pytest.approx(volumes[1], abs=0.1)  # log 2 where every other vector is missing


def orthogonal_parts(rows):
    R = np.linalg.qr(rows.T, mode="r")
    return np.abs(np.diagonal(R)), R / np.diagonal(R)[:, None]


@pytest.mark.parametrize("seed", range(5))
def test_lll_spans_the_same_lattice_and_meets_its_conditions(seed):
    given = random_basis()
    basis = Basis(given.copy())
    basis.reduce()
    assert same_lattice(basis.rows, given)
    lengths, mu = orthogonal_parts(basis.rows)
    np.testing.assert_allclose(basis.lengths, lengths, rtol=1e-9)
    assert np.abs(np.triu(mu, 1)).max() <= ETA + 1e-9
    following = lengths[1:] ** 2 + np.diagonal(mu, 1) ** 2 * lengths[:-1] ** 2
    assert (following >= (DELTA - 1e-9) * lengths[:-1] ** 2).all()


@pytest.mark.parametrize("seed", range(5))
def test_one_block_over_all_finds_the_shortest_vector(seed):
    given = random_basis(size=5, digits=8)
    basis = Basis(given.copy())
    basis.reduce()
    true = (combinations(basis.rows, 3) ** 2).sum(axis=1).min()
    basis.improve(0, 5, 10**6)
    assert same_lattice(basis.rows, given)
    assert (basis.rows[0] ** 2).sum() == pytest.approx(true)


def test_the_search_keeps_its_bounds_and_its_budget():
    basis = Basis(random_basis(size=10))
    basis.reduce()
    own = basis.r[0]
    numbers, length, _ = shortest(basis.mu, basis.r, 0, np.full(10, own * 1.0001), 10**6)
    assert length == pytest.approx(((numbers @ basis.rows) ** 2).sum())
    assert shortest(basis.mu, basis.r, 0, np.full(10, 1e-9), 10**6)[1] == -1
    assert shortest(basis.mu, basis.r, 0, np.full(10, own * 100), 5)[2] == 5


@pytest.mark.parametrize("numbers", [[0, 3, 5], [1, 0, 0], [6, 10, 15], [-2, 3, 0]])
def test_any_combination_without_a_common_divisor_can_be_a_row(numbers):
    given = random_basis(size=3)
    rows = given.copy()
    insert(rows, 0, np.array(numbers, dtype=float))
    assert same_lattice(rows, given)
    combined = numbers @ given
    assert np.array_equal(rows[0], combined) or np.array_equal(rows[0], -combined)


def test_larger_blocks_leave_shorter_vectors():
    """Orthogonal parts of a random lattice fall off by 4 % per row after LLL, by less the larger blocks are."""
    given = np.hstack([np.eye(60), rng.integers(-(2**46), 2**46, (60, 4)).astype(float)])
    basis = Basis(given.copy())
    basis.reduce()
    slopes = []
    for block in (2, 10, 20, 30):
        for first in range(59):
            basis.improve(first, block, 10**6)
        basis.reduce()
        slopes.append(-np.polyfit(np.arange(60), np.log(basis.lengths), 1)[0])
    assert same_lattice(basis.rows, given)
    assert 0.03 < slopes[0] < 0.05
    assert slopes == sorted(slopes, reverse=True)
    assert slopes[-1] < 0.8 * slopes[0]


def all_but_dependent(count):
    """Rows that are reduced, as badly as they may be: parts shrink row by row, and coefficients are nearly a half."""
    rng = np.random.default_rng(0)
    coefficients = np.tril(0.49 * rng.choice([-1, 1], (count, count)), -1) + np.eye(count)
    return coefficients * 0.9 ** np.arange(count) @ np.linalg.qr(rng.standard_normal((count, count)))[0]


def test_lengths_of_orthogonal_parts_to_many_digits():
    """From the products of rows the last ones would come out wrong."""
    basis = Basis(all_but_dependent(60))
    basis.reduce()
    exact = np.abs(np.diagonal(np.linalg.qr(basis.rows.T, mode="r")))
    np.testing.assert_allclose(basis.lengths, exact, rtol=1e-8)


def test_coefficients_that_only_rounding_moves_end_the_steps():
    """Rows far longer than their parts: whatever float64 makes of them, reduction comes to an end."""
    rows = np.random.default_rng(2).integers(-(2**26), 2**26, (40, 40)).astype(float)
    rows[20:] = rows[:20] * 2.0**26 + np.eye(20, 40, 20)
    Basis(rows).reduce()

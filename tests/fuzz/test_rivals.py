"""The judge is judged: it finds the rivals that were put there, and agrees with exact arithmetic on all signs."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from tests.fuzz import kinds
from tests.fuzz.rivals import System, find, groups


def system_of(A, x):
    return System(A, np.abs(A @ x), x)


def halves_of(x):
    half = x.size // 2
    return x[:half], x[half:]


def mirrored(rng):
    A, u = kinds.mirrored(rng, 64, 40), rng.standard_normal(20)
    return A, np.r_[u, 0 * u], np.r_[0 * u, u]


def mixed(rng):
    (A, x, rival), Q = mirrored(rng), kinds.orthogonal(rng, 40, 40)
    return A @ Q.T, Q @ x, Q @ rival


def hidden_blocks(rng):
    u, v = halves_of(rng.standard_normal(40))
    Q = kinds.orthogonal(rng, 40, 40)
    return kinds.blocks(rng, 64, 40) @ Q.T, Q @ np.r_[u, v], Q @ np.r_[u, -v]


def tiny_block(rng):
    u, v = halves_of(rng.standard_normal(40))
    return kinds.blocks(rng, 64, 40), np.r_[u, 1e-12 * v], np.r_[u, -1e-12 * v]


def tiny_block_behind_a_link(rng):
    """What the link brings of the tiny block is lost in rounding; what the block itself measures is not."""
    u, v = halves_of(rng.standard_normal(40))
    return kinds.joined(1e-4)(rng, 64, 40), np.r_[u, 1e-12 * v], np.r_[u, -1e-12 * v]


def linked_in_vain(rng):
    u, v = halves_of(rng.standard_normal(40))
    A = kinds.linked_in_vain(rng, kinds.gaussian(rng, 64, 40), np.r_[u, v])
    return A, np.r_[u, v], np.r_[u, -v]


def forbidden_ties(rng):
    x = rng.standard_normal(40)
    return kinds.forbidden_ties(rng, kinds.gaussian(rng, 64, 40), x), x, None


def blocks_where_x_is(rng):
    """Columns that x does not use tie the blocks together, but not their signs."""
    u, v = halves_of(rng.standard_normal(30))
    A = np.hstack([kinds.blocks(rng, 64, 30), kinds.gaussian(rng, 64, 10)])
    return A, np.r_[u, v, np.zeros(10)], np.r_[u, -v, np.zeros(10)]


def weakly_seen(rng):
    return np.array([[1, 0], [2, 0], [0, 1e-8]]), np.ones(2), np.array([1.0, -1.0])


def padded_waves(rng):
    """The transform of a signal and of the same signal backwards, in the other half of the frame."""
    t, k = np.arange(16), np.arange(17)
    A = np.vstack([np.cos(np.pi * np.outer(k, t) / 8)[:9], np.sin(np.pi * np.outer(k, t) / 8)[1:8]])
    u = rng.standard_normal(16)
    return np.vstack([A, 2 * A[3:]]), u, u[-t]


def shifted_spike(rng):
    A = kinds.masked(kinds.hadamard_rows)(rng, 60, 32)
    return A, np.eye(32)[3], np.eye(32)[17]


def padded(rng, n):
    return np.r_[rng.standard_normal(n // 6), np.zeros(n - n // 6)]


def hadamard_columns(rng):
    x = padded(rng, 70)
    return kinds.columns_of(kinds.hadamard_and_shift)(rng, kinds.gaussian(rng, 100, 70), x), x, None


def dct_columns(rng):
    x = padded(rng, 70)
    return kinds.columns_of(kinds.dct_and_mirror)(rng, kinds.gaussian(rng, 100, 70), x), x, None


def null_space(rng):
    A, v = kinds.gaussian(rng, 60, 40), rng.standard_normal(40)
    return kinds.without(A, v), rng.standard_normal(40), None


def planted(rng):
    x = rng.standard_normal(12)
    return kinds.planted(rng, kinds.gaussian(rng, 22, 12), x), x, None


def planted_in_more(rng):
    x = rng.standard_normal(22)
    return kinds.planted(rng, kinds.gaussian(rng, 30, 22), x), x, None


PAIRS = [
    mirrored,
    mixed,
    hidden_blocks,
    tiny_block,
    tiny_block_behind_a_link,
    linked_in_vain,
    forbidden_ties,
    blocks_where_x_is,
    weakly_seen,
    padded_waves,
    shifted_spike,
    hadamard_columns,
    dct_columns,
    null_space,
    planted,
    planted_in_more,
]


@pytest.mark.parametrize("pair", PAIRS)
def test_a_rival_that_was_put_there_is_found(pair):
    A, x, rival = pair(np.random.default_rng(0))
    system = system_of(A, x)
    assert rival is None or system.is_rival(rival)
    found = find(system).rival
    assert found is not None
    np.testing.assert_allclose(np.abs(A @ found.astype(float)), np.abs(A @ x), rtol=1e-6, atol=1e-11)


@pytest.mark.parametrize("pair", [mixed, tiny_block, linked_in_vain, forbidden_ties, blocks_where_x_is])
def test_groups_that_have_a_sign_of_their_own_are_seen(pair):
    A, x, _ = pair(np.random.default_rng(0))
    system = system_of(A, x)
    assert any(system.is_rival(system.flipped(rows)) for rows in groups(system))


@pytest.mark.parametrize(("m", "n", "exhaustive"), [(5, 3, True), (15, 14, True), (34, 24, True), (90, 50, False)])
@pytest.mark.parametrize("kind", ["gaussian", "scaled-rows", "ill-conditioned"])
def test_a_matrix_in_general_position_has_none(kind, m, n, exhaustive):
    rng = np.random.default_rng(1)
    found = find(system_of(kinds.matrix(kind, rng, m, n), rng.standard_normal(n)))
    assert found.rival is None
    assert found.exhaustive is exhaustive


def test_a_near_miss_is_no_rival_but_comes_near():
    """All sums of 31 numbers leave some as small as 1e-8, which is far from a fit to rounding."""
    rng = np.random.default_rng(2)
    A, x = rng.standard_normal((31, 30)), rng.standard_normal(30)
    found = find(system_of(A, x))
    missed = np.abs(np.abs(A @ found.near.astype(float)) - np.abs(A @ x))
    assert found.rival is None
    assert 1e-13 < missed.max() < 1e-6


def test_neither_the_truth_nor_its_negative_is_a_rival():
    rng = np.random.default_rng(3)
    A, x = rng.standard_normal((9, 5)), rng.standard_normal(5)
    system = system_of(A, x)
    assert system.is_truth(x)
    assert system.is_truth(-x)
    assert not system.is_rival(-x * (1 + 1e-15))
    assert not system.fits(x * (1 + 1e-9))


@pytest.mark.parametrize("seed", range(60))
def test_it_agrees_with_fractions(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 4))
    A = rng.integers(-2, 3, (int(rng.integers(n + 1, n + 4)), n))
    A[~A.any(axis=1), 0] = 1
    A[0, ~A.any(axis=0)] = 1
    x = rng.integers(-2, 3, n)
    x[0] = x[0] or 1
    if not (A @ x).any():
        return
    found = find(system_of(A.astype(float), x.astype(float)))
    assert found.exhaustive
    assert (found.rival is None) == only_one(A.tolist(), np.abs(A @ x).tolist())


def only_one(A, y):
    """Is there a single x with |A x| = y, up to its sign? In exact arithmetic."""
    solutions = set()
    for signs in product([1, -1], repeat=len(y)):
        columns, rest = eliminated([[*row, s * value] for row, s, value in zip(A, signs, y, strict=True)])
        if len(columns) < len(A[0]):
            return False
        if not any(row[-1] for row in rest):
            x = tuple(row[-1] for row in columns)
            solutions.add(max(x, tuple(-value for value in x)))
    return len(solutions) == 1


def eliminated(rows):
    """Reduced rows, one per unknown that is determined, and what is left of the others."""
    rows = [[Fraction(value) for value in row] for row in rows]
    done = []
    for j in range(len(rows[0]) - 1):
        pivot = next((row for row in rows if row[j]), None)
        if pivot is None:
            continue
        rows.remove(pivot)
        pivot = [value / pivot[j] for value in pivot]
        rows, done = ([minus(row, pivot, row[j]) for row in some] for some in (rows, done))
        done = [*done, pivot]
    return done, rows


def minus(row, pivot, times):
    return [value - times * other for value, other in zip(row, pivot, strict=True)]

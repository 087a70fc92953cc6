"""Reduction of a basis whose rows are long, and all but dependent: what float64 leaves of it."""

import numpy as np
import pytest

from phaselect.backends.host.basis_reduction import DELTA, ETA, Basis


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


def test_lll():
    rng = np.random.default_rng(1)
    given = np.hstack([np.eye(30), rng.integers(-(10**8), 10**8, (30, 2))])
    basis = Basis(given.copy())
    basis.reduce()
    whole = np.linalg.lstsq(given.T, basis.rows.T, rcond=None)[0]
    np.testing.assert_allclose(whole, np.rint(whole), atol=1e-6)
    assert abs(np.linalg.det(np.rint(whole))) == pytest.approx(1, rel=1e-6)
    R = np.linalg.qr(basis.rows.T, mode="r")
    mu, squares = R / np.diagonal(R)[:, None], np.diagonal(R) ** 2
    assert (np.abs(np.triu(mu, 1)) <= ETA + 1e-9).all()
    assert (squares[1:] >= (DELTA - np.diagonal(mu, 1) ** 2) * squares[:-1] - 1e-6).all()


def test_coefficients_that_only_rounding_moves_end_the_steps():
    """Rows far longer than their parts: whatever float64 makes of them, reduction comes to an end."""
    rows = np.random.default_rng(2).integers(-(2**26), 2**26, (40, 40)).astype(float)
    rows[20:] = rows[:20] * 2.0**26 + np.eye(20, 40, 20)
    Basis(rows).reduce()

"""Equations in the signs: solved by the right ones, to all digits, with noise of unit variance."""

from fractions import Fraction

import numpy as np
import pytest

from phaselect import InputError
from phaselect.equations import sign_equations as module
from phaselect.equations.sign_equations import fixed_point, left_null_space, sign_equations

rng = np.random.default_rng(7)


def fractions(shape, digits=10**30):
    numbers = [
        Fraction(int(a) * digits + int(b), digits) for a, b in rng.integers(-(10**9), 10**9, (np.prod(shape), 2))
    ]
    return np.array(numbers, dtype=object).reshape(shape)


@pytest.mark.parametrize("rows", [13, 17])
def test_other_rows_are_sums_of_those_that_span_to_all_digits(rows):
    A = fractions((rows, 12))
    first, rest, Q = left_null_space(A, 300)
    assert sorted([*first, *rest]) == list(range(rows))
    left = np.array([[Fraction(int(q), 2**300) for q in row] for row in Q]).T @ A[first] - A[rest]
    assert max(abs(float(value / A[rest].max())) for value in left.flat) < 1e-80


def test_a_matrix_without_full_rank_has_more_equations():
    A = rng.standard_normal((12, 4)) @ rng.standard_normal((4, 6))
    first, rest, Q = left_null_space(A, 60)
    assert (len(first), len(rest)) == (4, 8)
    np.testing.assert_allclose(Q.astype(float).T / 2.0**60 @ A[first], A[rest], atol=1e-12)


def test_rows_that_all_but_depend_on_each_other_are_refused(monkeypatch):
    A = rng.standard_normal((8, 6))
    A[:, 5] = A[:, 4] + 1e-10 * rng.standard_normal(8)
    sign_equations(A, np.abs(A @ np.ones(6)), np.full(8, 1e-16))  # float64 can do that
    monkeypatch.setattr(module, "lu_solve", lambda _, left: 3 * left)  # steps that lead nowhere
    with pytest.raises(InputError, match="depend on each other"):
        left_null_space(A, 120)


def test_right_signs_solve_them_to_all_digits_and_others_do_not():
    A, x = fractions((16, 12)), fractions(12)
    z = A @ x
    noise = np.full(16, 2.0**-150 * float(max(abs(z))))
    equations = sign_equations(A, np.abs(z), noise)
    signs = np.where(z < 0, -1.0, 1.0)
    assert np.abs(equations.values(signs[None])).max() < 1e-3
    flipped = signs * np.where(np.arange(16) == 3, -1, 1)
    assert np.abs(equations.values(flipped[None])).max() > 2.0**100
    assert equations.bits == pytest.approx(4 * 150, abs=20)


def test_noise_leaves_numbers_of_unit_variance():
    A, x = rng.standard_normal((20, 14)), rng.standard_normal(14)
    z = A @ x
    noise = rng.uniform(1e-9, 1e-7, 20)
    values = []
    for _ in range(300):
        y = np.abs(z) + noise * rng.standard_normal(20)
        values.append(sign_equations(A, y, noise).values(np.sign(z)[None])[0])
    np.testing.assert_allclose(np.mean(np.square(values), axis=0), 1.0, atol=0.35)  # sqrt(2/300) is 0.08
    correlations = np.corrcoef(np.array(values).T) - np.eye(6)
    assert np.abs(correlations).max() < 0.25


def test_values_are_exact_though_they_cancel():
    A, x = rng.standard_normal((9, 8)), rng.standard_normal(8)
    equations = sign_equations(A, np.abs(A @ x), np.full(9, 1e-16))
    numbers = rng.integers(-1000, 1000, (5, 9)).astype(float)
    exact = numbers.astype(int).astype(object) @ equations.coefficients
    found = equations.values(numbers)
    np.testing.assert_allclose(found, [[int(v) / 2**equations.places for v in row] for row in exact], rtol=1e-15)


def test_known_signs_become_one_unknown():
    A, x = rng.standard_normal((15, 10)), rng.standard_normal(10)
    z = A @ x
    equations = sign_equations(A, np.abs(z), np.full(15, 1e-15))
    known = np.arange(15) % 2 == 0
    merged = equations.merged(-np.sign(z), known)
    assert merged.members.tolist() == [8, 1, 1, 1, 1, 1, 1, 1]
    right = np.concatenate([[-1.0], np.sign(z)[~known]])
    np.testing.assert_allclose(merged.values(right[None]), equations.values(np.sign(z)[None]), rtol=1e-12)


@pytest.mark.parametrize("places", [-3, 0, 5, 80])
def test_fixed_point_is_the_nearest_whole_number(places):
    values = np.array([0.0, 1.5, -2.25, 1e-20, 3e10, -7.0])
    wanted = [round(Fraction(value) * Fraction(2) ** places) for value in values]
    exact = [Fraction(value) * Fraction(2) ** places for value in values]
    for number, same, true, value in zip(
        fixed_point(values, places), fixed_point(values.astype(object), places), exact, wanted, strict=True
    ):
        assert abs(number - true) <= Fraction(1, 2)
        assert same == value

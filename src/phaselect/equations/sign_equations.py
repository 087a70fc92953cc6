r"""Exact data are linear equations in the signs: `sum_i s_i y_i Q_ij = 0`, Q a basis of the left null space of A.

To more digits than float64 has, in whole numbers: the null space is that of A as it is given, not as it is rounded on
the way. Scaled so that the noise on y, or its rounding, leaves numbers of unit variance in each, uncorrelated.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lu_factor, lu_solve, qr, solve_triangular

from phaselect.base.errors import InputError, Unsuitable

Vector = NDArray[np.float64]
Whole = NDArray[np.object_]
"""Whole numbers of Python, of any size."""
SPARE = 24
"""Binary digits that are computed beyond those that noise leaves."""
LIMB = 20
"""Binary digits at a time, so that sums of products, of thousands of floats, are exact."""
DEPENDENT = 1e-11
"""Relative size below which what is left of a row, or of a column, is rounding: it depends on others."""
MOST_STEPS = 100
SMALLEST = 1e-300
"""Less is zero."""
FITS = 64.0
"""Value in an equation up to which signs may be right, where there are digits enough: wrong ones leave millions."""
FAR, ROOM = 10, 20
"""Binary digits by which a whole number exceeds noise, in equations that hold exactly; and digits of all equations for
each unknown, at most: more would make whole numbers that float64 does not hold, and tell no more."""


class SignEquations(NamedTuple):
    """`sum_i s_i C_ij = 0` for the sign s_i of each unknown, up to noise of unit variance.

    C is `coefficients` over `2^places`. members: how many measurements each unknown is the sign of. fits: value up to
    which signs may solve an equation.
    """

    coefficients: Whole  # (unknowns, equations)
    places: int
    members: NDArray[np.int64]
    fits: float = FITS

    def values(self, numbers: Vector) -> Vector:
        """`z C` of each row z of whole numbers, correctly rounded."""
        small = np.abs(numbers).max() < 2.0**LIMB
        parts = [numbers] if small else _limbs(fixed_point(numbers, 0))
        return _over(_product(parts, _limbs(self.coefficients)), self.places)

    @property
    def floats(self) -> Vector:
        """C as far as float64 goes."""
        return _over(self.coefficients, self.places)

    @property
    def bits(self) -> float:
        """Binary digits of all equations together: `log2 sqrt(det C^T C)`."""
        floats = self.floats
        size = np.floor(np.log2(max(np.abs(floats).max(), SMALLEST)))
        parts = np.abs(np.diagonal(np.linalg.qr(floats * 2.0**-size, mode="r")))
        return float((size + np.log2(np.maximum(parts, SMALLEST))).sum())

    def merged(self, signs: Vector, known: NDArray[np.bool_]) -> SignEquations:
        """The same with one unknown, the first, in the place of all whose signs are known up to a common one."""
        turned = np.where(signs < 0, -1, 1).astype(object)[:, None] * self.coefficients
        first = turned[known].sum(axis=0)[None]
        members = np.concatenate([[self.members[known].sum()], self.members[~known]])
        return SignEquations(np.concatenate([first, self.coefficients[~known]]), self.places, members, self.fits)


def sign_equations(A: NDArray[Any], y: NDArray[Any], noise: Vector) -> SignEquations:
    """The equations of all measurements. noise: the standard deviation of each y; A and y: floats, or fractions."""
    if not np.any(y != 0):
        raise Unsuitable("these measurements are all zero: there are no signs for a lattice to find")
    A, y, noise = _balanced(A, y, noise)
    rough = float(np.max(np.abs(y))) / float(np.exp(np.mean(np.log(noise))))
    places = int(np.log2(rough)) + 2 * SPARE
    first, rest, Q = left_null_space(A, places + SPARE)
    null = np.zeros((len(first) + len(rest), len(rest)), dtype=object)
    null[first], null[rest] = -Q, np.eye(len(rest), dtype=int).astype(object) << (places + SPARE)
    white = qr(noise[:, None] * _over(null, places + SPARE), mode="r")[0][: len(rest)]
    mixing = solve_triangular(white, np.eye(len(rest)))  # residuals times this have unit variance
    unit = int(np.floor(np.log2(np.abs(mixing).max())))
    whole = fixed_point(mixing * 2.0**-unit, places)
    size = int(np.floor(np.log2(float(np.max(np.abs(y))))))
    signed = _rounded(fixed_point(y, places - size)[:, None] * null, places)
    mixed = _rounded(_product(_limbs(signed), _limbs(whole)), places)
    return SignEquations(mixed, places + SPARE - size - unit, np.ones(len(y), dtype=np.int64))


def _balanced(A: NDArray[Any], y: NDArray[Any], noise: Vector) -> tuple[NDArray[Any], NDArray[Any], Vector]:
    """Rows, with their y, and columns times powers of 2, so that all are of about the same size."""
    sizes = np.abs(np.asarray(A, dtype=np.float64))
    rows = -np.floor(np.log2(sizes.max(axis=1))).astype(int)
    columns = -np.floor(np.log2((sizes * 2.0 ** rows[:, None]).max(axis=0))).astype(int)
    if A.dtype == object:
        of_rows, of_columns = (np.array([Fraction(2) ** int(e) for e in own], dtype=object) for own in (rows, columns))
        return A * of_rows[:, None] * of_columns, y * of_rows, noise * 2.0**rows
    return np.ldexp(np.ldexp(A, rows[:, None]), columns), np.ldexp(y, rows), noise * 2.0**rows


def whole_equations(coefficients: Any) -> SignEquations:
    """Equations in whole numbers, (unknowns, equations), whose solutions have values of exactly zero."""
    try:
        whole = np.frompyfunc(operator.index, 1, 1)(np.array(coefficients, dtype=object))
    except (TypeError, ValueError):
        raise InputError("coefficients of sign equations must be whole numbers: scale them, or round them") from None
    if np.ndim(whole) != 2 or not np.any(whole):
        raise InputError("coefficients of sign equations must be a matrix, (unknowns, equations), that is not all zero")
    digits = int(np.abs(whole).max()).bit_length()
    places = max(-FAR, digits - ROOM * whole.shape[0] // whole.shape[1])
    return SignEquations(whole, places, np.ones(len(whole), dtype=np.int64), fits=0.0)


def left_null_space(A: NDArray[Any], places: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Whole]:
    """Rows that A is spanned by, the other rows, and those as sums of the first: `A_rest = Q^T A_first / 2^places`.

    Newton's steps on whole numbers, each with a factorisation in float64.
    """
    floats = np.asarray(A, dtype=np.float64)
    lengths = np.linalg.norm(floats, axis=1)
    R, order = qr((floats / lengths[:, None]).T, mode="r", pivoting=True)[-2:]
    rank = int((np.abs(np.diagonal(R)) > DEPENDENT * abs(R[0, 0])).sum())
    first, rest = order[:rank], order[rank:]
    columns = np.sort(qr(floats[first], mode="r", pivoting=True)[-1][:rank])
    size = int(np.ceil(np.log2(np.abs(floats).max())))
    whole = fixed_point(A[:, columns], places - size)
    spanning, others = whole[first].T, whole[rest].T  # columns of both are rows of A
    factors = lu_factor(np.asarray(_over(spanning, places)))
    digits = _limbs(spanning)
    Q = np.zeros((rank, len(rest)), dtype=object)
    before = np.inf
    for _ in range(MOST_STEPS):
        left = (others << places) - _product(digits, _limbs(Q))
        step = lu_solve(factors, _over(left, places))
        move = np.abs(step).max(initial=0.0)
        if move < 1:
            return first, rest, Q
        if not move < before / 2:
            raise Unsuitable("rows of A all but depend on each other: a lattice needs a matrix that float64 can invert")
        before = move
        Q = Q + fixed_point(step, 0)
    raise AssertionError("Newton's steps halve what is left")


def fixed_point(values: NDArray[Any], places: int) -> Whole:
    """`2^places` times each number, as the nearest whole one."""
    if values.dtype == object:
        return np.asarray(np.frompyfunc(lambda value: _nearest(Fraction(value), places), 1, 1)(values), dtype=object)
    mantissa, exponent = np.frexp(values)
    digits = (mantissa * 2.0**53).astype(np.int64).astype(object)
    return np.asarray(np.frompyfunc(_shifted, 2, 1)(digits, exponent - 53 + places), dtype=object)


def _nearest(value: Fraction, places: int) -> int:
    return round(value * (1 << places)) if places >= 0 else round(value / (1 << -places))


def _shifted(number: int, by: int) -> int:
    by = int(by)
    return number << by if by >= 0 else (number + (1 << (-by - 1))) >> -by


def _rounded(values: Whole, places: int) -> Whole:
    return np.asarray((values + (1 << (places - 1))) >> places, dtype=object)


def _over(values: Whole, places: int) -> Vector:
    """Whole numbers over `2^places`, correctly rounded."""
    places = int(places)  # of NumPy, one would overflow
    below, above = (1 << places, 1) if places >= 0 else (1, 1 << -places)
    return np.asarray(np.frompyfunc(lambda value: value * above / below, 1, 1)(values), dtype=np.float64)


def _limbs(values: Whole) -> list[Vector]:
    """Their digits, the lowest first, each part with the sign of its number."""
    sizes, signs = np.abs(values), np.where(values < 0, -1.0, 1.0)
    count = max(1, -(-max(int(size).bit_length() for size in sizes.flat) // LIMB))
    return [signs * ((sizes >> (LIMB * k)) & ((1 << LIMB) - 1)).astype(np.float64) for k in range(count)]


def _product(left: Sequence[Vector], right: Sequence[Vector]) -> Whole:
    """The matrix product of whole numbers, of both by their digits."""
    total: Any = np.zeros((), dtype=object)
    for places in range(len(left) + len(right) - 1):
        parts = [left[k] @ right[places - k] for k in range(len(left)) if 0 <= places - k < len(right)]
        total = total + (np.sum(parts, axis=0).astype(np.int64).astype(object) << (LIMB * places))
    return np.asarray(total, dtype=object)

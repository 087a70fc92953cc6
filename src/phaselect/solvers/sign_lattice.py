"""The lattice of sign equations: whole numbers z, all even or all odd, with their values, `(z, z C)`.

Signs that solve the equations are short vectors of it: their values vanish. Binary digits of the equations are let in a
few at a time, with LLL after each; then blocks of growing size are searched for short vectors. Once the basis is
reduced, all sign vectors that solve the equations can be found, for few unknowns.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.host.basis_reduction import Basis
from phaselect.backends.host.lattice_points import points_in_box
from phaselect.backends.interface import Vector
from phaselect.equations.sign_equations import SignEquations, sign_equations, whole_equations
from phaselect.problem.normalised import Normalised

MOST_DIGITS = 8
"""Binary digits let in at a time."""
BLOCKS = (10, 20, *range(24, 101, 4))
"""Sizes of blocks, in turn."""
TOURS = 2
"""Over all rows, with blocks of one size."""
LOOKED_AT = 5_000_000
"""Combinations that the search of a block looks at, at most."""
HUGE = 2.0**52
"""Numbers that no reduced basis has: it has broken down."""
BEFORE_ALL = 40
"""Size of blocks, the largest, before all points are searched: for 60 unknowns, more saves nothing."""


def solve_sign_equations(coefficients: Any) -> Iterator[NDArray[np.int64]]:
    """Every s of +-1 with `s @ coefficients == 0` and, as -s is another, its first sign +1.

    coefficients: whole numbers, (unknowns, equations). None is missed: when it ends, there is no other. That takes
    seconds for 60 unknowns in 7 equations with coefficients of two digits.

    >>> import phaselect
    >>> [s.tolist() for s in phaselect.solve_sign_equations([[3, 1], [1, 2], [2, -1], [2, 4]])]
    [[1, 1, -1, -1]]
    """
    equations = whole_equations(coefficients)
    found = all_signs(equations)
    return (signs.astype(np.int64) for signs in found if not equations.values(signs[None]).any())


def all_signs(equations: SignEquations) -> Iterator[Vector]:
    """Every sign vector that solves them, the first sign +1."""
    unknowns, weights = len(equations.members), np.sqrt(equations.members)
    rows = let_in(all_even_or_odd(np.ones(unknowns)), equations, 0.0, digits_of(equations))
    for block in blocks_up_to(BEFORE_ALL):
        for _ in range(TOURS):
            rows = toured(rows, block, 0, unknowns)
    rows = with_values(rows, equations, 0.0)  # to the last digit
    box = np.concatenate([weights, np.full(rows.shape[1] - unknowns, equations.fits)])
    for point in points_in_box(rows, box):
        signs = np.rint(point[:unknowns] / weights)
        yield signs * signs[0]


def equations_of_data(problem: Normalised, noise: float, chosen: Any = slice(None)) -> SignEquations:
    """Of the signs of a problem, whose y, in normalised units, have noise of this standard deviation, or of some."""
    scale = np.broadcast_to(problem.scale, problem.y.shape)[chosen]
    A = np.asarray(problem.matrix.entries(), dtype=np.float64)[chosen]
    return sign_equations(A, problem.y[chosen] / scale, noise / scale)


def blocks_up_to(size: int) -> tuple[int, ...]:
    """Sizes of blocks, in turn."""
    return tuple(block for block in BLOCKS if block <= size)


def let_in(rows: Vector, equations: SignEquations, digits: float, end: float) -> Vector:
    """Rows that are reduced with so many digits of the equations, reduced with more, a few at a time."""
    all_of_them = digits_of(equations)
    while digits < end:
        digits = min(end, digits + MOST_DIGITS)
        basis = Basis(with_values(rows, equations, digits - all_of_them))
        basis.reduce()
        rows = basis.rows
    return rows


def toured(rows: Vector, block: int, first: int, last: int) -> Vector:
    """Rows after a search of the blocks that begin from the first of these places up to the last, and LLL."""
    basis = Basis(rows.copy())
    for place in range(first, last):
        basis.improve(place, block, LOOKED_AT)
    basis.reduce()
    return basis.rows


def digits_of(equations: SignEquations) -> int:
    """Binary digits before the point of the largest coefficient: what is behind it is noise."""
    return ceil(log2(max(1.0, float(np.abs(equations.floats).max()))))


def all_even_or_odd(odd: Vector) -> Vector:
    """A basis of the lattice of whole numbers that are all even or all odd; `odd`: signs, which are a row of it."""
    rows = 2.0 * np.eye(len(odd))
    rows[-1] = odd
    return rows


def with_values(rows: Vector, equations: SignEquations, exponent: float) -> Vector:
    """Rows with their values in the equations, those times `2^exponent`."""
    unknowns = len(equations.members)
    weights = np.sqrt(equations.members)
    numbers = np.rint(rows[:, :unknowns] / weights)
    if not np.abs(numbers).max() < HUGE:
        raise ArithmeticError("numbers have grown beyond what float64 can reduce")
    return np.hstack([numbers * weights, equations.values(numbers) * 2.0**exponent])


def found(rows: Vector, equations: SignEquations, exponent: float) -> Vector:
    """The first two sign vectors among the rows that solve the equations; the same twice, or zeros."""
    unknowns = len(equations.members)
    numbers = np.rint(rows[:, :unknowns] / np.sqrt(equations.members))
    solve = (np.abs(rows[:, unknowns:]) <= equations.fits * 2.0**exponent).all(axis=1)
    signs = numbers[(np.abs(numbers) == 1).all(axis=1) & solve]
    return np.zeros((2, unknowns)) if len(signs) == 0 else signs[[0, min(1, len(signs) - 1)]]

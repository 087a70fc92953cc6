"""A small problem seen from an answer, in units of rounding: what else could fit the same data?

Rows are divided by what rounding leaves of them, so that a residual of a few units is none. Measurements of zero have
no sign to choose: they are linear constraints, and only what they leave free of x is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.interface import Vector
from phaselect.equations.signs import signs_of
from phaselect.problem.normalised import Normalised

EXACT = 16.0
"""Residual up to which a fit is exact, in units of the rounding of its terms; right answers leave about 1."""
SAME = 4.0
"""A rival may leave so many times more: two answers that rounding cannot tell apart are no reason for a certificate."""
NULL = 1e-11
"""Singular values over the largest that count as zero, in float64; more where data are less precise."""
AFFORDABLE, MOST_ROWS = 3e9, 2500
"""M N^2 up to which a close look is worth its time, about a second; and M, unless N is small."""
FEW_UNKNOWNS = 42


class Inspected(NamedTuple):
    """What a look at an answer came to: another one, a proof that there is none, or what remains doubtful."""

    rival: Vector | None = None
    proved: bool = False
    doubt: str = ""


class CloseLook(NamedTuple):
    """The problem `S*y = A x` in units of rounding, for x = basis @ u.

    rows: the measurements that are not zero. B: their rows of A, for u. v: the signed measurements of the answer.
    Q: orthonormal columns that span the range of B. unseen: directions of x that no measurement sees, as columns.
    condition: of B, without those.
    """

    A: Vector
    y: Vector
    x: Vector
    rounding: float
    rows: NDArray[np.bool_]
    basis: Vector
    B: Vector
    v: Vector
    Q: Vector
    unseen: Vector
    condition: float

    @property
    def unknowns(self) -> int:
        """What the measurements of zero leave free."""
        return int(self.basis.shape[1])

    def first_rival(self, candidates: Iterable[Vector]) -> Vector | None:
        """The first of the candidates for x that fits as well, and is another x."""
        return next((x for x in candidates if self.fits(x) and self.differs(x)), None)

    def from_signed(self, v: Vector) -> Vector:
        """The x that fits signed measurements, given for `rows`, best; refined once, for all digits."""
        u = np.linalg.lstsq(self.B, v, rcond=None)[0]
        return np.asarray(self.basis @ (u + np.linalg.lstsq(self.B, v - self.B @ u, rcond=None)[0]))

    def fits(self, x: Vector) -> bool:
        """Is `|A x|` the data, up to rounding?"""
        return bool(excess_of(self.A, self.y, x, self.rounding) <= SAME * EXACT)

    def differs(self, x: Vector) -> bool:
        """Is it another x, up to its sign? Somewhere it must measure otherwise, or differ where nothing is measured."""
        sizes = np.abs(self.A) @ (np.abs(x) + np.abs(self.x)) + self.y
        side = 1.0 if x @ self.x >= 0 else -1.0
        seen = np.abs(self.A @ (x - side * self.x)) > 1e3 * self.rounding * sizes
        return bool(seen.any() or np.linalg.norm(x - side * self.x) > 1e-3 * np.linalg.norm(self.x))


def excess_of(A: Vector, y: Vector, x: Vector, rounding: float) -> float:
    """The largest misfit of a measurement, in units of the rounding of its terms."""
    z = A @ x
    sizes = np.abs(A) @ np.abs(x) + y
    return float(np.max(np.abs(np.abs(z) - y) / (rounding * sizes + np.finfo(float).tiny)))


def affordable(problem: Normalised) -> bool:
    """Can entries be had, and is the problem small enough?"""
    small = problem.m_rows <= MOST_ROWS or problem.n < FEW_UNKNOWNS
    return (
        problem.matrix.processes == 1
        and small
        and problem.m_rows * problem.n**2 <= AFFORDABLE
        and problem.matrix.has_entries
    )


def look_closely(problem: Normalised, x: Vector) -> CloseLook:
    """The problem as it looks from the answer x."""
    A = np.asarray(problem.scale)[:, None] * problem.matrix.entries().astype(np.float64)
    y, rounding = np.asarray(problem.y), float(problem.rounding)
    unit = _unit(A, y, x, rounding)
    weighted = A / unit[:, None]
    lengths = np.linalg.norm(weighted, axis=0)
    columns = weighted / np.where(lengths > 0, lengths, 1.0)
    least = max(NULL, 100 * rounding * np.sqrt(A.shape[1]))
    zero = y <= 2 * EXACT * unit
    free = _null_space(columns[zero], least) if zero.any() else np.eye(A.shape[1])
    B = columns[~zero] @ free
    U, s, Vt = np.linalg.svd(B, full_matrices=len(B) < B.shape[1])
    seen = np.arange(len(Vt)) < np.sum(s > least * s[0])
    basis = free / np.where(lengths > 0, lengths, 1.0)[:, None]
    v = (signs_of(A @ x) * y / unit)[~zero]
    return CloseLook(
        A, y, x, rounding, ~zero, basis, B, v, U[:, : seen.sum()], basis @ Vt[~seen].T, float(s[0] / s[seen.sum() - 1])
    )


def _unit(A: Vector, y: Vector, x: Vector, rounding: float) -> Vector:
    """What rounding leaves of each measurement; of one that sees nothing of x, a little of what it could see."""
    could_see = np.linalg.norm(A, axis=1) * np.sqrt(np.mean(x**2))
    return np.asarray(rounding * np.maximum(np.abs(A) @ np.abs(x) + y, 1e-3 * could_see))


def _null_space(rows: Vector, least: float) -> Vector:
    """Orthonormal columns that span what the rows do not see."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    _, s, Vt = np.linalg.svd(rows / np.where(lengths > 0, lengths, 1.0))
    return np.asarray(Vt[int(np.sum(s > least * s[0])) :].T)

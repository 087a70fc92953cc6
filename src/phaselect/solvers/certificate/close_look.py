"""A small problem seen from an answer, in units of rounding: what else could fit the same data?

Rows are divided by what rounding leaves of them, so that a residual of a few units is none. Measurements of zero have
no sign to choose: they are linear constraints, and only what they leave free of x is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.interface import Vector
from phaselect.equations.signs import signs_of
from phaselect.problem.normalised import Normalised
from phaselect.solvers.certificate.digits import anything_like, lengths_of, sizes, unit_of, versions
from phaselect.solvers.finish import EXACT

SAME = 4.0
"""A rival may leave so many times more: two answers that rounding cannot tell apart are no reason for a certificate."""
NEARLY = 1e-6
"""The same, over what could be seen, for a rival that is not yet computed to all digits."""
MOST_RIVALS = 50
"""Candidates that are computed to all digits, at most."""
UNSEEN = 1e-2
"""Relative difference that makes another x where measurements see none: less may be rounding of a poor condition."""
KNOWN = 1e-2
"""Error of an entry of x, by rounding, over the largest entry, up to which it is known."""
UNEVEN = 100.0
"""How much larger the rounding of other answers may be before they are looked for with that in mind."""
NULL = 1e-11
"""Singular values over the largest that count as zero, in float64; more where data are less precise."""
AFFORDABLE, MOST_ROWS = 3e9, 2500
"""M N^2 up to which a close look is worth its time, about a second; and M, unless N is small."""
FEW_UNKNOWNS = 42
"""Below so many every sign vector can be tried: 2^21 sums for each half of as many rows, a tenth of a second."""
DEPENDENT = "columns of A are dependent, or nearly so; add measurements that tell them apart"


class Inspected(NamedTuple):
    """What a look at an answer came to: another one, a proof that there is none, or what remains doubtful."""

    rival: Vector | None = None
    proved: bool = False
    doubt: str = ""


class CloseLook(NamedTuple):
    """The problem `S*y = A x` in units of rounding, for x = basis @ u / lengths.

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
    lengths: Vector
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
        worth = islice(filter(self.differs, filter(self._nearly_fits, candidates)), MOST_RIVALS)
        best = (min(versions(self.A, self.y, x), key=self.misfit) for x in worth)
        return next((x for x in best if self.misfit(x) <= SAME * EXACT and self.differs(x)), None)

    @property
    def determined(self) -> bool:
        """Does rounding leave every entry of x known, compared with the largest? Not behind columns far too short."""
        lengths, entries = lengths_of(self.A), np.abs(self.x)
        error = self.condition * self.rounding * np.max(entries * lengths) / lengths
        return bool(np.max(error) <= KNOWN * np.max(entries))

    def from_signed(self, v: Vector) -> Vector:
        """The x that fits signed measurements, given for `rows`, best."""
        return np.asarray(self.basis @ np.linalg.lstsq(self.B, v, rcond=None)[0] / self.lengths)

    def misfit(self, x: Vector) -> float:
        """Of the data, in units of the rounding of x or of the answer."""
        left = np.abs(np.abs(self.A @ x) - self.y)
        return float(np.max(left / np.maximum(self.rounding * self._sizes(x), 1e-300)))

    def _sizes(self, x: Vector) -> Vector:
        """What is added up in each measurement, of x or of the answer."""
        return np.maximum(sizes(self.A, self.y, x), sizes(self.A, self.y, self.x))

    def _nearly_fits(self, x: Vector) -> bool:
        """Could it fit, once it is computed to all digits?"""
        could_see = np.abs(self.A) @ anything_like(self.A, x)
        nearly = max(NEARLY, SAME * EXACT * self.rounding)  # of coarse data rounding leaves more
        return bool(np.all(np.abs(np.abs(self.A @ x) - self.y) <= nearly * could_see))

    def differs(self, x: Vector) -> bool:
        """Does it differ from the answer, up to its sign, by more than rounding, in what is measured or in itself?"""
        step = x - (1.0 if x @ self.x >= 0 else -1.0) * self.x
        seen = np.any(np.abs(self.A @ step) > 1e3 * self.rounding * self._sizes(x))
        lengths = lengths_of(self.A)
        apart = np.max(np.abs(step) * lengths) / np.max(np.abs(self.x) * lengths)
        return bool(apart > (100 * self.rounding if seen else UNSEEN))


def affordable(problem: Normalised) -> bool:
    """Can entries be had, and is the problem small enough?"""
    m_rows, n, matrix = problem.m_rows, problem.n, problem.matrix
    small = m_rows * n**2 <= AFFORDABLE and (m_rows <= MOST_ROWS or n < FEW_UNKNOWNS)
    return small and matrix.has_entries and matrix.processes == 1


def looks(problem: Normalised, x: Vector) -> Iterator[CloseLook]:
    """The problem as it looks from the answer x, and from an answer that may be anything; nothing, where rounding is so
    coarse that nothing is left to look at once what may be zero is taken for zero.

    Where x has tiny parts, what is rounding of other answers is more than rounding of this one.
    """
    A, y = problem.dense()
    rounding = _sharpened(A, y, x, float(problem.rounding))
    own = unit_of(A, y, x, rounding)
    anything = unit_of(A, y, anything_like(A, x), rounding)
    for unit in [own, anything] if np.max(anything / own) > UNEVEN else [own]:
        look = _look(A, y, x, rounding, own, unit)
        if look is not None:
            yield look


def _look(A: Vector, y: Vector, x: Vector, rounding: float, own: Vector, unit: Vector) -> CloseLook | None:
    weighted = A / unit[:, None]
    lengths = lengths_of(weighted)
    columns = weighted / lengths
    least = max(NULL, 100 * rounding * np.sqrt(A.shape[1]))
    zero = y <= 2 * EXACT * own
    free = _null_space(columns[zero], least) if zero.any() else np.eye(A.shape[1])
    B = columns[~zero] @ free
    if not B.size:
        return None
    U, s, Vt = np.linalg.svd(B, full_matrices=len(B) < B.shape[1])
    seen = np.arange(len(Vt)) < np.sum(s > least * s[0])
    v = (signs_of(A @ x) * y / unit)[~zero]
    unseen = free @ Vt[~seen].T / lengths[:, None]
    condition = float(s[0] / s[seen.sum() - 1])
    return CloseLook(A, y, x, rounding, ~zero, free, lengths, B, v, U[:, : seen.sum()], unseen, condition)


def _sharpened(A: Vector, y: Vector, x: Vector, rounding: float) -> float:
    """That of float64 where the answer fits so well: coarse data were then not rounded, and a rival must do as well."""
    eps = float(np.finfo(np.float64).eps)
    left = np.abs(np.abs(A @ x) - y) / np.maximum(sizes(A, y, x), 1e-300)
    return eps if left.max() <= SAME * EXACT * eps else rounding


def _null_space(rows: Vector, least: float) -> Vector:
    """Orthonormal columns that span what the rows do not see."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    _, s, Vt = np.linalg.svd(rows / np.where(lengths > 0, lengths, 1.0))
    return np.asarray(Vt[int(np.sum(s > least * s[0])) :].T)

"""Is an answer the only one? See docs/conventions.md for the reasoning."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.interface import Vector
from phaselect.equations.arrays import Array
from phaselect.problem.normalised import Normalised
from phaselect.problem.streams import Purpose, stream
from phaselect.solvers.finish import WEAK, Answer, Support, influence
from phaselect.solvers.impostors import log10_impostors
from phaselect.solvers.verdict import Grade, Judged

CERTIFIED_BELOW = -6.0
"""An answer is certified when fewer than 10^-6 impostors are expected to fit as well."""
EXACT_FIT = 1e-12
"""mse_y below which an answer fits noiseless data; rounding leaves about 1e-30, a wrong sign far more."""
NEGLIGIBLE = 1e-8
"""What counts as zero: entries of x and y over their root mean square."""
FEW, MOST_ROWS = 3, 20_000
"""Columns of K that are computed one by one before all are, if there are not too many."""
ENUMERABLE = 16
"""Up to so many measurements the impostors are counted one by one."""


def judge(problem: Callable[[], Normalised], y: Vector, answer: Answer, support: Support | None) -> Judged:
    """Judge an answer to exact data. `problem` is asked for only where the support does not settle it.

    y: of the problem. support: None for an answer that does not fit, or that nobody had the time to examine.
    """
    m_rows, n = y.size, answer.x.size
    fit = float(answer.fit)
    rank = n if support is None or support.full_rank else n - 1
    log10 = log10_impostors(fit, m_rows, rank)
    if fit > EXACT_FIT:
        return Judged(Grade.INEXACT if log10 < CERTIFIED_BELOW else Grade.OPEN, fit, log10)
    if support is None:
        return Judged(Grade.OPEN, fit, log10)
    if not determined(problem, y, answer, support):
        return Judged(Grade.AMBIGUOUS, fit, log10)
    certified = log10 <= CERTIFIED_BELOW and not answer.missed
    return Judged(Grade.CERTIFIED if certified else Grade.UNCERTIFIED, fit, log10)


def probe_points(y: Array, n: int) -> Vector:
    """Two random points for the rank probe, seeded by the data: nobody can have built A against them."""
    seed = int.from_bytes(np.asarray(y, dtype=np.float64).tobytes()[:64], "little")
    return stream(seed, Purpose.RANK_PROBE).standard_normal((2, n))


def determined(problem: Callable[[], Normalised], y: Vector, answer: Answer, support: Support) -> bool:
    """Do the data fix x, given that it fits them exactly?

    A must have full rank. Measurements influence each other through `K = A (A^T A)^{-1} A^T`: where they fall into
    groups that do not, each group has a global sign of its own. For few measurements all sign vectors are tried. What
    x and y leave untouched ties nothing together.
    """
    if not support.full_rank:
        return False
    if y.size <= ENUMERABLE:
        return _only_solution(problem(), answer.signs)
    rows, columns = not_zero(y, answer.x)
    if rows.all() and columns.all() and support.linked:
        return True
    return one_group(_influence_within(problem(), rows, columns), int(rows.sum()))


def not_zero(y: Vector, x: Vector) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Measurements and unknowns that are not zero."""
    return y > NEGLIGIBLE, np.abs(x) > NEGLIGIBLE * np.sqrt(np.mean(x**2))


def one_group(influence_of: Callable[[int], Vector], size: int) -> bool:
    """Is every measurement reached from the first, going from each to those it influences?"""
    reached = np.zeros(size, dtype=bool)
    reached[0] = True
    waiting = [0]
    while waiting and not reached.all():
        tied = np.abs(influence_of(waiting.pop())) > WEAK / np.sqrt(size)
        waiting.extend(np.flatnonzero(tied & ~reached).tolist())
        reached |= tied
    return bool(reached.all())


def _influence_within(
    problem: Normalised, rows: NDArray[np.bool_], columns: NDArray[np.bool_]
) -> Callable[[int], Vector]:
    """Columns of K of some rows and columns of A: one by one at first, as few settle it mostly; then all at once."""
    part = problem._replace(matrix=problem.matrix.columns_kept(columns), scale=np.asarray(problem.scale) * rows)
    where, calls = np.flatnonzero(rows), count()
    column, all_columns = part.compiled(influence), part.compiled(_exact_couplings)
    known: list[Vector] = []

    def influence_of(i: int) -> Vector:
        if next(calls) == FEW and part.matrix.has_entries and part.m_rows <= MOST_ROWS:
            K = np.asarray(all_columns(part))
            known.extend([K] if np.isfinite(K).all() else [])
        return known[0][where[i], where] if known else np.asarray(column(part, int(where[i])))[where]

    return influence_of


def _only_solution(problem: Normalised, signs: Vector) -> bool:
    """Does every other sign vector leave a residual? Signs at y ~ 0 do not count."""
    y = np.asarray(problem.y)
    K = np.asarray(problem.compiled(_exact_couplings)(problem))
    v = signs * y
    free = np.flatnonzero(y > NEGLIGIBLE)[1:]  # the first fixes the global sign
    flips = 1 - 2 * ((np.arange(2**free.size)[:, None] >> np.arange(free.size)) & 1)
    V = np.tile(v, (len(flips), 1))
    V[:, free] *= flips
    residual = np.mean((V - V @ K) ** 2, axis=1)
    return int(np.sum(residual < WEAK**2)) == 1


def _exact_couplings(problem: Normalised) -> Array:
    return problem.ridge.exact_couplings()

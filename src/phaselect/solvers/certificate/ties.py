"""Large problems: whether measurements hang together, column by column of `K = A (A^T A)^-1 A^T`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.interface import Vector
from phaselect.equations.arrays import Array
from phaselect.problem.normalised import Normalised
from phaselect.solvers.certificate.close_look import DEPENDENT, SAME, Inspected
from phaselect.solvers.finish import EXACT, WEAK, Answer, Support, influence, refine_estimate, refine_signs

ENOUGH = 20
"""Measurements in a row that reach nothing new, after which nothing more is expected."""
FEW, MOST_ROWS = 3, 20_000
"""Columns of K that are computed one by one before all are, if there are not too many."""


def by_parts(problem: Normalised, answer: Answer, support: Support) -> Inspected:
    """Another answer: moved along a direction that A does not see, or with the sign of a part of the data flipped."""
    if not support.full_rank:
        step = support.unseen * np.linalg.norm(answer.x) / np.linalg.norm(support.unseen)
        other = problem.compiled(refine_estimate)(problem, answer.x + step)
        return Inspected(_if_exact(other), doubt=DEPENDENT)
    part = reached(_influence(problem), problem.m_rows)
    if part.all():
        return Inspected()
    other = problem.compiled(refine_signs)(problem, np.where(part, -answer.signs, answer.signs))
    return Inspected(_if_exact(other), doubt="parts of the data hardly influence each other; measure across them")


def _if_exact(other: Answer) -> Vector | None:
    return np.asarray(other.x) if other.excess <= SAME * EXACT else None


def reached(influence_of: Callable[[int], Vector], size: int) -> NDArray[np.bool_]:
    """The measurements that are reached from the first, going from each to those it influences."""
    found = np.zeros(size, dtype=bool)
    found[0] = True
    waiting, in_vain = [0], 0
    while waiting and not found.all() and in_vain < ENOUGH:
        tied = np.abs(influence_of(waiting.pop())) > WEAK / np.sqrt(size)
        waiting.extend(np.flatnonzero(tied & ~found).tolist())
        in_vain = 0 if (tied & ~found).any() else in_vain + 1
        found |= tied
    return found


def _influence(problem: Normalised) -> Callable[[int], Vector]:
    """Columns of K: one by one at first, as few settle it mostly; then all at once."""
    calls, known = count(), list[Vector]()
    column, all_columns = problem.compiled(influence), problem.compiled(_exact_couplings)

    def influence_of(i: int) -> Vector:
        if next(calls) == FEW and problem.matrix.has_entries and problem.m_rows <= MOST_ROWS:
            K = np.asarray(all_columns(problem))
            known.extend([K] if np.isfinite(K).all() else [])
        return known[0][i] if known else np.asarray(column(problem, i))

    return influence_of


def _exact_couplings(problem: Normalised) -> Array:
    return problem.ridge.exact_couplings()

"""An answer that all but fits, computed to all digits: conjugate gradients do not get there if columns are uneven."""

from __future__ import annotations

import numpy as np

from phaselect.backends.interface import Vector
from phaselect.equations.arrays import Array
from phaselect.equations.signs import excess, signs_of
from phaselect.problem.normalised import Normalised
from phaselect.solvers.certificate import groups
from phaselect.solvers.certificate.close_look import EXACT, affordable, looks
from phaselect.solvers.certificate.digits import sizes, versions
from phaselect.solvers.finish import Answer

NEARLY = 1e-6
"""mse_y up to which an answer may be the right one, not computed well enough, or but for a group of signs."""
FLIPS = 3
"""Groups that are flipped at most."""


def worth_polishing(answer: Answer) -> Array:
    """Does it all but fit? Of an answer, or of each of a stack."""
    return np.asarray(answer.fit) <= NEARLY


def polished(problem: Normalised, answer: Answer) -> Answer:
    """The answer, or what fits best of that computed better, and of that with groups of measurements flipped."""
    if not affordable(problem):
        return answer
    best = _best_version(problem, answer)
    for _ in range(FLIPS):
        if best.excess <= EXACT:
            break
        flipped = groups.better(next(looks(problem, np.asarray(best.x))))
        found = best if flipped is None else _best_version(problem, best._replace(x=flipped, excess=np.inf))
        if not found.excess < best.excess:
            break
        best = found
    return best


def _best_version(problem: Normalised, answer: Answer) -> Answer:
    A, y = problem.dense()
    found = (_taken(A, y, x, float(problem.rounding)) for x in versions(A, y, np.asarray(answer.x)))
    return min(answer, *found, key=lambda one: float(one.excess))  # type: ignore[no-any-return]


def _taken(A: Vector, y: Vector, x: Vector, rounding: float) -> Answer:
    signs = signs_of(A @ x)
    residual = signs * y - A @ x
    return Answer(x, signs, np.mean(residual**2), excess(residual, sizes(A, y, x), rounding))

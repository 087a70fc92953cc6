"""An answer that all but fits, computed to all digits: conjugate gradients do not get there if columns are uneven."""

from __future__ import annotations

import numpy as np

from phaselect.backends.interface import Vector
from phaselect.equations.arrays import Array
from phaselect.equations.signs import excess, signs_of
from phaselect.problem.normalised import Normalised
from phaselect.solvers.certificate.close_look import affordable
from phaselect.solvers.certificate.digits import sizes, versions
from phaselect.solvers.finish import Answer

NEARLY = 1e-6
"""mse_y up to which an answer may be the right one, not computed well enough."""


def worth_polishing(answer: Answer) -> Array:
    """Does it all but fit? Of an answer, or of each of a stack."""
    return np.asarray(answer.fit) <= NEARLY


def polished(problem: Normalised, answer: Answer) -> Answer:
    """The answer, or what fits best of that computed better."""
    if not affordable(problem):
        return answer
    A = np.asarray(problem.scale)[:, None] * problem.matrix.entries().astype(np.float64)
    y = np.asarray(problem.y)
    found = (_taken(A, y, x, float(problem.rounding)) for x in versions(A, y, np.asarray(answer.x)))
    best: Answer = min(answer, *found, key=lambda one: float(one.excess))
    return best


def _taken(A: Vector, y: Vector, x: Vector, rounding: float) -> Answer:
    signs = signs_of(A @ x)
    residual = signs * y - A @ x
    return Answer(x, signs, np.mean(residual**2), excess(residual, sizes(A, y, x), rounding))

"""An answer that all but fits, computed to all digits: conjugate gradients do not get there if columns are uneven."""

from __future__ import annotations

import numpy as np

from phaselect.equations.arrays import Array
from phaselect.problem.normalised import Normalised
from phaselect.solvers.certificate import groups
from phaselect.solvers.certificate.close_look import affordable, looks
from phaselect.solvers.certificate.digits import versions
from phaselect.solvers.finish import EXACT, Answer, take_as_it_is

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
    taken = problem.compiled(take_as_it_is)
    found = (Answer(*map(np.asarray, taken(problem, x))) for x in versions(*problem.dense(), np.asarray(answer.x)))
    return min(answer, *found, key=lambda one: float(one.excess))  # type: ignore[no-any-return]

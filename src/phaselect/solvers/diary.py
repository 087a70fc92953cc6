"""What a search tells the log `phaselect` of Python's `logging`: attempts begun and ended, and what came of them.

Stages and results are at level INFO, restarts and what the data say of an attempt at DEBUG. Nothing is shown unless the
user asks for it: `logging.basicConfig(level=logging.INFO)`.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np

from phaselect.solvers.outcome import Attempt, Outcome
from phaselect.solvers.result import Result

LOG = logging.getLogger("phaselect")
LOG.addHandler(logging.NullHandler())


def begins(attempt: Attempt, members: int) -> None:
    """A stage, with its reason, or a restart."""
    place, name = attempt.place + 1, attempt.solver.name
    if attempt.number:
        LOG.debug("stage %d: %s starts afresh, restart %d", place, name, attempt.number)
    else:
        why = f": {attempt.why}" if attempt.why else ""
        LOG.info("stage %d: %s begins on %d instance%s%s", place, name, members, "s" if members > 1 else "", why)


def ended(outcomes: Sequence[Outcome]) -> None:
    """An attempt, of one instance or of some of a batch."""
    if not LOG.isEnabledFor(logging.INFO):
        return
    attempt, seconds = outcomes[0].attempt, sum(one.seconds for one in outcomes)
    fit = np.median([one.judged.mse_y for one in outcomes])
    how = ", ".join(dict.fromkeys(one.ended.value for one in outcomes))
    place, name, number = attempt.place + 1, attempt.solver.name, attempt.number + 1
    LOG.info("stage %d: %s ended attempt %d after %.3g s, mse_y %.3g: %s", place, name, number, seconds, fit, how)
    for one in outcomes:
        rests = one.judged.certificate or one.judged.reason or "no certificate"
        LOG.debug("its answer %s; %s", one.judged.grade.value, rests)


def noise_learned(noise: float, std: float, doubt: str) -> None:
    """The variance of the noise on y, before the search goes on with it."""
    LOG.info("noise learned: variance %.4g +- %.2g%s", noise, std, f", a guess, as {doubt}" if doubt else "")


def found(results: Sequence[Result]) -> None:
    """What there is in the end, and what the certificate rests on."""
    level = logging.INFO if len(results) == 1 else logging.DEBUG
    for one in results:
        LOG.log(level, "%s, by %s in %.3g s, mse_y %.3g", one.message, one.solver, one.seconds, one.mse_y)

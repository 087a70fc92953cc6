"""What may be said of an answer: how the search for it ended, what the data say, and the status made of both, here."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from phaselect.solvers.result import Status


class Ended(Enum):
    """How a run came to its end; a solver's `stop` returns the first two."""

    SETTLED = "the solver has nothing left to do"
    DIVERGED = "the solver has lost its way"
    SCHEDULE = "the schedule is over"
    TIME_LIMIT = "time is out"
    INTERRUPTED = "the user wants it to end"


class Grade(Enum):
    """What exact data say of an answer."""

    CERTIFIED = "fits exactly, and nothing else does"
    UNCERTIFIED = "fits exactly, and others might"
    AMBIGUOUS = "fits exactly, and others do"
    INEXACT = "fits better than chance, but not exactly"
    OPEN = "does not fit"


ROUNDED = 1e-6
"""mse_y up to which an answer that is not exact is that of data which are not."""


class Judged(NamedTuple):
    """An answer in the light of the data."""

    grade: Grade
    mse_y: float
    log10_impostors: float

    def settled(self, noise_level: float) -> bool:
        """Would more search be in vain? The answer fits as well as any can, or nearly so: then the data are rounded.

        A fit that only beats chance is no reason to stop: where rows are repeated, chance is not what is counted.
        """
        if noise_level:
            return self.mse_y < noise_level
        return self.grade is not Grade.OPEN and not (self.grade is Grade.INEXACT and self.mse_y > ROUNDED)


def status_of(judged: Judged, ended: Ended, noise_level: float) -> Status:
    """The one place that decides what a result is called; a certified answer is recovered however the search ended."""
    stopped = {Ended.TIME_LIMIT: Status.TIME_LIMIT, Ended.INTERRUPTED: Status.INTERRUPTED}.get(ended)
    if noise_level:
        good = judged.mse_y < 2 * noise_level
        return stopped or (Status.ESTIMATE if good else Status.POOR_ESTIMATE)
    if judged.grade is not Grade.OPEN:
        return Status.RECOVERED if judged.grade is Grade.CERTIFIED else Status[judged.grade.name]
    return stopped or (Status.DIVERGED if ended is Ended.DIVERGED else Status.NOT_RECOVERED)

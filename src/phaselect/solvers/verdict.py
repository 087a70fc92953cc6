"""What may be said of an answer: how the search for it ended, what the data say, and the status made of both, here."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from phaselect.backends.interface import Vector
from phaselect.solvers.result import Certificate, Status


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
    LOCALLY_UNIQUE = "fits exactly, and nothing near by does"
    UNCERTIFIED = "fits exactly, and others might"
    AMBIGUOUS = "fits exactly, and so does another"
    INEXACT = "fits better than chance, but not exactly"
    OPEN = "does not fit, or was not examined"


CERTIFIED_BELOW = -6.0
"""An answer is certified when fewer than 10^-6 impostors are expected to fit as well."""


class Judged(NamedTuple):
    """An answer in the light of the data; `rival` is another one that fits as well, in normalised units."""

    grade: Grade
    mse_y: float
    log10_impostors: float
    certificate: Certificate | None = None
    reason: str = ""
    rival: Vector | None = None


def status_of(judged: Judged, ended: Ended, noise_level: float) -> Status:
    """The one place that decides what a result is called; a certified answer is recovered however the search ended."""
    stopped = {Ended.TIME_LIMIT: Status.TIME_LIMIT, Ended.INTERRUPTED: Status.INTERRUPTED}.get(ended)
    if noise_level:
        good = judged.mse_y < 2 * noise_level
        return stopped or (Status.ESTIMATE if good else Status.POOR_ESTIMATE)
    if judged.grade is Grade.CERTIFIED:
        return Status.RECOVERED
    if judged.grade in (Grade.LOCALLY_UNIQUE, Grade.UNCERTIFIED, Grade.AMBIGUOUS):
        return Status[judged.grade.name]
    if stopped or judged.grade is Grade.INEXACT:  # nothing is said about noise before the search has come to its end
        return stopped or Status.INEXACT
    return Status.DIVERGED if ended is Ended.DIVERGED else Status.NOT_RECOVERED

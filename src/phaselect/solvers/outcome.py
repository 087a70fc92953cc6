"""What an attempt came to, what several came to together, and whether more would be in vain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from phaselect.backends.interface import Vector
from phaselect.equations.signs import signs_of
from phaselect.problem.schedule import Schedule
from phaselect.solvers.finish import Answer
from phaselect.solvers.protocol import Solver
from phaselect.solvers.result import StageRecord, Status
from phaselect.solvers.verdict import CERTIFIED_BELOW, Ended, Grade, Judged

ROUNDED, AGREEING = 1e-6, 3
"""mse_y up to which rounding may be what is left, once so many attempts came to the same x."""
TINY = 1e-300
"""Less is nothing."""
SAME_NEARLY, SAME_EXACTLY = 1e-2, 1e-3
"""Relative distance up to which two attempts came to the same x: where they fit nearly, and where they fit exactly."""
LOOKS_ELSEWHERE = 2
"""Attempts from elsewhere to find another answer, where one fits and is not shown to be the only one."""
RANK_OF_EXACT = {Grade.CERTIFIED: 4, Grade.AMBIGUOUS: 3, Grade.LOCALLY_UNIQUE: 2, Grade.UNCERTIFIED: 1}
"""Grades of answers that fit exactly, and which of two to keep."""


class Attempt(NamedTuple):
    """One start of a solver: `number` counts those of its stage, `stream` all of the search, `place` the stages."""

    solver: Solver
    schedule: Schedule
    number: int
    stream: int
    place: int = 0
    why: str = ""


class Tried(NamedTuple):
    """What is kept of an attempt, however many there are."""

    attempt: Attempt
    ended: Ended
    mse_y: float
    seconds: float
    noise: float  # learned, in normalised units, or nan


def stages_of(tried: Sequence[Tried]) -> tuple[StageRecord, ...]:
    """What became of each stage."""
    found = []
    for _, group in groupby(tried, key=lambda one: one.attempt.place):
        own = list(group)
        last, best = own[-1], min(one.mse_y for one in own)
        seconds = sum(one.seconds for one in own)
        found.append(StageRecord(last.attempt.solver.name, last.attempt.why, len(own), last.ended.value, best, seconds))
    return tuple(found)


@dataclass(frozen=True)
class Outcome:
    """What an attempt came to for one member."""

    attempt: Attempt
    answer: Answer
    judged: Judged
    ended: Ended
    rows: list[dict[str, float]]
    truth: dict[str, float]
    sweeps: float
    seconds: float
    state: Any = None
    x_std: Vector | None = None

    @property
    def tried(self) -> Tried:
        """What is kept of it in any case."""
        noise = self.rows[-1].get("noise", np.nan) if self.rows else np.nan
        return Tried(self.attempt, self.ended, self.judged.mse_y, self.seconds, noise)

    @property
    def grade(self) -> Grade:
        """What the data say of the answer."""
        return self.judged.grade

    def better_than(self, other: Outcome) -> bool:
        """What to keep of two attempts at a problem."""
        if self.grade in RANK_OF_EXACT or other.grade in RANK_OF_EXACT:
            return RANK_OF_EXACT.get(self.grade, 0) > RANK_OF_EXACT.get(other.grade, 0)
        return np.isnan(other.judged.mse_y) or self.judged.mse_y < other.judged.mse_y

    def agrees_with(self, other: Outcome) -> bool:
        """Is it the same x, up to its sign? Two that fit exactly, with the same signs, differ by rounding alone."""
        x, own = other.answer.x, self.answer.x
        both = self.grade in RANK_OF_EXACT and other.grade in RANK_OF_EXACT
        apart = np.linalg.norm(own * signs_of(np.vdot(own, x)) - x)
        same_signs = np.abs(np.vdot(self.answer.signs, other.answer.signs)) > self.answer.signs.size - 0.5
        close = apart <= (SAME_EXACTLY if both else SAME_NEARLY) * np.linalg.norm(x)
        return bool(close or (both and same_signs))

    def with_rival(self, other: Outcome) -> Outcome:
        """The other answer fits as well."""
        judged = self.judged._replace(grade=Grade.AMBIGUOUS, certificate=None, reason="", rival=other.answer.x)
        return replace(self, judged=judged)


@dataclass
class Seen:
    """The attempts at one problem: the best of them, how many came to its x, and how many since it fits exactly."""

    best: Outcome | None = None
    attempts: int = 0
    agreeing: int = 0
    elsewhere: int = 0

    def note(self, outcome: Outcome) -> None:
        """Count an attempt, and keep it if it is better."""
        self.attempts += 1
        best = self.best
        if best is None:
            self.best, self.agreeing = outcome, 1
            return
        same = outcome.agrees_with(best)
        self.elsewhere += best.grade in RANK_OF_EXACT
        if best.grade in RANK_OF_EXACT and outcome.grade in RANK_OF_EXACT and not same:
            self.best = best.with_rival(outcome)
        elif outcome.better_than(best):
            self.best, self.agreeing = outcome, 1 + self.agreeing * same
        else:
            self.agreeing += same

    @property
    def looks_elsewhere(self) -> bool:
        """Does the best fit, without being shown to be the only one, and is a rival worth another attempt?"""
        if self.best is None or self.best.grade is not Grade.UNCERTIFIED:
            return False
        expected = not self.best.judged.log10_impostors <= CERTIFIED_BELOW  # then a rival tells nothing new
        return not expected and self.elsewhere < LOOKS_ELSEWHERE

    def settled(self, noise_level: float) -> bool:
        """Would more attempts be in vain?

        An answer that fits and is not shown to be the only one is worth a look from elsewhere. One that fits nearly is
        that of rounded data if several attempts, each from a start of its own, came to it; one alone may be stuck.
        """
        if self.best is None:
            return False
        judged = self.best.judged
        if noise_level:
            return judged.mse_y < noise_level
        if judged.grade is Grade.UNCERTIFIED:
            return not self.looks_elsewhere
        if judged.grade is Grade.INEXACT:
            return judged.mse_y < ROUNDED and self.agreeing >= AGREEING
        return judged.grade is not Grade.OPEN

    def reason(self, status: Status) -> str:
        """Why there is no certificate, or what speaks for noise."""
        if status is Status.INEXACT and self.best is not None:
            left = self.best.judged.mse_y
            enough = 10.0 ** np.ceil(np.log10(max(left, TINY)) / 2)
            rounded = f"if data are rounded, give rounding={enough:.0e}, " if left < ROUNDED else ""
            return (
                f"{left:.1e} of the power of y is left, and {self.agreeing} of {self.attempts} "
                f'searches came to it; {rounded}if noisy, noise="auto"'
            )
        told = status in (Status.UNCERTIFIED, Status.LOCALLY_UNIQUE)
        return self.best.judged.reason if told and self.best is not None else ""

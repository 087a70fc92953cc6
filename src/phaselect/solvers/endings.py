"""How answers are asked about, polished and judged once a search is over: for signs in one way, for phases in another.

Signs are right or wrong: a few steps of least squares settle an answer, and impostors can be counted. Phases vary
continuously: an answer is refined until it fits, and what can be asked is whether it is the only one near by.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from phaselect.equations.arrays import Array
from phaselect.equations.fields import REAL, Field
from phaselect.problem.normalised import Normalised
from phaselect.solvers.certificate.judge import fits_exactly, judge, judge_phases
from phaselect.solvers.certificate.polish import polished, worth_polishing
from phaselect.solvers.finish import Answer, Probe, Support, examine, examine_phases
from phaselect.solvers.verdict import Judged


class Members(Protocol):
    """What is needed of a cohort."""

    @property
    def problem(self) -> Normalised:
        """Of one, or of all in a stack."""

    def measurements(self) -> NDArray[Any]:
        """The y of each."""

    def member(self, k: int) -> Normalised:
        """The problem of one."""


class Ending(NamedTuple):
    """Of one kind of data.

    points: random points that A is asked with. at_once: are answers a few steps away, so that who interrupts waits for
    them? examine: from a problem, its answer and a probe, what a judge asks of A. polish: answers of a cohort to all
    digits. judge: those that fit, each with what was asked.
    """

    points: int
    at_once: bool
    examine: Callable[[Normalised, Array, Probe], Any]
    polish: Callable[[Members, Answer], Answer]
    judge: Callable[[Members, Answer, Any], list[Judged]]


def ending_of(field: Field) -> Ending:
    """By what measurements are made of."""
    return SIGNS if field == REAL else PHASES


def _examine_signs(problem: Normalised, x: Array, probe: Probe) -> Support:
    """Whatever the answer is."""
    return examine(problem, probe)


def polish_signs(cohort: Members, answers: Answer) -> Answer:
    """Answers that all but fit are computed to all digits: conjugate gradients may have ended too early."""
    if cohort.problem.m_rows <= cohort.problem.n:
        return answers  # all digits of what? many x fit
    better = Answer(*map(np.array, answers))  # what comes from a device cannot be written to
    for k in np.flatnonzero(worth_polishing(answers) & ~fits_exactly(answers)).tolist():
        for values, value in zip(better, polished(cohort.member(k), member(answers, k)), strict=True):
            values[k] = value
    return better


def _as_they_are(cohort: Members, answers: Answer) -> Answer:
    """Phases have all digits already."""
    return answers


def _judge_signs(cohort: Members, answers: Answer, support: Any) -> list[Judged]:
    ys, digits = cohort.measurements(), cohort.problem.all_digits

    def judged(k: int) -> Judged:
        own = member(answers, k)
        return judge(lambda: cohort.member(k), ys[k], own, _asked(own, support, k), digits)

    return [judged(k) for k in range(len(ys))]


def _judge_phases(cohort: Members, answers: Answer, support: Any) -> list[Judged]:
    each = [member(answers, k) for k in range(len(answers.x))]
    return [judge_phases(own, _asked(own, support, k)) for k, own in enumerate(each)]


def member(stacked: Any, k: int) -> Any:
    """What one member has, of a tuple of arrays with an entry for each."""
    return type(stacked)(*(values[k] for values in stacked))


def _asked(answer: Answer, support: Any, k: int) -> Any:
    """What was asked for a member, if its answer fits."""
    return None if support is None or not fits_exactly(answer) else member(support, k)


SIGNS = Ending(2, True, _examine_signs, polish_signs, _judge_signs)
PHASES = Ending(1, False, examine_phases, _as_they_are, _judge_phases)

"""Attempts, one after the other, until the answer is settled: restarts of one solver, and stages of several.

One mechanism for one instance and for a batch, whose members leave as they are done.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from phaselect.backends.interface import Vector
from phaselect.base.errors import InputError, TooLarge, Unsuitable
from phaselect.equations.fields import REAL
from phaselect.problem.schedule import Schedule
from phaselect.problem.streams import Purpose, stream
from phaselect.solvers import diary
from phaselect.solvers.certificate.judge import fits_exactly, judge, judge_phases
from phaselect.solvers.certificate.polish import polished, worth_polishing
from phaselect.solvers.cohort import Alone, Cohort
from phaselect.solvers.company import Company
from phaselect.solvers.finish import Answer
from phaselect.solvers.loop import Loop
from phaselect.solvers.outcome import Attempt, Outcome, Seen, Tried, stages_of
from phaselect.solvers.protocol import Progress, ProgressCallback, Solver, Start
from phaselect.solvers.result import Result, tabulate
from phaselect.solvers.verdict import Ended, Grade, Judged, status_of


class Stage(NamedTuple):
    """A solver, with its restarts, on a schedule; and why it was chosen."""

    solver: Solver
    schedule: Schedule
    why: str = ""


def attempts_of(stages: Iterable[Stage]) -> Iterator[Attempt]:
    """Every attempt of every stage, in order."""
    streams = 0
    for place, (solver, schedule, why) in enumerate(stages):
        for number in range(1 + solver.restarts):
            yield Attempt(solver, schedule, number, streams, place, why)
            streams += 1


@dataclass
class Search:
    """A search for the answers of a company: the best so far of each member, and what all attempts took.

    init: where the first attempt starts; with a state to go on from, it is the only one.
    """

    company: Company
    seeds: Sequence[int]
    init: Start | None = None
    state: Any = None
    time_limit: float | None = None
    progress: ProgressCallback | None = None
    began: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        members = len(self.company)
        self.ended: list[list[Ended]] = [[] for _ in range(members)]
        self.seen = [Seen() for _ in range(members)]
        self.tried: list[list[Tried]] = [[] for _ in range(members)]
        self.sweeps, self.seconds = np.zeros(members), np.zeros(members)
        self.deadline = np.inf if self.time_limit is None else self.began + self.time_limit
        self.exact = not any(self.company.noise_levels)

    def run(self, stages: Iterable[Stage]) -> list[Result]:
        """Make attempts until every member is settled, time is out, or the user interrupts."""
        waiting: Sequence[int] = range(len(self.company))
        cut: Ended | None = None
        last, begun, attempts = None, 0, self._attempts(stages)
        refusal: Unsuitable | None = None
        for last in attempts:
            begun += 1
            diary.begins(last, len(waiting))
            try:
                for part, outcomes in self.company.in_cohorts(last.solver, waiting, self._attempt(last)):
                    cut = self._note(part, outcomes)
                    cut = cut or (Ended.TIME_LIMIT if time.perf_counter() >= self.deadline else None)
                    if cut is not None:
                        break
            except KeyboardInterrupt:
                cut = Ended.INTERRUPTED
            except Unsuitable as why:  # another stage may not mind
                refusal, begun = why, begun - 1
                continue
            except (TooLarge, MemoryError):  # no reason to lose the best so far
                if any(one.best is None for one in self.seen):
                    raise
                break
            waiting = [k for k in waiting if not self.seen[k].settled(self._noise_on_y(k))]
            if not waiting or cut is not None or self.state is not None:
                break
        assert last is not None
        if refusal is not None and begun == 0:
            raise refusal
        more = cut is not None and next(attempts, None) is not None
        stopped = {k for k in waiting if more or len(self.ended[k]) < begun or self._was_cut(k)}
        results = [self._result(k, last, cut if k in stopped else None) for k in range(len(self.company))]
        diary.found(results)
        return results

    def _attempts(self, stages: Iterable[Stage]) -> Iterator[Attempt]:
        """Every attempt of every stage; and a few more from elsewhere, while somebody has an answer that may have a
        rival."""
        last = None
        for last in attempts_of(stages):
            yield last
        while last is not None and any(seen.looks_elsewhere for seen in self.seen):
            last = last._replace(number=last.number + 1, stream=last.stream + 1)
            yield last

    def _noise_on_y(self, k: int) -> float:
        """That of a magnitude, which is what an answer may leave; levels are of measurements."""
        return self.company.noise_levels[k] / self.company.field.beta

    def _was_cut(self, k: int) -> bool:
        """Was its last attempt not allowed to come to its own end?"""
        return self.ended[k][-1] in (Ended.TIME_LIMIT, Ended.INTERRUPTED)

    def _note(self, part: Sequence[int], outcomes: Sequence[Outcome]) -> Ended | None:
        """Keep what is better; tells whether the user interrupted."""
        diary.ended(outcomes)
        for k, outcome in zip(part, outcomes, strict=True):
            self.sweeps[k] += outcome.sweeps
            self.seconds[k] += outcome.seconds
            self.ended[k].append(outcome.ended)
            self.seen[k].note(outcome)
            self.tried[k].append(outcome.tried)
        return Ended.INTERRUPTED if any(outcome.ended is Ended.INTERRUPTED for outcome in outcomes) else None

    def _attempt(self, attempt: Attempt) -> Any:
        def run(cohort: Cohort, part: Sequence[int]) -> list[Outcome]:
            began = time.perf_counter()
            progress = self._progress_of(attempt)
            loop = Loop(cohort, attempt.solver, attempt.schedule, self.exact, self.deadline, self.began, progress)
            histories = loop.run(lambda: self._first_state(cohort, attempt, part))
            found, interrupted = [history.found for history in histories], loop.interrupted
            try:
                answers, support = finished(cohort, found, self.exact)
                if self.exact:
                    answers = polish(cohort, self._or_as_given(cohort, answers, attempt))
                    support = examined(cohort, answers, support)
            except KeyboardInterrupt:  # only these few steps were left, if signs are known: a second one gets through
                interrupted = True
                answers, support = finished(cohort, found, self.exact and cohort.problem.field == REAL)
            truths, ys = cohort.truth(answers), cohort.measurements() if cohort.problem.field == REAL else None
            levels = np.array([self.company.noise_levels[k] for k in part])
            unknown = self.exact or attempt.solver.takes_few  # another prior has another spread
            spreads = None if unknown else cohort.uncertainty(answers.x, levels)
            share = (time.perf_counter() - began) / len(part)
            return [
                Outcome(
                    attempt=attempt,
                    answer=(own := Answer(*(values[k] for values in answers))),
                    judged=_judged(cohort, k, ys, own, support),
                    ended=Ended.INTERRUPTED if interrupted else history.ended or Ended.SCHEDULE,
                    rows=history.rows,
                    truth={name: float(values[k]) for name, values in truths.items() if np.isfinite(values[k])},
                    sweeps=history.sweeps,
                    seconds=share,
                    x_std=None if spreads is None else spreads[k],
                    state=loop.state if isinstance(cohort.place, Alone) and len(self.company) == 1 else None,
                )
                for k, history in enumerate(histories)
            ]

        return run

    def _progress_of(self, attempt: Attempt) -> ProgressCallback | None:
        """What tells the user, too, which attempt it is and how much time is left."""
        tell, number = self.progress, attempt.number + 1
        if tell is None:
            return None
        known = max(number, 1 + attempt.solver.restarts)
        place = partial(Progress._replace, stage=attempt.place + 1, attempt=number, attempts=known)
        return lambda event: tell(place(event, time_left=self.deadline - time.perf_counter()))

    def _or_as_given(self, cohort: Cohort, answers: Answer, attempt: Attempt) -> Answer:
        """Where the user's own starting point fits better than what came of it, that is the answer."""
        if self.init is None or attempt.stream > 0:
            return answers
        given = cohort.take_as_it_is(np.stack([self.init.x] * cohort.members))
        keep = given.excess < answers.excess
        return Answer(*(np.where(_beside(keep, one), one, other) for one, other in zip(given, answers, strict=True)))

    def _first_state(self, cohort: Cohort, attempt: Attempt, part: Sequence[int]) -> Any:
        solver, schedule = attempt.solver, attempt.schedule
        drawn = [
            solver.draw(
                stream(self.seeds[k], Purpose.RUN, attempt.stream), *self.company.shape, schedule, attempt.number
            )
            for k in part
        ]
        state = cohort.start(schedule[0], drawn, self.init if attempt.stream == 0 else None)
        return state if self.state is None else adopted(solver, state, self.state)

    def _result(self, k: int, last: Attempt, cut: Ended | None) -> Result:
        one = self.seen[k].best
        if one is None:  # its turn did not come
            x, signs = np.zeros(self.company.shape[1]), np.ones(self.company.shape[0])
            nothing = Judged(Grade.OPEN, 1.0, np.inf)
            answer = Answer(x, signs, 1.0, np.inf)
            one = Outcome(last, answer, nothing, cut or Ended.TIME_LIMIT, [], {}, 0.0, 0.0)
        diverged = set(self.ended[k]) == {Ended.DIVERGED}
        ended = cut or (Ended.DIVERGED if diverged else Ended.SCHEDULE)
        alone = len(self.company) == 1
        status = status_of(one.judged, ended, self._noise_on_y(k))
        return Result(
            x=one.answer.x * self.company.x_scale(k),
            signs=self.company.signs_of_all(k, one.answer.signs),
            status=status,
            certificate=one.judged.certificate,
            log10_impostors=one.judged.log10_impostors,
            mse_y=one.judged.mse_y,
            sweeps=float(self.sweeps[k]),
            seconds=time.perf_counter() - self.began if alone else float(self.seconds[k]),
            trace=tabulate(one.rows),
            solver=one.attempt.solver.name,
            schedule=one.attempt.schedule,
            seed=self.seeds[k],
            state=one.state,
            truth=one.truth,
            reason=self.seen[k].reason(status),
            stages=stages_of(self.tried[k]),
            rival=None if one.judged.rival is None else one.judged.rival * self.company.x_scale(k),
            noise=self.company.noise_of(k),
            x_std=None if one.x_std is None else one.x_std * self.company.x_scale(k),
        )


def finished(cohort: Cohort, found: Sequence[Any], exact: bool) -> tuple[Answer, Any]:
    """The answers of all members, from what each has found; from the data alone if nothing was begun.

    With what the certificate asks of A, where data are exact.
    """
    if any(one is None for one in found):
        return cohort.take_as_it_is(cohort.backprojection()), None
    candidates = np.stack(found)
    candidates = candidates if np.isfinite(candidates).all() else np.nan_to_num(candidates)
    return cohort.settle(candidates) if exact else (cohort.take_as_it_is(candidates), None)


def _beside(keep: Vector, values: Vector) -> Vector:
    """One entry per member, shaped so that it chooses among what each has."""
    return keep.reshape(-1, *[1] * (values.ndim - 1))


def polish(cohort: Cohort, answers: Answer) -> Answer:
    """Answers that all but fit are computed to all digits: conjugate gradients may have ended too early."""
    if cohort.problem.m_rows <= cohort.problem.n or cohort.problem.field != REAL:
        return answers  # all digits of what? many x fit; and phases have all digits already
    better = Answer(*map(np.array, answers))  # what comes from a device cannot be written to
    for k in np.flatnonzero(worth_polishing(answers) & ~fits_exactly(answers)):
        own = Answer(*(values[k] for values in answers))
        for values, value in zip(better, polished(cohort.member(int(k)), own), strict=True):
            values[k] = value
    return better


def examined(cohort: Cohort, answers: Answer, support: Any) -> Any:
    """What the certificate asks of A; asked now, if an answer fits that did not come from what was settled."""
    asked = False if support is None else support.asked
    return cohort.examine(answers.x) if (fits_exactly(answers) & ~np.asarray(asked)).any() else support


def _judged(cohort: Cohort, k: int, ys: Any, answer: Answer, support: Any) -> Judged:
    own = None
    if support is not None and fits_exactly(answer):
        own = type(support)(*(values[k] for values in support))
    if cohort.problem.field != REAL:
        return judge_phases(answer, own)
    return judge(lambda: cohort.member(k), ys[k], answer, own, cohort.problem.all_digits)


def adopted(solver: Solver, fresh: Any, given: Any) -> Any:
    """The state given, if it has the shapes of one of this solver on this problem."""
    state = _shaped_like(fresh, given)
    if state is None:
        raise InputError(f"init is not the state of a {solver.name} run on a problem of this size")
    return state


def _shaped_like(fresh: Any, given: Any) -> Any:
    """The given tree of arrays as arrays of NumPy, or None where its shape is another."""
    if isinstance(fresh, tuple):
        if type(fresh) is not type(given):
            return None
        parts = [_shaped_like(*pair) for pair in zip(fresh, given, strict=True)]
        return None if any(part is None for part in parts) else type(fresh)(*parts)
    if isinstance(fresh, np.random.Generator):
        return given
    return None if np.shape(fresh) != np.shape(given) else np.array(given)[()]

"""The driver of a batch: many instances of one shape through one program, a result for each.

As many at a time as the device has room for; half as many when it turns out to have less. Members that are done leave,
and when few are left the batch shrinks. A member that goes wrong is marked and leaves; an interrupt keeps what is done.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import jax.numpy as jnp
import numpy as np

from phaselect.devices.backend import MARGIN, free_bytes, on, out_of_memory, too_large
from phaselect.devices.member import Array, Batch, Member
from phaselect.devices.programs import Knobs, Program, compiled, take
from phaselect.devices.refine import Answer
from phaselect.problem.instance import Instance
from phaselect.problem.schedule import Schedule
from phaselect.solvers.base import Progress, ProgressCallback, Solver, judge
from phaselect.solvers.certificate import ENUMERABLE, Evidence, determined, touched
from phaselect.solvers.finish import time_to_quench
from phaselect.solvers.result import Result, Status, tabulate

WORTH_SHRINKING = 5.0
"""Seconds that the rest of a schedule must take for a smaller batch to pay for its compilation."""


@dataclass(frozen=True)
class Job:
    """What all chunks of a run share."""

    solver: Solver
    program: Program
    schedule: Schedule
    device: Any
    dtype: str
    noiseless: bool
    deadline: float
    progress: ProgressCallback | None
    began: float = field(default_factory=time.perf_counter)


@dataclass
class Track:
    """A member on its way: its trace so far, why it stopped (None: it has not, or has come to the end), with what."""

    rows: list[dict[str, float]] = field(default_factory=list)
    halted: Status | None = None
    candidate: Any = None


def run_chunks(job: Job, batch: Batch, chosen: Sequence[int], knobs: Knobs) -> Iterator[Result]:
    """Results of the chosen members, a chunk at a time; an interrupt ends with what the chunk in hand has."""
    each = job.program.bytes_a_member(batch.m_rows, batch.n, np.dtype(job.dtype).itemsize)
    room = max(1, int(MARGIN * free_bytes(job.device) / each))
    done = 0
    while done < len(chosen):
        part = slice(done, done + room)
        try:
            results, interrupted = _chunk(job, batch, chosen[part], Knobs(*(values[part] for values in knobs)))
        except (RuntimeError, ValueError) as error:
            if not out_of_memory(error):
                raise
            room = len(chosen[part]) // 2
            if room == 0:
                raise too_large(f"an instance with N = {batch.n}", each, job.device) from None
            continue
        yield from results
        done += len(results)
        if interrupted:
            raise KeyboardInterrupt


def _chunk(job: Job, batch: Batch, chosen: Sequence[int], knobs: Knobs) -> tuple[list[Result], bool]:
    """Results of some members, and whether an interrupt came while they were made."""
    began = time.perf_counter()
    with on(job.device):
        member, scale = batch.members(chosen, job.device, job.dtype)
        anneal = Anneal(job, member, knobs)
        tracks = anneal.run()
        interrupted = any(track.halted is Status.INTERRUPTED for track in tracks)
        try:
            answers, truths = _finished(job, member, tracks)
        except KeyboardInterrupt:  # only these few steps are left: a second one gets through
            interrupted = True
            answers, truths = _finished(job, member, tracks)
        y = np.asarray(member.y)
        seconds = (time.perf_counter() - began) / len(chosen)
        results = [
            replace(
                _result(job, member.A, y[k], k, Answer(*(values[k] for values in answers)), track, knobs, seconds),
                x=answers.x[k] * scale[k],
                truth={name: float(values[k]) for name, values in truths.items() if np.isfinite(values[k])},
            )
            for k, track in enumerate(tracks)
        ]
    return results, interrupted


def _finished(job: Job, member: Member, tracks: list[Track]) -> tuple[Answer, dict[str, Any]]:
    """The answers of all members, and how they compare with the truth."""
    programs = compiled(job.program)
    candidates = jnp.asarray(np.nan_to_num(np.stack([track.candidate for track in tracks])))
    answers = (programs.finish if job.noiseless else programs.as_it_is)(member, candidates)
    truths = programs.truth(member, answers.x, answers.signs)
    return Answer(*(np.array(values) for values in answers)), {
        name: np.array(values) for name, values in truths.items()
    }


class Anneal:
    """A chunk on its way through the schedule."""

    def __init__(self, job: Job, member: Member, knobs: Knobs) -> None:
        self.job, self.member, self.knobs = job, member, knobs
        self.programs = compiled(job.program)
        self.tracks = [Track() for _ in knobs.seed]
        self.here = list(range(len(self.tracks)))  # the member at each place of the batch, which shrinks as they leave
        self.state = self.programs.start(member, jnp.asarray(job.program.first(knobs, *member.A.shape[1:])))
        self.mu = 0.0

    def run(self) -> list[Track]:
        """Takes all members through the schedule, or as far as each needs to go."""
        schedule, segment = self.job.schedule, self.job.program.segment(self.job.schedule.steps)
        try:
            for done, stretch in enumerate(schedule.segments(segment), start=1):
                began = time.perf_counter()
                self.advance(stretch)
                self.tell(done * segment / len(schedule))
                if not self.going:
                    return self.tracks
                self.shrink((len(schedule) / segment - done) * (time.perf_counter() - began))
        except KeyboardInterrupt:
            for place in self.going:
                self.tracks[self.here[place]].halted = Status.INTERRUPTED
        self.leave(self.going)
        return self.tracks

    @property
    def going(self) -> list[int]:
        """Places whose members have not left."""
        return [place for place, k in enumerate(self.here) if self.tracks[k].candidate is None]

    def advance(self, stretch: Schedule) -> None:
        """A segment for all, then a look at each: a row of its trace, and whether it is done."""
        job, (mu, lam) = self.job, stretch[-1]
        steps = stretch.mu, stretch.lam, stretch.steps
        self.state = self.programs.advance(self.member, self.state, self.knobs, *steps)
        table = {name: np.asarray(column) for name, column in self.programs.columns(self.member, self.state).items()}
        eager = job.noiseless and getattr(job.solver, "eager", False) and time_to_quench(self.mu, mu)
        found, floor = self.ending() if eager else (None, np.full(len(self.here), np.nan))
        seconds, final, self.mu = time.perf_counter(), (mu, lam) == job.schedule[-1], mu
        leaving = []
        for place in self.going:
            track = self.tracks[self.here[place]]
            row = {name: column[place].item() for name, column in table.items()}
            own = lam * float(self.knobs.factor[place])
            row = {"mu": mu, "lam": own, **row, "quenched": float(floor[place]), "seconds": seconds - job.began}
            track.rows.append(row)
            broken = not np.isfinite(row["mse_y"])
            track.halted = Status.DIVERGED if broken else job.solver.stop(row, final, job.noiseless)
            if track.halted is None and seconds > job.deadline:
                track.halted = Status.TIME_LIMIT
            if track.halted is not None:
                leaving.append(place)
        self.leave(leaving, found)

    def ending(self) -> tuple[Any, Any]:
        """What every member would end with now, and the residual energy of quenched signs."""
        if self.job.noiseless:
            found, floor = self.programs.candidate(self.member, self.state)
            return np.asarray(found), np.asarray(floor)
        return np.asarray(self.programs.average(self.member, self.state)), np.full(len(self.here), np.nan)

    def leave(self, places: list[int], found: Any = None) -> None:
        """These members are done, with what has been found, or with what they have now."""
        if places:
            found = self.ending()[0] if found is None else found
        for place in places:
            self.tracks[self.here[place]].candidate = found[place]

    def shrink(self, seconds_left: float) -> None:
        """Go on with those that are left, if they are few and there is a long way to go; a power of two of them."""
        going = self.going
        if len(going) > len(self.here) // 2 or seconds_left < WORTH_SHRINKING:
            return
        places = going + [going[0]] * ((1 << (len(going) - 1).bit_length()) - len(going))
        self.here = [self.here[place] for place in going]
        self.member, self.state, self.knobs = (take(it, places) for it in (self.member, self.state, self.knobs))

    def tell(self, fraction: float) -> None:
        """Report how far it is."""
        if self.job.progress is not None:
            fits = [track.rows[-1]["mse_y"] for track in self.tracks]
            seconds = time.perf_counter() - self.job.began
            median = float(np.median(fits))
            self.job.progress(Progress(self.job.solver.name, min(1.0, fraction), self.mu, median, seconds))


def _result(job: Job, A: Array, y: Any, k: int, answer: Answer, track: Track, knobs: Knobs, seconds: float) -> Result:
    """What a single run would return, x in normalised units."""
    rows, columns = A.shape[1:]
    rank = columns - (not answer.full_rank)

    def fixed() -> bool:
        """As `certificate.determined`; A comes to the host only where the device could not settle it."""
        if rank < columns:
            return False
        if rows > ENUMERABLE and answer.linked and all(map(np.all, touched(y, answer.x))):
            return True
        return determined(Instance(np.asarray(A[k]), y), answer.x, answer.signs, rank)

    seen = Evidence(float(answer.fit), bool(answer.missed), fixed)
    return Result(
        x=answer.x,
        signs=answer.signs,
        **judge(seen, rows, rank, job.noiseless, track.halted)._asdict(),
        steps=int(track.rows[-1]["steps"]) if track.rows else 0,
        seconds=seconds,
        trace=tabulate(track.rows),
        solver=job.solver.name,
        schedule=job.schedule.rescaled(float(knobs.factor[k])),
        seed=int(knobs.seed[k]),
    )

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
from phaselect.instance import Instance
from phaselect.schedule import Schedule
from phaselect.solvers.base import Progress, ProgressCallback, Solver, judge
from phaselect.solvers.certificate import ENUMERABLE, NEGLIGIBLE, Evidence, determined
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
            results = _chunk(job, batch, chosen[part], Knobs(*(values[part] for values in knobs)))
        except (RuntimeError, ValueError) as error:
            if not out_of_memory(error):
                raise
            room = len(chosen[part]) // 2
            if room == 0:
                raise too_large(f"an instance with N = {batch.n}", each, job.device) from None
            continue
        yield from results
        done += len(results)
        if any(result.status is Status.INTERRUPTED for result in results):
            return


def _chunk(job: Job, batch: Batch, chosen: Sequence[int], knobs: Knobs) -> list[Result]:
    began = time.perf_counter()
    run = compiled(job.program)
    with on(job.device):
        member, scale = batch.members(chosen, job.device, job.dtype)
        tracks = _anneal(job, member, knobs)
        candidates = jnp.asarray(np.nan_to_num(np.stack([track.candidate for track in tracks])))
        answers = (run.finish if job.noiseless else run.as_it_is)(member, candidates)
        answers = Answer(*(np.array(values) for values in answers))
        y = np.asarray(member.y)
        truths = {name: np.asarray(values) for name, values in run.truth(member, answers.x, answers.signs).items()}
        seconds = (time.perf_counter() - began) / len(chosen)
        return [
            replace(
                _result(job, member.A, y[k], k, Answer(*(values[k] for values in answers)), track, knobs, seconds),
                x=answers.x[k] * scale[k],
                truth={name: float(values[k]) for name, values in truths.items() if np.isfinite(values[k])},
            )
            for k, track in enumerate(tracks)
        ]


def _anneal(job: Job, member: Member, knobs: Knobs) -> list[Track]:
    """Takes all members through the schedule, or as far as each needs to go."""
    run, schedule, segment = compiled(job.program), job.schedule, job.program.segment(job.schedule.steps)
    tracks = [Track() for _ in knobs.seed]
    here = list(range(len(tracks)))  # the member at each place of the batch, which shrinks as they leave
    state = run.start(member, jnp.asarray(job.program.first(knobs, *member.A.shape[1:])))
    mu_before = 0.0

    def ending(member: Member, state: Any) -> tuple[Any, Any]:
        if job.noiseless:
            return run.candidate(member, state)  # type: ignore[no-any-return]
        return run.average(member, state), np.full(len(here), np.nan)

    try:
        for number, stretch in enumerate(schedule.segments(segment)):
            mu, lam = stretch[-1]
            began = time.perf_counter()
            state = run.advance(member, state, knobs, stretch.mu, stretch.lam, stretch.steps)
            table = {name: np.asarray(column).tolist() for name, column in run.columns(member, state).items()}
            seconds = time.perf_counter()
            found, floor = None, np.full(len(here), np.nan)
            if getattr(job.solver, "eager", False) and job.noiseless and time_to_quench(mu_before, mu):
                found, floor = (np.asarray(one) for one in ending(member, state))
            leave = []
            for place, k in enumerate(here):
                track = tracks[k]
                if track.candidate is not None:
                    continue
                row = {name: column[place] for name, column in table.items()}
                row = {"mu": mu, "lam": lam, **row, "quenched": float(floor[place]), "seconds": seconds - job.began}
                track.rows.append(row)
                if not np.isfinite(row["mse_y"]):
                    track.halted = Status.DIVERGED
                else:
                    track.halted = job.solver.stop(row, (mu, lam) == schedule[-1], job.noiseless)
                if track.halted is None and seconds > job.deadline:
                    track.halted = Status.TIME_LIMIT
                if track.halted is not None:
                    leave.append(place)
            if leave:
                found = np.asarray(ending(member, state)[0]) if found is None else found
                for place in leave:
                    tracks[here[place]].candidate = found[place]
            going = [place for place, k in enumerate(here) if tracks[k].candidate is None]
            _tell(job, (number + 1) * segment / len(schedule), mu, table["mse_y"])
            if not going:
                return tracks
            left = (len(schedule) / segment - number) * (time.perf_counter() - began)
            if len(going) <= len(here) // 2 and left > WORTH_SHRINKING:
                size = 1 << (len(going) - 1).bit_length()
                places = going + [going[0]] * (size - len(going))
                here = [here[place] for place in going]
                member, state, knobs = (take(tree, places) for tree in (member, state, knobs))
            mu_before = mu
    except KeyboardInterrupt:
        for k in here:
            tracks[k].halted = tracks[k].halted if tracks[k].candidate is not None else Status.INTERRUPTED
    found = np.asarray(ending(member, state)[0])
    for place, k in enumerate(here):
        tracks[k].candidate = found[place] if tracks[k].candidate is None else tracks[k].candidate
    return tracks


def _tell(job: Job, fraction: float, mu: float, fits: list[float]) -> None:
    if job.progress is not None:
        seconds = time.perf_counter() - job.began
        job.progress(Progress(job.solver.name, min(1.0, fraction), mu, float(np.median(fits)), seconds))


def _result(job: Job, A: Array, y: Any, k: int, answer: Answer, track: Track, knobs: Knobs, seconds: float) -> Result:
    """What a single run would return, x in normalised units."""
    rows, columns = A.shape[1:]
    rank = columns - (not answer.full_rank)

    def fixed() -> bool:
        """As `certificate.determined`; A comes to the host only where x or y have zeros, or to be enumerated."""
        support = np.abs(answer.x) > NEGLIGIBLE * np.sqrt(np.mean(answer.x**2))
        if rank < columns or (rows > ENUMERABLE and support.all() and (y > NEGLIGIBLE).all()):
            return bool(answer.linked) and rank == columns
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
        schedule=job.schedule,
        seed=int(knobs.seed[k]),
    )

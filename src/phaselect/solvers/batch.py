"""`run_batch`: many instances at once, as one JAX program on a GPU or on the CPU; and `run`, wherever A is."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from phaselect.base.errors import InputError
from phaselect.base.threads import one_blas_thread
from phaselect.problem.instance import Instance
from phaselect.problem.schedule import Schedule
from phaselect.solvers.base import ProgressCallback, better, check_plan, check_run, drive
from phaselect.solvers.result import Result, Status


@one_blas_thread()  # on a CPU JAX factorises with the same library, whose threads fight over small matrices
def run_batch(
    solver: Any,
    problems: Any,
    schedule: Schedule | None = None,
    *,
    seeds: Sequence[int] | None = None,
    device: Any = None,
    dtype: str = "float32",
    time_limit: float | None = None,
    progress: ProgressCallback | None = None,
    noiseless: bool = True,
) -> list[Result]:
    """Run the solver on many instances of one shape at once; a result for each, in their order.

    problems: a list of Instances, which are sent to the device, or `phaselect.gaussian_batch(n, alpha, seeds=...)`,
        whose instances are drawn there.
    schedule: the same for all; the solver's default if None.
    seeds: of the runs; 0, 1, 2 ..., or the seeds of a `gaussian_batch`, if None.
    device: "gpu" or "cpu"; the first GPU, if there is one, if None.
    dtype: of A on the device, "float32" or "float64"; answers are refined in float64 in any case.
    time_limit: seconds for all together, looked at between segments of the schedule; every member gets one segment.

    A member that breaks down is marked as diverged and does not touch the others. After Ctrl-C the members that were
    done are kept, and the others have the status INTERRUPTED. `seconds` of a result is its share of the time.
    """
    from phaselect.devices.backend import checked_dtype, choose
    from phaselect.devices.batch import Job, run_chunks
    from phaselect.devices.member import as_batch, checked_seeds
    from phaselect.devices.programs import Knobs

    check_plan(schedule, time_limit)
    batch = as_batch(problems)
    seeds = checked_seeds(getattr(problems, "seeds", range(len(batch))) if seeds is None else seeds)
    if len(seeds) != len(batch):
        raise InputError(f"{len(seeds)} seeds for {len(batch)} instances: give one each")
    dtype = checked_dtype(dtype)
    schedule = schedule or solver.default_schedule(None)
    schedule.iterations(f"a batch of {solver.name}")
    began = time.perf_counter()
    deadline = np.inf if time_limit is None else began + time_limit
    job = Job(solver, solver.program(), schedule, choose(device), dtype, noiseless, deadline, progress)
    best: list[Result | None] = [None] * len(batch)
    waiting = list(range(len(batch)))
    last = getattr(solver, "restarts", 0)
    for attempt in range(last + 1):
        variants = [_variant(solver, seeds[k], attempt) for k in waiting]
        knobs = Knobs(*(np.array(values) for values in zip(*variants, strict=True)))
        ended, done = None, set()
        try:
            for k, result in zip(waiting, run_chunks(job, batch, waiting, knobs), strict=True):
                best[k] = _so_far(best[k], replace(result, seed=seeds[k]))
                if result.status not in (Status.INTERRUPTED, Status.TIME_LIMIT):
                    done.add(k)
        except KeyboardInterrupt:
            ended = Status.INTERRUPTED
        waiting = [k for k in waiting if (one := best[k]) is None or not one.settled] if noiseless else []
        ended = ended or (Status.TIME_LIMIT if time.perf_counter() > deadline else None)
        if ended is not None:
            for k in waiting:
                if attempt < last or k not in done:  # it was to start again, or was at it: not failed, but stopped
                    best[k] = (one := best[k]) and replace(one, status=ended)
        if ended is not None or not waiting:
            break
    return [result or _not_begun(batch, job, seed) for result, seed in zip(best, seeds, strict=True)]


def gaussian_batch(n: int, alpha: float, *, seeds: Iterable[int]) -> Any:
    """Random instances to be drawn on a device, one for each seed, for `run_batch` (devices.member.GaussianBatch)."""
    from phaselect.devices.member import gaussian_batch

    return gaussian_batch(n, alpha, seeds=seeds)


def run_anywhere(
    solver: Any,
    problem: Instance,
    schedule: Schedule | None = None,
    *,
    seed: int = 0,
    init: Any = None,
    time_limit: float | None = None,
    progress: ProgressCallback | None = None,
    noiseless: bool = True,
) -> Result:
    """Run a solver over a schedule, on the device if A is there; see `drive` for the arguments."""
    options: dict[str, Any] = {"time_limit": time_limit, "progress": progress, "noiseless": noiseless}
    if not (isinstance(problem, Instance) and problem.matrix.on_device):
        return drive(solver, problem, schedule, seed=seed, init=init, **options)
    seed = check_run(problem, schedule, seed, time_limit)
    if problem.matrix.processes > 1:
        raise InputError(f"{solver.name} needs A whole, and processes share it: use message passing")
    if init is not None:
        raise InputError(f"{solver.name} on a device starts afresh: leave out init, or run with A in memory")
    matrix: Any = problem.matrix
    options |= {"device": matrix.device, "dtype": str(matrix.A.dtype)}
    return run_batch(solver, [problem], schedule, seeds=[seed], **options)[0]


def _variant(solver: Any, seed: int, attempt: int) -> tuple[int, float, float]:
    """Seed, damping and factor of every lam; only message passing varies what it starts again with."""
    return solver.variant(seed, attempt) if hasattr(solver, "variant") else (seed, 0.0, 1.0)


def _so_far(best: Result | None, result: Result) -> Result:
    """The better of two attempts, with the seconds and steps of both."""
    if best is None:
        return result
    return replace(better(best, result), seconds=best.seconds + result.seconds, steps=best.steps + result.steps)


def _not_begun(batch: Any, job: Any, seed: int) -> Result:
    """What there is to say of a member whose turn did not come."""
    x, signs = np.zeros(batch.n), np.ones(batch.m_rows)
    status = Status.INTERRUPTED if time.perf_counter() < job.deadline else Status.TIME_LIMIT
    return Result(x, signs, status, False, np.inf, 1.0, 0, 0.0, {}, job.solver.name, job.schedule, seed)

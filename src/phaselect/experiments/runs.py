"""What a worker does: run a pack of tasks, one instance at a time, and hand back a row for each."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import cache
from itertools import groupby
from pathlib import Path

import numba

import phaselect
from phaselect.base.threads import one_blas_thread, run_parallel
from phaselect.experiments.contenders import CONTENDERS
from phaselect.experiments.grid import Task
from phaselect.experiments.store import FAILED, Row
from phaselect.problem.instance import Instance, gaussian_instance
from phaselect.problem.spectrum import spectrum
from phaselect.solvers.result import Result, Status

Pack = Sequence[Task]


def run_pack(pack: Pack) -> list[Row]:
    """A row for each task; tasks on the same instance share it, and with it its SVD. Runs on one thread."""
    rows: list[Row] = []
    with one_thread():
        for (n, alpha, seed), group in groupby(pack, key=lambda task: task.instance):
            tasks = list(group)
            try:
                problem = gaussian_instance(n, alpha, seed=seed)
            except Exception as error:
                rows += [failed(task, error) for task in tasks]
                continue
            shared, svd_seconds = _decomposed(problem, tasks)
            for task in tasks:
                if CONTENDERS[task.solver].spectral:
                    rows.append(run_task(shared, task, svd_seconds))
                else:
                    rows.append(run_task(problem, task))
    return rows


def _decomposed(problem: Instance, tasks: Sequence[Task]) -> tuple[Instance, float]:
    """The instance with its SVD, if any task begins with it, and the seconds that took."""
    if not any(CONTENDERS[task.solver].spectral for task in tasks):
        return problem, 0.0
    own = replace(problem)  # so that a solver which does without the SVD does not find it there
    began = time.perf_counter()
    spectrum(own)
    return own, time.perf_counter() - began


def run_task(problem: Instance, task: Task, svd_seconds: float = 0.0) -> Row:
    """One solver on one instance; whatever goes wrong becomes a row that says so.

    svd_seconds: what the SVD took that the solver finds done, counted as its own.
    """
    try:
        warm_up(task.solver)
        began = time.perf_counter()
        result = CONTENDERS[task.solver].run(problem, task.seed, **task.options)
    except Exception as error:
        return failed(task, error)
    if result.status is Status.INTERRUPTED:  # a solver returns its best so far: not what the task asked for
        raise KeyboardInterrupt
    return _row(task) | _outcome(result) | {"seconds": svd_seconds + time.perf_counter() - began}


def _outcome(result: Result) -> Row:
    measured = {"mse_y": result.mse_y, "iterations": result.steps, "seconds": result.seconds}
    return {"status": result.status.name, **result.truth, **measured}


def run_on_device(pack: Pack, device: str) -> list[Row]:
    """Rows of tasks that differ in the seed alone, run as one batch; after an interrupt, of those that were done.

    The instances are sent to the device, not drawn there, so that a row means the same wherever it was run. `seconds`
    is a run's share of the time of the batch, in which the compilation of its program is included.
    """
    solver, schedule = CONTENDERS[pack[0].solver].plan(**pack[0].options)
    problems = run_parallel(lambda task: gaussian_instance(task.n, task.alpha, seed=task.seed), pack)
    results = solver.run_batch(problems, schedule, seeds=[task.seed for task in pack], device=device)
    return [
        _row(task) | _outcome(result) | {"device": device}
        for task, result in zip(pack, results, strict=True)
        if result.status is not Status.INTERRUPTED
    ]


@cache
def warm_up(solver: str) -> None:
    """Run a solver once on a tiny instance, so that loading its kernels is not timed as part of a run."""
    contender = CONTENDERS[solver]
    contender.run(gaussian_instance(20, 6.0, seed=0), 0, **contender.defaults)


def failed(task: Task, error: BaseException) -> Row:
    """The row of a task that could not be run."""
    reason = " ".join(str(error).split())
    return _row(task) | {"status": FAILED, "error": f"{type(error).__name__}: {reason}"}


def _row(task: Task) -> Row:
    nothing = dict.fromkeys(("m", "O", "mse_y", "mse_x", "iterations", "seconds"))
    stamp = {"version": phaselect.__version__, "revision": git_revision(), "device": "", "error": ""}
    return {"key": task.key, **asdict(task), **nothing, **stamp}


@contextmanager
def one_thread() -> Iterator[None]:
    """Kernels and BLAS on the calling thread alone: the workers are the parallelism."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        with one_blas_thread():
            yield
    finally:
        numba.set_num_threads(before)


@cache
def git_revision() -> str:
    """The commit of the sources, `-dirty` if they were changed since; nothing for an installed package."""
    here = Path(phaselect.__file__).parent
    describe = ["git", "-C", str(here), "describe", "--always", "--dirty", "--abbrev=10", "--exclude=*"]
    try:
        done = subprocess.run(describe, capture_output=True, text=True, timeout=10, check=False)
        tracked = subprocess.run(
            ["git", "-C", str(here), "ls-files", "--error-unmatch", "__init__.py"],
            capture_output=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == tracked.returncode == 0 else ""

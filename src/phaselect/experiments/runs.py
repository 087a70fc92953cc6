"""What a worker does: run a pack of tasks, one instance at a time, and hand back one row per task."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from itertools import groupby

import phaselect
from phaselect.experiments.grid import REAL, Task
from phaselect.experiments.revision import git_revision
from phaselect.experiments.store import FAILED, Row
from phaselect.problem.ensembles import ensemble_instance, gaussian_instance
from phaselect.problem.instance import Instance
from phaselect.solvers.certificate.impostors import log10_impostors
from phaselect.solvers.registry import REGISTRY
from phaselect.solvers.result import Result, Status

ONLY_LONGER = ("replicas", "restarts", "iterations")
"""Options that make a run longer and need no other kernels."""
Pack = Sequence[Task]
ROUNDED, RARE = 1e-14, -3.0
"""mse_y that an A rounded to float32 may leave; log10 of impostors that hardly ever come up."""


def run_pack(pack: Pack) -> list[Row]:
    """One row per task; tasks on the same instance share it, and with it its SVD. Runs on one thread."""
    rows: list[Row] = []
    with one_thread():
        for _, group in groupby(pack, key=lambda task: task.instance):
            tasks = list(group)
            try:
                problem = instance_of(tasks[0])
            except Exception as error:
                rows += [failed(task, error) for task in tasks]
                continue
            shared, svd_seconds = _decomposed(problem, tasks)
            for task in tasks:
                if REGISTRY[task.solver].needs_entries:
                    rows.append(run_task(shared, task, svd_seconds))
                else:
                    rows.append(run_task(problem, task))
    return rows


def instance_of(task: Task) -> Instance:
    """What a task runs on: an array, whatever its solver, so that a row means the same wherever it was run."""
    return ensemble_instance(task.ensemble, task.n, task.alpha, seed=task.seed, dense=True, field=task.field)


def _decomposed(problem: Instance, tasks: Sequence[Task]) -> tuple[Instance, float]:
    """The instance with its SVD, if any task begins with it, and the seconds that took."""
    if not any(REGISTRY[task.solver].needs_entries for task in tasks):
        return problem, 0.0
    own = replace(problem)  # so that a solver which does without the SVD does not find it there
    began = time.perf_counter()
    _ = own.normalised.ridge
    return own, time.perf_counter() - began


def run_task(problem: Instance, task: Task, svd_seconds: float = 0.0) -> Row:
    """One solver on one instance; whatever goes wrong becomes a row that says so.

    svd_seconds: what the SVD took that the solver finds done, counted as its own.
    """
    try:
        warm_up(task)
        began = time.perf_counter()
        result = REGISTRY[task.solver].run(problem, task.seed, **dict(task.options))
        seconds = svd_seconds + time.perf_counter() - began
    except Exception as error:
        return failed(task, error)
    whole(result)
    return _row(task) | _outcome(result) | {"seconds": seconds}


def whole(result: Result) -> Result:
    """A solver that is interrupted returns its best so far: not what an experiment asks for."""
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return result


def _outcome(result: Result) -> Row:
    measured = {"mse_y": result.mse_y, "sweeps": result.sweeps, "seconds": result.seconds}
    return {"status": result.status.name, **result.truth, **measured}


def run_on_device(pack: Pack, device: str) -> list[Row]:
    """Rows of tasks that differ in the seed alone, run as one batch; after an interrupt, of those that were done.

    The instances are sent to the device, not drawn there, so that a row means the same wherever it was run. `seconds`
    is a run's share of the time of the batch, in which the compilation of its program is included.
    """
    from phaselect.base.threads import run_parallel

    solver, schedule = REGISTRY[pack[0].solver].plan(**dict(pack[0].options))
    problems = run_parallel(instance_of, pack)
    seeds = [task.seed for task in pack]
    results = solver.run_batch(problems, schedule, seeds=seeds, device=device, dtype=dtype_for(pack[0]))
    return [
        _row(task) | _outcome(result) | {"device": device}
        for task, result in zip(pack, results, strict=True)
        if result.status is not Status.INTERRUPTED
    ]


def dtype_for(task: Task) -> str:
    """float32, unless so few measurements exceed the unknowns that wrong signs fit an A rounded to it as well."""
    in_float32 = log10_impostors(ROUNDED, round(task.alpha * task.n), task.n)
    return "float64" if task.field == REAL and in_float32 > RARE else "float32"


def warm_up(task: Task) -> None:
    """Run its solver once on a tiny instance, so that loading its kernels is not timed as part of a run.

    With the options by which it chooses them: few sweeps at a temperature have another kernel than many.
    """
    _tiny_run(task.solver, task.field, tuple(option for option in task.options if option[0] not in ONLY_LONGER))


@cache
def _tiny_run(solver: str, field: str, options: tuple[tuple[str, float], ...]) -> None:
    whole(REGISTRY[solver].run(gaussian_instance(20, 6.0, seed=0, field=field), 0, **dict(options)))


def failed(task: Task, error: BaseException) -> Row:
    """The row of a task that could not be run."""
    reason = " ".join(str(error).split())
    return _row(task) | {"status": FAILED, "error": f"{type(error).__name__}: {reason}"}


def _row(task: Task) -> Row:
    parameters = {"solver": task.solver, "n": task.n, "alpha": task.alpha, "seed": task.seed}
    options = {"options": task.record, "plan": task.plan}
    nothing = dict.fromkeys(("m", "O", "mse_y", "mse_x", "sweeps", "seconds"))
    stamp = {"version": phaselect.__version__, "revision": git_revision(), "device": "", "error": ""}
    return {"key": task.key, **parameters, **options, **nothing, **stamp}


@contextmanager
def one_thread() -> Iterator[None]:
    """Kernels and BLAS on the calling thread alone: the workers are the parallelism."""
    from phaselect.base.kernels import numba
    from phaselect.base.threads import one_blas_thread

    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        with one_blas_thread():
            yield
    finally:
        numba.set_num_threads(before)

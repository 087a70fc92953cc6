"""What a worker does: run a pack of tasks, one instance at a time, and hand back a row for each."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache
from itertools import groupby
from pathlib import Path

import numba

import phaselect
from phaselect.experiments.contenders import CONTENDERS
from phaselect.experiments.grid import Task
from phaselect.experiments.store import FAILED, Row
from phaselect.instance import Instance, gaussian_instance
from phaselect.observables import against_truth
from phaselect.parallel import one_blas_thread

Pack = Sequence[Task]


def run_pack(pack: Pack, revision: str) -> list[Row]:
    """A row for each task; tasks on the same instance share it, and with it its SVD. Runs on one thread."""
    rows: list[Row] = []
    with one_thread():
        for (n, alpha, seed), group in groupby(pack, key=lambda task: task.instance):
            tasks = list(group)
            try:
                problem = gaussian_instance(n, alpha, seed=seed)
            except Exception as error:
                rows += [failed(task, error, revision) for task in tasks]
            else:
                rows += [run_task(problem, task, revision) for task in tasks]
    return rows


def run_task(problem: Instance, task: Task, revision: str) -> Row:
    """One solver on one instance; whatever goes wrong becomes a row that says so."""
    began = time.perf_counter()
    try:
        result = CONTENDERS[task.solver].run(problem, task.seed, **task.options)
    except Exception as error:
        return failed(task, error, revision)
    return _row(task, revision) | {
        "status": result.status.name,
        **against_truth(problem, result.x, result.signs),
        "mse_y": result.mse_y,
        "iterations": result.steps,
        "seconds": time.perf_counter() - began,
    }


def failed(task: Task, error: BaseException, revision: str) -> Row:
    """The row of a task that could not be run."""
    reason = " ".join(str(error).split())
    return _row(task, revision) | {"status": FAILED, "error": f"{type(error).__name__}: {reason}"}


def _row(task: Task, revision: str) -> Row:
    nothing = dict.fromkeys(("m", "O", "mse_y", "mse_x", "iterations", "seconds"))
    stamp = {"version": phaselect.__version__, "revision": revision, "error": ""}
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

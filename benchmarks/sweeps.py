"""What a sweep costs beside its runs, and what sharing an SVD saves."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.machine import Machine
from benchmarks.plan import Plan
from benchmarks.rows import Measurement, Task
from benchmarks.timing import in_turn, once
from phaselect.experiments.executors import Dask, Executor, InProcess, Processes, cores
from phaselect.experiments.grid import Grid
from phaselect.experiments.grid import Task as Run
from phaselect.experiments.runs import run_pack
from phaselect.experiments.store import Store
from phaselect.experiments.sweep import run_sweep

SECTION = "sweeps"
ONE_START = {"restarts": (0,)}
"""About 10 ms per run."""


def tasks(machine: Machine, plan: Plan) -> list[Task]:
    """Every executor; the shared SVD."""
    if not plan.instances_per_sweep:
        return []
    grid = Grid(
        ("amp",), (100,), (1.3, 1.4, 1.5), instances=plan.instances_per_sweep, options=ONE_START
    )  # 10 ms per run
    executors = {
        "in this process": (lambda: InProcess(), 1, 0.8),
        f"{cores()} processes": (lambda: Processes(), cores(), 0.6),
        f"Dask, {cores()} processes": (lambda: Dask(workers=cores()), cores(), 0.5),
    }
    shares = [
        Task(SECTION, f"cores busy with runs, {name}", "N = 100", lambda made=made: busy(grid, made[0](), *made[1:]))
        for name, made in executors.items()
    ]
    return [*shares, Task(SECTION, "three solvers in one pack", "N = 400", partial(shared_svd, 400))]


def busy(grid: Grid, executor: Executor, workers: int, limit: float) -> Measurement:
    """Seconds of the runs over seconds of the cores; starting the processes is part of the latter."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        wall, _ = once(lambda: run_sweep([grid], path, executor))
        with Store(path, read_only=True) as store:
            seconds = store.table()["seconds"]
    detail = f"{seconds.size} runs of {1e3 * np.mean(seconds):.0f} ms in {wall:.1f} s"
    share = float(seconds.sum()) / wall / workers
    return Measurement(share, "of their time", detail, bound=1.0, more_is_better=True, limit=limit)


def shared_svd(n: int) -> Measurement:
    """Three solvers that need the SVD, on one instance: together in a pack, or each for itself."""
    runs = [Run.of("altmin", n, 1.3, 0), Run.of("sa", n, 1.3, 0, eps=0.5), Run.of("langevin", n, 1.3, 0, eps=0.5)]
    together, apart = in_turn(lambda: run_pack(runs), lambda: [run_pack([run]) for run in runs], repeat=3)
    detail = "altmin, sa and langevin on one instance, fast anneals; reference: each in a pack of its own"
    return Measurement(together, "s", detail, apart, least_ratio=1.0)

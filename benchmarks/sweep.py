"""What a sweep costs beside its runs, and what sharing an SVD saves."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.timing import Row, at_least, at_most, in_turn
from phaselect.experiments.executors import Dask, Executor, InProcess, Processes, cores
from phaselect.experiments.grid import Grid, Task
from phaselect.experiments.runs import run_pack
from phaselect.experiments.store import Store
from phaselect.experiments.sweep import run_sweep

SHORT = Grid(("amp",), (100,), (1.3, 1.4, 1.5), instances=300, options={"restarts": (0,)})  # about 10 ms each


def share_of_runs(what: str, executor: Executor, workers: int, limit: float) -> Row:
    """Seconds of the runs over seconds of the cores; starting the processes is part of it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        began = time.perf_counter()
        run_sweep([SHORT], path, executor)
        wall = time.perf_counter() - began
        with Store(path, read_only=True) as store:
            seconds = store.table()["seconds"]
    detail = f"{seconds.size} runs of {1e3 * np.mean(seconds):.0f} ms in {wall:.1f} s; bound 1"
    return at_least(
        f"share of the cores' time spent in runs, {what}", "N = 100", seconds.sum() / wall / workers, limit, detail
    )


def shared_svd(n: int = 400) -> Row:
    """Three solvers that need the SVD, on one instance: together in a pack, or each for itself."""
    tasks = [Task.of("altmin", n, 1.3, 0), Task.of("sa", n, 1.3, 0, eps=0.5), Task.of("langevin", n, 1.3, 0, eps=0.5)]
    together, apart = in_turn(lambda: run_pack(tasks), lambda: [run_pack([task]) for task in tasks], repeat=3)
    detail = f"altmin, sa and langevin on one instance, fast anneals: {together:.2f} s together, {apart:.2f} s apart"
    return at_most("runs in one pack / each in its own", f"N = {n}", together / apart, 1.0, detail)


def rows() -> Iterator[Row]:
    """Every executor; the shared SVD."""
    yield share_of_runs("in this process", InProcess(), 1, 0.8)
    yield share_of_runs(f"{cores()} processes", Processes(), cores(), 0.6)
    yield share_of_runs(f"Dask, {cores()} processes", Dask(workers=cores()), cores(), 0.5)
    yield shared_svd()


if __name__ == "__main__":
    for row in rows():
        print(row)

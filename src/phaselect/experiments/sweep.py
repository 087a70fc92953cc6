"""A sweep: the runs that a store lacks, packed, handed to an executor, written as they come back."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from phaselect.base.checks import check_seconds
from phaselect.base.tables import Columns, stack
from phaselect.experiments.executors import Executor, Processes
from phaselect.experiments.grid import Grid, Task, all_tasks
from phaselect.experiments.runs import Pack, failed
from phaselect.experiments.store import FAILED, Row, Store
from phaselect.solvers.registry import OPTIONS

PACK_SECONDS = 1.0
"""Runs shorter than this are packed together until they take about as long: handing over a pack then costs little."""


PLACES = ("done", "failed", "missing")


class SweepProgress(NamedTuple):
    """How far a sweep is: runs done, failed ones of this sweep, runs asked for, runs per second, seconds left."""

    done: int
    failed: int
    total: int
    rate: float
    seconds_left: float


class Summary(NamedTuple):
    """What a sweep did: runs asked for, found in the store, added; how many of all have failed; what stopped it early.

    stopped: "interrupted", "out of time", or nothing.
    """

    total: int
    found: int
    added: int
    failed: int
    stopped: str


def run_sweep(
    grids: Sequence[Grid],
    store: str | Path,
    executor: Executor | None = None,
    *,
    retry_failed: bool = False,
    time_limit: float | None = None,
    progress: Callable[[SweepProgress], None] | None = None,
) -> Summary:
    """Compute the runs of `grids` that the store lacks.

    executor: `Processes()`, one process per core, if None; or `InProcess()`, `Batches(...)`, `Dask(...)`.
    retry_failed: run again what failed before.
    time_limit: seconds after which no more runs are begun.

    Ctrl-C lets the running ones finish and be written; a second one abandons them. Whatever is written stays, and
    the same call goes on from there. Where Ctrl-C came after the last run was begun, the sweep is complete, and
    `stopped` all the same.
    """
    check_seconds(time_limit)
    tasks = all_tasks(grids)
    executor = executor or Processes()
    executor.check(tasks)
    began = time.perf_counter()
    with Store(store) as open_store, interrupt_deferred() as interrupted:
        open_store.remember(grids)
        known = open_store.keys(failed=not retry_failed)
        missing = [task for task in tasks if task.key not in known]
        packer = Packer(missing, open_store.times(executor.device))
        counts = {"added": 0, "failed": 0}

        def stop() -> bool:
            return interrupted() or (time_limit is not None and time.perf_counter() - began > time_limit)

        def report() -> None:
            if progress is not None:
                rate = counts["added"] / (time.perf_counter() - began)
                left = (len(missing) - counts["added"]) / rate if rate else np.inf
                found = len(tasks) - len(missing)
                progress(SweepProgress(found + counts["added"], counts["failed"], len(tasks), rate, left))

        report()
        for pack, outcome in executor.outcomes(packer.packs(), stop):
            rows = _rows(pack, outcome)
            open_store.add(rows)
            packer.learn(rows)
            counts["added"] += len(rows)
            counts["failed"] += sum(row["status"] == FAILED for row in rows)
            report()
        failures = open_store.failures()
    stopped = "interrupted" if interrupted() else "out of time" if counts["added"] < len(missing) else ""
    failed_ones = sum(task.key in failures for task in tasks)
    return Summary(len(tasks), len(tasks) - len(missing), counts["added"], failed_ones, stopped)


def status(grids: Sequence[Grid], store: str | Path) -> Columns:
    """Runs done, failed and missing of each kind; of everything ever asked of the store if `grids` is empty."""
    with Store(store, read_only=True) as open_store:
        tasks = all_tasks(grids or open_store.grids())
        keys, failures = open_store.keys(), open_store.failures()
    counts: dict[Any, list[int]] = defaultdict(lambda: [0, 0, 0])
    for task in tasks:
        place = 2 if task.key not in keys else 1 if task.key in failures else 0
        counts[task.solver, task.n, task.options][place] += 1
    names = [name for name in OPTIONS if any(name in dict(options) for _, _, options in counts)]
    rows = [
        {"solver": solver, "n": n, **{name: dict(options).get(name, np.nan) for name in names}}
        | dict(zip(PLACES, count, strict=True))
        for (solver, n, options), count in counts.items()
    ]
    return stack(rows) if rows else {name: np.array([]) for name in ("solver", "n", *PLACES)}


class Packer:
    """Cuts tasks into packs of about `PACK_SECONDS`, from the times of runs of each kind on this device so far.

    Runs on one instance stay together, to share its SVD, unless they are long; a kind not seen yet is not packed.
    """

    def __init__(self, tasks: Sequence[Task], times: dict[tuple[Any, ...], tuple[int, float]]) -> None:
        self.tasks = tasks
        self.times = dict(times)

    def learn(self, rows: Sequence[Row]) -> None:
        """Take the times of finished runs into account."""
        for row in rows:
            if row["status"] != FAILED:
                kind = row["solver"], row["n"], row["plan"]
                count, total = self.times.get(kind, (0, 0.0))
                self.times[kind] = (count + 1, total + row["seconds"])

    def expected(self, task: Task) -> float:
        """Mean seconds of such a run; as long as a pack if none was seen."""
        count, total = self.times.get(task.kind, (0, 0.0))
        return total / count if count else PACK_SECONDS

    def packs(self) -> Iterator[Pack]:
        """The packs, cut when they are asked for."""
        pack: list[Task] = []
        seconds = 0.0
        for _, group in groupby(self.tasks, key=lambda task: task.instance):
            for task in group:
                if self.expected(task) > PACK_SECONDS:
                    yield [task]
                else:
                    pack.append(task)
                    seconds += self.expected(task)
            if seconds >= PACK_SECONDS:
                yield pack
                pack, seconds = [], 0.0
        if pack:
            yield pack


@contextmanager
def interrupt_deferred() -> Iterator[Callable[[], bool]]:
    """Within this context the first Ctrl-C is only noted, for the caller to ask about; the second one interrupts."""
    noted = threading.Event()

    def note(number: int, frame: Any) -> None:
        if noted.is_set():
            (before if callable(before) else signal.default_int_handler)(number, frame)
        noted.set()
        with suppress(OSError):  # not by `print`, which the signal may have interrupted
            os.write(2, b"finishing the runs in hand; Ctrl-C again abandons them\n")

    if threading.current_thread() is not threading.main_thread():
        yield noted.is_set
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield noted.is_set
    finally:
        signal.signal(signal.SIGINT, before)


def _rows(pack: Pack, outcome: list[Row] | Exception) -> list[Row]:
    if isinstance(outcome, Exception):
        return [failed(task, outcome) for task in pack]
    return outcome

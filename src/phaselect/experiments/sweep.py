"""A sweep: the runs that a store lacks, packed, handed to an executor, written as they come back."""

from __future__ import annotations

import signal
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from phaselect.base.bars import say_over_the_bar
from phaselect.base.checks import check_seconds
from phaselect.base.errors import DeviceLost
from phaselect.base.tables import Columns, stack
from phaselect.experiments.executors import Executor, InProcess, Processes
from phaselect.experiments.grid import USUAL, Grid, all_tasks
from phaselect.experiments.packing import Packing, SingleRuns, Times
from phaselect.experiments.runs import Pack, failed
from phaselect.experiments.store import FAILED, Row, Store
from phaselect.solvers.registry import OPTIONS

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
    packing: Packing | None = None,
    *,
    retry_failed: bool = False,
    time_limit: float | None = None,
    progress: Callable[[SweepProgress], None] | None = None,
) -> Summary:
    """Compute the runs of `grids` that the store lacks.

    executor: where runs happen, `InProcess()`, `Processes(...)` or `Dask(...)`; if None, one process per core, or this
    process for batches. packing: how, `SingleRuns()` if None, or `Batches(...)`.
    retry_failed: run again what failed before.
    time_limit: seconds after which no more runs are begun.

    Ctrl-C lets the running ones finish and be written; a second one abandons them. Whatever is written stays, and
    the same call goes on from there. Where Ctrl-C came after the last run was begun, the sweep is complete, and
    `stopped` all the same.
    """
    check_seconds(time_limit)
    tasks = all_tasks(grids)
    packing = packing or SingleRuns()
    executor = executor or (InProcess() if packing.device else Processes())
    packing.check(tasks)
    executor.check(packing)
    began = time.perf_counter()
    with Store(store) as open_store, interrupt_deferred() as interrupted:
        known = open_store.keys(failed=not retry_failed)
        missing = [task for task in tasks if task.key not in known]  # what cannot be planned is refused here
        open_store.remember(grids)
        times = Times(open_store.times(packing.device))
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
        with closing(executor.outcomes(packing, packing.packs(missing, times), stop)) as outcomes:
            for pack, outcome in outcomes:
                if isinstance(outcome, DeviceLost):
                    raise outcome
                rows = _rows(pack, outcome)
                open_store.add(rows)
                times.learn(rows)
                counts["added"] += len(rows)
                counts["failed"] += sum(row["status"] == FAILED for row in rows)
                report()
                if len(rows) < len(pack):  # a batch was cut short
                    raise KeyboardInterrupt
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
        counts[task.solver, tuple(getattr(task, name) for name in USUAL), task.n, task.options][place] += 1
    unusual = {name for _, on, _, _ in counts for name, own in zip(USUAL, on, strict=True) if own != USUAL[name]}
    names = [name for name in OPTIONS if any(name in dict(options) for _, _, _, options in counts)]
    rows = [
        {"solver": solver}
        | {name: own for name, own in zip(USUAL, on, strict=True) if name in unusual}
        | {"n": n, **{name: dict(options).get(name, np.nan) for name in names}}
        | dict(zip(PLACES, count, strict=True))
        for (solver, on, n, options), count in counts.items()
    ]
    return stack(rows) if rows else {name: np.array([]) for name in ("solver", "n", *PLACES)}


@contextmanager
def interrupt_deferred() -> Iterator[Callable[[], bool]]:
    """Within this context the first Ctrl-C is only noted, for the caller to ask about; the second one interrupts."""
    noted = threading.Event()

    def note(number: int, frame: Any) -> None:
        if noted.is_set():
            (before if callable(before) else signal.default_int_handler)(number, frame)
        noted.set()
        say_over_the_bar("finishing the runs in hand; Ctrl-C again abandons them")

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

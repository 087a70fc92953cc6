"""Where the packs of a sweep run: in this process, in processes of this machine, or on a Dask cluster.

An executor takes packs from an iterator, a few at a time, and yields each with its rows, in the order in which they
are done, or with the exception that lost them. It takes no more packs once `stop()` is true, and yields those that are
running. How a pack is run is the business of its packing (`packing.py`).
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Generator, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context, parent_process
from typing import Any, Protocol

from phaselect.base.checks import is_count, shortened
from phaselect.base.errors import InputError
from phaselect.experiments.dask_cluster import client_of, on_cluster, started_here
from phaselect.experiments.in_flight import Outcome, Stop, in_flight, singly
from phaselect.experiments.packing import Packing
from phaselect.experiments.runs import Pack

MOST_WORKERS = 1024
"""Processes that may be asked for."""


Outcomes = Generator[Outcome, None, None]
"""To be closed by who does not go on to the end."""


class Executor(Protocol):
    """Runs packs somewhere."""

    def check(self, packing: Packing) -> None:
        """Say before the work that it cannot be done there."""

    def outcomes(self, packing: Packing, packs: Iterator[Pack], stop: Stop) -> Outcomes:
        """Each pack with its rows, or with what went wrong."""


@dataclass(frozen=True)
class InProcess:
    """In this process, one pack after the other."""

    def check(self, packing: Packing) -> None:
        """Does this process have what it needs?"""
        packing.ready()

    def outcomes(self, packing: Packing, packs: Iterator[Pack], stop: Stop) -> Outcomes:
        """See `Executor`."""
        while not stop() and (pack := next(packs, None)) is not None:
            try:
                rows = packing.run(pack)
            except Exception as error:
                yield pack, error
            else:
                yield pack, rows


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _check_workers_asked_for(workers: Any) -> None:
    if not is_count(workers, 1) or workers > MOST_WORKERS:
        raise InputError(f"workers = {shortened(workers)}: give a whole number of processes, 1 to {MOST_WORKERS}")


@dataclass(frozen=True)
class Processes:
    """In processes of this machine, each on one core.

    The runs of a pack whose process dies are tried again one by one: the one whose process dies again is to blame.
    """

    workers: int = field(default_factory=cores)

    def __post_init__(self) -> None:
        _check_workers_asked_for(self.workers)

    def check(self, packing: Packing) -> None:
        """A core is enough for any run, but not for a batch."""
        if packing.device:
            raise InputError(
                f"plain processes would share one {packing.device}: leave out --workers, or give --local-cluster or "
                "--scheduler, whose workers have a device each"
            )

    def outcomes(self, packing: Packing, packs: Iterator[Pack], stop: Stop) -> Outcomes:
        """See `Executor`."""
        while suspects := (yield from self._until_broken(packing, packs, self.workers, stop)):
            one_by_one = (alone for suspect in suspects for alone in singly(suspect))
            while lost := (yield from self._until_broken(packing, one_by_one, 1, stop)):
                for culprit in lost:
                    yield culprit, ChildProcessError("the worker process died (out of memory?)")

    def _until_broken(
        self, packing: Packing, packs: Iterator[Pack], workers: int, stop: Stop
    ) -> Generator[Outcome, None, list[Pack]]:
        """Outcomes until the packs are done or a process dies; returns the packs that were lost with it."""
        lost = []
        with _pool(workers) as pool:
            for pack, outcome in in_flight(lambda pack: pool.submit(packing.run, pack), packs, stop, lambda: workers):
                if isinstance(outcome, BrokenProcessPool):
                    lost.append(pack)
                else:
                    yield pack, outcome
        return lost


@dataclass(frozen=True)
class Dask:
    """On a Dask cluster: one that is there, by its scheduler's address, or one started here with `workers` processes.

    Dask runs again what a dead worker had, three times (its allowed-failures). Packs of which one more worker dies are
    tried run by run when all others are done: the one that does it again is recorded as failed. So is a batch that does
    it at once. Batches run on the device of each worker; those started here have a GPU each. timeout: seconds to wait
    for the scheduler's answer.
    """

    scheduler: str | None = None
    workers: int = 2
    timeout: float = 10.0

    def __post_init__(self) -> None:
        if self.scheduler == "":
            raise InputError("scheduler '': give the address of a Dask scheduler, tcp://host:port")
        _check_workers_asked_for(self.workers)

    def check(self, packing: Packing) -> None:
        """What the workers have is seen when they are asked."""

    def outcomes(self, packing: Packing, packs: Iterator[Pack], stop: Stop) -> Outcomes:
        """See `Executor`."""
        if self.scheduler is None:
            with started_here(self.workers) as client:
                yield from on_cluster(client, packing, packs, stop)
            return
        client = client_of(self.scheduler, self.timeout, stop)
        if client is not None:
            with client:
                yield from on_cluster(client, packing, packs, stop)


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """A process pool that dies with an exception instead of waiting for its processes."""
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_prepare_worker)
    try:
        yield pool
    except BaseException:
        processes = list((pool._processes or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()
        raise
    pool.shutdown()


def _prepare_worker() -> None:
    """Leave Ctrl-C and SIGTERM, which may reach every process of a job, to the sweep; and do not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)

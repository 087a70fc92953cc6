"""Where the runs of a sweep happen: in this process, in processes of this machine, or on a Dask cluster.

An executor takes packs of tasks from an iterator, a few at a time, and yields each with its rows, in the order in which
they are done, or with the exception that lost them. It takes no more packs once `stop()` is true, and
yields those that are running.
"""

from __future__ import annotations

import importlib
import logging
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ProcessPoolExecutor, wait
from concurrent.futures import Executor as Pool
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context, parent_process
from typing import Any, ClassVar, Protocol

import phaselect
from phaselect.base.checks import is_count, shortened
from phaselect.base.errors import InputError
from phaselect.experiments.grid import Task
from phaselect.experiments.runs import Pack, run_on_device, run_pack
from phaselect.experiments.store import Row
from phaselect.solvers.registry import REGISTRY

Outcome = tuple[Pack, list[Row] | Exception]
Stop = Callable[[], bool]
MOST_WORKERS = 1024
"""Processes that may be asked for."""


class Executor(Protocol):
    """Runs packs somewhere."""

    @property
    def device(self) -> str:
        """What the times of its runs are times of: nothing for one core each, else the device of a batch."""

    def check(self, tasks: Sequence[Task]) -> None:
        """Say before the work that it cannot be done there."""

    def outcomes(self, packs: Iterator[Pack], stop: Stop) -> Iterator[Outcome]:
        """Each pack with its rows, or with what went wrong."""


@dataclass(frozen=True)
class InProcess:
    """In this process, one pack after the other."""

    device: ClassVar[str] = ""

    def check(self, tasks: Sequence[Task]) -> None:
        """Every solver can be run here."""

    def outcomes(self, packs: Iterator[Pack], stop: Stop) -> Iterator[Outcome]:
        """See `Executor`."""
        while not stop() and (pack := next(packs, None)) is not None:
            yield pack, run_pack(pack)


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _check_workers_asked_for(workers: Any) -> None:
    if not is_count(workers, 1) or workers > MOST_WORKERS:
        raise InputError(f"workers = {shortened(workers)}: give a whole number of processes, 1 to {MOST_WORKERS}")


@dataclass(frozen=True)
class Processes:
    """In processes of this machine, each on one core.

    A pack whose process dies is tried again by itself: if the process dies again, the pack is to blame.
    """

    workers: int = field(default_factory=cores)
    device: ClassVar[str] = ""

    def __post_init__(self) -> None:
        _check_workers_asked_for(self.workers)

    def check(self, tasks: Sequence[Task]) -> None:
        """Every solver can be run here."""

    def outcomes(self, packs: Iterator[Pack], stop: Stop) -> Iterator[Outcome]:
        """See `Executor`."""
        while suspects := (yield from self._until_broken(packs, self.workers, stop)):
            for suspect in suspects:
                if (yield from self._until_broken(iter([suspect]), 1, stop)):
                    yield suspect, ChildProcessError("the worker process died (out of memory?)")

    def _until_broken(self, packs: Iterator[Pack], workers: int, stop: Stop) -> Generator[Outcome, None, list[Pack]]:
        """Outcomes until the packs are done or a process dies; returns the packs that were lost with it."""
        lost = []
        with _pool(workers) as pool:
            for pack, outcome in _in_flight(pool, packs, stop, lambda: workers):
                if isinstance(outcome, BrokenProcessPool):
                    lost.append(pack)
                else:
                    yield pack, outcome
        return lost


@dataclass(frozen=True)
class Batches:
    """On a device, `gpu` or `cpu`: many instances of one shape at once, as one JAX program.

    size: instances at a time, at most; `host_bytes` is what they may take in memory before they are sent.
    """

    device: str
    size: int = 1000
    host_bytes: float = 4e9

    def __post_init__(self) -> None:
        if not is_count(self.size, 1):
            raise InputError(f"size = {shortened(self.size)}: give a whole number of instances, 1 or more")

    def check(self, tasks: Sequence[Task]) -> None:
        """Is there such a device, and can these tasks be run there?"""
        from phaselect.backends.jax.devices import pick

        pick(self.device)
        alone = sorted(name for name in {task.solver for task in tasks} if not REGISTRY[name].in_batches)
        if alone:
            able = ", ".join(name for name in REGISTRY if REGISTRY[name].in_batches)
            raise InputError(f"{', '.join(alone)} cannot run in batches on a device: use {able}, or leave out --device")

    def outcomes(self, packs: Iterator[Pack], stop: Stop) -> Iterator[Outcome]:
        """See `Executor`."""
        kinds: dict[Any, list[Task]] = {}
        for task in (task for pack in packs for task in pack):
            kinds.setdefault((task.kind, task.alpha), []).append(task)
        for tasks in kinds.values():
            each = 10 * tasks[0].alpha * tasks[0].n ** 2  # bytes of A and of the test set
            size = max(1, min(self.size, int(self.host_bytes / each)))
            for first in range(0, len(tasks), size):
                if stop():
                    return
                pack = tasks[first : first + size]
                try:
                    rows = run_on_device(pack, self.device)
                except Exception as error:
                    yield pack, error
                    continue
                yield [task for task in pack if task.key in {row["key"] for row in rows}], rows
                if len(rows) < len(pack):
                    raise KeyboardInterrupt


@dataclass(frozen=True)
class Dask:
    """On a Dask cluster: one that is there, by its scheduler's address, or one started here with `workers` processes.

    Dask runs again what a dead worker had; a pack that took three workers with it is recorded as failed.
    timeout: seconds to wait for the scheduler's answer.
    """

    scheduler: str | None = None
    workers: int = 2
    timeout: float = 10.0
    device: ClassVar[str] = ""

    def __post_init__(self) -> None:
        if self.scheduler == "":
            raise InputError("scheduler '': give the address of a Dask scheduler, tcp://host:port")
        _check_workers_asked_for(self.workers)

    def check(self, tasks: Sequence[Task]) -> None:
        """Every solver can be run there; whether there are workers is seen when they are asked."""

    def outcomes(self, packs: Iterator[Pack], stop: Stop) -> Iterator[Outcome]:
        """See `Executor`."""
        dask = _distributed()
        if self.scheduler is None:
            with (
                dask.LocalCluster(n_workers=self.workers, threads_per_worker=1, dashboard_address=None) as cluster,
                dask.Client(cluster) as client,
            ):
                client.register_plugin(_deaf_to_interrupts(dask))
                yield from _on_cluster(client, packs, stop)
            return
        try:
            client = dask.Client(self.scheduler, timeout=self.timeout)
        except (OSError, ValueError) as error:
            raise InputError(f"no Dask scheduler at {self.scheduler}: {error}") from None
        with client:
            yield from _on_cluster(client, packs, stop)


def _distributed() -> Any:
    try:
        dask = importlib.import_module("distributed")
    except ImportError:
        raise InputError("Dask is not installed: pip install 'phaselect[dask]'") from None
    for name in ("distributed", "distributed.client"):  # what goes wrong we say ourselves, in one line
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return dask


def _deaf_to_interrupts(dask: Any) -> Any:
    """A plugin for our own workers, which are processes of the same terminal as the sweep, restarted ones included."""

    class Deaf(dask.WorkerPlugin):  # type: ignore[misc]
        def setup(self, worker: Any) -> None:
            signal.signal(signal.SIGINT, signal.SIG_IGN)

    return Deaf()


def _on_cluster(client: Any, packs: Iterator[Pack], stop: Stop) -> Iterator[Outcome]:
    _check_workers(client)
    with client.get_executor(pure=False) as pool:
        for pack, outcome in _in_flight(pool, packs, stop, lambda: 2 * sum(client.nthreads().values())):
            if isinstance(outcome, CancelledError):
                raise InputError("the Dask scheduler went away: rows done so far are kept; the same command goes on")
            yield pack, outcome


def _check_workers(client: Any) -> None:
    """Say before the work that a worker cannot do it."""
    versions = client.run(_worker_version, on_error="return")
    for address, version in versions.items():
        if version != phaselect.__version__:
            found = version if isinstance(version, str) else f"none ({version})"
            raise InputError(
                f"Dask worker {address} has phaselect {found}, this process {phaselect.__version__}: install the same"
            )


def _worker_version() -> str:
    return phaselect.__version__


def _in_flight(pool: Pool, packs: Iterator[Pack], stop: Stop, width: Callable[[], int]) -> Iterator[Outcome]:
    """Keep as many packs in flight as fit: `width()` of them, one at least."""
    running: dict[Future[list[Row]], Pack] = {}
    broken = False
    while True:
        while not (broken or stop()) and len(running) < max(1, width()) and (pack := next(packs, None)) is not None:
            try:
                with _interrupt_blocked():
                    running[pool.submit(run_pack, pack)] = pack
            except BrokenProcessPool as error:
                broken = True
                yield pack, error
        if not running:
            return
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            pack = running.pop(future)
            try:
                outcome: list[Row] | Exception = future.result()
            except (Exception, CancelledError) as error:
                outcome = error
            broken = broken or isinstance(outcome, BrokenProcessPool)
            yield pack, outcome


@contextmanager
def _interrupt_blocked() -> Iterator[None]:
    """A process started meanwhile inherits the block: no signal can hit it before it is prepared."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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

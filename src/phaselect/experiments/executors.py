"""Where the packs of a sweep run: in this process, in processes of this machine, or on a Dask cluster.

An executor takes packs from an iterator, a few at a time, and yields each with its rows, in the order in which they
are done, or with the exception that lost them. It takes no more packs once `stop()` is true, and yields those that are
running. How a pack is run is the business of its packing (`packing.py`).
"""

from __future__ import annotations

import importlib
import logging
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context, parent_process
from typing import Any, Protocol

import phaselect
from phaselect.base.checks import is_count, shortened
from phaselect.base.errors import InputError
from phaselect.experiments.packing import Packing
from phaselect.experiments.runs import Pack
from phaselect.experiments.store import Row

Outcome = tuple[Pack, list[Row] | Exception]
Stop = Callable[[], bool]
MOST_WORKERS = 1024
"""Processes that may be asked for."""
LOOK_AROUND = 1.0
"""Seconds after which a worker that has joined is noticed, however long the packs of the others take."""
SCHEDULER_GONE = "the Dask scheduler went away: rows done so far are kept; the same command goes on"


class Executor(Protocol):
    """Runs packs somewhere."""

    def check(self, packing: Packing) -> None:
        """Say before the work that it cannot be done there."""

    def outcomes(self, packing: Packing, packs: Iterator[Pack], stop: Stop) -> Iterator[Outcome]:
        """Each pack with its rows, or with what went wrong."""


@dataclass(frozen=True)
class InProcess:
    """In this process, one pack after the other."""

    def check(self, packing: Packing) -> None:
        """Does this process have what it needs?"""
        packing.ready()

    def outcomes(self, packing: Packing, packs: Iterator[Pack], stop: Stop) -> Iterator[Outcome]:
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

    A pack whose process dies is tried again by itself: if the process dies again, the pack is to blame.
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

    def outcomes(self, packing: Packing, packs: Iterator[Pack], stop: Stop) -> Iterator[Outcome]:
        """See `Executor`."""
        while suspects := (yield from self._until_broken(packing, packs, self.workers, stop)):
            for suspect in suspects:
                if (yield from self._until_broken(packing, iter([suspect]), 1, stop)):
                    yield suspect, ChildProcessError("the worker process died (out of memory?)")

    def _until_broken(
        self, packing: Packing, packs: Iterator[Pack], workers: int, stop: Stop
    ) -> Generator[Outcome, None, list[Pack]]:
        """Outcomes until the packs are done or a process dies; returns the packs that were lost with it."""
        lost = []
        with _pool(workers) as pool:
            for pack, outcome in _in_flight(lambda pack: pool.submit(packing.run, pack), packs, stop, lambda: workers):
                if isinstance(outcome, BrokenProcessPool):
                    lost.append(pack)
                else:
                    yield pack, outcome
        return lost


@dataclass(frozen=True)
class Dask:
    """On a Dask cluster: one that is there, by its scheduler's address, or one started here with `workers` processes.

    Dask runs again what a dead worker had, three times (its allowed-failures); a pack that takes one more worker with
    it is recorded as failed. Batches run on the device of each worker; those started here have a GPU each.
    timeout: seconds to wait for the scheduler's answer.
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

    def outcomes(self, packing: Packing, packs: Iterator[Pack], stop: Stop) -> Iterator[Outcome]:
        """See `Executor`."""
        dask = _distributed()
        if self.scheduler is None:
            with (
                dask.LocalCluster(
                    n_workers=self.workers, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
                ) as cluster,
                dask.Client(cluster) as client,
            ):
                client.register_plugin(_settled_here(dask))
                yield from _on_cluster(client, packing, packs, stop)
            return
        try:
            client = dask.Client(self.scheduler, timeout=self.timeout)
        except (OSError, ValueError) as error:
            raise InputError(f"no Dask scheduler at {self.scheduler}: {error}") from None
        with client:
            yield from _on_cluster(client, packing, packs, stop)


def _distributed() -> Any:
    try:
        dask = importlib.import_module("distributed")
    except ImportError:
        raise InputError("Dask is not installed: pip install 'phaselect[dask]'") from None
    for name in ("distributed", "distributed.client"):  # what goes wrong we say ourselves, in one line
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return dask


def _settled_here(dask: Any) -> Any:
    """A plugin for our own workers, processes of the same terminal as the sweep, restarted ones included."""

    class Settled(dask.WorkerPlugin):  # type: ignore[misc]
        def setup(self, worker: Any) -> None:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            os.environ["CUDA_VISIBLE_DEVICES"] = gpu_of(worker.name, os.environ.get("CUDA_VISIBLE_DEVICES"))

    return Settled()


def gpu_of(worker: int, visible: str | None) -> str:
    """The GPU of our k-th worker: the k-th that there is, or one of those that are visible to all, in turn.

    >>> gpu_of(1, None), gpu_of(1, "4,6"), gpu_of(2, "4,6")
    ('1', '6', '4')
    """
    listed = [] if visible is None else visible.split(",")
    return listed[worker % len(listed)] if listed else str(worker)


class Unfit(InputError):
    """A worker cannot do the work: no fault of its pack."""


def _on_cluster(client: Any, packing: Packing, packs: Iterator[Pack], stop: Stop) -> Iterator[Outcome]:
    _check_workers(client, packing)

    def start(pack: Pack) -> Future[list[Row]]:
        with _scheduler_answers():
            return pool.submit(_run_there, packing, phaselect.__version__, pack)  # type: ignore[no-any-return]

    def width() -> int:
        with _scheduler_answers():
            return sum(map(packing.at_once, client.nthreads().values()))

    with _dask_pool(client) as pool:
        for pack, outcome in _in_flight(start, packs, stop, width):
            if isinstance(outcome, CancelledError):
                raise InputError(SCHEDULER_GONE)
            if isinstance(outcome, Unfit):
                raise outcome
            yield pack, outcome


@contextmanager
def _scheduler_answers() -> Iterator[None]:
    """A client that has lost its scheduler raises errors of many types."""
    try:
        yield
    except Exception:
        raise InputError(SCHEDULER_GONE) from None


def _check_workers(client: Any, packing: Packing) -> None:
    """Say before the work that a worker cannot do it."""
    for address, answer in client.run(_lacking, packing, phaselect.__version__, on_error="return").items():
        if isinstance(answer, BaseException):
            raise Unfit(f"Dask worker {address} has no phaselect {phaselect.__version__} ({answer}): install it there")
        if answer:
            raise Unfit(f"Dask worker {address}: {answer}")


def _lacking(packing: Packing, version: str) -> str:
    """What a worker says that it lacks; nothing if it can do the work."""
    if phaselect.__version__ != version:
        return f"phaselect {phaselect.__version__}, while the sweep has {version}: install the same"
    try:
        packing.ready()
    except Exception as error:
        return " ".join(str(error).split())
    return ""


def _run_there(packing: Packing, version: str, pack: Pack) -> list[Row]:
    """What a worker does. It may have joined since the others were checked."""
    if lacking := _lacking(packing, version):
        from distributed import get_worker

        raise Unfit(f"Dask worker {get_worker().address}: {lacking}")
    return packing.run(pack)


def _in_flight(
    start: Callable[[Pack], Future[list[Row]]], packs: Iterator[Pack], stop: Stop, width: Callable[[], int]
) -> Iterator[Outcome]:
    """Keep as many packs in flight as fit: `width()` of them, one at least."""
    running: dict[Future[list[Row]], Pack] = {}
    broken = False
    while True:
        while not (broken or stop()) and len(running) < max(1, width()) and (pack := next(packs, None)) is not None:
            try:
                with _interrupt_blocked():
                    running[start(pack)] = pack
            except BrokenProcessPool as error:
                broken = True
                yield pack, error
        if not running:
            return
        for future in wait(running, LOOK_AROUND, FIRST_COMPLETED).done:
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


@contextmanager
def _dask_pool(client: Any) -> Iterator[Any]:
    """A pool whose packs are given up with an exception instead of waited for."""
    pool = client.get_executor(pure=False)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False)
        raise


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

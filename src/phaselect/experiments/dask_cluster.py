"""What a sweep asks of a Dask cluster: workers that fit, packs in flight, and who is to blame for a dead worker."""

from __future__ import annotations

import importlib
import logging
import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, InvalidStateError
from contextlib import ExitStack, contextmanager, suppress
from threading import Thread
from typing import Any

import phaselect
from phaselect.base.bars import say_over_the_bar
from phaselect.base.checks import shortened
from phaselect.base.errors import InputError
from phaselect.experiments.in_flight import Outcome, Stop, in_flight, interrupt_blocked, singly
from phaselect.experiments.packing import Packing
from phaselect.experiments.runs import Pack
from phaselect.experiments.store import Row

LATER = 1.0
"""Seconds after its own limit until which Dask may say why."""
SCHEDULER_GONE = "the Dask scheduler went away: rows done so far are kept; the same command goes on"


def distributed() -> Any:
    """The library, if it is there; what goes wrong we say ourselves, in one line."""
    try:
        dask = importlib.import_module("distributed")
    except ImportError:
        raise InputError("Dask is not installed: pip install 'phaselect[dask]'") from None
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return dask


@contextmanager
def started_here(workers: int) -> Iterator[Any]:
    """A client of a cluster of our own, with so many processes, each with a thread and a GPU to itself."""
    dask = distributed()
    with ExitStack() as opened:
        try:
            with interrupt_blocked():  # its threads and processes inherit that: signals are for the sweep
                cluster = opened.enter_context(
                    dask.LocalCluster(
                        n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
                    )
                )
        except Exception as error:
            raise InputError(f"the local Dask cluster did not start: {_in_a_line(error)}") from error
        client = opened.enter_context(dask.Client(cluster))
        client.register_plugin(_settled_here(dask))
        yield client


def client_of(scheduler: str, timeout: float, stop: Stop) -> Any:
    """A client of that scheduler; none if it is to stop before there is an answer.

    In a thread: Dask has no limit on how long a server may take that accepts the connection and says nothing. A client
    that comes when nobody waits any more is closed.
    """
    dask, answer = distributed(), Future[Any]()

    def ask() -> None:
        try:
            client = dask.Client(scheduler, timeout=timeout)
        except BaseException as error:
            with suppress(InvalidStateError):
                answer.set_exception(error if isinstance(error, Exception) else OSError(type(error).__name__))
            return
        try:
            answer.set_result(client)
        except InvalidStateError:
            client.close()

    Thread(target=ask, daemon=True).start()
    until, client = time.monotonic() + timeout + LATER, None
    try:
        while client is None and time.monotonic() < until and not stop():
            with suppress(TimeoutError):
                client = answer.result(timeout=0.1)
    except (OSError, ValueError, TypeError) as error:  # TypeError: tls:// without its settings
        raise InputError(f"no Dask scheduler at {scheduler}: {error}") from None
    finally:
        if client is None and not answer.cancel() and answer.exception() is None:
            answer.result().close()
    if client is None and not stop():
        raise InputError(f"no Dask scheduler at {scheduler}: nothing there has answered in {timeout:g} s")
    return client


def _settled_here(dask: Any) -> Any:
    """A plugin for our own workers, processes of the same terminal as the sweep, restarted ones included."""

    class Settled(dask.WorkerPlugin):  # type: ignore[misc]
        def setup(self, worker: Any) -> None:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            if hasattr(signal, "pthread_sigmask"):
                signal.signal(signal.SIGTERM, signal.SIG_IGN)  # drops one that came while it was blocked
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
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


def on_cluster(client: Any, packing: Packing, packs: Iterator[Pack], stop: Stop) -> Iterator[Outcome]:
    """Packs on the workers of a Dask cluster; runs that may have killed some are tried alone, at the end."""
    with _scheduler_answers():
        _check_workers(client, packing)

    def start(pack: Pack) -> Future[list[Row]]:
        with _scheduler_answers():
            return pool.submit(_run_there, packing, phaselect.__version__, pack)  # type: ignore[no-any-return]

    waiting = False

    def width() -> int:
        nonlocal waiting
        with _scheduler_answers():
            places = sum(map(packing.at_once, client.nthreads().values()))
        if not (places or waiting or stop()):
            say_over_the_bar("no Dask worker is there: waiting for one to join")
        waiting = places == 0
        return places

    def tried(packs: Iterator[Pack], width: Callable[[], int]) -> Iterator[Outcome]:
        for pack, outcome in in_flight(start, packs, stop, width):
            if isinstance(outcome, CancelledError):
                raise InputError(SCHEDULER_GONE)
            if isinstance(outcome, Unfit):
                raise outcome
            yield pack, outcome

    suspects = []
    with _dask_pool(client) as pool:
        for pack, outcome in tried(packs, width):
            if type(outcome).__name__ == "KilledWorker" and not packing.device:
                suspects.append(pack)  # or one of those that waited at the same workers
            else:
                yield pack, outcome
        one_by_one = (alone for suspect in suspects for alone in singly(suspect))
        yield from tried(one_by_one, lambda: min(1, width()))


@contextmanager
def _scheduler_answers() -> Iterator[None]:
    """A client that has lost its scheduler raises errors of many types, and cannot tell at once that it has."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{SCHEDULER_GONE} ({_in_a_line(error)})") from error


def _in_a_line(error: Exception) -> str:
    return shortened(f"{type(error).__name__}: {' '.join(str(error).split())}")


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


@contextmanager
def _dask_pool(client: Any) -> Iterator[Any]:
    """A pool whose packs are given up at its end instead of waited for."""
    pool = client.get_executor(pure=False)
    try:
        yield pool
    finally:
        pool.shutdown(wait=False)

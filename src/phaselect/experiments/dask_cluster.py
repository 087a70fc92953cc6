"""What a sweep asks of a Dask cluster: workers that fit, packs in flight, and who is to blame for a dead worker."""

from __future__ import annotations

import importlib
import logging
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from typing import Any

import phaselect
from phaselect.base.bars import say_over_the_bar
from phaselect.base.checks import shortened
from phaselect.base.errors import InputError
from phaselect.experiments.in_flight import Outcome, Stop, in_flight, singly
from phaselect.experiments.packing import Packing
from phaselect.experiments.runs import Pack
from phaselect.experiments.store import Row

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


def settled_here(dask: Any) -> Any:
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
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise InputError(f"{SCHEDULER_GONE} ({shortened(reason)})") from error


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

"""Packs on their way: a few at a time, yielded with what became of them in the order in which they are done."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.resource_tracker import ensure_running

from phaselect.experiments.runs import Pack
from phaselect.experiments.store import Row

Outcome = tuple[Pack, list[Row] | Exception]
Stop = Callable[[], bool]
LOOK_AROUND = 1.0
"""Seconds after which a worker that has joined is noticed, however long the packs of the others take."""
LOOKS_ALONE = 10
"""Without a worker after which none is waited for any more: a nanny restarts one in less."""


def singly(pack: Pack) -> list[Pack]:
    """Each as a pack of its own."""
    return [[task] for task in pack]


def in_flight(
    start: Callable[[Pack], Future[list[Row]]], packs: Iterator[Pack], stop: Stop, width: Callable[[], int]
) -> Iterator[Outcome]:
    """Keep as many packs in flight as fit: `width()` of them, one at least.

    What is in flight is waited for after `stop()`, but not where it would wait for ever, for a worker.
    """
    running: dict[Future[list[Row]], Pack] = {}
    broken, alone = False, 0
    while True:
        while not (broken or stop()) and len(running) < max(1, width()) and (pack := next(packs, None)) is not None:
            try:
                with interrupt_blocked():
                    running[start(pack)] = pack
            except BrokenProcessPool as error:
                broken = True
                yield pack, error
        if not running:
            return
        done = wait(running, LOOK_AROUND, FIRST_COMPLETED).done
        alone = alone + 1 if not done and stop() and width() == 0 else 0
        if alone > LOOKS_ALONE:
            return
        for future in done:
            pack = running.pop(future)
            try:
                outcome: list[Row] | Exception = future.result()
            except Exception as error:
                outcome = error
            broken = broken or isinstance(outcome, BrokenProcessPool)
            yield pack, outcome


@contextmanager
def interrupt_blocked() -> Iterator[None]:
    """A process started meanwhile inherits the block: no signal can hit it before it is prepared."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    ensure_running()  # the tracker of multiprocessing: to start it ends any block of these two signals
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

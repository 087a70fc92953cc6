"""The progress bars of the command line, on stderr: they stop who goes on after an interrupt."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from phaselect.base.bars import Share, bar, duration
from phaselect.cli.interrupts import check

if TYPE_CHECKING:
    from rich.console import Console

    from phaselect.experiments.sweep import SweepProgress
    from phaselect.solvers.protocol import Progress, ProgressCallback

LOG_SECONDS = 30.0
"""How often a sweep without a terminal, as in a batch job, writes a line."""


@contextmanager
def progress_bar(console: Console | None = None, quiet: bool = False) -> Iterator[ProgressCallback]:
    """The bar of `progress=True`."""
    from phaselect.solvers.progress_bar import progress_bar as bar_of_a_search

    with bar_of_a_search(console, quiet) as draw:

        def update(event: Progress) -> None:
            check()
            draw(event)

        yield update


class WorkProgress(NamedTuple):
    """Two callbacks that move the same bar: `share`, from 0 to 1, and `runs`, for a sweep."""

    share: Share
    runs: Callable[[SweepProgress], None]


@contextmanager
def work_bar(title: str, console: Console | None = None) -> Iterator[WorkProgress]:
    """A bar for work that is not one solver's; off a terminal, two lines per minute while a sweep runs."""
    from rich.console import Console

    console = console or Console(stderr=True)
    last = -LOG_SECONDS
    with bar(title, console) as move:

        def runs(event: SweepProgress) -> None:
            nonlocal last
            move(event.done / event.total, title, left=describe(event))
            if not console.is_terminal and time.monotonic() - last >= LOG_SECONDS:
                last = time.monotonic()
                console.print(f"{title} {describe(event)}", soft_wrap=True, highlight=False)

        def share(done: float) -> None:
            check()
            move(done, title)

        yield WorkProgress(share, runs)


def describe(event: SweepProgress) -> str:
    """A sweep's progress in a line."""
    failures = f", {event.failed} failed" if event.failed else ""
    rate = f", {event.rate:.3g} runs/s, {duration(event.seconds_left)} left" if event.rate else ""
    return f"{event.done} of {event.total} runs{failures}{rate}"

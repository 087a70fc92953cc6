"""A live progress line on stderr, for the command line and for `progress=bar` in a script."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from phaselect.cli.interrupts import check

if TYPE_CHECKING:
    from rich.console import Console

    from phaselect.experiments.sweep import SweepProgress
    from phaselect.solvers.protocol import Progress, ProgressCallback

LOG_SECONDS = 30.0
"""How often a sweep without a terminal, as in a batch job, writes a line."""


@contextmanager
def progress_bar(console: Console | None = None) -> Iterator[ProgressCallback]:
    """A callback for `solve` or `run` that draws a bar; it vanishes at the end, and off a terminal it is silent.

    with progress_bar() as bar:
        result = phaselect.solve(A, y, progress=bar)
    """
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description:9}"),
        BarColumn(bar_width=30),
        TextColumn("mu {task.fields[mu]:8.3g}  mse_y {task.fields[mse_y]:8.2e}"),
        TimeElapsedColumn(),
    )
    console = console or Console(stderr=True)
    with Bars(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task("starting", total=1.0, mu=0.0, mse_y=1.0)

        def update(event: Progress) -> None:
            check()
            bars.update(
                task, description=event.solver, completed=min(event.fraction, 0.999), mu=event.mu, mse_y=event.mse_y
            )  # full, it would stop its clock

        yield update


class WorkProgress(NamedTuple):
    """Two callbacks that move the same bar: `share`, from 0 to 1, and `runs`, for a sweep."""

    share: Callable[[float], None]
    runs: Callable[[SweepProgress], None]


@contextmanager
def work_bar(title: str = "", console: Console | None = None) -> Iterator[WorkProgress]:
    """A bar for work that is not one solver's; off a terminal, two lines per minute while a sweep runs."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    console = console or Console(stderr=True)
    columns = (TextColumn(title), BarColumn(bar_width=30), TimeElapsedColumn(), TextColumn("{task.description}"))
    last = -LOG_SECONDS
    with Bars(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task("", total=1.0)

        def runs(event: SweepProgress) -> None:
            nonlocal last
            bars.update(task, completed=event.done / event.total, description=describe(event))
            if not console.is_terminal and time.monotonic() - last >= LOG_SECONDS:
                last = time.monotonic()
                console.print(f"{title} {describe(event)}".strip(), soft_wrap=True, highlight=False)

        def share(done: float) -> None:
            check()
            bars.update(task, completed=done)

        yield WorkProgress(share, runs)


def describe(event: SweepProgress) -> str:
    """A sweep's progress in a line."""
    failures = f", {event.failed} failed" if event.failed else ""
    rate = f", {event.rate:.3g} runs/s, {duration(event.seconds_left)} left" if event.rate else ""
    return f"{event.done} of {event.total} runs{failures}{rate}"


def duration(seconds: float) -> str:
    """Seconds as people say them.

    >>> duration(42), duration(4000), duration(float("inf"))
    ('42 s', '67 min', 'unknown time')
    """
    if not seconds < float("inf"):
        return "unknown time"
    for unit, size in (("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"

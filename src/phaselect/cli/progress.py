"""A live progress line on stderr, for the command line and for `progress=bar` in a script."""

from __future__ import annotations

import math
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
ALMOST = 0.999
"""How full a bar gets: the clock of a full one stops, and there may be more to come."""


@contextmanager
def progress_bar(console: Console | None = None, quiet: bool = False) -> Iterator[ProgressCallback]:
    """A callback for `solve` or `run` that draws a bar; it vanishes at the end, and off a terminal it is silent.

    It tells the stage of the search, the time, and what is left: of the time limit or, about, of the attempt.

    with progress_bar() as bar:
        result = phaselect.solve(A, y, progress=bar)
    """
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description:21}"),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[fit]:13}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    console, left = console or Console(stderr=True), TimeLeft()
    with Bars(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bars:
        task = bars.add_task("starting", total=1.0, fit="", left=left)

        def update(event: Progress) -> None:
            check()
            left.note(event)
            done = min(event.fraction, ALMOST)
            fit = f"mse_y {event.mse_y:.1e}" if event.fraction else ""
            bars.update(task, description=stage(event), completed=done, fit=fit)

        yield update


def stage(event: Progress) -> str:
    """Which solver it is, and which of its attempts."""
    before = f"stage {event.stage}: " if event.stage > 1 else ""
    after = f", attempt {event.attempt}/{event.attempts}" if event.attempts > 1 else ""
    return f"{before}{event.solver}{after}"


class TimeLeft:
    """Of the time limit; without one of the schedule, if it goes on as it has. As a text it is that of this moment."""

    def __init__(self) -> None:
        self.began, self.end, self.limited = 0.0, -math.inf, False

    def note(self, event: Progress) -> None:
        """What is known now."""
        now, self.limited = time.monotonic(), event.time_left < math.inf
        if event.fraction == 0:
            self.began, rest = now, -math.inf
        else:
            rest = (now - self.began) * (1 / event.fraction - 1)
        self.end = now + (event.time_left if self.limited else rest)

    def __str__(self) -> str:
        seconds = self.end - time.monotonic()
        return f"{'' if self.limited else 'about '}{duration(seconds)} left" if seconds > 0 else ""


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
            bars.update(task, completed=min(event.done / event.total, ALMOST), description=describe(event))
            if not console.is_terminal and time.monotonic() - last >= LOG_SECONDS:
                last = time.monotonic()
                console.print(f"{title} {describe(event)}".strip(), soft_wrap=True, highlight=False)

        def share(done: float) -> None:
            check()
            bars.update(task, completed=min(done, ALMOST))

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

"""What `progress` may be: a function, or True for a bar that tells how a search goes."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from phaselect.base.bars import bar, duration
from phaselect.base.checks import shortened
from phaselect.base.errors import InputError
from phaselect.solvers.protocol import Progress, ProgressCallback, ProgressOption

if TYPE_CHECKING:
    from rich.console import Console


@contextmanager
def told(progress: ProgressOption) -> Iterator[ProgressCallback | None]:
    """Who is told how a search goes: the function given, with True a bar, or nobody."""
    if progress is True:
        with progress_bar() as draw:
            yield draw
    elif progress is None or progress is False:
        yield None
    elif callable(progress):
        yield progress
    else:
        raise InputError(
            f"progress = {shortened(progress)}: give True for a bar, or a function that takes a phaselect.Progress"
        )


@contextmanager
def progress_bar(console: Console | None = None, quiet: bool = False) -> Iterator[ProgressCallback]:
    """A callback for `solve` or `run` that draws a bar; it vanishes at the end, and off a terminal it is silent.

    It tells the stage of the search, the time, and what is left: of the time limit or, about, of the attempt.
    """
    left = TimeLeft()
    with bar("starting", console, quiet) as move:

        def update(event: Progress) -> None:
            left.note(event)
            fit = f"mse_y {event.mse_y:.1e}" if event.fraction else ""
            move(event.fraction, stage(event), fit, left)

        yield update


def stage(event: Progress) -> str:
    """Which solver it is, and which of its attempts; at its end x is still refined and examined."""
    before = f"stage {event.stage}: " if event.stage > 1 else ""
    after = f", attempt {event.attempt}/{event.attempts}" if event.attempts > 1 else ""
    return f"{before}{event.solver}{', refining' if event.fraction == 1 else ''}{after}"


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
        if seconds <= 0:
            return ""
        return f"{duration(seconds)} left" if self.limited else f"about {duration(seconds)} left of this attempt"

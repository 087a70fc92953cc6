"""A live progress line on stderr, for the command line and for `progress=bar` in a script."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from phaselect.solvers.base import Progress, ProgressCallback

if TYPE_CHECKING:
    from rich.console import Console


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
            bars.update(task, description=event.solver, completed=event.fraction, mu=event.mu, mse_y=event.mse_y)

        yield update


@contextmanager
def share_bar(console: Console | None = None) -> Iterator[Callable[[float], None]]:
    """A callback that takes the share done, from 0 to 1, and draws a bar; silent off a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    console = console or Console(stderr=True)
    columns = (BarColumn(bar_width=30), TimeElapsedColumn(), TimeRemainingColumn())
    with Bars(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task("", total=1.0)
        yield lambda share: bars.update(task, completed=share)

"""The one progress bar: on a terminal through rich, in a notebook as a line that changes; elsewhere it is silent.

It vanishes at the end.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from phaselect.base.checks import shortened
from phaselect.base.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

Share = Callable[[float], None]
"""Told the share of the work that is done, from 0 to 1."""
ALMOST = 0.999
"""How full a bar gets: the clock of a full one stops, and there may be more to come."""
PAUSE = 0.2
"""Seconds between two changes of a line in a notebook, at least."""


class Move(Protocol):
    """Moves a bar; what it is about is written before it, what was reached after it, and last what is left."""

    def __call__(self, done: float, what: str = "", reached: str = "", left: object = "") -> None:
        """Done: the share, from 0 to 1."""


def say_over_the_bar(line: str) -> None:
    """On stderr, in place of a bar that may be there. Not by `print`, which a signal may have interrupted."""
    over = "\r\x1b[2K" if os.isatty(2) else ""
    with suppress(OSError):
        os.write(2, f"{over}{line}\n".encode())


@contextmanager
def bar(what: str = "", console: Console | None = None, quiet: bool = False) -> Iterator[Move]:
    """A bar for some work; `left` is asked for its text each time that the bar is drawn."""
    from rich.console import Console

    console = console or Console(stderr=True)
    if console.is_jupyter and not quiet:
        yield from _in_notebook()
    else:
        yield from _on_terminal(what, console, quiet or not console.is_terminal)


def _on_terminal(what: str, console: Console, silent: bool) -> Iterator[Move]:
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    reached, rest = TextColumn("{task.fields[reached]:13}"), TextColumn("{task.fields[left]}")
    columns = (TextColumn("{task.description:21}"), BarColumn(bar_width=20), reached, TimeElapsedColumn(), rest)
    with Progress(*columns, console=console, transient=True, disable=silent) as bars:
        task = bars.add_task(what, total=1.0, reached="", left="")

        def move(done: float, what: str = what, reached: str = "", left: object = "") -> None:
            bars.update(task, completed=min(done, ALMOST), description=what, reached=reached, left=left)

        yield move


def _in_notebook() -> Iterator[Move]:
    """Rich needs widgets there, which few have; what is displayed can be changed without them."""
    ipython = import_module("IPython.display")
    began, last = time.monotonic(), -PAUSE
    handle = ipython.display(ipython.HTML(""), display_id=True)

    def move(done: float, what: str = "", reached: str = "", left: object = "") -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= PAUSE:
            last = now
            words = [what, reached, f"{duration(now - began)}", str(left)]
            text = ", ".join(escape(word) for word in words if word)
            handle.update(ipython.HTML(f'<progress value="{done:.3f}"></progress> {text}'))

    try:
        yield move
    finally:
        handle.update(ipython.HTML(""))


@contextmanager
def share_told(progress: Share | bool | None, what: str) -> Iterator[Share]:
    """Who is told the share done: the function given; with True a bar; else nobody."""
    if progress is True:
        with bar(what) as move:
            yield move
    elif progress is None or progress is False:
        yield lambda done: None
    elif callable(progress):
        yield progress
    else:
        raise InputError(f"progress = {shortened(progress)}: give True for a bar, or a function of the share done")


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

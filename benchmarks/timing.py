"""How things are timed: the best of several runs, ours and the reference in turn, so that noise hits both."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple


class Row(NamedTuple):
    """One line of the table: a ratio against a reference measured in the same run, or a time with its limit."""

    what: str
    size: str
    value: float
    target: str
    met: bool
    detail: str


def seconds(function: Callable[[], object], repeat: int = 5) -> float:
    """Best wall-clock time of `repeat` calls."""
    return min(_once(function) for _ in range(repeat))


def in_turn(*functions: Callable[[], object], repeat: int = 5) -> list[float]:
    """Best time of each function, called one after the other `repeat` times.

    With a pause in between: idle BLAS threads spin for some 110 ms, and would slow down whoever comes next.
    """
    rounds = [[_once(function) for function in functions] for _ in range(repeat)]
    return [min(times) for times in zip(*rounds, strict=True)]


def at_least(what: str, size: str, value: float, limit: float, detail: str) -> Row:
    """A ratio that should be large."""
    return Row(what, size, value, f">= {limit:g}", value >= limit, detail)


def at_most(what: str, size: str, value: float, limit: float, detail: str) -> Row:
    """A ratio or time that should be small."""
    return Row(what, size, value, f"<= {limit:g}", value <= limit, detail)


def _once(function: Callable[[], object]) -> float:
    time.sleep(0.2)
    began = time.perf_counter()
    function()
    return time.perf_counter() - began

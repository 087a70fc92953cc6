"""The speed of the memory, that everything here is measured by."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from phaselect.bench.target import Target
from phaselect.bench.timing import in_turn

PAUSE = 0.15
"""Seconds between calls: NumPy's product with a vector leaves threads of BLAS spinning."""


def against_memory(target: Target, *runs: Callable[[], Any], repeat: int = 4) -> tuple[list[float], dict[str, float]]:
    """Seconds of each run, and the bytes a second that the memory moved in between, by how they were moved."""
    movers = target.movers()
    seconds = in_turn(*runs, *(mover.run for mover in movers.values()), repeat=repeat, pause=PAUSE)
    rates = {name: mover.bytes / time for (name, mover), time in zip(movers.items(), seconds[len(runs) :], strict=True)}
    return seconds[: len(runs)], rates


@cache
def bandwidth(target: Target) -> dict[str, float]:
    """Bytes a second, measured once a run of the bench."""
    return against_memory(target, repeat=10)[1]


def best(target: Target) -> float:
    """Bytes a second of the fastest way."""
    return max(bandwidth(target).values())

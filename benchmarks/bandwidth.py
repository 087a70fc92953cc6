"""The speed of the memory, by which message passing is measured."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from benchmarks.machine import Machine
from benchmarks.timing import in_turn


def against_memory(machine: Machine, *runs: Callable[[], Any], repeat: int = 4) -> tuple[list[float], dict[str, float]]:
    """Seconds of each run, and the bytes per second that the memory moved in between, by how they were moved."""
    movers = machine.movers()
    seconds = in_turn(*runs, *(mover.run for mover in movers.values()), repeat=repeat)
    rates = {name: mover.bytes / time for (name, mover), time in zip(movers.items(), seconds[len(runs) :], strict=True)}
    return seconds[: len(runs)], rates


@cache
def bandwidth(machine: Machine) -> dict[str, float]:
    """Bytes per second, measured once per run of the benchmarks."""
    return against_memory(machine, repeat=10)[1]


def best(machine: Machine) -> float:
    """Bytes per second of the fastest way."""
    return max(bandwidth(machine).values())

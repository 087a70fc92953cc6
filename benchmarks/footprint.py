"""Time and peak memory of a run; to be called in a process of its own, whose memory nothing else fills."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.instances import blind
from benchmarks.internals import iterations, spectrum
from benchmarks.machine import Footprint
from benchmarks.timing import once
from phaselect import AMP, InputError, Instance, Schedule, SimulatedAnnealing, gaussian_instance

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def of_message_passing(n: int, alpha: float, seeds: int) -> Footprint:
    """A run for each seed; the peak is that of the first, A included."""
    AMP().run(gaussian_instance(60, alpha, seed=0))
    before = _kilobytes("VmRSS")
    problem = blind(gaussian_instance(n, alpha, seed=0))
    _forget_peak()
    runs = [_run(problem)]
    peak = _kilobytes("VmHWM")  # of the first alone: the allocator keeps some of what the next ones are made from
    runs += [_run(blind(gaussian_instance(n, alpha, seed=seed))) for seed in range(1, seeds)]
    seconds, counts, certified = zip(*runs, strict=True)
    taken = None if before is None or peak is None else 1024 * (peak - before)
    return Footprint(median(seconds), taken, int(median(counts)), sum(certified))


def of_svd(n: int, alpha: float) -> int:
    """Bytes that the SVD of A takes beyond A at its peak."""
    spectrum(gaussian_instance(60, alpha, seed=0))
    problem = gaussian_instance(n, alpha, seed=0)
    return _beyond(lambda: spectrum(problem))


def of_annealing(n: int, alpha: float) -> int:
    """Bytes that simulated annealing takes beyond A and its SVD."""
    solver, short = SimulatedAnnealing(eager=False), Schedule.matched(mu_max=2, steps=1)
    solver.run(gaussian_instance(60, alpha, seed=0), short)
    problem = gaussian_instance(n, alpha, seed=0)
    spectrum(problem)
    return _beyond(lambda: solver.run(problem, short))


def _run(problem: Instance) -> tuple[float, int, bool]:
    seconds, result = once(lambda: AMP().run(problem))
    return seconds, iterations(result), result.certified


def _beyond(run: Callable[[], Any]) -> int:
    """Bytes at the peak of a run beyond those in use before it."""
    _forget_peak()
    before = _kilobytes("VmRSS")
    run()
    peak = _kilobytes("VmHWM")
    if before is None or peak is None:
        raise InputError("this system does not tell")
    return 1024 * (peak - before)


def _forget_peak() -> None:
    """Start the peak anew from the memory in use."""
    if CLEAR.exists():
        CLEAR.write_text("5")


def _kilobytes(name: str) -> int | None:
    """A line of the process's status, where the system has one."""
    if not (STATUS.exists() and CLEAR.exists()):
        return None
    return int(dict(line.split(":", 1) for line in STATUS.read_text().splitlines())[name].split()[0])

"""What comes after message passing, refinement and certificate, against message passing itself."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from benchmarks.bandwidth import best
from benchmarks.internals import Parts, descent, in_parts
from benchmarks.machine import Machine
from benchmarks.plan import Plan
from benchmarks.rows import Measurement, Task
from benchmarks.timing import once
from phaselect import AMP, InputError

SECTION = "finish"
REPEAT = 3
MOST_MEMORY = 1.7
"""Of a GPU, in units of A: A itself, a copy in half precision, and a little."""


class Taken(NamedTuple):
    """What one instance took."""

    parts: Parts
    step: float  # seconds of conjugate gradients on all systems
    drawn: float | None  # peak of memory when A was there, in units of A; None where it cannot be told here
    peak: float | None  # when all was done


class Size(NamedTuple):
    """Of an instance, on a machine; and the seconds that we want it to take."""

    machine: Machine
    n: int
    alpha: float
    limit: float | None


Found = dict[Size, Taken]


def tasks(machine: Machine, plan: Plan) -> list[Task]:
    """Whole, what comes after message passing, a step of it, and the memory."""
    found: Found = {}
    rows = {
        "certified solution": _whole,
        "refinement and certificate": _finish,
        "step of conjugate gradients": _step,
        "peak of memory": _memory,
    }
    return [
        Task(SECTION, what, f"N = {n}, alpha = {alpha:g}", partial(row, Size(machine, n, alpha, limit), found))
        for n, alpha, limit in plan.finish
        if machine.fits(n, alpha, machine.itemsize)
        for what, row in rows.items()
    ]


def taken(at: Size) -> Taken:
    """The best of several runs on one instance, which is gone afterwards."""
    machine, size = at.machine, at.machine.itemsize * _entries(at)
    problem = machine.drawn(at.n, at.alpha, 0)
    drawn = machine.peak()
    solve = partial(AMP().run, problem)
    solve()
    parts = min((in_parts(solve) for _ in range(REPEAT)), key=lambda one: one.seconds)
    run = descent(problem)
    run()
    step = min(seconds / steps for seconds, steps in (once(run) for _ in range(REPEAT)))
    peak = machine.peak()
    return Taken(parts, step, drawn and drawn / size, peak and peak / size)


def _whole(at: Size, found: Found) -> Measurement:
    found[at] = taken(at)
    parts = found[at].parts
    status = "certified" if parts.certified else "NOT certified"
    detail = f"{status}; {parts.iterations} iterations of message passing, {parts.steps} steps"
    return Measurement(parts.seconds, "s", detail, limit=at.limit)


def _finish(at: Size, found: Found) -> Measurement:
    parts = _found(at, found).parts
    rest = parts.seconds - parts.finish
    detail = f"{parts.steps} steps; reference: message passing, {parts.iterations} iterations"
    return Measurement(parts.finish, "s", detail, reference=rest, least_ratio=1.0)


def _step(at: Size, found: Found) -> Measurement:
    """A CPU reads a float32 copy of A once, a GPU one in half precision twice: the same bytes."""
    size, seconds = 4 * _entries(at), _found(at, found).step
    detail = f"all systems; {size / seconds / 1e9:.3g} GB/s; bound: {size / 1e9:.3g} GB at the bandwidth"
    return Measurement(1e3 * seconds, "ms", detail, bound=1e3 * size / best(at.machine))


def _memory(at: Size, found: Found) -> Measurement:
    own = _found(at, found)
    if own.peak is None:
        raise InputError("in section growth, in a process of its own")
    if own.peak == own.drawn:
        raise InputError("as high before: --only finish tells, in a process of its own")
    detail = f"A included; when A had been drawn: {own.drawn:.3g}"
    return Measurement(own.peak, "times A", detail, bound=1.0, limit=MOST_MEMORY)


def _found(at: Size, found: Found) -> Taken:
    if at not in found:
        raise InputError("there was no solution")
    return found[at]


def _entries(at: Size) -> int:
    return at.n * round(at.alpha * at.n)

"""How time and memory of AMP grow with N, as fitted exponents; and the memory of the annealers."""

from __future__ import annotations

from functools import partial

from benchmarks.fresh import printed
from benchmarks.machine import Footprint, Machine
from benchmarks.plan import Plan
from benchmarks.rows import Measurement, Task
from phaselect import InputError
from phaselect.experiments.costs import power_law

SECTION = "growth"
ALPHA = 1.3
COPIED = 1.6
"""Memory that we want a CPU to take, in units of A: A, while it is refined a copy in float32, and a little."""


def tasks(machine: Machine, plan: Plan) -> list[Task]:
    """Time and memory at each N, and their exponents."""
    sizes = [n for n in plan.growth if machine.fits(n, ALPHA, machine.itemsize)]
    found: dict[int, Footprint] = {}
    points = [
        task
        for n in sizes
        for task in (
            Task(SECTION, "AMP, time", f"N = {n}, alpha = {ALPHA:g}", partial(_time, machine, n, found)),
            Task(SECTION, "AMP, memory", f"N = {n}, alpha = {ALPHA:g}", partial(_memory, machine, n, found)),
        )
    ]
    span = f"N = {sizes[0]} to {sizes[-1]}" if sizes else ""
    fits = [
        Task(SECTION, "exponent of time", span, partial(_exponent, found, "seconds")),
        Task(SECTION, "exponent of memory", span, partial(_exponent, found, "bytes")),
    ]
    annealers = [
        Task(SECTION, "SVD, memory beyond A", f"N = {n}, alpha = {ALPHA:g}", partial(_beyond, "of_svd", n))
        for n in plan.annealers_memory
    ] + [
        Task(SECTION, "SA, memory beyond A and SVD", f"N = {n}, alpha = {ALPHA:g}", partial(_beyond, "of_annealing", n))
        for n in plan.annealers_memory
    ]
    return [*points, *fits, *annealers]


def _time(machine: Machine, n: int, found: dict[int, Footprint]) -> Measurement:
    seeds = range(3 if n <= 50_000 else 1)
    taken = found[n] = machine.footprint(n, ALPHA, seeds)
    detail = f"{taken.iterations} iterations; {taken.certified} of {len(seeds)} certified"
    return Measurement(taken.seconds, "s", detail)


def _memory(machine: Machine, n: int, found: dict[int, Footprint]) -> Measurement:
    if n not in found:
        raise InputError("AMP did not run")
    taken, bound = found[n].bytes, machine.itemsize * n * round(ALPHA * n) / 1e6
    if taken is None:
        return Measurement(None, "MB", "this system does not tell", bound=bound)
    limit = COPIED * bound if machine.device == "cpu" and n >= 1000 else None
    return Measurement(taken / 1e6, "MB", "peak, A included; bound: A alone", bound=bound, limit=limit)


def _exponent(found: dict[int, Footprint], name: str) -> Measurement:
    known = {n: getattr(taken, name) for n, taken in found.items() if getattr(taken, name) is not None}
    law = power_law(list(known), list(known.values()))
    detail = f"standard error {law.standard_error:.2g}; 2 is that of A, which has alpha N^2 entries"
    return Measurement(law.exponent, "power of N", detail)


def _beyond(what: str, n: int) -> Measurement:
    """In units of A; the SVD cannot do without U, which is as large as A."""
    code = f"from benchmarks.footprint import {what}; print({what}({n}, {ALPHA}))"
    taken = int(printed("-c", code)) / (8 * n * round(ALPHA * n))
    if what == "of_svd":
        return Measurement(taken, "times A", "peak; bound: U", bound=1.0)
    return Measurement(taken, "times A", "peak", limit=0.1)

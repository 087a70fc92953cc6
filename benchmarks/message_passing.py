"""Message passing: an iteration against its two products and against one read of A; batches of instances."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np

from benchmarks.bandwidth import against_memory, bandwidth, best
from benchmarks.instances import instance
from benchmarks.internals import iterations
from benchmarks.machine import Machine
from benchmarks.plan import Plan
from benchmarks.rows import Measurement, Task
from benchmarks.timing import once
from phaselect import AMP, Schedule, gaussian_batch

SECTION = "message_passing"
ALPHA = 1.2  # of the iterations
EASY = 1.3  # of the batches: nearly all instances are recovered
ANNEAL = Schedule.matched(mu0=1e3, mu_max=1e12, eps=0.1, steps=1, unit="iterations", hold=300)
LEAST_RATIO = {("cpu", "float64"): 1.25, ("cpu", "float32"): 2.5}
"""By device and dtype; on the CPU the reference is in float64 for both."""


def tasks(machine: Machine, plan: Plan) -> list[Task]:
    """The bandwidth, then iterations, then batches."""
    singles = [
        Task(SECTION, f"AMP iteration, {dtype}", f"N = {n}, alpha = {ALPHA:g}", partial(iteration, machine, n, dtype))
        for n in plan.iterations
        for dtype in plan.precisions
        if machine.fits(n, ALPHA, np.dtype(dtype).itemsize)
    ]
    batches = [
        Task(
            SECTION,
            f"batch of {count} instances, {dtype}",
            f"N = {n}, alpha = {EASY:g}",
            partial(batch, machine, n, count, dtype),
        )
        for n, count in plan.batches
        for dtype in plan.precisions
    ]
    return [Task(SECTION, "memory bandwidth", "", partial(memory, machine)), *singles, *batches]


def memory(machine: Machine) -> Measurement:
    """The best of several ways to move bytes."""
    ways = bandwidth(machine)
    detail = ", ".join(f"{name} {rate / 1e9:.3g}" for name, rate in ways.items())
    return Measurement(max(ways.values()) / 1e9, "GB/s", f"best of: {detail}", more_is_better=True)


def iteration(machine: Machine, n: int, dtype: str) -> Measurement:
    """The reference: A @ x and A.T @ g as NumPy or JAX do them. The bound: one read of A at the bandwidth."""
    size = np.dtype(dtype).itemsize * n * round(ALPHA * n)
    ours = machine.iterations(n, ALPHA, dtype)
    times, rates = against_memory(machine, ours.run, ours.products)
    seconds, products = (total / ours.number for total in times)
    fastest = max(rates.values())
    detail = f"{size / 1e9:.3g} GB: {size / seconds / 1e9:.3g} of {fastest / 1e9:.3g} GB/s"
    detail += f"; {ours.remark}" if ours.remark else ""
    return Measurement(
        1e3 * seconds,
        "ms",
        detail,
        reference=1e3 * products,
        bound=1e3 * size / fastest,
        least_ratio=LEAST_RATIO.get((machine.device, dtype)),
    )


def batch(machine: Machine, n: int, count: int, dtype: str) -> Measurement:
    """Instances per second in one program, drawn on the device; the reference solves one after the other on the CPU.

    The bound is the reading of every A once per iteration.
    """
    solver, drawn = AMP(restarts=0), gaussian_batch(n, EASY, seeds=range(count))

    def run() -> list[Any]:
        return list(solver.run_batch(drawn, ANNEAL, device=machine.device, dtype=dtype))

    run()
    seconds, results = once(run)
    steps = float(np.mean([iterations(result) for result in results]))
    size = np.dtype(dtype).itemsize * n * round(EASY * n)
    detail = f"{sum(result.certified for result in results)} of {count} certified, {steps:.0f} iterations each"
    bound = best(machine) / (steps * size)
    return Measurement(count / seconds, "instances/s", detail, one_after_the_other(n), bound, more_is_better=True)


@lru_cache
def one_after_the_other(n: int, count: int = 5) -> float:
    """Instances per second of the compiled CPU path, float64."""
    solver, problems = AMP(restarts=0), [instance(n, EASY, seed) for seed in range(count)]
    solver.run(problems[0], ANNEAL)
    seconds, _ = once(lambda: [solver.run(problem, ANNEAL) for problem in problems])
    return count / seconds

"""Message passing against the memory: an iteration as a part of the bandwidth, and batches of instances."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np

from phaselect.bench.bandwidth import against_memory, bandwidth, best
from phaselect.bench.instances import instance
from phaselect.bench.plan import Plan
from phaselect.bench.rows import Measurement, Task
from phaselect.bench.target import Target
from phaselect.bench.timing import once
from phaselect.problem.schedule import Schedule
from phaselect.solvers.amp import AMP

ALPHA = 1.2  # of the iterations
EASY = 1.3  # of the batches: nearly all instances are recovered
ANNEAL = Schedule.matched(mu0=1e3, mu_max=1e12, eps=0.1, steps=1, unit="iterations", hold=300)


def tasks(target: Target, plan: Plan) -> list[Task]:
    """The bandwidth, then iterations, then batches."""
    iterations = [
        Task("amp", f"AMP iteration, {dtype}", f"N = {n}, alpha = {ALPHA:g}", partial(iteration, target, n, dtype))
        for n in plan.iterations
        for dtype in plan.precisions
        if target.fits(n, ALPHA, np.dtype(dtype).itemsize)
    ]
    batches = [
        Task(
            "amp",
            f"batch of {count} instances, {dtype}",
            f"N = {n}, alpha = {EASY:g}",
            partial(batch, target, n, count, dtype),
        )
        for n, count in plan.batches
        for dtype in plan.precisions
    ]
    return [Task("amp", "memory bandwidth", "", partial(memory, target)), *iterations, *batches]


def memory(target: Target) -> Measurement:
    """The best of several ways to move bytes."""
    ways = bandwidth(target)
    detail = ", ".join(f"{name} {rate / 1e9:.3g}" for name, rate in ways.items())
    return Measurement(max(ways.values()) / 1e9, "GB/s", f"best of: {detail}")


def iteration(target: Target, n: int, dtype: str) -> Measurement:
    """Time of one read of A at the bandwidth, over the time of an iteration; both measured in turn."""
    size = np.dtype(dtype).itemsize * n * round(ALPHA * n)
    ours = target.iterations(n, ALPHA, dtype)
    (total,), rates = against_memory(target, ours.run)
    seconds, fastest = total / ours.number, max(rates.values())
    detail = f"{1e3 * seconds:.3g} ms for {size / 1e9:.3g} GB: {size / seconds / 1e9:.3g} of {fastest / 1e9:.3g} GB/s"
    detail += f"; {ours.remark}" if ours.remark else ""
    return Measurement(size / (seconds * fastest), "of bandwidth", detail, bound=1.0)


def batch(target: Target, n: int, count: int, dtype: str) -> Measurement:
    """Instances a second in one program, drawn on the device; the reference solves one after the other on the CPU.

    The bound is the reading of every A once an iteration.
    """
    from phaselect.devices.member import gaussian_batch

    solver, drawn = AMP(restarts=0), gaussian_batch(n, EASY, seeds=range(count))

    def run() -> list[Any]:
        return list(solver.run_batch(drawn, ANNEAL, device=target.device, dtype=dtype))

    run()
    seconds, results = once(run)
    steps = float(np.mean([result.steps for result in results]))
    size = np.dtype(dtype).itemsize * n * round(EASY * n)
    detail = f"{sum(result.certified for result in results)} of {count} certified, {steps:.0f} iterations each"
    bound = best(target) / (steps * size)
    return Measurement(count / seconds, "instances/s", detail, one_after_the_other(n), bound)


@lru_cache
def one_after_the_other(n: int, count: int = 5) -> float:
    """Instances a second of the compiled CPU path, float64."""
    solver, problems = AMP(restarts=0), [instance(n, EASY, seed) for seed in range(count)]
    solver.run(problems[0], ANNEAL)
    seconds, _ = once(lambda: [solver.run(problem, ANNEAL) for problem in problems])
    return count / seconds

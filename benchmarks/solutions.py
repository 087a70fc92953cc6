"""From A in memory to a certified x: ours and the rivals on the same instances, each within the same time limit."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import median

from benchmarks.bandwidth import best
from benchmarks.instances import instance
from benchmarks.internals import iterations
from benchmarks.machine import Machine
from benchmarks.plan import Plan
from benchmarks.rivals import Outcome, outcome, rivals
from benchmarks.rows import Measurement, Task
from benchmarks.timing import once

SECTION = "solutions"
PATIENCE = 10.0
"""Seconds per instance where the share of those that are certified is measured."""


def tasks(machine: Machine, plan: Plan) -> list[Task]:
    """At each N and alpha the rivals that can, then ours; then how often we succeed."""
    found = []
    for n in plan.solutions:
        for alpha in plan.alphas:
            if machine.fits(n, alpha, machine.itemsize):
                found += _at(machine, plan, n, alpha)
    shares = [
        Task(
            SECTION,
            f"share certified in {PATIENCE:g} s",
            f"N = {n}, alpha = {alpha:g}, {count} instances",
            partial(share, machine, n, alpha, count, limit),
        )
        for n, alpha, count, limit in plan.shares
    ]
    return [*found, *shares]


def _at(machine: Machine, plan: Plan, n: int, alpha: float) -> list[Task]:
    count, limit = plan.instances_at(n), plan.time_limit_at(n)
    theirs: dict[str, list[Outcome]] = {}

    def rival(name: str, solve: Callable[..., Outcome]) -> Measurement:
        theirs[name] = [solve(instance(n, alpha, seed), limit) for seed in range(count)]
        return summary(theirs[name])

    def ours() -> Measurement:
        """The bound: one read of A per iteration of message passing; what comes after it is not counted."""
        outcomes, reads = [], []
        for seed in range(count):
            solve = machine.load(n, alpha, seed)
            seconds, result = once(lambda solve=solve: solve(limit))
            outcomes.append(outcome(result, seconds))
            if result.certified and result.solver == "amp":
                reads.append(iterations(result))
        bound = median(reads) * round(alpha * n) * n * machine.itemsize / best(machine) if reads else None
        return summary(outcomes)._replace(reference=fastest(theirs), bound=bound)

    size = f"N = {n}, alpha = {alpha:g}"
    others = [
        Task(SECTION, name, size, partial(rival, name, one.solve))
        for name, one in rivals().items()
        if n <= min(one.largest_n, plan.rivals_up_to)
    ]
    return [*others, Task(SECTION, machine.solver, size, ours)]


def summary(outcomes: list[Outcome]) -> Measurement:
    """Median seconds of the runs that ended with a certificate, and how many did."""
    times = [one.seconds for one in outcomes if one.certified]
    detail = f"{len(times)} of {len(outcomes)} certified"
    if len(times) < len(outcomes):
        others = [one for one in outcomes if not one.certified]
        detail += f", otherwise stopped after {median(one.seconds for one in others):.2g} s"
        detail += f", {diverged} diverged" if (diverged := sum(one.diverged for one in others)) else ""
    return Measurement(median(times) if times else None, "s", detail)


def fastest(theirs: dict[str, list[Outcome]]) -> float | None:
    """Median seconds of the rival that solved most; of several, the fastest. None if none solved any."""
    scores = []
    for outcomes in theirs.values():
        times = [one.seconds for one in outcomes if one.certified]
        if times:
            scores.append((-len(times), median(times)))
    return min(scores)[1] if scores else None


def share(machine: Machine, n: int, alpha: float, count: int, limit: float | None) -> Measurement:
    """Of many instances, against the share that reweighted amplitude flow or alternating minimisation solves."""
    baselines = [one for name, one in rivals().items() if "dwave" not in name]
    times, solved, theirs = [], 0, 0
    for seed in range(count):
        solve = machine.load(n, alpha, seed)
        seconds, result = once(lambda solve=solve: solve(PATIENCE))
        solved += outcome(result, seconds).certified
        times.append(seconds)
        theirs += any(one.solve(instance(n, alpha, seed), PATIENCE).certified for one in baselines)
    detail = f"median {median(times):.2f} s, slowest {max(times):.1f} s; reference: either baseline"
    return Measurement(solved / count, "of all", detail, theirs / count, 1.0, more_is_better=True, limit=limit)

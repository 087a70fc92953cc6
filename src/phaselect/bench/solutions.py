"""From A in memory to a certified x: ours and the rivals on the same instances, each within the same time limit."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import median

from phaselect.bench.bandwidth import best
from phaselect.bench.instances import instance
from phaselect.bench.plan import Plan
from phaselect.bench.rivals import Outcome, outcome, rivals
from phaselect.bench.rows import Measurement, Task
from phaselect.bench.target import Target
from phaselect.bench.timing import once


def tasks(target: Target, plan: Plan) -> list[Task]:
    """At each N and alpha the rivals that can, then ours."""
    found = []
    for n in plan.solutions:
        for alpha in plan.alphas:
            if target.fits(n, alpha, 4 if target.device == "gpu" else 8):
                found += _at(target, plan, n, alpha)
    return found


def _at(target: Target, plan: Plan, n: int, alpha: float) -> list[Task]:
    count, limit = plan.instances_at(n), plan.time_limit_at(n)
    theirs: dict[str, list[Outcome]] = {}

    def rival(name: str, solve: Callable[..., Outcome]) -> Measurement:
        theirs[name] = [solve(instance(n, alpha, seed), limit) for seed in range(count)]
        return summary(theirs[name])

    def ours() -> Measurement:
        """The bound: one read of A an iteration of message passing; what comes after it is not counted."""
        outcomes, reads = [], []
        for seed in range(count):
            solve = target.load(n, alpha, seed)
            seconds, result = once(lambda solve=solve: solve(limit))  # type: ignore[misc]
            outcomes.append(outcome(result, seconds))
            if result.certified and result.solver == "amp":
                reads.append(result.steps)
        bound = None
        if reads:
            size = round(alpha * n) * n * (4 if target.device == "gpu" else 8)
            bound = median(reads) * size / best(target)
        return summary(outcomes)._replace(reference=fastest(theirs), bound=bound)

    size = f"N = {n}, alpha = {alpha:g}"
    others = [
        Task("solutions", name, size, partial(rival, name, one.solve))
        for name, one in rivals().items()
        if n <= min(one.largest_n, plan.rivals_up_to)
    ]
    return [*others, Task("solutions", target.solver, size, ours)]


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

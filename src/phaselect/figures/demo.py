"""The demonstration: one instance, four solvers, one table and one figure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from phaselect.base.style import BLUE, GREEN, MSE_Y, MU, OVERLAP, PINK, RED, legend, panels, style
from phaselect.problem.instance import Instance
from phaselect.problem.schedule import Schedule
from phaselect.solvers.protocol import ProgressCallback
from phaselect.solvers.registry import REGISTRY, Plan
from phaselect.solvers.result import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def compare(problem: Instance, seed: int, progress: ProgressCallback | None = None) -> Iterator[Result]:
    """Run the four solvers on one instance, one after the other, each to the end of its anneal."""
    amp_schedule = Schedule.matched(mu0=1.0, mu_max=1e4, eps=0.05, steps=1, unit="iterations", hold=500)
    plans: list[Plan] = [(REGISTRY["amp"].plan()[0], amp_schedule)]
    for name, options in {"sa": {}, "pa": {"replicas": 128}, "langevin": {}}.items():
        solver, schedule = REGISTRY[name].plan(**options)
        plans.append((replace(solver, eager=False), schedule))
    for solver, schedule in plans:
        yield solver.run(problem, schedule, seed=seed, progress=progress)


def row(result: Result) -> tuple[str, str, str, str, str]:
    """Solver, status, m, mse_y and seconds, as printed."""
    m = f"{result.truth['m']:.4f}" if result.truth else "-"
    return REGISTRY[result.solver].title, result.status.words, m, f"{result.mse_y:.1e}", f"{result.seconds:.2f}"


def draw(problem: Instance, results: list[Result]) -> Figure:
    """Overlap and residual along each anneal that had begun."""
    figure, (left, right) = panels(2)
    styles = (("-", BLUE), ("--", RED), ("-.", GREEN), (":", PINK))
    with style():
        begun = [result for result in results if len(result.trace)]
        for result, (dashes, colour) in zip(begun, styles, strict=False):
            trace = result.trace
            left.semilogx(trace["mu"], trace["m"], dashes, color=colour)
            right.loglog(trace["mu"], trace["mse_y"], dashes, color=colour, label=REGISTRY[result.solver].title)
        for axes, label in ((left, OVERLAP), (right, MSE_Y)):
            axes.set(xlabel=MU, ylabel=label, xlim=(0.5, 3e4))
        left.set_ylim(-0.03, 1.05)
        right.set_ylim(1e-10, 1)
        legend(figure, right)
        figure.suptitle(rf"$N = {problem.n}$, $\alpha = {problem.alpha:g}$")
    return figure

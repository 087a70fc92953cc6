"""The share of a run that goes into looking at the state, trace and quench, instead of moving it."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.internals import spectrum, watched
from benchmarks.machine import Machine
from benchmarks.plan import Plan
from benchmarks.rows import Measurement, Task
from benchmarks.timing import once
from phaselect import AMP, PopulationAnnealing, Schedule, SimulatedAnnealing, gaussian_instance

SECTION = "measuring"
ALPHA = 1.2
MOST = 0.1
"""The share of any run that we want to spend on it."""
LITERAL = Schedule.matched(eps=0.01, steps=100, unit="proposals")
"""The paper's anneal with T_A = 100 read as proposals: the fewest per temperature that anybody asks for."""


def tasks(machine: Machine, plan: Plan) -> list[Task]:
    """Each solver at each N."""
    contenders = {
        "SA with T_A = 100 proposals": (SimulatedAnnealing(), LITERAL),
        "population annealing": (PopulationAnnealing(), None),
        "message passing": (AMP(), None),
    }
    return [
        Task(SECTION, f"measuring, {name}", f"N = {n}, alpha = {ALPHA:g}", partial(share, solver, schedule, n))
        for name, (solver, schedule) in contenders.items()
        for n in plan.measuring
    ]


def share(solver: Any, schedule: Schedule | None, n: int, repeat: int = 3) -> Measurement:
    """Of the loop of a run: set-up, finish and certificate are not in it. The SVD is done before."""
    problem = gaussian_instance(n, ALPHA, seed=0)
    spectrum(problem)
    solver.run(problem, schedule)
    with watched() as spent:
        total, _ = once(lambda: [solver.run(problem, schedule) for _ in range(repeat)])
    loop = total - spent["start"] - spent["finish"]
    detail = f"{spent['looks'] / repeat:.0f} looks of {1e6 * spent['measuring'] / spent['looks']:.0f} us"
    detail += f" in a loop of {1e3 * loop / repeat:.0f} ms"
    return Measurement(spent["measuring"] / loop, "of the loop", detail, limit=MOST)

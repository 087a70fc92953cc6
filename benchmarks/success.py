"""How often each solver, left at its defaults, recovers the signal: a table for docs/solvers.md.

python -m benchmarks.success [--write] [NAME ...]
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from benchmarks.page import write_table
from phaselect import AMP, Instance, Schedule, SimulatedAnnealing, gaussian_instance
from phaselect.solvers.registry import SINGLE, recipe
from phaselect.solvers.solve import solve_instance

N, INSTANCES = 200, 20
ALPHAS = (1.1, 1.15, 1.2, 1.3, 1.4, 1.6, 2.0, 3.0, 4.0)


def literal_annealing(problem: Instance, seed: int) -> bool:
    """The paper's schedule with T_A = 100 read as proposals."""
    schedule = Schedule.matched(eps=0.01, steps=100, unit="proposals")
    return SimulatedAnnealing().run(problem, schedule, seed=seed).certified


def paper_message_passing(problem: Instance, seed: int) -> bool:
    """Message passing on the paper's schedule, with as many restarts as by default."""
    return AMP().run(problem, Schedule.paper_amp(), seed=seed).certified


def contenders() -> dict[str, Callable[[Instance, int], bool]]:
    """Every solver at its defaults, by the name it has on the command line."""
    runs: dict[str, Callable[[Instance, int], bool]] = {
        "auto": lambda problem, seed: solve_instance(problem, seed=seed, time_limit=10).certified
    }
    for name in (name for name in SINGLE if recipe(name).plan()[0].name == name):
        runs[name] = lambda problem, seed, name=name: recipe(name).run(problem, seed).certified  # type: ignore[misc]
    return runs | {"sa, T_A in proposals": literal_annealing, "amp, paper_amp": paper_message_passing}


def main() -> None:
    """Print the table, or some of its rows; write it with --write."""
    names = [name for name in sys.argv[1:] if name != "--write"] or list(contenders())
    problems = {alpha: [gaussian_instance(N, alpha, seed=seed) for seed in range(INSTANCES)] for alpha in ALPHAS}
    lines = [
        f"Instances recovered out of {INSTANCES}, N = {N}, each solver at its defaults (`auto` with 10 s an instance):",
        "",
        "| M/N | " + " | ".join(f"{alpha:g}" for alpha in ALPHAS) + " |",
        "|---" * (len(ALPHAS) + 1) + "|",
    ]
    print("\n".join(lines), flush=True)
    for name in names:
        run = contenders()[name]
        counts = [sum(run(problem, seed) for seed, problem in enumerate(problems[alpha])) for alpha in ALPHAS]
        lines.append(f"| {name} | " + " | ".join(map(str, counts)) + " |")
        print(lines[-1], flush=True)
    if "--write" in sys.argv:
        write_table("solvers.md", lines)


if __name__ == "__main__":
    main()

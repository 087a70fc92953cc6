"""How often each solver, left at its defaults, recovers the signal: a table for docs/solvers.md.

python -m benchmarks.success [--write] [NAME ...]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from benchmarks.page import write_table
from phaselect import AMP, Instance, Schedule, SimulatedAnnealing, gaussian_instance, solve
from phaselect.solvers.registry import REGISTRY

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
        "auto": lambda problem, seed: solve(problem, seed=seed, time_limit=10).certified
    }
    for name, recipe in REGISTRY.items():
        if name in ("amp", "sa", "pa", "langevin", "raf", "altmin"):
            runs[name] = lambda problem, seed, recipe=recipe: recipe.run(problem, seed).certified
    return runs | {"sa, T_A in proposals": literal_annealing, "amp, Schedule.paper_amp()": paper_message_passing}


def main() -> None:
    """Print the table, or some of its rows; write it with --write."""
    runs = contenders()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which rows: {'; '.join(runs)} (default: all)")
    parser.add_argument("--write", action="store_true", help="write the table, all rows of it, into docs/solvers.md")
    options = parser.parse_args()
    if unknown := sorted(set(options.names) - set(runs)):
        parser.error(f"{unknown[0]}: use some of {'; '.join(runs)}")
    if options.write and options.names:
        parser.error("--write writes the whole table: name no rows")
    problems = {alpha: [gaussian_instance(N, alpha, seed=seed) for seed in range(INSTANCES)] for alpha in ALPHAS}
    lines = [
        f"Instances recovered out of {INSTANCES}, N = {N}, each solver at its defaults "
        "(`auto` with 10 s per instance):",
        "",
        "| M/N | " + " | ".join(f"{alpha:g}" for alpha in ALPHAS) + " |",
        "|---" * (len(ALPHAS) + 1) + "|",
    ]
    print("\n".join(lines), flush=True)
    for name in options.names or runs:
        counts = [sum(runs[name](problem, seed) for seed, problem in enumerate(problems[alpha])) for alpha in ALPHAS]
        lines.append(f"| {name} | " + " | ".join(map(str, counts)) + " |")
        print(lines[-1], flush=True)
    if options.write:
        write_table("solvers.md", lines)


if __name__ == "__main__":
    main()

"""Where simulated annealing at lam = 0 ends, and where the 1RSB theory says it is trapped: a table of docs/stuck.md.

python -m benchmarks.traps [--write]
"""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks.page import write_table
from phaselect import Schedule, SimulatedAnnealing, gaussian_instance, theory

ALPHAS = (1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9)
N, INSTANCES, SWEEPS = 800, 10, 20
COLUMNS = (
    "alpha",
    "m can grow from mu",
    "clusters form at mu",
    "few dominate from mu",
    "on the way of a slow anneal at mu",
    "MSE_y where they form",
    "MSE_y of the best",
    "SA found the signal",
    "SA stuck at MSE_y",
)


def main() -> None:
    """Print the table; with --write, put it into the docs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the table into docs/stuck.md")
    options = parser.parse_args()
    lines = [
        f"Anneals: N = {N}, {INSTANCES} instances, {SWEEPS} sweeps at each mu from 0.5 to 3000 in steps of 10 %.",
        "",
        f"| {' | '.join(COLUMNS)} |",
        "|" + "---|" * len(COLUMNS),
    ]
    print("\n".join(lines), flush=True)
    for alpha in ALPHAS:
        row = {name: float(column[0]) for name, column in theory.traps([alpha]).items()}
        found, stuck = anneals(alpha)
        numbers = [
            f"{row[name]:.4g}"
            for name in ("mu_leave", "mu_dynamical", "mu_static", "mu_followed", "mse_y_dynamical", "mse_y_ground")
        ]
        spread = f"{np.mean(stuck):.3g} ± {np.std(stuck):.1g}" if stuck else "-"
        lines.append(f"| {alpha} | {' | '.join(numbers)} | {found} of {INSTANCES} | {spread} |")
        print(lines[-1], flush=True)
    if options.write:
        write_table("stuck.md", lines)


def anneals(alpha: float) -> tuple[int, list[float]]:
    """How many of the anneals find the signal, and the misfit of the others."""
    schedule = Schedule.fixed_lambda(0.0, mu0=0.5, mu_max=3e3, eps=0.1, steps=SWEEPS)
    found, stuck = 0, []
    for seed in range(INSTANCES):
        problem = gaussian_instance(N, alpha, seed=seed)
        trace = SimulatedAnnealing(eager=False).run(problem, schedule, seed=seed).trace
        if trace["m"][-1] > 0.99:
            found += 1
        else:
            stuck.append(float(trace["mse_y"][-1]))
    return found, stuck


if __name__ == "__main__":
    main()

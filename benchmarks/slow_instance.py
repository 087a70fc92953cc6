"""A large instance that message passing takes long to solve: why? For docs/performance.md.

python -m benchmarks.slow_instance [--n 30000] [--alpha 1.15] [--seed 0]

Iterations of one run until m = 0.99, in memory: with all digits of A, as with the half-precision copy that a GPU reads,
and without damping; and what state evolution says. N = 30,000 takes a quarter of an hour and 16 GB.
"""

from __future__ import annotations

import argparse

import numpy as np

from phaselect import AMP, Instance, gaussian_batch
from phaselect.base.tables import Table
from phaselect.theory import state_evolution

ROWS = 500
"""Rounded at a time."""


def main() -> None:
    """Print a line for each run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=30_000)
    parser.add_argument("--alpha", type=float, default=1.15)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    drawn = gaussian_batch(options.n, options.alpha, seeds=[options.seed]).instance(device="cpu")
    A, y, x0 = np.array(drawn.A), drawn.y, drawn.x0
    del drawn
    for damping in (0.0, AMP().damping):
        found = state_evolution(options.alpha, AMP().default_schedule(), n=options.n, damping=damping)
        print(f"state evolution, damping {damping:g}: {arrival(found)}", flush=True)
    for words, solver in (("all digits", AMP(restarts=0)), ("all digits, no damping", AMP(restarts=0, damping=0.0))):
        print(f"{words}: {arrival(solver.run(Instance(A, y, x0), seed=options.seed).trace)}", flush=True)
    halve(A)
    print(f"half precision: {arrival(AMP(restarts=0).run(Instance(A, y, x0), seed=options.seed).trace)}", flush=True)


def halve(A: np.ndarray) -> None:
    """Leave the digits of half precision, in the units that a copy has."""
    rms = np.float32(np.sqrt(np.mean(A[:ROWS].astype(float) ** 2)))
    for begin in range(0, len(A), ROWS):
        A[begin : begin + ROWS] = (A[begin : begin + ROWS] / rms).astype(np.float16).astype(np.float32) * rms


def arrival(trace: Table) -> str:
    """The first iteration known to have m = 0.99, or where the run is at its end."""
    there = np.flatnonzero(trace["m"] >= 0.99)
    last = trace["sweeps"][there[0] if there.size else -1]
    return f"{last:.0f} iterations" if there.size else f"m = {trace['m'][-1]:.2f} after {last:.0f} iterations"


if __name__ == "__main__":
    main()

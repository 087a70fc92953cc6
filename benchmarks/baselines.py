"""How many measurements the baselines need, in both fields, against what was published: a table of docs/baselines.md.

python -m benchmarks.baselines [--instances K] [--write]

Of each flow twice: as published, from the start of its paper, with a relative error below 1e-5 after as many iterations
as it had there; and as it is here, from the spectral start that all share and finished like any other answer. Vector
message passing, on the same instances, for comparison.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.internals import mse_x, spectral_start
from benchmarks.page import write_table
from phaselect import (
    AlternatingMinimisation,
    Instance,
    ReweightedAmplitudeFlow,
    VectorMessagePassing,
    WirtingerFlow,
    gaussian_instance,
)

N, INSTANCES = 200, 10
ALPHAS = {
    "real": (1.2, 1.4, 1.6, 1.8, 2.0, 3.0, 4.0, 5.0, 6.0),
    "complex": (2.2, 2.4, 2.6, 2.8, 3.0, 3.5, 4.0, 4.5, 5.0),
}
EXACT = 1e-10
"""Squared relative error below which a signal is recovered."""
UNKNOWN = "-"
PUBLISHED = {
    ("real", "wf, as published"): "4.4",
    ("real", "raf, as published"): "1.76",
    ("complex", "wf, as published"): "4.2",
}
"""M/N at which half of the instances with N = 1000 are recovered, read off from figures: of reweighted amplitude flow's
own paper for real data, of Wang, Giannakis and Chen (IEEE Trans. Signal Process. 65, 1961, 2017) for complex data."""
ITERATIONS = {"wf": 1000, "raf": 2000}
"""In those figures, and in the code that its authors published."""


def complex_instance(n: int, alpha: float, *, seed: int) -> Instance:
    """Iid complex Gaussian A and x0."""
    rng = np.random.default_rng(seed)
    parts = rng.standard_normal((2, round(alpha * n) + 1, n))
    A, x0 = (parts[0, 1:] + 1j * parts[1, 1:]) / np.sqrt(2 * n), parts[0, 0] + 1j * parts[1, 0]
    return Instance(A, np.abs(A @ x0), x0)


def intensities(y: NDArray[np.float64]) -> NDArray[np.float64]:
    """What Wirtinger flow weighs rows with, to find a start: y^2."""
    return y**2


def largest(y: NDArray[np.float64]) -> NDArray[np.float64]:
    """What reweighted amplitude flow weighs them with: sqrt(y) for the 3 in 13 with the largest y, the rest is left."""
    return np.where(y >= np.quantile(y, 10 / 13), np.sqrt(y), 0.0)


def as_published(solver: Any, weights: Callable[..., NDArray[np.float64]], problem: Instance, seed: int) -> bool:
    """Has the flow itself arrived, from its own start?"""
    iterations = solver.default_schedule()[: ITERATIONS[solver.name]]
    result = solver.run(problem, iterations, seed=seed, init=spectral_start(problem, weights))
    return mse_x(problem, result.state.x) < EXACT


def as_it_is(solver: Any, problem: Instance, seed: int) -> bool:
    """Is the answer right?"""
    return bool(solver.run(problem, seed=seed).truth["mse_x"] < EXACT)


CONTENDERS: dict[str, Callable[[Instance, int], bool]] = {
    "wf, as published": partial(as_published, WirtingerFlow(), intensities),
    "raf, as published": partial(as_published, ReweightedAmplitudeFlow(), largest),
    "wf": partial(as_it_is, WirtingerFlow()),
    "raf": partial(as_it_is, ReweightedAmplitudeFlow()),
    "altmin": partial(as_it_is, AlternatingMinimisation()),
    "vmp": partial(as_it_is, VectorMessagePassing()),
}


def main() -> None:
    """Print the table; with --write, put it into the docs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=INSTANCES, help="of each column (default: %(default)s)")
    parser.add_argument("--write", action="store_true", help="write the table into docs/baselines.md")
    options = parser.parse_args()
    lines = [f"Instances recovered out of {options.instances}, N = {N}:"]
    for field, draw in (("real", gaussian_instance), ("complex", complex_instance)):
        alphas, start = ALPHAS[field], len(lines)
        head = f"| {field}, M/N | " + " | ".join(f"{alpha:g}" for alpha in alphas) + " | published, half of N = 1000 |"
        lines += ["", head, "|---" * (len(alphas) + 2) + "|"]
        print("\n".join(lines[start if field != "real" else 0 :]), flush=True)
        problems = {alpha: [draw(N, alpha, seed=seed) for seed in range(options.instances)] for alpha in alphas}
        for name, recovers in CONTENDERS.items():
            counts = [sum(recovers(one, seed) for seed, one in enumerate(problems[alpha])) for alpha in alphas]
            known = PUBLISHED.get((field, name), UNKNOWN)
            lines.append(f"| {name} | " + " | ".join(map(str, counts)) + f" | {known} |")
            print(lines[-1], flush=True)
    if options.write:
        write_table("baselines.md", lines)


if __name__ == "__main__":
    main()

"""Are the uncertainties of noisy answers true? How often intervals hold the truth: a table of docs/noise.md.

python -m benchmarks.calibration [--instances K] [--write]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

import numpy as np

from benchmarks.page import write_table
from phaselect import ensemble_instance, solve

N, INSTANCES = 200, 200
KINDS, ALPHAS, DECIBELS = ("gaussian", "toeplitz"), (2.0, 3.0), (10, 20, 30)
INTERVALS = {"68 %": 0.9945, "95 %": 1.96}
"""Half-widths in standard deviations."""
COLUMNS = ("matrix", "M/N", "dB", "noise", *INTERVALS, "learned / true", "claimed ±", "deviations")


class Calibration(NamedTuple):
    """Of many instances: shares of the entries of x within each interval; noise that was learned, over the truth, its
    spread, the uncertainty claimed, and root mean square of the error over that."""

    covered: list[float]
    noise: float
    spread: float
    claimed: float
    deviations: float


def calibration(kind: str, alpha: float, variance: float, noise: float | str, seeds: Iterable[int]) -> Calibration:
    """The intervals of `solve(..., noise=noise)` against the truth, for data with noise of this variance."""
    errors, learned, claimed = [], [], []
    for seed in seeds:
        problem = ensemble_instance(kind, N, alpha, seed=seed, noise=variance)
        result = solve(problem, noise=noise, seed=seed)
        assert result.x_std is not None
        assert problem.x0 is not None
        side = np.sign(result.x @ problem.x0)
        errors.append(abs(side * result.x - problem.x0) / result.x_std)
        learned.append(result.noise / variance)
        claimed.append((result.noise_std or 0.0) / variance)
    covered = [float(np.mean(np.array(errors) < width)) for width in INTERVALS.values()]
    off = (np.array(learned) - 1) / claimed if noise == "auto" else np.zeros(1)
    return Calibration(
        covered,
        float(np.mean(learned)),
        float(np.std(learned)),
        float(np.mean(claimed)),
        float(np.sqrt(np.mean(off**2))),
    )


def main() -> None:
    """Print the table; with --write, put it into the docs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=INSTANCES, help="of each row (default: %(default)s)")
    parser.add_argument("--write", action="store_true", help="write the table into docs/noise.md")
    options = parser.parse_args()
    lines = [
        f"N = {N}, {options.instances} instances per row:",
        "",
        f"| {' | '.join(COLUMNS)} |",
        "|" + "---|" * len(COLUMNS),
    ]
    print("\n".join(lines), flush=True)
    for kind, alpha, decibels, known in product(KINDS, ALPHAS, DECIBELS, (True, False)):
        variance = 10 ** (-decibels / 10)
        found = calibration(kind, alpha, variance, variance if known else "auto", range(options.instances))
        numbers = [f"{share:.3f}" for share in found.covered]
        numbers += ["", "", ""] if known else [f"{found.noise:.3f} ± {found.spread:.3f}", f"{found.claimed:.3f}"]
        numbers += [] if known else [f"{found.deviations:.2f}"]
        lines.append(f"| {kind} | {alpha:g} | {decibels} | {'known' if known else 'auto'} | {' | '.join(numbers)} |")
        print(lines[-1], flush=True)
    if options.write:
        write_table("noise.md", lines)


if __name__ == "__main__":
    main()

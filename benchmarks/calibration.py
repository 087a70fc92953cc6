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
REAL = (1.5, 30), (2.0, 10), (2.0, 20), (2.0, 30), (3.0, 10), (3.0, 20), (3.0, 30)
SETTINGS = {
    ("gaussian", "real"): REAL,
    ("toeplitz", "real"): REAL,
    ("gaussian", "complex"): ((3.0, 20), (3.0, 30), (4.0, 10), (4.0, 20), (4.0, 30)),
    ("orthogonal", "complex"): ((4.0, 20), (4.0, 30)),
}
"""M/N, and dB, by kind of matrix and field."""
INTERVALS = {"68 %": {"real": 0.9945, "complex": 1.0674}, "95 %": {"real": 1.96, "complex": 1.7308}}
"""Half-widths in standard deviations; of complex numbers, radii."""
COLUMNS = ("matrix", "M/N", "dB", "noise", *INTERVALS, "learned / true", "claimed ±", "deviations", "unsure")


class Calibration(NamedTuple):
    """Of many instances: shares of the entries of x within each interval; noise that was learned, over the truth, its
    spread, the uncertainty claimed, and root mean square of the error over that. unsure: those left out, whose noise
    was not learned, or which say that it is a guess."""

    covered: list[float]
    noise: float
    spread: float
    claimed: float
    deviations: float
    unsure: int


def calibration(
    kind: str, field: str, alpha: float, variance: float, noise: float | str, seeds: Iterable[int]
) -> Calibration:
    """The intervals of `solve(..., noise=noise)` against the truth, for data with noise of this variance."""
    errors, learned, claimed, unsure = [], [], [], 0
    for seed in seeds:
        problem = ensemble_instance(kind, N, alpha, seed=seed, noise=variance, field=field)
        result = solve(problem, noise=noise, seed=seed)
        assert problem.x0 is not None
        if result.x_std is None or "guess" in result.reason:
            unsure += 1
            continue
        along = np.vdot(result.x, problem.x0)
        errors.append(abs(along / abs(along) * result.x - problem.x0) / result.x_std)
        learned.append(result.noise / variance)
        claimed.append((result.noise_std or 0.0) / variance)
    covered = [float(np.mean(np.array(errors) < width[field])) for width in INTERVALS.values()]
    off = (np.array(learned) - 1) / claimed if noise == "auto" else np.zeros(1)
    return Calibration(
        covered,
        float(np.mean(learned)),
        float(np.std(learned)),
        float(np.mean(claimed)),
        float(np.sqrt(np.mean(off**2))),
        unsure,
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
    rows = [(*key, *setting) for key, settings in SETTINGS.items() for setting in settings]
    for (kind, field, alpha, decibels), known in product(rows, (True, False)):
        variance = 10 ** (-decibels / 10)
        found = calibration(kind, field, alpha, variance, variance if known else "auto", range(options.instances))
        numbers = [f"{share:.3f}" for share in found.covered]
        numbers += ["", ""] if known else [f"{found.noise:.3f} ± {found.spread:.3f}", f"{found.claimed:.3f}"]
        numbers += ["", ""] if known else [f"{found.deviations:.2f}", str(found.unsure)]
        name = kind if field == "real" else f"{field} {kind}"
        lines.append(f"| {name} | {alpha:g} | {decibels} | {'known' if known else 'auto'} | {' | '.join(numbers)} |")
        print(lines[-1], flush=True)
    if options.write:
        write_table("noise.md", lines)


if __name__ == "__main__":
    main()

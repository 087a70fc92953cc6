"""Are the uncertainties of noisy answers true? How often intervals hold the truth: tables of docs/noise.md.

python -m benchmarks.calibration [--field real|complex] [--instances K] [--write]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

import numpy as np

from benchmarks.page import write_table
from phaselect import ensemble_instance, solve

N, INSTANCES = 200, {"real": 200, "complex": 25}
REAL = (1.5, 30), (2.0, 10), (2.0, 20), (2.0, 30), (3.0, 10), (3.0, 20), (3.0, 30)
SETTINGS = {
    "real": {"gaussian": REAL, "toeplitz": REAL},
    "complex": {"gaussian": ((3.0, 20), (4.0, 10), (4.0, 30)), "orthogonal": ((4.0, 20),)},
}
"""M/N, and dB, by field and kind of matrix."""
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
    """Print the tables; with --write, put them into the docs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--field", choices=list(SETTINGS), help="of A and x (default: one after the other)")
    parser.add_argument("--instances", type=int, help="of each row (default: 200 real ones, 25 complex ones)")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/noise.md")
    options = parser.parse_args()
    for field in [options.field] if options.field else SETTINGS:
        lines = table(field, options.instances or INSTANCES[field])
        if options.write:
            write_table("noise.md", lines, f"{field} table")


def table(field: str, instances: int) -> list[str]:
    """The rows of a field, printed as they come."""
    lines = [f"{field.capitalize()}, N = {N}, {instances} instances per row:", ""]
    lines += [f"| {' | '.join(COLUMNS)} |", "|" + "---|" * len(COLUMNS)]
    print("\n".join(lines), flush=True)
    rows = [(kind, *setting) for kind, settings in SETTINGS[field].items() for setting in settings]
    for (kind, alpha, decibels), known in product(rows, (True, False)):
        variance = 10 ** (-decibels / 10)
        found = calibration(kind, field, alpha, variance, variance if known else "auto", range(instances))
        numbers = [f"{share:.3f}" for share in found.covered]
        numbers += ["", ""] if known else [f"{found.noise:.3f} ± {found.spread:.3f}", f"{found.claimed:.3f}"]
        numbers += ["", ""] if known else [f"{found.deviations:.2f}", str(found.unsure)]
        lines.append(f"| {kind} | {alpha:g} | {decibels} | {'known' if known else 'auto'} | {' | '.join(numbers)} |")
        print(lines[-1], flush=True)
    return lines


if __name__ == "__main__":
    main()

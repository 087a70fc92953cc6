"""Success of population annealing with many copies close to one measurement per unknown: a table for docs/devices.md.

python -m benchmarks.search [--device gpu] [--store RUNS.db] [--write] [--tune]

Runs what the store lacks, in batches on the device, or nothing with --device none. With --tune it tries other schedules
and products instead, at one point, on the same instances.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.page import write_table
from phaselect import PopulationAnnealing, Schedule, gaussian_batch
from phaselect.experiments.grid import Grid
from phaselect.experiments.packing import Batches
from phaselect.experiments.store import Store
from phaselect.experiments.success import succeeded, wilson
from phaselect.experiments.sweep import run_sweep

POINTS = (
    (100, 1.06, 10_000, 24),
    (200, 1.06, 10_000, 24),
    (200, 1.08, 10_000, 24),
    (200, 1.1, 10_000, 24),
    (200, 1.06, 100_000, 12),
    (400, 1.1, 10_000, 12),
    (400, 1.12, 10_000, 12),
    (400, 1.11, 100_000, 8),
)
"""N, alpha, copies, instances."""
VARIANTS: tuple[dict[str, float], ...] = (
    {},
    {"mu_max": 300.0},
    {"product": 0.7},
    {"product": 1.4},
    {"product": 2.0},
    {"sweeps": 24},
    {"sweeps": 16, "eps": 0.1},
    {"sweeps": 4, "eps": 0.025},
)
"""What to change of the default: 8 sweeps at each 5 % of mu up to 1000, mu*lam = 1."""


def main() -> None:
    """Run, print the table; write it with --write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="gpu", help="gpu, cpu, or none to compute nothing")
    parser.add_argument("--store", type=Path, help="keep the runs in this file")
    parser.add_argument("--write", action="store_true", help="write the table into docs/devices.md")
    parser.add_argument("--tune", action="store_true", help="compare schedules at N = 200, alpha = 1.07")
    options = parser.parse_args()
    if options.tune:
        return tune(options.device)
    with tempfile.TemporaryDirectory() as folder:
        store = options.store or Path(folder) / "runs.db"
        if options.device != "none":
            for n, alpha, copies, count in POINTS:
                grid = Grid(("pa",), (n,), (alpha,), count, options={"replicas": (copies,)})
                print(run_sweep([grid], store, packing=Batches(options.device)), flush=True)
        lines = table(store)
    print("\n".join(lines))
    if options.write:
        write_table("devices.md", lines)


def tune(device: str, n: int = 200, alpha: float = 1.07, copies: int = 10_000, instances: int = 16) -> None:
    """Instances recovered by each variant, on the same instances."""
    for variant in VARIANTS:
        options = {"mu_max": 1000.0, "product": 1.0, "sweeps": 8, "eps": 0.05} | variant
        hot = Schedule.matched(mu0=0.1, mu_max=2.0, eps=0.2).mu[:-1]
        mu = np.concatenate([hot, Schedule.matched(mu0=2.0, mu_max=options["mu_max"], eps=options["eps"]).mu])
        schedule = Schedule(mu, options["product"] / mu, steps=int(options["sweeps"]))
        batch = gaussian_batch(n, alpha, seeds=range(instances))
        results = PopulationAnnealing(copies).run_batch(batch, schedule, device=device)
        print(variant or "default", sum(result.certified for result in results), "of", instances, flush=True)


def table(path: Path) -> list[str]:
    """A line for each N, alpha, number of copies and device in the store."""
    with Store(path, read_only=True) as store:
        runs = store.table()
    lines = [
        "| N | alpha | copies | on | recovered | 95 % interval | seconds per instance |",
        "|---|---|---|---|---|---|---|",
    ]
    keys = list(zip(runs["n"], runs["replicas"], runs["alpha"], runs["device"], strict=True))
    for key in sorted(set(keys)):
        n, copies, alpha, device = key
        mine = np.array([other == key for other in keys])
        good = succeeded(runs)[mine]
        low, high = wilson(int(good.sum()), good.size)
        share = f"{good.sum()} of {good.size} | {low:.2f} to {high:.2f} | {np.mean(runs['seconds'][mine]):.3g}"
        lines.append(f"| {n} | {alpha:g} | {int(copies):,} | {device or 'one core'} | {share} |")
    return lines


if __name__ == "__main__":
    main()

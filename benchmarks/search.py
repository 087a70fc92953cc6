"""Which schedule suits population annealing with many copies, close to one measurement per unknown?

python -m benchmarks.search [--device gpu]

Tries other schedules and products than the default, at one point, on the same instances. How many copies are needed is
figure hard_phase.
"""

from __future__ import annotations

import argparse

import numpy as np

from phaselect import PopulationAnnealing, Schedule, gaussian_batch

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
    """Print a line for each variant."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="gpu", help="gpu or cpu")
    tune(parser.parse_args().device)


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


if __name__ == "__main__":
    main()

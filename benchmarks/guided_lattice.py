"""A lattice guided by a population: signs that it is sure of are taken for known; of docs/lattice_measured.md.

python -m benchmarks.guided_lattice [--write]

For each point a population is annealed half way, the signs with the largest means over its copies are tied together as
one unknown, and the rest is reduced. Against larger populations, annealed whole, one after the other until they have
taken as long. Seconds are those that one core is busy.
"""

from __future__ import annotations

import argparse
import json
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import host
from benchmarks.internals import LADDER, found_with, mean_signs, one_thread, surest_signs, true_signs
from benchmarks.lattice import PAGE, busy
from benchmarks.page import DOCS, write_table
from benchmarks.table import number
from phaselect import Instance, PopulationAnnealing, gaussian_instance
from phaselect.base.files import atomic_write

PART, REPORT = "guided", "lattice-guided.json"
COPIES, MU, BLOCK = 1024, 20.0, 40
"""Of the population that guides, where its anneal is ended, and the largest size of blocks of the lattice."""


class Point(NamedTuple):
    """Instances of one size, and the shares of their signs that are taken for known."""

    n: int
    m_rows: int
    instances: int
    shares: tuple[float, ...]


POINTS = (
    Point(150, 158, 20, (0.0, 0.1, 0.2, 0.25, 0.3)),
    Point(200, 212, 10, (0.0, 0.2, 0.25, 0.3, 0.35, 0.4)),
    Point(400, 440, 10, (0.3, 0.35, 0.4, 0.45)),
)


class Trial(NamedTuple):
    """One share of one instance: are the signs that were taken for known right, were all found, in which time?"""

    share: float
    right: bool
    found: bool
    seconds: float


def trial(problem: Instance, mean: NDArray[np.float64], share: float, seed: int) -> Trial:
    """Reduce what is left."""
    guess, known = np.where(mean < 0, -1.0, 1.0), surest_signs(problem, mean, share)
    sides = (guess * true_signs(problem))[known]
    seconds, found = busy(lambda: found_with(problem, guess, known, BLOCK, seed))
    return Trial(share, bool((sides == sides[0]).all()), found, seconds)


def by_populations(problem: Instance, seconds: float) -> tuple[bool, float]:
    """Is one of the largest populations certified, of those that begin within so many seconds? And the time taken."""
    spent = 0.0
    for seed in count():
        took, result = busy(lambda seed=seed: PopulationAnnealing(LADDER[-1]).run(problem, seed=seed))
        spent += took
        if result.certified or spent >= seconds:
            return bool(result.certified), spent
    raise AssertionError


def measured(point: Point) -> dict[str, object]:
    """All instances of a point, share by share."""
    guided, others = [], []
    for seed in range(point.instances):
        problem = gaussian_instance(point.n, point.m_rows / point.n, seed=seed)
        anneal, mean = busy(lambda problem=problem, seed=seed: mean_signs(problem, COPIES, MU, seed))
        trials = [trial(problem, mean, share, seed) for share in point.shares]
        guided.append({"anneal": anneal, "trials": [one._asdict() for one in trials]})
        others.append(by_populations(problem, anneal + max(one.seconds for one in trials)))
        print(point.n, point.m_rows, seed, guided[-1], others[-1], flush=True)
    return {"n": point.n, "m_rows": point.m_rows, "guided": guided, "populations": others}


COLUMNS = ("N", "M", "signs fixed", "all of them right", "solved", "seconds", "population solved", "its seconds")


def page(report: dict[str, object]) -> list[str]:
    """What was measured, as a table."""
    revision = report["machine"]["versions"]["phaselect"]  # type: ignore[index]
    lines = [
        f"`python -m benchmarks.guided_lattice` (phaselect {revision}): a population of {COPIES} copies is annealed "
        f"to mu = {MU:g}, the signs with the largest means over the copies are fixed, and the rest is left to blocks "
        f"of up to {BLOCK}. Populations of {LADDER[-1]} copies, annealed whole, had as long as a guided search with "
        "one share took. Mean seconds of one core, those of the population included.",
        "",
        f"| {' | '.join(COLUMNS)} |",
        "|---" * len(COLUMNS) + "|",
    ]
    for point in report["points"]:  # type: ignore[attr-defined]
        runs, others = point["guided"], point["populations"]
        solved = f"{sum(found for found, _ in others)} of {len(others)}"
        taken = number(float(np.mean([seconds for _, seconds in others])))
        for place in range(len(runs[0]["trials"])):
            own = [run["trials"][place] for run in runs]
            seconds = np.mean([run["anneal"] + one["seconds"] for run, one in zip(runs, own, strict=True)])
            counts = (f"{sum(one[name] for one in own)} of {len(own)}" for name in ("right", "found"))
            cells = [
                point["n"],
                point["m_rows"],
                f"{own[0]['share']:.0%}",
                *counts,
                number(float(seconds)),
                solved,
                taken,
            ]
            lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def main() -> None:
    """Print the table; with --write, publish it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help=f"write docs/bench/{REPORT} and docs/{PAGE}")
    options = parser.parse_args()
    machine = host.host()
    with one_thread():
        report = {"machine": machine, "points": [measured(point) for point in POINTS]}
    print("\n".join(page(report)))
    if options.write:
        with atomic_write(DOCS / "bench" / REPORT) as stream:
            stream.write((json.dumps(report, indent=1) + "\n").encode())
        write_table(PAGE, page(report), PART)


if __name__ == "__main__":
    main()

"""A lattice guided by a population: signs that it is sure of are taken for known; of docs/lattice_measured.md.

python -m benchmarks.guided_lattice [--write]

For each point a population is annealed half way, the signs with the largest means over its copies are tied together as
one unknown, and the rest is reduced. Against larger populations, annealed whole, one after the other until they have
taken as long. Seconds are those that one core is busy: about half an hour in all. Instances are kept as they are done,
and a command that was cut goes on from there.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from itertools import count, groupby
from pathlib import Path
from typing import Any, NamedTuple

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
    Point(150, 158, 16, (0.0, 0.1, 0.2, 0.25, 0.3)),
    Point(200, 212, 8, (0.0, 0.2, 0.25, 0.3, 0.35, 0.4)),
    Point(400, 440, 4, (0.3, 0.35, 0.4, 0.45)),
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


def measured(point: Point, seed: int) -> dict[str, Any]:
    """One instance, share by share."""
    problem = gaussian_instance(point.n, point.m_rows / point.n, seed=seed)
    anneal, mean = busy(lambda: mean_signs(problem, COPIES, MU, seed))
    trials = [trial(problem, mean, share, seed) for share in point.shares]
    solved, seconds = by_populations(problem, anneal + max(one.seconds for one in trials))
    return {
        "n": point.n,
        "m_rows": point.m_rows,
        "seed": seed,
        "anneal": anneal,
        "trials": [one._asdict() for one in trials],
        "populations": {"solved": solved, "seconds": seconds},
    }


def begun(path: Path, machine: dict[str, Any]) -> dict[str, Any]:
    """What was measured before, by the same versions on the same machine; else nothing."""
    if path.exists():
        report: dict[str, Any] = json.loads(path.read_text())
        if report["machine"] == machine:
            return report
    return {"machine": machine, "instances": []}


def finish(report: dict[str, Any], points: Sequence[Point], path: Path | None) -> None:
    """Measure what is missing; each instance is kept, in the file too, as soon as it is done. Ctrl-C ends it."""
    known = {(one["n"], one["m_rows"], one["seed"]) for one in report["instances"]}
    every = [(point, seed) for point in points for seed in range(point.instances)]
    try:
        for point, seed in sorted(every, key=lambda one: (one[1] + 1) / one[0].instances):  # of all points alike
            if (point.n, point.m_rows, seed) in known:
                continue
            report["instances"].append(measured(point, seed))
            print(json.dumps(report["instances"][-1]), flush=True)
            if path is not None:
                with atomic_write(path) as stream:
                    stream.write((json.dumps(report, indent=1) + "\n").encode())
    except KeyboardInterrupt:
        print("interrupted: what is done is kept, and the same command goes on from there", file=sys.stderr)


def size(one: dict[str, Any]) -> tuple[int, int]:
    """N and M of an instance."""
    return one["n"], one["m_rows"]


COLUMNS = ("N", "M", "signs fixed", "all of them right", "solved", "seconds", "population solved", "its seconds")


def page(report: dict[str, Any]) -> list[str]:
    """What was measured, as a table."""
    lines = [
        f"`python -m benchmarks.guided_lattice` (phaselect {report['machine']['versions']['phaselect']}): a population "
        f"of {COPIES} copies is annealed to mu = {MU:g}, the signs with the largest means over the copies are fixed, "
        f"and the rest is left to blocks of up to {BLOCK}. Populations of {LADDER[-1]} copies, annealed whole, had as "
        "long as a guided search with the slowest share took. Mean seconds of one core, those of the population "
        "included.",
        "",
        f"| {' | '.join(COLUMNS)} |",
        "|---" * len(COLUMNS) + "|",
    ]
    instances = sorted(report["instances"], key=size)
    for (n, m_rows), group in groupby(instances, key=size):
        own = list(group)
        others = [one["populations"] for one in own]
        solved = f"{sum(one['solved'] for one in others)} of {len(others)}"
        taken = number(float(np.mean([one["seconds"] for one in others])))
        for trials in zip(*(one["trials"] for one in own), strict=True):
            seconds = np.mean([one["anneal"] + trial["seconds"] for one, trial in zip(own, trials, strict=True)])
            counts = (f"{sum(trial[name] for trial in trials)} of {len(trials)}" for name in ("right", "found"))
            cells = [n, m_rows, f"{trials[0]['share']:.0%}", *counts, number(float(seconds)), solved, taken]
            lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def main() -> None:
    """Print the table; with --write, publish it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--write", action="store_true", help=f"go on with docs/bench/{REPORT}, and write the table of docs/{PAGE}"
    )
    options = parser.parse_args()
    machine, path = host.host(), DOCS / "bench" / REPORT
    report = begun(path, machine) if options.write else {"machine": machine, "instances": []}
    with one_thread():
        finish(report, POINTS, path if options.write else None)
    if not report["instances"]:
        return
    print("\n".join(page(report)))
    if options.write:
        write_table(PAGE, page(report), PART)


if __name__ == "__main__":
    main()

"""Lattice reduction: what it certifies and how fast, against populations and another LLL; of docs/lattice_measured.md.

python -m benchmarks.lattice [--quick] [--write]

Seconds are those that one core is busy: every contender runs on one thread. With --write, rows are kept as they are
measured, and a command that was cut goes on from there: about ten minutes of a core in all.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import host
from benchmarks.instances import blind
from benchmarks.internals import (
    LADDER,
    block_search,
    least_flops,
    one_thread,
    reduction,
    sign_lattice,
)
from benchmarks.page import DOCS, write_table
from benchmarks.performance_page import machine_in_full
from benchmarks.rivals import Outcome, outcome
from benchmarks.rows import Measurement, Report, Task, load_report
from benchmarks.run import rows_of
from benchmarks.table import head, line, markdown, number
from phaselect import InputError, Instance, Lattice, PopulationAnnealing, ensemble_instance, gaussian_instance

PAGE, PART, REPORT = "lattice_measured.md", "measured", "lattice-cpu.json"
INSTANCES, FEW = 20, 5
"""Of each point within the targets; beyond them, and for populations anywhere."""
LIMIT = 60.0
"""Seconds by the clock after which a search is ended."""
BLOCK, LOOKED_AT = 60, 20_000_000


class Point(NamedTuple):
    """Instances of one kind, and the share of them that is to be certified within so many seconds, if any is."""

    n: int
    m_rows: int
    share: float = 0.5
    within: float | None = None
    kind: str = "gaussian"

    @property
    def size(self) -> str:
        """In words."""
        return f"{'' if self.kind == 'gaussian' else self.kind + ', '}N = {self.n}, M = {self.m_rows}"

    def instance(self, seed: int) -> Instance:
        """One of them."""
        return ensemble_instance(self.kind, self.n, self.m_rows / self.n, seed=seed)


POINTS = (
    Point(30, 31, 0.9, 20.0),
    Point(40, 42, 0.9, 20.0),
    Point(60, 63, 0.9, 20.0),
    Point(80, 84, 0.9, 20.0),
    Point(100, 106, 0.5, 60.0),
    Point(150, 162, 0.5, 60.0),
    Point(100, 120, 0.9, 30.0, "orthogonal"),
    Point(100, 105),
    Point(100, 104),
    Point(150, 160),
    Point(200, 222),
    Point(300, 340),
)
QUICK = (Point(30, 31, 0.9, 20.0), Point(60, 63, 0.9, 20.0))
REDUCED = {(60, 63): 3, (100, 106): 3, (150, 162): 3, (200, 222): 1}
"""N and M at which LLL is compared, and on how many instances."""
SEARCHED = 100, 104


def busy(function: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds that a core was busy with one call, and what it returned."""
    began = time.process_time()
    result = function()
    return time.process_time() - began, result


def by_lattice(problem: Instance, seed: int) -> Outcome:
    """As `Lattice().run` does it."""
    seconds, result = busy(lambda: Lattice().run(blind(problem), seed=seed, time_limit=LIMIT))
    return outcome(result, seconds)


def by_populations(problem: Instance, seed: int) -> list[Outcome]:
    """After each size of the front door's ladder, until one is certified; seconds are those of its own."""
    found, problem, began = [], blind(problem), time.perf_counter()
    for size in LADDER:
        left = max(1.0, LIMIT - (time.perf_counter() - began))
        run = PopulationAnnealing(size).run
        seconds, result = busy(lambda run=run, left=left: run(problem, seed=seed, time_limit=left))
        found.append(outcome(result, seconds))
        if found[-1].certified:
            break
    return found


def certified_within(outcomes: Sequence[Outcome], share: float) -> float:
    """Seconds in which this share of all is certified; infinite where it is not."""
    times = sorted(one.seconds if one.certified else math.inf for one in outcomes)
    return times[math.ceil(share * len(times)) - 1]


def recovery(point: Point) -> Measurement:
    """Seconds until the wanted share is certified; those of the populations for reference."""
    ours = [by_lattice(point.instance(seed), seed) for seed in range(INSTANCES if point.within else FEW)]
    ladders = [by_populations(point.instance(seed), seed) for seed in range(FEW)]
    first = [found[0] for found in ladders]
    whole = [Outcome(found[-1].certified, sum(one.seconds for one in found)) for found in ladders]
    words = {"lattice": ours, f"{LADDER[0]} copies": first, f"{LADDER[0]} to {LADDER[-1]} copies": whole}
    return Measurement(
        certified_within(ours, point.share),
        "s",
        "; ".join(f"{name} {summary(found)}" for name, found in words.items()),
        reference=certified_within(whole, point.share),
        limit=point.within,
    )


def summary(outcomes: Sequence[Outcome]) -> str:
    """How many are certified, and what a run takes."""
    times = [one.seconds for one in outcomes]
    span = f"{number(float(np.median(times)))} s, {number(max(times))} s at most"
    return f"{sum(one.certified for one in outcomes)} of {len(outcomes)} ({span})"


class Reduced(NamedTuple):
    """A basis after LLL: seconds, length of its first row, and slope of the logarithms of its orthogonal parts."""

    seconds: float
    first: float
    slope: float


def judged(seconds: float, rows: NDArray[np.float64]) -> Reduced:
    """How good a basis is."""
    lengths = np.abs(np.diagonal(np.linalg.qr(rows.T, mode="r")))
    slope = np.polyfit(np.arange(len(rows)), np.log(lengths), 1)[0]
    return Reduced(seconds, float(np.linalg.norm(rows[0])), float(slope))


def by_flint(problem: Instance) -> Reduced:
    """LLL of python-flint, with the same parameters, on the same lattice with all digits at once."""
    try:
        flint = import_module("flint")
    except ImportError:
        raise InputError("python-flint is not installed: pip install 'phaselect[bench]'") from None
    given = flint.fmpz_mat([[int(entry) for entry in row] for row in sign_lattice(problem)])
    seconds, found = busy(given.lll)
    return judged(seconds, np.array([[int(entry) for entry in row] for row in found.tolist()], dtype=np.float64))


def lll(n: int, m_rows: int, instances: int) -> Measurement:
    """Seconds of LLL, against python-flint's, and against the flops that its row steps take at least."""
    problems = [gaussian_instance(n, m_rows / n, seed=seed) for seed in range(instances)]
    reductions = [reduction(problem) for problem in problems]
    ours = [judged(*busy(reduce)) for reduce in reductions]
    theirs = [by_flint(problem) for problem in problems]
    flops = np.median([least_flops(reduce) for reduce in reductions])
    pairs = list(zip(ours, theirs, strict=True))
    first = np.median([own.first / other.first for own, other in pairs])
    slopes = (f"{np.median([one.slope for one in found]):.4f}" for found in (ours, theirs))
    return Measurement(
        float(np.median([own.seconds for own in ours])),
        "s",
        f"{instances} instances; first row {first:.3g} times as long; slopes {' and '.join(slopes)}",
        reference=float(np.median([other.seconds for other in theirs])),
        bound=float(flops / flops_of_a_core()),
    )


def flops_of_a_core(size: int = 1000) -> float:
    """Per second, by a product of matrices."""
    a = np.random.default_rng(0).standard_normal((size, size))
    return 2 * size**3 / min(busy(lambda: a @ a)[0] for _ in range(3))


def combinations(n: int, m_rows: int) -> Measurement:
    """Partial combinations per second that the search of a block looks at, against sums one after the other."""
    rows = reduction(gaussian_instance(n, m_rows / n, seed=0))()
    search = block_search(rows, BLOCK, LOOKED_AT)
    search()
    seconds, looked = busy(search)
    return Measurement(
        looked / seconds / 1e6,
        "million/s",
        f"{looked} partial combinations of a block of {BLOCK} rows",
        bound=additions_in_a_row() / 1e6,
        more_is_better=True,
    )


def additions_in_a_row(count: int = 5_000_000) -> float:
    """Per second, each waiting for the one before: a cumulative sum of floats."""
    numbers = np.ones(count)
    return count / min(busy(lambda: np.cumsum(numbers))[0] for _ in range(3))


def tasks(quick: bool) -> Iterator[Task]:
    """All that is measured."""
    for point in QUICK if quick else POINTS:
        section = "targets" if point.within else "beyond"
        yield Task(section, "certified", point.size, lambda point=point: recovery(point))
    for (n, m_rows), count in list(REDUCED.items())[: 1 if quick else None]:
        yield Task("reduction", "LLL", f"N = {n}, M = {m_rows}", lambda place=(n, m_rows, count): lll(*place))
    n, m_rows = SEARCHED
    yield Task("reduction", "search", f"N = {n}, M = {m_rows}", lambda: combinations(n, m_rows))


TEXTS = {
    "targets": f"""**Certified**: the seconds within which a share of the instances is (half of them where M > 100, else
        and for orthogonal columns nine in ten), {INSTANCES} instances each; reference: populations of {LADDER[0]}, then
        {", then ".join(map(str, LADDER[1:]))} copies, as the front door tries them, on the first {FEW}. A search is
        ended after {LIMIT:g} s by the clock.""",
    "beyond": f"""**Beyond the targets**, half of {FEW} instances.""",
    "reduction": """**LLL alone**, up to the search of blocks; reference: `fmpz_mat.lll` of python-flint, with the same
        parameters, given the same lattice with all digits at once. Slopes: of the logarithms of the lengths of the
        orthogonal parts, against their number, ours and its; where signs are found the first row is these for both.
        Bound: each row step makes its row orthogonal to those before it once, at the rate of a product of matrices.
        **The search of a block** looks at partial combinations, the squared length of each that of another and one
        square; bound: additions that wait for the one before.""",
}


def page(report: Report) -> list[str]:
    """What was measured."""
    lines = [f"`python -m benchmarks.lattice` on {machine_in_full(report)}. Seconds are those that one core is busy."]
    for name, text in TEXTS.items():
        rows = [row for row in report.rows if row.section == name]
        if rows:
            lines += ["", " ".join(text.split()), "", *markdown(rows)]
    return lines


def fresh(quick: bool) -> Report:
    """Nothing yet, on this machine."""
    return Report("cpu", quick, host.host(), [])


def begun(path: Path, quick: bool) -> Report:
    """What a command that was cut has measured, by the same versions on the same machine; else nothing."""
    own = fresh(quick)
    before = load_report(path) if path.exists() else own
    return before if before[:3] == own[:3] and not any(row.failed for row in before.rows) else own


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer and smaller sizes")
    parser.add_argument("--write", action="store_true", help=f"publish: write docs/bench/{REPORT} and docs/{PAGE}")
    options = parser.parse_args(arguments)
    print(head(), flush=True)
    path = DOCS / "bench" / REPORT
    report = begun(path, options.quick) if options.write else fresh(options.quick)
    known = {row[:3]: row for row in report.rows}
    planned = list(tasks(options.quick))
    report = report._replace(rows=[])
    with one_thread():
        for task in planned:
            row = known.get(task[:3]) or next(iter(rows_of([task])))
            print(line(row), flush=True)
            report.rows.append(row)
            if options.write:
                report.save(path)
    if options.write:
        write_table(PAGE, page(report), PART)
    return 1 if any(row.failed for row in report.rows) else 0


if __name__ == "__main__":
    sys.exit(main())

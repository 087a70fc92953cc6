"""Market split, a benchmark of integer programming: a table of docs/market_split.md.

python -m benchmarks.market_split [--sizes 3,4,5] [--instances K] [--limit SECONDS] [--write]

m equations in 10 (m - 1) unknowns of 0 and 1: `A x = b`, A of whole numbers from 0 to 99, b half of the sum of a row,
rounded down (Cornuejols and Dawande, IPCO 1998). All are feasible, as in QOBLIB. Signs `s = 2x - 1` solve homogeneous
equations, with one unknown more. HiGHS (`scipy.optimize.milp`) is given the same instances in the same run. Times are
those of the processor, on which both run one thread.

For example: python -m benchmarks.market_split --sizes 3,4 --instances 2 --limit 10
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Sequence
from functools import partial
from math import ceil
from multiprocessing import get_context
from multiprocessing.connection import Connection
from signal import SIGXCPU
from statistics import median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from benchmarks import host
from benchmarks.page import DOCS, write_table
from benchmarks.performance_page import machine_in_full
from benchmarks.rows import Measurement, Report, Row, Task, load_report
from benchmarks.run import rows_of
from benchmarks.table import head, line, number
from phaselect import InputError, solve_sign_equations

PAGE, REPORT = "market_split.md", "market_split.json"
SIZES, INSTANCES, LIMIT = (3, 4, 5, 6, 7), 5, 20.0
LARGEST = 100
"""Coefficients are below."""
WANTED = {6: 10.0, 7: 120.0}
"""Seconds in which all solutions are wanted, by the number of equations."""
FIRST, ALL, THEIRS = "a solution", "all solutions", "HiGHS, a solution"
PUBLISHED = {
    3: ("0.12 to 0.23", "0 to 1", "0.16 to 0.17"),
    4: ("0.68 to 1.1", "0", "0.18 to 0.22"),
    5: ("0.65 to 0.92", "0", "0.21 to 0.24"),
    6: ("45 to 114", "0 to 2", "0.25 to 0.35"),
    7: ("887 to 1476", "0 to 3", "0.86 to 1.7"),
}
"""Seconds for the four instances with D = 100 of each size in QOBLIB, as submitted there: by Gurobi, by solvediophant
(lattice reduction and enumeration, whole seconds), and by Schroeppel and Shamir's algorithm on a GPU."""


class Market(NamedTuple):
    """Find x of 0 and 1 with `A x = b`."""

    A: NDArray[np.int64]
    b: NDArray[np.int64]
    planted: NDArray[np.int64]

    @property
    def sign_equations(self) -> NDArray[np.int64]:
        """Of `s = 2x - 1` and one sign more, which is that of the sides: `A s = 2b - A 1`."""
        return np.vstack([self.A.T, self.A.sum(axis=1) - 2 * self.b])

    def solved_by(self, x: NDArray[np.int64]) -> bool:
        """To the last digit."""
        return bool(np.isin(x, (0, 1)).all() and (self.A @ x == self.b).all())


def market(m: int, seed: int) -> Market:
    """Half of x are ones; rows are drawn until x splits them in half."""
    rng = np.random.default_rng(seed)
    x = rng.permutation(np.arange(10 * (m - 1)) % 2)
    rows: list[NDArray[np.int64]] = []
    while len(rows) < m:
        row = rng.integers(0, LARGEST, x.size)
        if row @ x == row.sum() // 2:
            rows.append(row)
    A = np.array(rows)
    return Market(A, A.sum(axis=1) // 2, x)


class Ours(NamedTuple):
    """Seconds to the first solution, and to the last with the proof that there is no other; how many there are."""

    first: float
    every: float
    solutions: int


def ours(problem: Market) -> Ours:
    """All solutions; they are checked, and the planted one must be among them."""
    began, first, found = time.process_time(), None, []
    for s in solve_sign_equations(problem.sign_equations):
        first = time.process_time() - began if first is None else first
        found.append((1 + s[-1] * s[:-1]) // 2)
    every = time.process_time() - began
    if first is None or not all(map(problem.solved_by, found)) or problem.planted.tolist() not in map(list, found):
        raise AssertionError("a solution is wrong, or missed")
    return Ours(first, every, len(found))


class Theirs(NamedTuple):
    """Seconds, and is it solved?"""

    seconds: float
    solved: bool


def by_highs(problem: Market, limit: float) -> Theirs:
    """The first solution, in a process that ends when it has had its time: HiGHS knows only that of the clock."""
    processes = get_context("spawn")
    receive, send = processes.Pipe(duplex=False)
    child = processes.Process(target=_highs, args=(problem, limit, send))
    child.start()
    send.close()
    try:
        found: Theirs = receive.recv()
    except EOFError:
        child.join()
        if child.exitcode != -SIGXCPU:
            raise RuntimeError(f"HiGHS ended with exit code {child.exitcode}") from None
        return Theirs(limit, False)
    child.join()
    return found


def _highs(problem: Market, limit: float, send: Connection) -> None:
    began = time.process_time()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (ceil(began + limit), resource.RLIM_INFINITY))
    solved = highs_solves(problem)
    send.send(Theirs(time.process_time() - began, solved))


def highs_solves(problem: Market) -> bool:
    """It has no objective: the first solution ends it."""
    n = problem.planted.size
    equations = LinearConstraint(problem.A, problem.b, problem.b)
    found = milp(np.zeros(n), integrality=np.ones(n), bounds=Bounds(0, 1), constraints=equations)
    return found.x is not None and problem.solved_by(np.rint(found.x).astype(np.int64))


def tasks(sizes: Sequence[int], instances: int, limit: float) -> list[Task]:
    """Three rows of each size."""
    highs: dict[int, list[Theirs]] = {}
    found: list[Task] = []
    for m in sizes:
        problems, runs = [market(m, seed) for seed in range(instances)], []
        size = f"m = {m}, {10 * (m - 1)} unknowns"
        found.append(Task("market split", THEIRS, size, partial(theirs_row, problems, limit, highs)))
        found.append(Task("market split", FIRST, size, partial(first_row, problems, highs, runs)))
        found.append(Task("market split", ALL, size, partial(all_row, problems, runs)))
    return found


def theirs_row(problems: list[Market], limit: float, highs: dict[int, list[Theirs]]) -> Measurement:
    """Where none of a smaller size was solved, larger ones are not tried."""
    if any(not any(run.solved for run in runs) for runs in highs.values()):
        raise InputError(f"none of a smaller size was solved within {limit:g} s")
    runs = highs[len(problems[0].b)] = [by_highs(problem, limit) for problem in problems]
    solved = f"{sum(run.solved for run in runs)} of {len(runs)} solved within {limit:g} s"
    return Measurement(median(run.seconds for run in runs), "s", solved)


def first_row(problems: list[Market], highs: dict[int, list[Theirs]], runs: list[Ours]) -> Measurement:
    """The reference is what HiGHS takes, or has spent in vain."""
    runs += map(ours, problems)
    theirs = highs.get(len(problems[0].b))
    reference = median(run.seconds for run in theirs) if theirs else None
    return Measurement(median(run.first for run in runs), "s", _range([run.first for run in runs]), reference)


def all_row(problems: list[Market], runs: list[Ours]) -> Measurement:
    """Until there is known to be no other."""
    counts = ", ".join(str(run.solutions) for run in runs)
    detail = f"{_range([run.every for run in runs])}; solutions: {counts}"
    return Measurement(median(run.every for run in runs), "s", detail, limit=WANTED.get(len(problems[0].b)))


def _range(seconds: list[float]) -> str:
    return f"{number(min(seconds))} to {number(max(seconds))} s"


def measured_part(report: Report) -> list[str]:
    """A line per size."""
    by_size: dict[str, dict[str, Row]] = {}
    for row in report.rows:
        by_size.setdefault(row.size, {})[row.what] = row
    names = ("a solution", "all of them", "HiGHS, a solution", "times ours", "Gurobi", "solvediophant", "on a GPU")
    lines = [f"`python -m benchmarks.market_split` on {machine_in_full(report)}. Seconds, medians:", ""]
    lines += [f"| | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for size, rows in by_size.items():
        first, every, theirs = (rows[what].found for what in (FIRST, ALL, THEIRS))
        cells = [f"{number(one.value)} ({one.detail})" if one.value else one.detail for one in (first, every, theirs)]
        published = PUBLISHED.get(int(size.split()[2].rstrip(",")), ("", "", ""))
        lines.append(f"| {' | '.join([size, *cells, number(first.ratio), *published])} |")
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--sizes", default=",".join(map(str, SIZES)), help="numbers of equations, ascending (default: %(default)s)"
    )
    parser.add_argument("--instances", type=int, default=INSTANCES, help="of each size (default: %(default)s)")
    parser.add_argument(
        "--limit", type=float, default=LIMIT, help="of HiGHS, in seconds of the processor (default: %(default)s)"
    )
    parser.add_argument("--write", action="store_true", help=f"publish: write docs/bench and docs/{PAGE}")
    options = parser.parse_args(arguments)
    try:
        if options.instances < 1 or not options.limit > 0:
            raise InputError("--instances and --limit must be positive")
        planned = tasks(_sizes(options.sizes), options.instances, options.limit)
    except InputError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 2
    ours(market(3, 0))  # compiles
    print(head(), flush=True)
    rows = []
    for row in rows_of(planned):
        print(line(row), flush=True)
        rows.append(row)
    if options.write:
        Report("cpu", False, host.host(), rows).save(DOCS / "bench" / REPORT)
        write_table(PAGE, measured_part(load_report(DOCS / "bench" / REPORT)))
    return 1 if any(row.failed for row in rows) else 0


def _sizes(given: str) -> tuple[int, ...]:
    try:
        sizes = tuple(int(size) for size in given.split(","))
    except ValueError:
        raise InputError(f"--sizes {given}: give whole numbers, such as 3,4,5") from None
    if min(sizes) < 2:
        raise InputError(f"--sizes {given}: there are 10 (m - 1) unknowns; m = 2 is the least")
    return sizes


if __name__ == "__main__":
    sys.exit(main())

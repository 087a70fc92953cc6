"""Lattices where there are more measurements than they need: some of them, against all; a table of docs/lattice.md.

python -m benchmarks.many_measurements [--write]

Seconds are those that one core is busy: about a minute in all.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from benchmarks import host
from benchmarks.internals import all_measurements, one_thread
from benchmarks.lattice import FEW, PAGE, Point, by_lattice, certified_within, summary
from benchmarks.page import DOCS, write_table
from benchmarks.performance_page import machine_in_full
from benchmarks.rows import Measurement, Report, Task
from benchmarks.run import rows_of
from benchmarks.table import head, line, markdown

PART, REPORT = "many", "lattice-many.json"
POINTS = (Point(40, 240), Point(60, 180), Point(100, 160))


def many_measurements(point: Point) -> Measurement:
    """Seconds until half of the instances are certified; for reference the first of them, by all measurements."""
    ours = [by_lattice(point.instance(seed), seed) for seed in range(FEW)]
    with all_measurements():
        whole = [by_lattice(point.instance(0), 0)]
    detail = f"lattice {summary(ours)}; of all measurements {summary(whole)}"
    return Measurement(certified_within(ours, 0.5), "s", detail, reference=certified_within(whole, 1.0))


def page(report: Report) -> list[str]:
    """What was measured."""
    said = (
        f"`python -m benchmarks.many_measurements` on {machine_in_full(report)}. Seconds of one core until half of "
        f"{FEW} instances are certified; reference: the first of them, by a lattice of all measurements."
    )
    return [said, "", *markdown(report.rows)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help=f"publish: write docs/bench/{REPORT} and docs/{PAGE}")
    options = parser.parse_args(arguments)
    print(head(), flush=True)
    report = Report("cpu", False, host.host(), [])
    with one_thread():
        by_lattice(Point(20, 30).instance(0), 0)  # compiles
        for row in rows_of(
            [Task("many", "certified", one.size, lambda one=one: many_measurements(one)) for one in POINTS]
        ):
            print(line(row), flush=True)
            report.rows.append(row)
    if options.write:
        report.save(DOCS / "bench" / REPORT)
        write_table(PAGE, page(report), PART)
    return 1 if any(row.failed for row in report.rows) else 0


if __name__ == "__main__":
    sys.exit(main())

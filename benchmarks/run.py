"""Measures this machine, one row after the other.

python -m benchmarks.run [--device gpu] [--quick] [--only A,B] [--json FILE] [--write]

Each row has a value; what others do, measured in the same run (reference), and how many times better we are (ratio);
and what the machine allows (bound), and how much of it we reach. Exit code 1 when a measurement failed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

from benchmarks.internals import device
from benchmarks.machine import Machine
from benchmarks.on_cpu import OnCPU
from benchmarks.page import DOCS
from benchmarks.performance_page import write_pages
from benchmarks.plan import PLANS
from benchmarks.rows import Report, Row, Task, measured
from benchmarks.table import head, line
from phaselect import InputError

SECTIONS = {
    "metropolis": "proposals per second, against dwave-samplers and the paper's pseudo-code",
    "message_passing": "an iteration against its two products and one read of A; batches",
    "solutions": "seconds to a certified x at several N and alpha, against rivals on the same instances",
    "kinds": "solve on every kind of matrix, against one SVD of it; huge ones",
    "finish": "refinement and certificate against message passing, in time and memory",
    "growth": "time and memory against N, with fitted exponents",
    "theory": "saddle points against the usual quadratures; larger questions (CPU)",
    "sweeps": "how busy a sweep keeps the cores (CPU)",
    "measuring": "the share of a run that goes into its trace (CPU)",
    "startup": "imports, commands and first calls in fresh processes (CPU)",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; returns the exit code."""
    options = parser().parse_args(arguments)
    try:
        return run(options)
    except InputError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 2


def parser() -> argparse.ArgumentParser:
    """Its options."""
    sections = "\n".join(f"  {name:16} {text}" for name, text in SECTIONS.items())
    made = argparse.ArgumentParser(
        "python -m benchmarks.run",
        description=__doc__,
        epilog=f"sections:\n{sections}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="%(prog)s [options]",
    )
    made.add_argument("--device", choices=["cpu", "gpu"], default="cpu", help="what to measure (default: cpu)")
    made.add_argument("--quick", action="store_true", help="fewer and smaller sizes")
    made.add_argument("--only", metavar="A,B", help="some of the sections below (default: all that the device has)")
    made.add_argument("--json", type=Path, metavar="FILE", help="write machine and rows to this .json file too")
    made.add_argument("--write", action="store_true", help="publish: write docs/bench and docs/performance")
    return made


def run(options: argparse.Namespace) -> int:
    """Measure, print, and write what is asked for."""
    if options.write and options.quick:
        raise InputError("--write publishes whole measurements: leave out --quick")
    if options.json and options.json.suffix != ".json":
        raise InputError(f"{options.json}: name the file .json")
    only = list(SECTIONS) if options.only is None else [name.strip() for name in options.only.split(",")]
    machine = machine_on(options.device)
    tasks = planned(machine, options.quick, only, complain=options.only is not None)
    report = Report(options.device, options.quick, machine.described(), [])
    if options.json:
        report.save(options.json)
    print(head(), flush=True)
    for row in rows_of(tasks):
        print(line(row), flush=True)
        report = report._replace(rows=sorted([*report.rows, row], key=lambda row: list(SECTIONS).index(row.section)))
        if options.json:  # after each row: an interrupt loses none
            report.save(options.json)
    if options.write:
        part = f"-{'-'.join(only)}" if options.only else ""
        report.save(DOCS / "bench" / f"{options.device}{part}.json")
        write_pages()
    return 1 if any(row.failed for row in report.rows) else 0


def machine_on(kind: str) -> Machine:
    """The machine to be measured; without a GPU, an InputError."""
    if kind == "cpu":
        return OnCPU()
    found = device(kind)
    from benchmarks.on_gpu import OnGPU

    return OnGPU(found)


def planned(machine: Machine, quick: bool, only: Sequence[str], complain: bool = True) -> list[Task]:
    """What is to be measured, in this order.

    Growth goes first on a GPU: the peak of its memory cannot be forgotten, and later sections have larger ones.
    """
    if unknown := sorted(set(only) - set(SECTIONS)):
        raise InputError(f"--only {','.join(unknown)}: use some of {','.join(SECTIONS)}")
    order = sorted(SECTIONS, key=lambda name: name != "growth") if machine.device == "gpu" else SECTIONS
    plan, found = PLANS[machine.device, quick], []
    for name in order:
        if name in only:
            tasks = import_module(f"benchmarks.{name}").tasks(machine, plan)
            if not tasks and complain:
                raise InputError(f"--only {name}: there is nothing of it on a {machine.device.upper()}")
            found += tasks
    return found


def rows_of(tasks: Sequence[Task]) -> Iterator[Row]:
    """Measure; on a terminal each task is announced until its row replaces it."""
    for done, task in enumerate(tasks):
        if sys.stderr.isatty():
            print(f"[{done + 1}/{len(tasks)}] {task.what}, {task.size} ...", end="", file=sys.stderr, flush=True)
        row = measured(task)
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
        yield row


if __name__ == "__main__":
    sys.exit(main())

"""Coded diffraction: patterns, time and memory that it takes, ours and others'; the tables of docs/complex.md.

python -m benchmarks.diffraction [--section cost] [--write]       # in memory, and against others
python -m benchmarks.diffraction --device gpu [--sides 512,1024] [--write]  # large pictures on a device of JAX

Pictures are of Gaussian pixels, masks of random phases. Others are our baselines and, where it is installed, deepinv.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks import host
from benchmarks.diffraction_rows import CONTENDERS, ENOUGH, INSTANCES, ON_DEVICE, OURS, in_memory, on_device
from benchmarks.internals import device
from benchmarks.page import DOCS, write_table
from benchmarks.performance_page import machine_in_full, title
from benchmarks.rows import Report, Row, load_report
from benchmarks.run import rows_of
from benchmarks.table import head, line, markdown, number
from phaselect import InputError

PAGE = "complex.md"
RIVALS = ("deepinv", "torch")
SECTIONS = ("targets", "patterns", "time", "cost")


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--device", choices=["cpu", "gpu"], help="of JAX, for large pictures (default: none, in memory)"
    )
    parser.add_argument(
        "--sides", default=",".join(map(str, ON_DEVICE)), help="of pictures there (default: %(default)s)"
    )
    parser.add_argument(
        "--section", choices=SECTIONS, help="in memory, this part alone; --write leaves the others as they are"
    )
    parser.add_argument("--write", action="store_true", help=f"publish: write docs/bench and docs/{PAGE}")
    options = parser.parse_args(arguments)
    try:
        return run(options)
    except InputError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 2


def run(options: argparse.Namespace) -> int:
    """Measure, print, and write what is asked for."""
    if options.device == "cpu" and options.write:
        raise InputError("--write publishes what is measured in memory or on a GPU: leave out --device, or use gpu")
    if options.device is None:
        machine, tasks = host.host(), in_memory()
        machine["versions"] |= {name: _version(name) for name in RIVALS}
        tasks = [task for task in tasks if options.section in (None, task.section)]
    else:
        sides = _sides(options.sides)
        from benchmarks.on_gpu import OnGPU

        at = OnGPU(device(options.device))
        machine, tasks = at.described(), on_device(at, sides)
    print(head(), flush=True)
    rows = []
    for row in rows_of(tasks):
        print(line(row), flush=True)
        rows.append(row)
    if options.write:
        kind = options.device or "cpu"
        path = DOCS / "bench" / f"diffraction-{kind}.json"
        report = Report(kind, False, machine, rows)
        report = with_section(load_report(path), report) if options.section else report
        report.save(path)
        write_table(PAGE, measured_part(DOCS / "bench"))
    return 1 if any(row.failed for row in rows) else 0


def with_section(published: Report, report: Report) -> Report:
    """What was published with the rows of one section measured anew, which say at which revision."""
    (section,) = {row.section for row in report.rows}
    words = f"; package at revision {report.machine['versions']['phaselect'].split()[-1]}"
    fresh = [row._replace(found=row.found._replace(detail=row.found.detail + words)) for row in report.rows]
    return published._replace(rows=[row for row in published.rows if row.section != section] + fresh)


def measured_part(folder: Path) -> list[str]:
    """What the reports of a folder say, one machine after the other."""
    return [line for path in sorted(folder.glob("diffraction-*.json")) for line in machine_part(load_report(path))]


def machine_part(report: Report) -> list[str]:
    """All that was measured on one machine."""
    command = "python -m benchmarks.diffraction" + (" --device gpu" if report.device == "gpu" else "")
    lines = [f"### {title(report)}", "", f"`{command}` on {machine_in_full(report)}.", ""]
    sections = {name: [row for row in report.rows if row.section == name] for name in TEXTS}
    for name, text in TEXTS.items():
        if sections[name]:
            table = against_others(sections[name], report.rows) if name == "patterns" else markdown(sections[name])
            lines += [" ".join(text.split()), "", *table, ""]
    return lines


TEXTS = {
    "targets": """**Recovered**: the status is `LOCALLY_UNIQUE`, and the relative error below 1e-6.""",
    "patterns": f"""**Against others**, on the same masks and signals: how many of {INSTANCES} pictures of 16 x 16
        pixels come to a relative error below 1e-5, by measurements per unknown (some are left out where that is no
        whole number; empty where none was recovered from more); the fewest from which on {ENOUGH:.0%} are; and seconds
        of one picture of 256 x 256 pixels from 4 and 6 patterns, with their ratio to ours. The baselines wf, raf and
        altmin are [those of this package](baselines.md). deepinv is its spectral start (300 iterations) and its
        gradient descent on intensities (`GDIteration`, `L2`, at most 2500 iterations with the step of Wirtinger flow
        whatever the number of patterns, single precision, one thread); its clock stops at 1e-5, where the others go on
        to all digits and ask whether x is locally unique.""",
    "cost": """**Time and memory.** The reference of the time is that of the Fourier transforms in the same run.""",
    "device": """**Large pictures**, masks and data on the device, compiled before; x and the phases of all measurements
        in memory at the end. Seconds are wanted to a relative error of 1e-4. Message passing is as far as its part of
        the run goes; six digits are what refinement ends with if data are said to have no more (`rounding=1e-6`), all
        digits what it ends with by itself. Either asks whether x is locally unique. The peak is of all, masks and data
        included.""",
}


def against_others(patterns: list[Row], rows: list[Row]) -> list[str]:
    """One line per contender."""
    counts = {(row.what, row.size): row.found.value for row in patterns}
    times = {(row.what, row.size): row for row in rows if row.section == "time"}
    ratios = sorted({row.size for row in patterns}, key=float)
    timed = sorted({size for _, size in times}, key=float)
    columns = ["", *ratios, "fewest", *(f"{size} patterns" for size in timed)]
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    missing = []
    for name in CONTENDERS:
        own = {size: counts.get((name, size)) for size in ratios}
        if all(count is None for count in own.values()):
            missing.append(name)
            continue
        seconds = [taken(times[name, size]) for size in timed]
        lines.append(f"| {name} | {' | '.join([*map(number, own.values()), fewest(own), *seconds])} |")
    return lines + [f"\n{name} was not installed." for name in missing]


def fewest(counts: dict[str, float | None]) -> str:
    """Measurements per unknown from which on enough are recovered, of counts that begin with the fewest."""
    found = "-"
    for size, count in reversed(counts.items()):
        if count is None or count < ENOUGH * INSTANCES:
            break
        found = size
    return found


def taken(row: Row) -> str:
    """Seconds and their ratio to ours."""
    found = row.found
    if found.value is None:
        return found.detail
    others = "" if row.what == OURS or not found.reference else f", {number(found.value / found.reference)} times ours"
    return f"{number(found.value)} s{others} ({found.detail})"


def _sides(given: str) -> tuple[int, ...]:
    try:
        return tuple(int(side) for side in given.split(","))
    except ValueError:
        raise InputError(f"--sides {given}: give whole numbers, such as 512,1024") from None


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


if __name__ == "__main__":
    sys.exit(main())

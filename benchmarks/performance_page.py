"""Writes a page for each section, docs/performance/*.md, from docs/bench: `python -m benchmarks.performance_page`.

The files come from `python -m benchmarks.run --write`: cpu.json, gpu.json, or parts of it by `--only`, cpu-*.json.
"""

import argparse
import re
from pathlib import Path

from benchmarks.internals import committed
from benchmarks.page import DOCS, write_table
from benchmarks.rows import Report, Row, load_report
from benchmarks.table import markdown, number

DEVICES = ("cpu", "gpu")
PAGES = "performance"
"""The folder of the pages, beside the page that lists them."""


def main() -> None:
    """Command line."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    write_pages()


def write_pages() -> None:
    """Rewrite the pages, and the list of them."""
    pages = measured_pages(DOCS / "bench")
    (DOCS / PAGES).mkdir(exist_ok=True)
    for name, lines in pages.items():
        (DOCS / PAGES / f"{name}.md").write_text("\n".join(lines).rstrip() + "\n")
    write_table(f"{PAGES}.md", listed(pages))


def listed(pages: dict[str, list[str]]) -> list[str]:
    """A line for each page."""
    return [f"* [{TEXTS[name][0]}]({PAGES}/{name}.md)" for name in pages]


def measured_pages(folder: Path) -> dict[str, list[str]]:
    """What the reports of a folder say: for each section that has rows a page, one machine after the other."""
    machines = [reports_of(sorted(folder.glob(f"{device}*.json"), key=_order)) for device in DEVICES]
    reports = [report for machine in machines for report in machine]
    return {
        name: page(name, [report for report in reports if any(row.section == name for row in report.rows)])
        for name in TEXTS
        if any(row.section == name for report in reports for row in report.rows)
    }


def _order(path: Path) -> tuple[int, str]:
    return len(path.stem), path.stem


def reports_of(paths: list[Path]) -> list[Report]:
    """All that was measured on one machine, in one go or, by `--only`, in parts."""
    reports = [load_report(path) for path in paths]
    names = [[report.quick, *(report.machine[name] for name in ("processor", "gpu"))] for report in reports]
    sections = [section for report in reports for section in {row.section for row in report.rows}]
    if any(name != names[0] for name in names) or len(set(sections)) < len(sections):
        files = ", ".join(path.name for path in paths)
        raise SystemExit(f"{paths[0].parent}: {files} are of several machines or overlap; remove the older ones")
    return reports


def page(name: str, reports: list[Report]) -> list[str]:
    """A section, and what was measured on each machine at which revision."""
    heading, sentences = TEXTS[name]
    lines = [f"# {heading}", "", f"{' '.join(sentences.split())} [How to read the rows](../{PAGES}.md)", ""]
    for report in reports:
        rows = [row for row in report.rows if row.section == name]
        if name == "solutions":
            shares = [row for row in rows if row.what.startswith("share")]
            tables = pivot([row for row in rows if row not in shares]) + (["", *markdown(shares)] if shares else [])
        else:
            tables = markdown(rows)
        lines += [f"## {title(report)}", "", measured_on(report, name), "", *tables, ""]
    return lines


def title(report: Report) -> str:
    """The machine in a few words."""
    machine = report.machine
    return machine["gpu"] if report.device == "gpu" else f"{machine['processor']}, {machine['cores']} cores"


def measured_on(report: Report, section: str) -> str:
    """The command and the machine in full."""
    return f"`python -m benchmarks.run --device {report.device} --only {section}` on {machine_in_full(report)}."


def machine_in_full(report: Report) -> str:
    """Its parts, and the versions of what ran on it."""
    machine = report.machine
    parts = [f"{machine['processor']}, {machine['cores']} cores, {machine['memory_bytes'] / 1e9:.0f} GB"]
    if machine["gpu"]:
        memory = machine["gpu_memory_bytes"]
        parts.append(machine["gpu"] + (f", of whose memory JAX may use {memory / 1e9:.0f} GB" if memory else ""))
    ours, *revision = machine["versions"]["phaselect"].split()
    package = "".join(f" (package at revision {committed(it)})" for it in revision)
    known = machine["versions"] | {"phaselect": ours + package}
    versions = ", ".join(f"{name} {number}" for name, number in known.items() if number)
    return f"{'; '.join(parts)}; {versions}"


TEXTS = {
    "metropolis": (
        "Metropolis kernels",
        """Proposals per second at mu = 10, alpha = 1.25, mu lam = 1. The reference is dwave-samplers on one core of the
        same machine, on the same couplings, its set-up not counted. The bound: on a CPU, reading a row of the couplings
        for each accepted flip; on a GPU, updating M fields for each at the rate of large matrix products.""",
    ),
    "message_passing": (
        "Message passing",
        """An iteration has to read A once: that, at the bandwidth measured in the same run, is its bound. A batch is
        one program for all instances, drawn where it runs; its reference solves one instance after the other on the
        CPU, its bound reads every A once per iteration.""",
    ),
    "solutions": (
        "Time to a certified solution",
        """Median seconds from A in memory to a certified x, and how many instances were certified; the same instances
        and the same time limit for all. A hyphen: none was. Empty: not tried, since its set-up takes too long at this
        N. The last column is one read of A for each iteration of message passing; finish and certificate are not in
        it.""",
    ),
    "kinds": (
        "Every kind of matrix",
        """Median seconds of `phaselect.solve`, the SVD that it does included; the reference is one SVD by NumPy, on one
        core as ours.""",
    ),
    "finish": (
        "Refinement and certificate",
        """What comes after message passing, which is the reference: x to all digits and the systems of the certificate,
        solved together by conjugate gradients, one read of A per step for all. A step reads a float32 copy of A once on
        a CPU, one in half precision twice on a GPU: that, at the bandwidth measured in the same run, is its bound; it
        is timed with all four systems going on, some of which are done earlier. Best of three runs on one instance,
        compiled before.""",
    ),
    "growth": (
        "Growth with N",
        """Message passing with its finish and certificate at alpha = 1.3. The exponents are slopes of least squares on
        the logarithms. A has alpha N² entries, so that neither can be below 2 for long.""",
    ),
    "theory": (
        "Theory",
        """One core, kernels compiled before. Gauss-Hermite iteration stops at a wrong answer where the temperature is
        low ("m off by"), so that there is no time at equal accuracy there.""",
    ),
    "sweeps": (
        "Sweeps",
        """The time of the runs themselves over the time of the sweep times the cores: what is missing from 1 is
        starting the processes, handing over packs and writing rows.""",
    ),
    "measuring": (
        "Measuring",
        """The share of a run's loop that goes into trace and quench instead of moving; set-up, finish and certificate
        are not part of the loop.""",
    ),
    "startup": (
        "Starting",
        """Fresh processes; the reference is `import numpy`. "Never compiled" means that no kernel was ever compiled on
        the machine.""",
    ),
}


def pivot(rows: list[Row]) -> list[str]:
    """One line per size, one column per solver, ours first."""
    solvers = list(dict.fromkeys(row.what for row in rows))
    solvers.sort(key=lambda name: not name.startswith("phaselect"))
    cells = {(row.size, row.what): row for row in rows}
    lines = [f"| | {' | '.join(solvers)} | reads of A |", "|---" * (len(solvers) + 2) + "|"]
    for size in dict.fromkeys(row.size for row in rows):
        found = [cells.get((size, name)) for name in solvers]
        bound = next((row.found.bound for row in found if row and row.found.bound is not None), None)
        shown = " | ".join("" if row is None else solved(row) for row in found)
        lines.append(f"| {size} | {shown} | {f'{number(bound)} s' if bound is not None else ''} |")
    return lines


def solved(row: Row) -> str:
    """Seconds, and how many of how many."""
    count = re.match(r"(\d+) of (\d+) certified", row.found.detail)
    if count is None:
        return row.found.detail
    seconds = f"{number(row.found.value)} s" if row.found.value is not None else "-"
    return f"{seconds} ({count[1]}/{count[2]})"


if __name__ == "__main__":
    main()

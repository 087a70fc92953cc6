"""Writes the measured part of docs/performance.md from docs/bench/*.json: `python docs/make_performance.py`.

The files come from `phaselect bench --json docs/bench/cpu.json` and, on a GPU,
`phaselect bench --device gpu --json docs/bench/h200.json`, or parts of it by `--only`, in files h200-*.json.
What stands between the two marks of the page is replaced.
"""

import re
from pathlib import Path

from phaselect.bench.cluster import DEVICES_A_NODE, ETHERNET, INFINIBAND, NVLINK, Link
from phaselect.bench.rows import Report, Row, load_report

HERE = Path(__file__).parent
MACHINES = ("cpu", "h200")
BEGIN, END = "<!-- begin bench -->", "<!-- end bench -->"


def main() -> None:
    """Rewrite the page."""
    page = HERE / "performance.md"
    page.write_text(rewritten(page.read_text(), HERE / "bench"))


def rewritten(page: str, folder: Path) -> str:
    """The page with what the reports of a folder say between its marks."""
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        raise SystemExit(f"the page must have {BEGIN} and {END} once each")
    before, rest = page.split(BEGIN)
    found = [gathered(sorted(folder.glob(f"{name}*.json"))) for name in MACHINES if any(folder.glob(f"{name}*.json"))]
    lines = [line for report in found for line in machine_part(report)]
    return "\n".join([before + BEGIN, *lines, END]) + rest.split(END)[1]


def gathered(paths: list[Path]) -> Report:
    """The rows of one machine, whether measured in one go or, by `--only`, in parts: h200.json, or h200-amp.json ..."""
    parts = [load_report(path) for path in paths]
    names = [[part.quick, *(part.machine[name] for name in ("processor", "gpu", "versions"))] for part in parts]
    if any(name != names[0] for name in names):
        raise SystemExit(f"{paths[0].parent}: {', '.join(path.name for path in paths)} are of different machines")
    return parts[0]._replace(rows=[row for part in parts for row in part.rows])


def machine_part(report: Report) -> list[str]:
    """All that was measured on one machine."""
    sections = {name: [row for row in report.rows if row.section == name] for name in TEXTS}
    lines = [f"### {title(report)}", "", measured_on(report), ""]
    for name, rows in sections.items():
        if not rows:
            continue
        heading, sentences = TEXTS[name]
        lines += [
            f"**{heading}.** {' '.join(sentences.split())}",
            "",
            *(pivot(rows) if name == "solutions" else table(rows)),
            "",
        ]
    return lines


def title(report: Report) -> str:
    """The machine in a few words."""
    machine = report.machine
    return machine["gpu"] if report.device == "gpu" else f"{machine['processor']}, {machine['cores']} cores"


def measured_on(report: Report) -> str:
    """The command and the machine in full."""
    machine = report.machine
    parts = [f"{machine['processor']}, {machine['cores']} cores, {machine['memory_bytes'] / 1e9:.0f} GB"]
    if machine["gpu"]:
        parts.append(f"{machine['gpu']}, of whose memory JAX may use {machine['gpu_memory_bytes'] / 1e9:.0f} GB")
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items() if number)
    command = "phaselect bench" + (" --device gpu" if report.device == "gpu" else "") + (" --quick" * report.quick)
    return f"`{command}` on {'; '.join(parts)}; {versions}."


def described(link: Link) -> str:
    """A link with its numbers."""
    return f"{link.name} with {1e6 * link.latency:g} µs and {link.bytes_per_second / 1e9:g} GB/s a device"


TEXTS = {
    "kernels": (
        "Metropolis kernels",
        """Proposals a second at mu = 10, alpha = 1.25, mu lam = 1. The reference is dwave-samplers on one core of the
        same machine, on the same couplings, its set-up not counted. The bound: on a CPU, reading a row of the couplings
        for each accepted flip; on a GPU, updating M fields a proposal at the rate of large matrix products.""",
    ),
    "amp": (
        "Message passing",
        """An iteration has to read A once: its value is the time of that read, at the bandwidth measured in the same
        run, over the time of the iteration. A batch is one program for all instances, drawn where it runs; its
        reference solves one instance after the other on the CPU, its bound reads every A once an iteration.""",
    ),
    "solutions": (
        "Time to a certified solution",
        """Median seconds from A in memory to a certified x, and how many instances were certified; the same instances
        and the same time limit for all. A hyphen: none was. Empty: not tried, since its set-up takes too long at this
        N. The last column is one read of A for each iteration of message passing; finish and certificate are not in
        it.""",
    ),
    "growth": (
        "Growth with N",
        """Message passing with its finish and certificate at alpha = 1.3. The exponents are slopes of least squares on
        the logarithms. A has alpha N² entries, so that neither can be below 2 for long.""",
    ),
    "model": (
        "A cluster of G devices: a model, not a measurement",
        f"""A is split by rows, in float32 at alpha = 1.3. An iteration takes bytes of A / (G * bandwidth), at the
        bandwidth measured in the same run, plus an all-reduce of N numbers, latency + 2 (G - 1)/G * 4 N bytes / link.
        The links are assumed. CPU: {described(ETHERNET)}. GPU: {described(NVLINK)} up to {DEVICES_A_NODE} devices,
        {described(INFINIBAND)} beyond. The reference is one device, the bound the reading alone.""",
    ),
}


def table(rows: list[Row]) -> list[str]:
    """One line a row."""
    lines = ["| what | size | value | reference | bound | |", "|---|---|---|---|---|---|"]
    for row in rows:
        value = f"{number(row.value)} {row.unit}" if row.value is not None else "-"
        cells = (
            row.what.removeprefix("MODEL: "),
            row.size,
            value,
            number(row.reference),
            number(row.bound),
            row.detail,
        )
        lines.append(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |")
    return lines


def pivot(rows: list[Row]) -> list[str]:
    """One line a size, one column a solver, ours first."""
    solvers = list(dict.fromkeys(row.what for row in rows))
    solvers.sort(key=lambda name: not name.startswith("phaselect"))
    cells = {(row.size, row.what): row for row in rows}
    lines = [f"| | {' | '.join(solvers)} | reads of A |", "|---" * (len(solvers) + 2) + "|"]
    for size in dict.fromkeys(row.size for row in rows):
        found = [cells.get((size, name)) for name in solvers]
        bound = next((row.bound for row in found if row and row.bound is not None), None)
        shown = " | ".join("" if row is None else solved(row) for row in found)
        lines.append(f"| {size} | {shown} | {f'{number(bound)} s' if bound is not None else ''} |")
    return lines


def solved(row: Row) -> str:
    """Seconds, and how many of how many."""
    count = re.match(r"(\d+) of (\d+) certified", row.detail)
    if count is None:
        return row.detail
    seconds = f"{number(row.value)} s" if row.value is not None else "-"
    return f"{seconds} ({count[1]}/{count[2]})"


def number(value: float | None) -> str:
    """Three digits; nothing for nothing."""
    if value is None:
        return ""
    return f"{value:.0f}" if 100 <= abs(value) < 1e7 else f"{value:.3g}"


if __name__ == "__main__":
    main()

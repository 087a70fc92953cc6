"""`phaselect bench`: how fast this machine is at all of it, as one table."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from phaselect.cli.console import check_writable, example

if TYPE_CHECKING:
    from phaselect.bench.rows import Row, Task

COLUMNS = {"what": 35, "size": 24, "value": 22, "reference": 9, "bound": 9}
"""Their widths: rows are printed as they come, before the widest is known."""


@example(
    "phaselect bench --quick",
    "phaselect bench --device gpu --json h200.json",
    "phaselect bench --only kernels,amp",
)
@click.command()
@click.option(
    "--device",
    type=click.Choice(["cpu", "gpu"]),
    default="cpu",
    show_default=True,
    help="What to measure; gpu needs phaselect[cuda].",
)
@click.option("--quick", is_flag=True, help="Fewer and smaller sizes: half a minute instead of minutes.")
@click.option("--only", help="Some sections of kernels,amp,solutions,growth; all by default.")
@click.option("--json", "path", type=click.Path(dir_okay=False), help="Write machine and rows to this .json file too.")
@click.pass_context
def bench(context: click.Context, device: str, quick: bool, only: str | None, path: str | None) -> None:
    """Measure this machine: kernel rates, bandwidth, time to a certified solution, and growth with N.

    Each row has a value; what others do, measured in the same run (reference); and what the machine allows (bound),
    in the same unit. Sections: kernels, Metropolis proposals a second, against dwave-samplers on one core; amp, an
    iteration as a part of the memory bandwidth, and batches; solutions, seconds to a certified x at several N and
    alpha, against reweighted amplitude flow, alternating minimisation and dwave-samplers on the same instances;
    growth, time and memory against N with fitted exponents, and a model of a cluster.
    dwave-samplers comes with phaselect[bench]. Exit code 1 when a measurement failed.
    """
    from phaselect.bench.rows import SECTIONS, failed
    from phaselect.bench.run import bench as plan

    check_writable(path, ".json")
    sections = SECTIONS if only is None else [name.strip() for name in only.split(",")]
    whole = plan(device, quick, sections)
    click.echo(_line({name: name for name in COLUMNS}, "how"))
    rows = []
    for row in whole.rows(lambda done, task: _announce(done, len(whole.tasks), task)):
        rows.append(row)
        _erase()
        click.echo(_shown(row))
        if path is not None:  # after each row: an interrupt loses none
            whole.report(rows).save(path)
    if path is not None:
        click.echo(f"wrote {path}: {len(rows)} rows", err=True)
    if any(map(failed, rows)):
        context.exit(1)


def _shown(row: Row) -> str:
    value = f"{_number(row.value)} {row.unit}" if row.value is not None else "-"
    cells = {"what": row.what, "size": row.size, "value": value}
    cells |= {"reference": _number(row.reference), "bound": _number(row.bound)}
    return _line(cells, row.detail)


def _line(cells: dict[str, str], detail: str) -> str:
    return "  ".join([*(cells[name].ljust(width) for name, width in COLUMNS.items()), detail]).rstrip()


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.0f}" if 100 <= abs(value) < 1e7 else f"{value:.3g}"


def _announce(done: int, total: int, task: Task) -> None:
    """What is being measured, on a terminal, until its row replaces it."""
    if sys.stderr.isatty():
        click.echo(f"[{done + 1}/{total}] {task.what}, {task.size} ...", err=True, nl=False)


def _erase() -> None:
    if sys.stderr.isatty():
        click.echo("\r\x1b[K", err=True, nl=False)

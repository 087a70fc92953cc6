"""`phaselect figure` and `phaselect report`: the paper's figures, and a page with all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from phaselect.base.errors import InputError
from phaselect.base.style import SUFFIXES
from phaselect.cli.console import check_writable, example
from phaselect.cli.lazy import Names
from phaselect.cli.progress import work_bar
from phaselect.cli.sweeps import SCALE, STORE, executor, executor_options

if TYPE_CHECKING:
    from phaselect.base.tables import Table
    from phaselect.figures.context import Scale
    from phaselect.figures.gallery import Studio

FOLDER = click.Path(file_okay=False)


def _names() -> tuple[str, ...]:
    from phaselect.figures.gallery import FIGURES

    return FIGURES


def studio_options(command: Any) -> Any:
    """The options that say with what, and where, figures are computed."""
    options = (
        click.option("--scale", type=SCALE, default="small", show_default=True, help="small: minutes; paper: hours."),
        click.option(
            "--store", type=STORE, help="Store of the runs behind success figures; default: one in the cache."
        ),
        click.option("--stored", is_flag=True, help="Take the runs that the store has; compute none."),
    )
    for option in reversed(options):
        command = option(command)
    return executor_options(command)


@contextmanager
def studio(
    title: str,
    scale: Scale,
    store: str | None,
    stored: bool,
    workers: int | None,
    scheduler: str | None,
    local_cluster: int | None,
) -> Iterator[Studio]:
    """A studio that shows its progress on stderr."""
    from phaselect.figures.gallery import Studio

    place = executor(workers, scheduler, local_cluster)
    with work_bar(title) as bar:
        yield Studio(
            scale, None if store is None else Path(store), stored, place, progress=bar.share, sweep_progress=bar.runs
        )


@example(
    "phaselect figure complexity --out complexity.pdf",
    "phaselect figure success_amp --scale small --store runs.db --out success_amp.png",
    "phaselect figure --all --out figures",
    "phaselect figure branches --from docs/tables/branches.csv --out branches.svg",
)
@click.command()
@click.argument("name", required=False, type=Names(_names), metavar="[NAME]")
@click.option("--all", "every", is_flag=True, help="All figures and their tables, into the folder --out.")
@click.option("--out", required=True, help="The figure to write (.png, .pdf or .svg); with --all, a folder.")
@click.option("--table", "table_out", type=click.Path(dir_okay=False), help="Also write the table to this .csv file.")
@click.option("--from", "source", type=click.Path(), help="Draw this table (with --all: the tables in this folder).")
@click.option("--onto", type=click.Path(), help="With --stored: go on from this table, whose runs count as well.")
@studio_options
def figure(
    name: str | None,
    every: bool,
    out: str,
    table_out: str | None,
    source: str | None,
    onto: str | None,
    **options: Any,
) -> None:
    """Compute and draw a figure.

    Of the paper: complexity, branches, stabilities, regularisation, annealing, success_sa, success_amp,
    success_langevin, local_stability. Beyond it: critical_product, trajectories, patience, solvers, population, rsb,
    rates, rate_and_size, hard_phase, collapse, ensembles, spectrum_design, priors, complex_success, bits, growth,
    landscape, splitting, descent, speed.

    Tables of theory are kept in a cache, runs in a store: the second time is fast. A table says in its first
    lines what computed it.
    """
    from phaselect.figures.gallery import draw, write

    if every == (name is not None):
        raise InputError(f"give the name of a figure, or --all, not both; the figures are {', '.join(_names())}")
    if every and table_out is not None:
        raise InputError("--table goes with one figure; --all writes every table into the folder --out")
    if onto is not None and (every or source is not None):
        raise InputError("--onto goes with one figure, and not with --from")
    if every:
        write_all(out, source, options)
        return
    assert name is not None
    check_writable(out, *SUFFIXES)
    check_writable(table_out, ".csv")
    table = one_table(name, source, options, onto)
    write(name, draw(name, table), out)
    if table_out is not None:
        table.save(table_out)
    click.echo(f"wrote {out}" + (f" and {table_out}" if table_out else ""))


def write_all(out: str, source: str | None, options: dict[str, Any]) -> dict[str, Table]:
    """Every figure and its table into a folder, each announced."""
    from phaselect.figures.gallery import check_tables, write_figures

    if not out:
        raise InputError("--out '' is no name for a folder")
    folder = Path(out)
    if source is not None:
        check_tables(Path(source))

    def table_of(name: str) -> Table:
        return one_table(name, None if source is None else str(Path(source) / f"{name}.csv"), options)

    tables = {}
    for name, table in write_figures(folder, table_of):
        tables[name] = table
        click.echo(f"wrote {folder / name}.png, .pdf and .csv")
    return tables


def one_table(name: str, source: str | None, options: dict[str, Any], onto: str | None = None) -> Table:
    """The table of a figure: read from a file, or from the studio, there with an earlier one to go on from."""
    from phaselect.base.tables import load_table

    if source is not None:
        table = load_table(source)
    else:
        earlier = None if onto is None else load_table(onto)
        with studio(name, **options) as work:
            table = replace(work, onto=earlier).table(name)
    if "caution" in table.provenance:
        click.echo(f"phaselect: {name}: {table.provenance['caution']}", err=True)
    return table


@example(
    "phaselect report --out report",
    "phaselect report --scale paper --store runs.db --out report",
    "phaselect report --from docs/tables --out report",
)
@click.command()
@click.option("--out", type=FOLDER, required=True, help="Folder for index.html, the figures and their tables.")
@click.option("--from", "source", type=FOLDER, help="Draw the tables in this folder; compute nothing.")
@studio_options
def report(out: str, source: str | None, **options: Any) -> None:
    """Build one page with all figures and the verdict on each claim.

    The claims are those of the paper; the thresholds are shown by size too. The page, index.html, is
    self-contained: it needs no network and no other file.
    """
    from phaselect.report.page import build_report

    tables = write_all(out, source, options)
    click.echo(f"wrote {build_report(tables, Path(out))}")

"""`phaselect sweep`, `success`, `export` and `merge`: many runs into a store, and what it says."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from phaselect.base.errors import InputError, printable
from phaselect.cli.console import OUT_OF_TIME, check_writable, emit, example
from phaselect.cli.interrupts import exit_code
from phaselect.cli.lazy import Names
from phaselect.cli.progress import work_bar
from phaselect.problem.matrix_kinds import FIELDS, KINDS
from phaselect.solvers.registry import OPTIONS, REGISTRY

if TYPE_CHECKING:
    from phaselect.base.tables import Columns
    from phaselect.experiments.grid import Grid


class StoreName(click.Path):
    """The file of a store, which must have a name."""

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> Any:
        """The name, before any work is done for a store that cannot be."""
        if not value:
            self.fail("a store needs the name of a file", param, context)
        return super().convert(value, param, context)


STORE = StoreName(dir_okay=False)
SCALE = click.Choice(["small", "paper"])


def _presets() -> list[str]:
    from phaselect.experiments.grid import preset_names

    return preset_names()


def executor(workers: int | None, scheduler: str | None, local_cluster: int | None) -> Any:
    """Where the runs happen, from the options that say so; None if none does."""
    from phaselect.experiments.executors import Dask, InProcess, Processes

    if sum(option is not None for option in (workers, scheduler, local_cluster)) > 1:
        raise InputError("give one of --workers, --scheduler and --local-cluster")
    if (workers is not None and workers < 0) or (local_cluster is not None and local_cluster < 1):
        raise InputError("--workers takes 0 (in this process) or more, --local-cluster 1 or more")
    if scheduler is not None:
        return Dask(scheduler)
    if local_cluster is not None:
        return Dask(workers=local_cluster)
    return None if workers is None else Processes(workers) if workers else InProcess()


def executor_options(command: Any) -> Any:
    """The three options that say where runs happen."""
    options = (
        click.option("--workers", type=int, help="Processes on this machine; 0 for none but this. Default: all cores."),
        click.option("--scheduler", help="Join the Dask cluster of this scheduler, tcp://host:port."),
        click.option("--local-cluster", type=int, help="Start a Dask cluster of so many processes here."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def solver_options(command: Any) -> Any:
    """Every option that a solver of the registry has, with its defaults in the help."""
    for name, option in reversed(OPTIONS.items()):
        defaults: dict[float, list[str]] = {}
        for solver, recipe in REGISTRY.items():
            if name in recipe.options:
                defaults.setdefault(recipe.options[name], []).append(solver)
        said = "; ".join(f"{value:g} for {', '.join(solvers)}" for value, solvers in defaults.items())
        command = click.option(f"--{name}", help=f"{option.words}; a list. By default {said}.")(command)
    return command


@example(
    "phaselect sweep --solver amp --n 100,200 --alpha 1.1:1.475:0.025 --eps 0.1,0.01 --instances 20 --store runs.db",
    "phaselect sweep --preset sa --scale paper --store runs.db --scheduler tcp://login1:8786",
    "phaselect sweep --solver amp --n 3200 --alpha 1.1:1.2:0.01 --instances 100 --store runs.db --device gpu",
    "phaselect sweep --solver amp,pa --n 200 --alpha 1.4 --ensemble gaussian,toeplitz,dct --store runs.db",
    "phaselect sweep --solver amp,vmp --n 200 --alpha 2:2.5:0.1 --field complex --store runs.db",
    "phaselect sweep --config sweep.toml --store runs.db",
    "phaselect sweep --status --store runs.db",
)
@click.command()
@click.option("--store", type=STORE, required=True, help="The SQLite file that holds the runs; made if there is none.")
@click.option("--solver", type=Names(lambda: list(REGISTRY), several=True), help="What to run; several: A,B,C.")
@click.option("--n", help="Unknowns: a list, 100,200,400.")
@click.option("--alpha", help="Measurements per unknown: FIRST:LAST:STEP, or a list.")
@click.option(
    "--ensemble", type=Names(lambda: KINDS, several=True), help="Kinds of matrices, A,B,C; gaussian by default."
)
@click.option("--field", type=Names(lambda: FIELDS, several=True), help="real, complex or both; real by default.")
@solver_options
@click.option("--instances", type=int, help="Instances at each point; 20 by default.")
@click.option("--seed", type=int, help="Seed of the first instance, 0 by default; the others follow.")
@click.option("--config", type=click.Path(dir_okay=False), help="A TOML file with the grids, instead of the above.")
@click.option("--preset", "preset_name", type=Names(_presets), help="The sweep behind a figure.")
@click.option("--scale", type=SCALE, help="Size of the preset; small by default.")
@executor_options
@click.option(
    "--device",
    type=click.Choice(["gpu", "cpu"]),
    help="Batches as one JAX program, for solvers that can be compiled; on a cluster, on the device of each worker.",
)
@click.option("--time-limit", type=float, help="Seconds after which no more runs are begun.")
@click.option("--retry-failed", is_flag=True, help="Run again what failed before.")
@click.option("--status", "show_status", is_flag=True, help="Compute nothing: show what is done, failed and missing.")
@click.option("--json", "as_json", is_flag=True, help="Print the status as JSON.")
@click.pass_context
def sweep(
    context: click.Context,
    /,
    store: str,
    config: str | None,
    preset_name: str | None,
    scale: str | None,
    workers: int | None,
    scheduler: str | None,
    local_cluster: int | None,
    device: str | None,
    time_limit: float | None,
    retry_failed: bool,
    show_status: bool,
    as_json: bool,
    **grid: Any,
) -> None:
    """Run solvers on many random instances, one row per run in a store.

    Runs that the store has are not repeated: a killed sweep goes on from there. Ctrl-C lets the running ones finish (a
    second one does not) and exits with 130, SIGTERM does the same with 143, --time-limit with 124; the same command
    goes on. Exit code 1: some runs have failed.
    """
    from phaselect.experiments.packing import Batches, SingleRuns
    from phaselect.experiments.store import Store
    from phaselect.experiments.sweep import run_sweep, status

    if scale is not None and preset_name is None:
        raise InputError("--scale goes with --preset")
    grids = _grids(config, preset_name, scale or "small", grid)
    if as_json and not show_status:
        raise InputError("--json goes with --status; `phaselect export` writes the runs")
    if show_status:
        emit(status(grids, store), None, as_json)
        _show_failures(store)
        return
    if retry_failed and not grids and Path(store).exists():
        with Store(store, read_only=True) as rows:
            grids = rows.grids()
    if not grids:
        raise InputError("say what to run: --solver, --n and --alpha, or --config FILE, or --preset NAME")
    place = executor(workers, scheduler, local_cluster)
    packing = SingleRuns() if device is None else Batches(device)
    with work_bar("sweep") as bar:
        done = run_sweep(
            grids, store, place, packing, retry_failed=retry_failed, time_limit=time_limit, progress=bar.runs
        )
    click.echo(f"{store}: {done.found + done.added} of {done.total} runs, {done.added} new, {done.failed} failed")
    if done.failed:
        _show_failures(store)
    if done.stopped:
        click.echo(f"{done.stopped}: the same command goes on from here", err=True)
    codes = {"interrupted": exit_code(), "out of time": OUT_OF_TIME}
    context.exit(codes.get(done.stopped, 1 if done.failed else 0))


@example("phaselect export runs.db --out runs.csv", "phaselect export runs.db --out runs.parquet")
@click.command()
@click.argument("store", type=STORE)
@click.option("--out", type=click.Path(dir_okay=False), required=True, help="The .csv or .parquet file to write.")
def export(store: str, out: str) -> None:
    """Write the rows of a store to a table, also while a sweep runs."""
    from phaselect.experiments.store import Store

    check_writable(out, ".csv", ".parquet")
    with Store(store, read_only=True) as rows:
        table = rows.table()
    if Path(out).suffix.lower() == ".parquet":
        table.save_parquet(out)
    else:
        table.save(out)
    click.echo(f"wrote {out}: {len(table)} rows")


@example(
    "phaselect success runs.db",
    "phaselect success runs.db --curves --out success.csv",
    "phaselect success runs.db --json",
)
@click.command()
@click.argument("store", type=STORE)
@click.option("--curves", is_flag=True, help="The share of successes at each alpha instead, and the time to solution.")
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
@click.option("--out", type=click.Path(dir_okay=False), help="Write the table to this .csv file.")
def success(store: str, curves: bool, as_json: bool, out: str | None) -> None:
    """The alpha at which half of the instances in a store are recovered.

    One row per solver, ensemble and size. A run succeeds with m > 0.99, mse_x < 0.02 and mse_y < 1e-6. alpha_50 comes
    from a logistic regression on the power of alpha - 1 that fits best, low and high from a bootstrap over instances
    (95 %; with fewer than ten from Wilson's intervals, 1 and inf for unknown); kind "limit" (n = 0) is its limit for
    large N, from a + b N^-c, with an interval unless there is a doubt: no degree of freedom left, a bad chi2, or an
    exponent that the sizes do not determine. The Bayes-optimal threshold is 1.128. With --curves: the share p of
    successes with its Wilson interval and, for each device apart, the mean seconds per run and the seconds of repeated
    runs until one has succeeded with 50 % and 99 % certainty. Columns that are empty are printed only as JSON, and
    written.
    """
    from phaselect.experiments.limits import alpha_50_table
    from phaselect.experiments.store import Store
    from phaselect.experiments.success import success_table

    check_writable(out, ".csv")
    with Store(store, read_only=True) as open_store:
        rows = open_store.table()
    if len(rows) == 0:
        raise InputError(f"{store} has no runs yet")
    table = success_table(rows) if curves else alpha_50_table(rows)
    emit(table if out or as_json else _without_empty(table), out, as_json)


@example("phaselect merge all.db laptop.db cluster.db")
@click.command()
@click.argument("store", type=STORE)
@click.argument("others", nargs=-1, required=True, type=STORE)
def merge(store: str, others: tuple[str, ...]) -> None:
    """Add the runs of other stores to STORE; each run is kept once.

    STORE is made if there is none. Of a run that several have, the first stays, unless it failed and another did not.
    All of it is added, or nothing.
    """
    from phaselect.experiments.store import Store

    with ExitStack() as opened:
        sources = [opened.enter_context(Store(path, read_only=True)) for path in others]
        for source in sources:  # a damaged one is refused before anything is made
            source.table(), source.grids()
        target = opened.enter_context(Store(store))
        for source, taken in zip(sources, target.merge(sources), strict=True):
            click.echo(f"{source.path}: {taken} new of {len(source)} runs")


def _without_empty(columns: Columns) -> Columns:
    """Without those that are nan, or no text, in every row; the answer stays, though there be none."""
    empty = {name for name, column in columns.items() if set(map(str, column)) <= {"nan", ""}} - {"alpha_50"}
    return {name: column for name, column in columns.items() if name not in empty}


def _grids(config: str | None, preset_name: str | None, scale: str, grid: dict[str, Any]) -> list[Grid]:
    from phaselect.experiments.grid import Grid, load_grids, preset

    given = {name: value for name, value in grid.items() if value is not None}
    if (config is not None) + (preset_name is not None) + bool(given) > 1:
        raise InputError("give --config, or --preset, or the grid itself (--solver, --n, --alpha ...), not several")
    if config is not None:
        return load_grids(config)
    if preset_name is not None:
        return preset(preset_name, scale)
    return [Grid.from_dict(given)] if given else []


def _show_failures(store: str) -> None:
    from phaselect.experiments.store import Store

    with Store(store, read_only=True) as rows:
        errors = list(rows.failures().values())
    for text, count in zip(*np.unique(errors, return_counts=True), strict=True):
        click.echo(f"failed {count} time{'s' if count > 1 else ''}: {printable(text)}", err=True)

"""All figures by name: their tables, computed once and kept with their provenance, and their drawings."""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

import phaselect
from phaselect.base.checks import shortened
from phaselect.base.errors import InputError
from phaselect.base.style import remark, save, style
from phaselect.base.tables import Table, load_table
from phaselect.experiments.executors import Executor
from phaselect.experiments.grid import all_tasks, preset
from phaselect.experiments.outcomes import runs_of
from phaselect.experiments.revision import DIRTY, committed, git_revision, sources
from phaselect.experiments.store import Store
from phaselect.experiments.sweep import SweepProgress, run_sweep
from phaselect.figures.context import Context, FigureModule, Scale
from phaselect.figures.earlier_table import counts_with, prepared, with_runs_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OF_THE_PAPER = (
    "complexity",
    "branches",
    "stabilities",
    "regularisation",
    "annealing",
    "success_sa",
    "success_amp",
    "success_langevin",
    "local_stability",
)
"""In its order."""
BEYOND = (
    "critical_product",
    "trajectories",
    "patience",
    "solvers",
    "population",
    "rsb",
    "rates",
    "rate_and_size",
    "hard_phase",
    "collapse",
    "ensembles",
    "spectrum_design",
    "priors",
    "complex_success",
    "bits",
    "growth",
    "landscape",
    "splitting",
    "descent",
    "speed",
)
"""What the paper does not have."""
FIGURES = OF_THE_PAPER + BEYOND

REVISIONS = "revisions of the runs"
DIGITS = 6
"""Significant digits of the numbers in a table."""


@dataclass(frozen=True)
class Studio:
    """What figures are computed with.

    scale: "small" or "paper". store: where the sweeps keep their runs. stored: take the runs that the store has, and
    compute none. executor: where runs happen (all cores if None). cache: folder of the tables of theory figures.
    onto: an earlier table of the figure, whose runs count beside those of the store.
    """

    scale: Scale = "small"
    store: Path | None = None
    stored: bool = False
    executor: Executor | None = None
    cache: Path | None = None
    progress: Callable[[float], None] = lambda share: None
    sweep_progress: Callable[[SweepProgress], None] | None = None
    onto: Table | None = None

    def table(self, name: str) -> Table:
        """The table of a figure: from the cache if these very sources have computed it, or computed now."""
        figure_module(name)
        if self.onto is not None:
            return replace(self, onto=prepared(self.onto, name, self.scale, self.stored))._computed(name)
        cached = (self.cache or cache_folder()) / f"{name}-{self.scale}-{sources()}.csv"
        with contextlib.suppress(InputError):  # not there, or damaged: compute it
            table = load_table(cached)
            return Table(table.columns, with_caution(table.provenance | {"revision": git_revision()}))
        table = self._computed(name)
        if REVISIONS not in table.provenance:  # the store is the cache of runs
            with contextlib.suppress(InputError):  # no place for a cache: do without
                make_folder(cached.parent)
                table.save(cached)
        return table

    def _computed(self, name: str) -> Table:
        """The table, computed now."""
        swept: list[Table] = []

        def rows(preset_name: str) -> Table:
            swept.append(self.rows(preset_name))
            return swept[-1]

        began = time.perf_counter()
        columns = figure_module(name).compute(Context(self.scale, rows, self.progress, self.onto))
        self.progress(1.0)
        provenance = {
            "figure": name,
            "command": f"phaselect figure {name} --scale {self.scale}",
            "version": phaselect.__version__,
            "revision": git_revision(),
            "date": datetime.now(UTC).date().isoformat(),
        }
        if swept:
            before = {} if self.onto is None else self.onto.provenance
            revisions = {it for part in swept for it in part["revision"].tolist()}
            provenance["runs"] = ", ".join(part.provenance["runs"] for part in swept)
            provenance["took"] = _times(swept, self.onto)
            provenance[REVISIONS] = " ".join(sorted((revisions | set(before.get(REVISIONS, "").split())) - {""}))
            if before:
                provenance["onto"] = f"the table of revision {before['revision']}, {before['date']}"
        else:
            provenance["took"] = f"{time.perf_counter() - began:.0f} s"
        return Table(columns, with_caution(provenance)).rounded(DIGITS)

    def rows(self, preset_name: str) -> Table:
        """The runs of a preset sweep."""
        grids = preset(preset_name, self.scale)
        path = self.store or make_folder(cache_folder()) / "runs.db"
        if not self.stored and run_sweep(grids, path, self.executor, progress=self.sweep_progress).stopped:
            raise KeyboardInterrupt(f": {path} keeps the runs that are done, and the same command goes on")
        with Store(path, read_only=True) as store:
            table = store.table()
        tasks = all_tasks(grids)
        chosen = table.take(np.isin(table["key"], [task.key for task in tasks]))
        if self.onto is not None:
            chosen = with_runs_of(self.onto, chosen, tasks)
        count, crashed = counts_with(self.onto, chosen)
        if count == crashed:
            but = f" but {crashed} that crashed" if crashed else ""
            raise InputError(f"{path} has no runs of preset {preset_name} at scale {self.scale}{but}")
        runs = f"{count} of the {len(tasks)} of preset {preset_name}" + (f", {crashed} crashed" if crashed else "")
        return Table(chosen.columns, {"runs": runs})


def with_caution(provenance: dict[str, str]) -> dict[str, str]:
    """The same, with a caution where uncommitted sources computed a table, or its runs were not all of one revision.

    Runs of sources that have been committed since, or that ran where there was no git, are those of their commit.
    """
    rest = {name: text for name, text in provenance.items() if name != "caution"}
    of_runs = sorted({committed(revision) for revision in provenance.get(REVISIONS, "").split()})
    if of_runs:
        rest[REVISIONS] = " ".join(of_runs)
    reasons = ["computed by uncommitted sources"] if uncommitted(rest) else []
    reasons += [f"its runs are of {len(of_runs)} revisions"] if len(of_runs) > 1 else []
    return rest | ({"caution": "; ".join(reasons)} if reasons else {})


def uncommitted(provenance: dict[str, str]) -> bool:
    """Were the sources of a table, or of its runs, changed since their last commit?"""
    revisions = [provenance.get("revision", ""), *provenance.get(REVISIONS, "").split()]
    return any(revision.endswith(DIRTY) for revision in revisions)


def _times(swept: list[Table], earlier: Table | None) -> str:
    """Seconds that runs took, those of one core and those of each device apart; of an earlier table by its word."""
    told = "" if earlier is None else earlier.provenance.get("took", "")
    known = np.array([]) if earlier is None else runs_of(earlier).columns.get("key", np.array([]))
    total = {device.replace("one core", ""): float(time) for time, device in re.findall(r"(\d+) s of ([^,]+)", told)}
    for part in (part.take(~np.isin(part["key"], known)) for part in swept):
        for device, seconds in zip(part["device"].tolist(), part["seconds"].tolist(), strict=True):
            total[device] = total.get(device, 0.0) + (seconds if np.isfinite(seconds) else 0.0)
    return ", ".join(f"{seconds:.0f} s of {device or 'one core'}" for device, seconds in sorted(total.items()))


def figure_module(name: str) -> FigureModule:
    """The module of a figure."""
    if name not in FIGURES:
        raise InputError(f"no figure {shortened(name)}: use one of {', '.join(FIGURES)}")
    return cast(FigureModule, importlib.import_module(f"phaselect.figures.{name}"))


def draw(name: str, table: Table) -> Figure:
    """A figure from its table, in our style."""
    if table.provenance.get("figure", name) != name:
        raise InputError(f"this is the table of figure {table.provenance['figure']}, not of {name}")
    if len(table) == 0:
        raise InputError(f"this table of figure {name} has no rows")
    try:
        with style():
            figure = figure_module(name).draw(table)
            missing = missing_runs(table)
    except InputError:
        raise
    except KeyError as error:
        raise InputError(f"this is not a table of figure {name}: it has no column {error}") from error
    except (IndexError, OverflowError, TypeError, ValueError) as error:
        raise InputError(f"this table of figure {name} is damaged or incomplete: {error}") from error
    if missing:
        remark(figure, missing)
    return figure


def write(name: str, figure: Figure, path: str | Path) -> None:
    """Save a figure; some numbers of its table only trouble matplotlib when it comes to the axes."""
    try:
        save(figure, path)
    except InputError:
        raise
    except (OverflowError, ValueError) as error:
        raise InputError(f"this table of figure {name} is damaged or incomplete: {error}") from error


def missing_runs(table: Table) -> str:
    """How many of the runs of its sweeps a table has, and how many crashed; nothing where it has them all."""
    swept = re.findall(r"(\d+) of the (\d+) of preset ([^\s,;]+)(, \d+ crashed)?", table.provenance.get("runs", ""))
    parts = [
        f"{done} of {planned} runs of preset {name}{crashed}"
        for done, planned, name, crashed in swept
        if int(done) < int(planned) or crashed
    ]
    if {"kind", "trials"} <= set(table.columns) and len(table.where(kind="share")):
        shares = table.where(kind="share")
        rows = shares["trials"].sum() + (shares["crashed"].sum() if "crashed" in shares else 0)
        known = sum(int(done) for done, *_ in swept)
        if rows < known:
            parts.append(f"this table holds {rows:.0f} of its {known} runs")
        if not swept and "plan" in shares:
            parts.append(f"this table holds {rows:.0f} runs and does not say how many were planned")
    return ", ".join(parts)


def write_figures(folder: Path, table_of: Callable[[str], Table]) -> Iterator[tuple[str, Table]]:
    """Write every figure as .png and .pdf, and its table, into a folder; yields their names and tables as they come."""
    make_folder(folder)
    for name in FIGURES:
        table = table_of(name)
        drawn = draw(name, table)
        for suffix in (".png", ".pdf"):
            write(name, drawn, folder / f"{name}{suffix}")
        table.save(folder / f"{name}.csv")
        yield name, table


def check_tables(folder: Path) -> None:
    """Is there a table of each figure in this folder?"""
    missing = [name for name in FIGURES if not (folder / f"{name}.csv").is_file()]
    if missing:
        raise InputError(f"{folder} must be a folder with a table of each figure; missing: {', '.join(missing)}")


def cache_folder() -> Path:
    """$PHASELECT_CACHE, or `phaselect` in the user's folder for caches."""
    own = os.environ.get("PHASELECT_CACHE")
    return Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "phaselect"


def make_folder(folder: Path) -> Path:
    """Make a folder where there is none, or say in one line why that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {folder}: {error.strerror or error}") from None
    return folder

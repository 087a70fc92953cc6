"""A table of a figure to go on from: its runs count beside those of a store, each once.

Shares that say which instances were recovered are taken apart into runs. Those of tables that do not say so are kept
as they are, point by point, unless the store has as many runs of the point.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phaselect.base.errors import InputError
from phaselect.base.tables import Table, stack
from phaselect.experiments.grid import CURVE, USUAL, Task
from phaselect.experiments.outcomes import CRASHED, MISSED, RECOVERED, runs_of
from phaselect.experiments.store import FAILED
from phaselect.experiments.success import wilson
from phaselect.solvers.registry import OPTIONS

GROWING = ("success_sa", "success_amp", "success_langevin", "patience", "rate_and_size", "hard_phase")
"""Figures whose tables can be gone on from."""
MOST_RUNS = 1e9
"""At one point; more is damage."""
NUMBERS = ("instances", "tts_50", "tts_99", "value", "low", "high")
"""Columns that may be there."""
COUNTED = ("share", "within")
"""Kinds of lines that have counts."""
POINT = ("solver", "ensemble", "field", "n", "plan", "alpha")
"""The columns that tell one point from another: the plan stands for the options."""
NEEDED = ("kind", "solver", "n", "plan", "alpha", "trials", "crashed", "successes", "value", "low", "high")


def prepared(earlier: Table, name: str, scale: str, stored: bool) -> Table:
    """The table, with the columns that have come up since it was written; or why a figure cannot go on from it."""
    if name not in GROWING:
        raise InputError(f"--onto: only {', '.join(GROWING)} can go on from a table, not {name}")
    if earlier.provenance.get("figure") != name:
        raise InputError(f"--onto: this is no table of figure {name}")
    if not stored:
        raise InputError("--onto goes with --stored: do the runs that are missing by `phaselect sweep`")
    if not earlier.provenance.get("command", "").endswith(f"--scale {scale}"):
        raise InputError(f"--onto: this table is not of scale {scale}")
    missing = [f"# {line}:" for line in ("revision", "date") if line not in earlier.provenance]
    if missing:
        raise InputError(f"--onto: this table is damaged, it has no line {', '.join(missing)}")
    missing = [column for column in NEEDED if column not in earlier]
    if missing:
        raise InputError(f"--onto: this table is damaged, it has no column {', '.join(missing)}")
    lines = names_of(earlier, list(earlier))
    if len(set(lines)) < len(lines):
        raise InputError("--onto: this table is damaged, it has the same line twice")
    if name == "hard_phase" and "outcomes" not in earlier:
        raise InputError("--onto: this table does not say which instances were recovered, so nothing can go on from it")
    usual = dict.fromkeys(CURVE, math.nan) | USUAL | {"outcomes": ""}
    columns = {column: np.full(len(earlier), value) for column, value in usual.items()} | earlier.columns
    _check_counts(Table(columns).take(np.isin(earlier["kind"], COUNTED)))
    _check_shares(Table(columns).where(kind="share"))
    return _recounted(Table(columns, earlier.provenance))


def _recounted(table: Table) -> Table:
    """Shares and their intervals follow from counts: those that a table states are not asked."""
    counted = np.isin(table["kind"], COUNTED) & (table["trials"] > 0)
    own = table.take(counted)
    stated = (own["successes"] / own["trials"], *wilson(own["successes"], own["trials"]))
    columns = {name: table[name].copy() for name in ("value", "low", "high")}
    for column, found in zip(columns.values(), stated, strict=True):
        column[counted] = found
    return Table(table.columns | columns, table.provenance)


def _check_counts(lines: Table) -> None:
    """Are there counts, and can they be?"""
    counts = [lines[name] for name in ("trials", "crashed", "successes", "n", "alpha")]
    if not all(_numeric(it) and np.isfinite(it).all() for it in counts):
        raise InputError("--onto: this table is damaged, it has shares without counts")
    trials, crashed, successes = counts[:3]
    if any(np.any(it % 1) for it in counts[:4]) or ("seconds" in lines and not _numeric(lines["seconds"])):
        raise InputError("--onto: this table is damaged, it has counts that are not whole, or times without numbers")
    if np.any((crashed < 0) | (successes < 0) | (successes > trials) | (trials > MOST_RUNS)):
        raise InputError("--onto: this table is damaged, it has counts of runs that cannot be")


def _check_shares(shares: Table) -> None:
    """Do outcomes agree with counts, are the other columns what they were, and is every share there once?"""
    if len(shares) == 0:
        raise InputError("--onto: this table is damaged, it has no shares")
    if shares["outcomes"].dtype.kind != "U" or not all(_numeric(shares[name]) for name in NUMBERS if name in shares):
        raise InputError(f"--onto: this table is damaged, outcomes have to be letters, {', '.join(NUMBERS)} numbers")
    trials, crashed, successes = (shares[name] for name in ("trials", "crashed", "successes"))
    places = point_names(shares)
    letters = np.array(
        [[text.count(it) for it in (RECOVERED, MISSED, CRASHED)] for text in shares["outcomes"].tolist()]
    )
    told = letters.sum(axis=1) > 0
    disagree = told & (
        (letters[:, 0] != successes) | (letters[:, 1] != trials - successes) | (letters[:, 2] != crashed)
    )
    if len(set(places)) < len(places):
        raise InputError("--onto: this table is damaged, it has a point twice")
    if np.any(disagree):
        raise InputError("--onto: this table is damaged, outcomes and counts of its shares disagree")


def _numeric(column: NDArray[Any]) -> bool:
    return column.dtype.kind in "fiu"


def _check_options(shares: Table, tasks: Sequence[Task]) -> None:
    """Are the options that shares name those of their plans?"""
    options = {task.plan: dict(task.options) for task in tasks}
    for name in OPTIONS:
        wanted = np.array([options[plan].get(name, math.nan) for plan in shares["plan"].tolist()], dtype=float)
        if not _numeric(shares[name]) or np.any(np.isfinite(shares[name]) & ~np.isclose(shares[name], wanted)):
            raise InputError(f"--onto: this table is damaged, {name} of its shares is not that of their plans")


def _check_plans(shares: Table, tasks: Sequence[Task]) -> None:
    """Are these shares of runs that are planned today, and of no more?"""
    strangers = ", ".join(sorted(set(shares.values("plan")) - {task.plan for task in tasks}))
    if strangers:
        raise InputError(f"--onto: this table has runs of settings that today's preset has not: {strangers}")
    _check_options(shares, tasks)
    planned = Counter(" ".join(str(getattr(task, name)) for name in POINT) for task in tasks)
    for point, runs in zip(point_names(shares), shares["trials"] + shares["crashed"], strict=True):
        if runs > planned[point]:
            raise InputError(f"--onto: this table has {runs:g} runs at {point}; the preset plans {planned[point]}")


def with_runs_of(earlier: Table, rows: Table, tasks: Sequence[Task]) -> Table:
    """Rows, and below them the runs of these tasks that only the earlier table has, or that crashed in the store."""
    _check_plans(earlier.where(kind="share"), tasks)
    runs = runs_of(earlier)
    if len(runs) == 0:
        return rows
    good = runs["key"][runs["status"] != FAILED]
    rows = rows.take((rows["status"] != FAILED) | ~np.isin(rows["key"], good))
    planned = np.isin(runs["key"], [task.key for task in tasks])
    if not planned.all():
        seeds = runs["seed"][~planned]
        raise InputError(f"--onto: this table has runs of seeds {seeds.min()} to {seeds.max()}; the preset has not")
    news = runs.take(~np.isin(runs["key"], rows["key"]))
    ours, theirs = ({name: part[name] for name in runs} for part in (rows, news))
    blank = {"revision": np.full(len(news), "")}
    return Table(stack([ours | {"revision": rows["revision"]}, theirs | blank]))


def fuller_points(earlier: Table, rows: Table) -> Table:
    """The shares that do not name their instances, of points that the rows have fewer good runs of, or none at all."""
    shares = earlier.where(kind="share", outcomes="")
    good, every = Counter(point_names(rows.take(rows["status"] != FAILED))), Counter(point_names(rows))
    names, trials = point_names(shares), shares["trials"].tolist()
    fuller = [good[name] < count or every[name] == 0 for name, count in zip(names, trials, strict=True)]
    return shares.take(np.array(fuller, dtype=bool))


def at_points(table: Table, points: Table) -> NDArray[np.bool_]:
    """Which rows of a table are at these points?"""
    return np.isin(point_names(table), point_names(points))


def counts_with(earlier: Table | None, rows: Table) -> tuple[int, int]:
    """Runs, and how many of them crashed, of the rows and of the points that are kept instead of some of them."""
    if earlier is None:
        return len(rows), int(np.sum(rows["status"] == FAILED))
    kept = fuller_points(earlier, rows)
    crashed = int(np.sum(kept["crashed"]))
    runs, crashes = counts_with(None, rows.take(~at_points(rows, kept)))
    return runs + int(np.sum(kept["trials"])) + crashed, crashes + crashed


def point_names(table: Table) -> list[str]:
    """A name for the point of each row."""
    return names_of(table, POINT)


def names_of(table: Table, columns: Sequence[str]) -> list[str]:
    """A name for what these columns say in each row."""
    return [" ".join(map(str, it)) for it in zip(*(table[name].tolist() for name in columns), strict=True)]

"""A table of a figure to go on from: its runs count beside those of a store, each once.

Shares that say which instances were recovered are taken apart into runs. Those of tables that do not say so are kept
as they are, curve by curve, unless the store has as many runs of the curve.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from phaselect.base.errors import InputError
from phaselect.base.tables import Table, stack
from phaselect.experiments.grid import CURVE, USUAL, Task
from phaselect.experiments.outcomes import CRASHED, MISSED, RECOVERED, runs_of
from phaselect.experiments.store import FAILED

GROWING = ("success_sa", "success_amp", "success_langevin", "patience", "rate_and_size", "hard_phase")
"""Figures whose tables can be gone on from."""
ONE_CURVE = ("solver", "ensemble", "field", "n", "plan")
POINT = (*ONE_CURVE, "alpha")
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
    lines = curve_names(earlier, list(earlier))
    if len(set(lines)) < len(lines):
        raise InputError("--onto: this table is damaged, it has lines twice")
    if name == "hard_phase" and "outcomes" not in earlier:
        raise InputError("--onto: this table does not say which instances were recovered, so nothing can go on from it")
    usual = dict.fromkeys(CURVE, math.nan) | USUAL | {"outcomes": ""}
    columns = {column: np.full(len(earlier), value) for column, value in usual.items()} | earlier.columns
    _check_shares(Table(columns).where(kind="share"))
    return Table(columns, earlier.provenance)


def _check_shares(shares: Table) -> None:
    """Are there counts, do outcomes agree with them, and is every share there once?"""
    counts = [shares[name] for name in ("trials", "crashed", "successes", "n", "alpha")]
    if len(shares) == 0 or not all(it.dtype.kind in "fiu" and np.isfinite(it).all() for it in counts):
        raise InputError("--onto: this table is damaged, it has shares without counts, or no shares")
    trials, crashed, successes = counts[:3]
    places = curve_names(shares, POINT)
    letters = np.array(
        [[text.count(it) for it in (RECOVERED, MISSED, CRASHED)] for text in shares["outcomes"].tolist()]
    )
    told = letters.sum(axis=1) > 0
    disagree = told & (
        (letters[:, 0] != successes) | (letters[:, 1] != trials - successes) | (letters[:, 2] != crashed)
    )
    if len(set(places)) < len(places) or np.any(disagree):
        raise InputError("--onto: this table is damaged, outcomes and counts of its shares disagree")
    if np.any((crashed < 0) | (successes < 0) | (successes > trials)):
        raise InputError("--onto: this table is damaged, it has shares of which no runs can be")


def with_runs_of(earlier: Table, rows: Table, tasks: Sequence[Task]) -> Table:
    """Rows, and below them the runs of these tasks that only the earlier table has, or that crashed in the store."""
    shares = earlier.where(kind="share")
    strangers = set(shares.values("plan")) - {task.plan for task in tasks}
    if strangers:
        raise InputError(f"--onto: runs of other settings than those of today, {', '.join(sorted(strangers))}")
    planned = Counter(" ".join(str(getattr(task, name)) for name in POINT) for task in tasks)
    for point, runs in zip(curve_names(shares, POINT), shares["trials"] + shares["crashed"], strict=True):
        if runs > planned[point]:
            raise InputError(f"--onto: {runs:g} runs at {point}, of which the preset has {planned[point]}")
    runs = runs_of(earlier)
    if len(runs) == 0:
        return rows
    good = runs["key"][runs["status"] != FAILED]
    rows = rows.take((rows["status"] != FAILED) | ~np.isin(rows["key"], good))
    news = runs.take(np.isin(runs["key"], [task.key for task in tasks]) & ~np.isin(runs["key"], rows["key"]))
    ours, theirs = ({name: part[name] for name in runs} for part in (rows, news))
    blank = {"revision": np.full(len(news), "")}
    return Table(stack([ours | {"revision": rows["revision"]}, theirs | blank]))


def fuller_curves(earlier: Table, rows: Table) -> Table:
    """The shares and thresholds of curves that do not name their instances, and have more good runs than the rows."""
    shares, theirs = earlier.where(kind="share", outcomes=""), Counter[str]()
    names = told_apart_by(earlier)
    ours = Counter(curve_names(rows.take(rows["status"] != FAILED), names))
    for name, trials in zip(curve_names(shares, names), shares["trials"], strict=True):
        theirs[name] += int(trials)
    measured = earlier.take(np.isin(earlier["kind"], ("share", "threshold")))
    fuller = [name for name, count in theirs.items() if count > ours[name]]
    return measured.take(np.isin(curve_names(measured, names), fuller))


def counts_with(earlier: Table | None, rows: Table) -> tuple[int, int]:
    """Runs, and how many of them crashed, of the rows and of the curves that are kept instead of some of them."""
    if earlier is None:
        return len(rows), int(np.sum(rows["status"] == FAILED))
    kept, names = fuller_curves(earlier, rows), told_apart_by(earlier)
    shares, own = kept.where(kind="share"), rows.take(~np.isin(curve_names(rows, names), curve_names(kept, names)))
    crashed = int(np.sum(shares["crashed"]))
    runs, crashes = counts_with(None, own)
    return runs + int(np.sum(shares["trials"])) + crashed, crashes + crashed


def told_apart_by(earlier: Table) -> tuple[str, ...]:
    """The columns that name a curve; with alpha where its points are kept one by one, having rows "within" themselves.

    The plan stands for the options.
    """
    return POINT if "within" in earlier.values("kind") else ONE_CURVE


def curve_names(table: Table, names: Sequence[str] = ONE_CURVE) -> list[str]:
    """A name for the curve of each row."""
    return [" ".join(map(str, it)) for it in zip(*(table[name].tolist() for name in names), strict=True)]

"""A table of a figure to go on from: its runs count beside those of a store, each once.

Shares that say which instances were recovered are taken apart into runs. Those of tables that do not say so are kept
as they are, curve by curve, unless the store has as many runs of the curve.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from phaselect.base.errors import InputError
from phaselect.base.tables import Table, stack
from phaselect.experiments.grid import Task
from phaselect.experiments.outcomes import runs_of

GROWING = ("success_sa", "success_amp", "success_langevin", "rate_and_size", "hard_phase")
"""Figures whose tables can be gone on from."""


def check_earlier(earlier: Table, name: str, stored: bool) -> None:
    """Can this figure go on from the table that it is given?"""
    if name not in GROWING:
        raise InputError(f"--onto: only {', '.join(GROWING)} can go on from a table, not {name}")
    if earlier.provenance.get("figure") != name:
        raise InputError(f"--onto: this is no table of figure {name}")
    if name == "hard_phase" and "outcomes" not in earlier:
        raise InputError("--onto: this table does not say which instances were recovered, so nothing can go on from it")
    if not stored:
        raise InputError("--onto goes with --stored: do the runs that are missing by `phaselect sweep`")


def with_runs_of(earlier: Table, rows: Table, tasks: Sequence[Task]) -> Table:
    """Rows, and below them the runs of these tasks that only the earlier table has; `runs` in words of how many."""
    strangers = set(earlier.where(kind="share").values("plan")) - {task.plan for task in tasks}
    if strangers:
        raise InputError(f"--onto: runs of other settings than those of today, {', '.join(sorted(strangers))}")
    runs = runs_of(earlier)
    if len(runs) == 0:
        return rows
    news = runs.take(np.isin(runs["key"], [task.key for task in tasks]) & ~np.isin(runs["key"], rows["key"]))
    return Table(stack([{name: rows[name] for name in (*runs, "revision")}, news.columns | {"revision": ""}]))


def fuller_curves(earlier: Table, rows: Table) -> Table:
    """The shares and thresholds of the curves of which the table has more runs than there are rows."""
    shares, ours, theirs = earlier.where(kind="share"), Counter(curve_names(rows)), Counter[str]()
    for name, trials, crashed in zip(curve_names(shares), shares["trials"], shares["crashed"], strict=True):
        theirs[name] += int(trials + crashed)
    measured = earlier.take(np.isin(earlier["kind"], ("share", "threshold")))
    fuller = [name for name, count in theirs.items() if count > ours[name]]
    return measured.take(np.isin(curve_names(measured), fuller))


def runs_beside(earlier: Table, rows: Table) -> int:
    """How many runs more than the rows there are where fuller curves are kept."""
    kept = fuller_curves(earlier, rows)
    shares = kept.where(kind="share")
    return int(np.sum(shares["trials"] + shares["crashed"]) - np.sum(np.isin(curve_names(rows), curve_names(kept))))


def curve_names(table: Table) -> list[str]:
    """A name for the curve of each row; the plan stands for the options."""
    names = ("solver", "ensemble", "n", "plan")
    return [" ".join(map(str, it)) for it in zip(*(table[name].tolist() for name in names), strict=True)]

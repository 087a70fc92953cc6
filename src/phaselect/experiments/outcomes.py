"""Which instances were recovered, in short: a letter per run, so that a table of shares keeps its runs.

From seed 0 on: y for recovered, n for not, x for crashed, - for not run. A sweep can go on from such a table when the
store that it was made from is elsewhere, or gone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phaselect.base.checks import shortened
from phaselect.base.errors import InputError
from phaselect.base.tables import Columns, Table, stack
from phaselect.experiments.grid import CURVE, Task
from phaselect.experiments.store import FAILED
from phaselect.experiments.success import curves, succeeded
from phaselect.solvers.registry import OPTIONS, recipe

RECOVERED, MISSED, CRASHED, NOT_RUN = "y", "n", "x", "-"
ENDED = "NOT_RECOVERED"
"""Status of a run of which no more is known than that it was one."""
Share = dict[str, Any]
"""A line of a table."""


def letters(rows: Table) -> str:
    """Of the runs at one point."""
    found = np.full(int(rows["seed"].max(initial=-1)) + 1, NOT_RUN)
    crashed = rows["status"] == FAILED
    found[rows["seed"]] = np.where(crashed, CRASHED, np.where(succeeded(rows), RECOVERED, MISSED))
    return "".join(found)


def outcomes(rows: Table) -> list[str]:
    """Of every curve and alpha, in the order of `success_table`."""
    return [letters(own.where(alpha=alpha)) for _, own in curves(rows) for alpha in sorted(own.values("alpha"))]


def runs_of(table: Table) -> Table:
    """The runs behind the shares of a table: what they were, whether they succeeded, and their mean time."""
    return _unfolded(table, lambda share, runs: runs | {"key": _keys(share, runs["seed"])})


def endings_of(table: Table) -> Table:
    """The same without their keys, of solvers that only a figure has, too."""
    return _unfolded(table, lambda share, runs: runs)


def _unfolded(table: Table, told: Callable[[Share, Columns], Columns]) -> Table:
    shares = table.where(kind="share")
    if "outcomes" not in shares:
        return Table({})
    lines = [
        dict(zip(shares.columns, it, strict=True))
        for it in zip(*(column.tolist() for column in shares.columns.values()), strict=True)
    ]
    parts = [told(line, _runs(line)) for line in lines if set(line["outcomes"]) - {NOT_RUN}]
    return Table(stack(parts)) if parts else Table({})


def _keys(share: Share, seeds: NDArray[np.intp]) -> NDArray[np.str_]:
    """Of the runs of one share; "" where its plan is not today's."""
    named = {name: float(share[name]) for name in recipe(share["solver"]).options}
    tasks = [
        Task.of(share["solver"], share["n"], share["alpha"], seed, share["ensemble"], share["field"], **named)
        for seed in seeds.tolist()
    ]
    return np.array([task.key if task.plan == share["plan"] else "" for task in tasks])


def _runs(share: Share) -> Columns:
    """Those of one share."""
    found = np.array(list(share["outcomes"]))
    if not set(found.tolist()) <= {RECOVERED, MISSED, CRASHED, NOT_RUN}:
        raise InputError(f"{shortened(str(share['outcomes']))} are no outcomes: a letter for each seed, y, n, x or -")
    seeds = np.flatnonzero(found != NOT_RUN)
    good, crashed = found[seeds] == RECOVERED, found[seeds] == CRASHED
    return {
        **{name: np.full(len(seeds), share.get(name, math.nan if name in OPTIONS else "")) for name in CURVE},
        "alpha": np.full(len(seeds), float(share["alpha"])),
        "seed": seeds,
        "status": np.where(crashed, FAILED, ENDED),
        "m": np.where(good, 1.0, 0.0),
        **dict.fromkeys(("mse_x", "mse_y"), np.where(good, 0.0, math.inf)),
        "seconds": np.full(len(seeds), float(share.get("seconds", math.nan))),
        "device": np.full(len(seeds), ""),
    }

"""Message passing with all of the paper's iterations: what is recovered late?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaselect.base.style import RECOVERED, legend, letter, logarithmic, looks, panels
from phaselect.base.tables import Columns, Table, stack
from phaselect.experiments.success import finished, succeeded, wilson
from phaselect.figures.context import Context

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTION = (
    "Single runs of message passing on random instances (mu from 1000 in steps of 10 % at mu*lam = 1), each with up to "
    "200,000 iterations, as many as in the paper: share that is recovered within so many, with the band of its 95 % "
    "Wilson interval. Dashed: 3000 iterations, at which the runs of figure success_amp end."
)
FIRST = 50
"""Iterations before which nothing is recovered."""
PER_DECADE = 12
ELSEWHERE = 3000
"""Iterations of the runs of success_amp."""


def compute(context: Context) -> Columns:
    """Shares of each size and alpha, against iterations."""
    rows = context.rows("patience")
    return stack(recovered_within(one) for own in rows.by("n") for one in own.by("alpha"))


def recovered_within(rows: Table) -> dict[str, object]:
    """Of the runs at one size and alpha, against the number of iterations."""
    runs = finished(rows)
    most = int(rows["iterations"].max())
    at = np.unique(np.geomspace(FIRST, most, round(PER_DECADE * np.log10(most / FIRST)) + 1).round())
    needed = np.where(succeeded(runs), runs["sweeps"], np.inf)
    hits = (needed <= at[:, None]).sum(axis=1)
    low, high = wilson(hits, len(runs))
    counts = {"trials": len(runs), "crashed": len(rows) - len(runs), "successes": hits}
    share = {"value": hits / max(1, len(runs)), "low": low, "high": high}
    return {"n": rows["n"][0], "alpha": rows["alpha"][0], "iterations": at} | counts | share


def draw(table: Table) -> Figure:
    """A panel for each size."""
    figure, axes = panels(len(table.values("n")))
    look_of = looks(sorted(table.values("alpha")))
    for panel, own in zip(axes, table.by("n"), strict=True):
        for rows in own.by("alpha"):
            look = {name: value for name, value in look_of[rows["alpha"][0]].items() if name == "color"}
            panel.step(
                rows["iterations"], rows["value"], where="post", label=rf"$\alpha = {rows['alpha'][0]:g}$", **look
            )
            panel.fill_between(rows["iterations"], rows["low"], rows["high"], step="post", alpha=0.15, lw=0, **look)
        panel.axvline(ELSEWHERE, color="black", ls="--", lw=0.8, label=f"end of the runs of success_amp, {ELSEWHERE}")
        panel.set(xlabel="iterations", ylabel=RECOVERED, ylim=(-0.03, 1.03))
        panel.set_title(f"$N = {own['n'][0]:.0f}$, {own['trials'].min():.0f} instances")
        logarithmic(panel, "x", table["iterations"])
    letter(axes)
    legend(figure, axes[0])
    return figure

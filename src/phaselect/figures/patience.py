"""Message passing with all of the paper's iterations: what is recovered late?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phaselect.base.style import (
    BARS,
    BLUE,
    ORANGE,
    RECOVERED,
    legend,
    letter,
    logarithmic,
    looks,
    panels,
    with_bars,
)
from phaselect.base.tables import Columns, Table, stack
from phaselect.experiments.limits import BAYES_OPTIMAL, Interval, alpha_50_of_shares
from phaselect.experiments.success import finished, succeeded, wilson
from phaselect.figures.context import Context
from phaselect.figures.earlier_table import POINT, curve_names, fuller_curves
from phaselect.figures.success_curves import BAYES, ends

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CAPTION = (
    "Single runs of message passing on random instances (mu from 1000 in steps of 10 % at mu*lam = 1), each with up to "
    "200,000 iterations, as many as in the paper: share that is recovered within so many, with the band of its 95 % "
    "Wilson interval. A run is looked at every 2048 iterations, or more often. Dashed: 3000 iterations, at which the "
    "runs of figure success_amp end. Last: alpha_50, at which half are recovered, of all their iterations, against N, "
    "with its 95 % interval, in steps of 1 % too where there are such runs."
)
FIRST = 2500
"""Iterations by which each run has been looked at once."""
PER_DECADE = 12
ELSEWHERE = 3000
"""Iterations of the runs of success_amp."""
MARKS = (BLUE, ORANGE), ("o", "s"), (1.0, 1.06)
"""Of the fast rate and the slow one: colours, markers, and what keeps them side by side."""
COLUMNS = ("kind", *POINT, "eps", "iterations", "trials", "crashed", "successes", "value", "low", "high")


def compute(context: Context) -> Columns:
    """Shares of each rate, size and alpha, against iterations; points that an earlier table has more runs of are its.

    Rows of all iterations are of kind "share", as in other tables of sweeps, those of fewer of kind "within".
    """
    rows = context.rows("patience")
    parts: list[dict[str, Any]] = []
    if context.earlier is not None:
        kept = curve_names(fuller_curves(context.earlier, rows), POINT)
        theirs = context.earlier.take(np.isin(curve_names(context.earlier, POINT), kept))
        parts = [{name: theirs[name] for name in COLUMNS}]
        rows = rows.take(~np.isin(curve_names(rows, POINT), kept))
    if len(rows):
        last = rows["iterations"].max()
        at = np.geomspace(FIRST, last, round(PER_DECADE * np.log10(last / FIRST)) + 1).round()
        parts += [
            recovered_within(one, at) for own in rows.by("plan") for each in own.by("n") for one in each.by("alpha")
        ]
    return stack(parts)


def recovered_within(rows: Table, at: NDArray[np.float64]) -> dict[str, Any]:
    """Of the runs at one rate, size and alpha, within so many iterations."""
    runs = finished(rows)
    needed = np.where(succeeded(runs), runs["sweeps"], np.inf)
    hits = (needed <= at[:, None]).sum(axis=1)
    low, high = wilson(hits, len(runs))
    counts = {"trials": len(runs), "crashed": len(rows) - len(runs), "successes": hits}
    share = {"value": hits / max(1, len(runs)), "low": low, "high": high}
    place = {name: rows[name][0] for name in (*POINT, "eps")} | {"kind": np.where(at == at[-1], "share", "within")}
    found = place | {"iterations": at} | counts | share
    return {name: found[name] for name in COLUMNS}


def thresholds(shares: Table) -> dict[int, Interval]:
    """alpha_50 of one rate by size."""
    return {int(n): alpha_50_of_shares(shares.where(n=n)) for n in sorted(shares.values("n"))}


def draw(table: Table) -> Figure:
    """A panel for each size, of the fast runs, and one for the thresholds of all."""
    fast = table.where(eps=table["eps"].max())
    sizes = sorted(fast.values("n"))
    figure, axes = panels(len(sizes) + 1)
    look_of = looks(sorted(fast.values("alpha")))
    for panel, n in zip(axes, sizes, strict=False):
        own = fast.where(n=n)
        for rows in own.by("alpha"):
            at = rows["iterations"] / 1000
            look = {name: value for name, value in look_of[rows["alpha"][0]].items() if name == "color"}
            label = rf"$\alpha = {rows['alpha'][0]:g}$"
            panel.step(at, rows["value"], where="post", label=label, **look)
            panel.fill_between(at, rows["low"], rows["high"], step="post", alpha=0.15, lw=0, **look)
        panel.axvline(
            ELSEWHERE / 1000, color="black", ls="--", lw=0.8, label=f"success_amp ends here, {ELSEWHERE} iterations"
        )
        panel.set(xlabel="thousand iterations", ylabel=RECOVERED, ylim=(-0.03, 1.03))
        panel.set_title(
            rf"$N = {n:.0f}$, $\mu\lambda = 1$, $\epsilon = {own['eps'][0]:g}$, {own['trials'].min():.0f} instances"
        )
        logarithmic(panel, "x", table["iterations"] / 1000)
    _draw_thresholds(axes[-1], table)
    letter(axes)
    legend(figure, axes[0], axes[-1], title=BARS)
    return figure


def _draw_thresholds(axes: Axes, table: Table) -> None:
    axes.axhline(BAYES_OPTIMAL, label=f"Bayes-optimal, {BAYES_OPTIMAL}", **BAYES)
    for eps, color, marker, shift in zip(sorted(table.values("eps"))[::-1], *MARKS, strict=False):
        found = thresholds(table.where(kind="share", eps=eps))
        middles = Table(dict(zip(Interval._fields, np.array(list(found.values())).T, strict=True)))
        label = rf"$\alpha_{{50}}$, $\epsilon = {eps:g}$"
        at = np.array(list(found)) * shift
        with_bars(axes, at, *ends(middles), ls="none", marker=marker, color=color, label=label)
    sizes = sorted(table.values("n"))
    logarithmic(axes, "x", table["n"])
    axes.set_xticks(sizes, [f"{n}" for n in sizes])
    axes.minorticks_off()
    axes.set(xlabel="unknowns $N$", ylabel=r"$\alpha_{50}$, half recovered", xmargin=0.1)
    axes.set_title(f"within {table['iterations'].max():.0f} iterations")

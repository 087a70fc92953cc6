"""Searches side by side on the same instances: share recovered against alpha, a panel for each N."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaselect.base.tables import Columns, Table
from phaselect.experiments.limits import BAYES_OPTIMAL
from phaselect.figures.style import ALPHA, GREY, RED
from phaselect.figures.success_curves import analyse

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMES = ("kind", "solver", "n", "eps", "product", "alpha", "trials", "successes", "seconds", "value", "low", "high")
Styles = dict[str, tuple[str, str, str]]
"""Line and marker, colour and name of each search."""


def success_of(rows: Table) -> Columns:
    """Shares and thresholds as `analyse` has them; the sizes are too few for limits."""
    table = Table(analyse(rows))
    return {name: table.take(table["kind"] != "limit")[name] for name in NAMES}


def draw_comparison(axes: Axes, table: Table, styles: Styles) -> None:
    """The rows of one N of such a table; a diamond at one half for alpha_50."""
    for solver, (line, colour, name) in styles.items():
        share, middle = (table.where(kind=kind, solver=solver) for kind in ("share", "threshold"))
        bars = np.maximum([share["value"] - share["low"], share["high"] - share["value"]], 0.0)
        axes.errorbar(
            share["alpha"], share["value"], yerr=bars, fmt=line, ms=3, lw=1.0, elinewidth=0.6, color=colour, label=name
        )
        axes.plot(middle["value"], 0.5 + 0 * middle["value"], "D", ms=5, color=colour, mec="black", mew=0.5, zorder=5)
    axes.axvline(BAYES_OPTIMAL, color=RED, ls="--", lw=0.9)
    axes.axhline(0.5, color=GREY, ls=":", lw=0.7)
    n, trials = (table.where(kind="share")[name].max() for name in ("n", "trials"))
    axes.set(xlabel=ALPHA, ylim=(-0.03, 1.05), title=f"$N = {n}$ ({trials:.0f} instances)")

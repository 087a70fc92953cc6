"""Searches side by side on the same instances: share recovered against alpha, a panel for each N."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phaselect.base.style import ALPHA, RECOVERED, between, with_bars
from phaselect.base.tables import Columns, Table
from phaselect.experiments.success import time_to_solution
from phaselect.figures.success_curves import analyse, draw_half, mark_half

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMES = ("kind", "solver", "n", "eps", "product", "alpha", "trials", "successes", "seconds", "value", "low", "high")
Styles = dict[str, tuple[str, str, str]]
"""Line and marker, colour and name of each search."""


def success_of(rows: Table) -> Columns:
    """Shares and thresholds as `analyse` has them; the sizes are too few for limits."""
    table = Table(analyse(rows))
    return {name: table.take(table["kind"] != "limit")[name] for name in NAMES}


def draw_comparison(axes: Axes, table: Table, styles: Styles, fixed: str) -> None:
    """The rows of one N of such a table, against alpha on a logarithmic axis; a diamond at one half for alpha_50."""
    for place, (solver, (line, colour, name)) in enumerate(styles.items()):
        share, middle = (table.where(kind=kind, solver=solver) for kind in ("share", "threshold"))
        at = share["alpha"] * 1.06 ** between(place, len(styles))
        with_bars(axes, at, share["value"], share["low"], share["high"], fmt=line, color=colour, label=name)
        draw_half(axes, middle, colour)
    mark_half(axes)
    n, trials = (table.where(kind="share")[name].max() for name in ("n", "trials"))
    axes.set(xlabel=ALPHA, ylabel=RECOVERED, ylim=(-0.03, 1.05), title=f"$N = {n}$, {fixed}, {trials:.0f} instances")


def draw_times(axes: Axes, at: NDArray[np.float64], shares: Table, **look: Any) -> None:
    """Seconds to a solution with 99 % certainty, between those that the ends of the shares' intervals would have."""
    seconds, chances = shares["seconds"].tolist(), (shares[name].tolist() for name in ("value", "high", "low"))
    times = [
        np.array([time_to_solution(share, each, 0.99) for share, each in zip(own, seconds, strict=True)])
        for own in chances
    ]
    some = np.isfinite(times[0])
    with_bars(axes, at[some], *(time[some] for time in times), **look)


def mark_alphas(axes: Axes, ticks: tuple[float, ...]) -> None:
    """A logarithmic axis of alpha with these ticks."""
    axes.set_xscale("log")
    axes.set_xticks(ticks, [f"{alpha:g}" for alpha in ticks])
    axes.xaxis.minorticks_off()

"""Langevin dynamics against gradient descent from the same start: what the noise and the anneal are worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from phaselect.base.style import ALPHA, BARS, BLUE, GREEN, GREY, ORANGE, between, legend, letter, panels, with_bars
from phaselect.base.tables import Columns, Table, stack
from phaselect.experiments.gradient_descent import descend_in_signs, descend_in_x, median_of_random_overlaps
from phaselect.experiments.success import succeeded
from phaselect.experiments.trials import Method, by_name, side_by_side
from phaselect.figures.comparison import Styles, draw_comparison, mark_alphas, success_of
from phaselect.figures.context import Context

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EPS, PRODUCT = 0.02, 0.75
ENOUGH_STUCK = 5
"""Runs whose quartiles are drawn."""
CAPTION = (
    "Langevin dynamics on relaxed signs theta (mu from 1 to 1000 in steps of 2 % at mu*lam = 0.75, 100 iterations at "
    "each) and gradient descent from the same start, without noise, anneal or regulariser, until it has converged: in "
    "x on the amplitude loss, in theta on the loss of Langevin dynamics. All end with greedy flips. First the share of "
    "instances recovered, with 95 % Wilson intervals, for each N; last the overlap with the signal, over the norms, of "
    "the points to which descent without success has converged: median and quartiles at the largest N, where "
    f"{ENOUGH_STUCK} runs or more; dash-dotted: the median of random directions. Points at one alpha are moved apart a "
    "little."
)
SIZES = {"small": {100: 6}, "paper": {100: 24, 200: 12}}
"""N, and the number of instances."""
ALPHAS = {"small": (1.3, 1.6, 2.0, 4.0), "paper": (1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0)}
TICKS = (1, 1.5, 2, 3, 4, 6, 8)
STYLES: Styles = {
    "langevin": ("o:", BLUE, rf"Langevin dynamics, $\mu\lambda = {PRODUCT:g}$"),
    "descent": ("s--", ORANGE, "descent in $x$"),
    "descent-signs": ("^-", GREEN, r"descent in $\theta$"),
}


def searches() -> dict[str, Method]:
    """Langevin dynamics and the two descents."""
    langevin = by_name("langevin", eps=EPS, product=PRODUCT)
    return {"langevin": langevin, "descent": descend_in_x, "descent-signs": descend_in_signs}


def compute(context: Context) -> Columns:
    """Success and thresholds of the three, and where the descents got stuck."""
    sizes, alphas = SIZES[context.scale], ALPHAS[context.scale]
    rows = side_by_side(searches(), sizes, alphas, context.progress, eps=EPS, product=PRODUCT)
    return stack([success_of(rows), *stuck(rows)])


def stuck(rows: Table) -> list[dict[str, Any]]:
    """Overlap of the points to which descents without success converged: `value` the median, quartiles around it."""
    parts = []
    failed = rows.take(~succeeded(rows) & np.isfinite(rows["converged_to"]))
    for own in (at for by_solver in failed.by("solver") for by_n in by_solver.by("n") for at in by_n.by("alpha")):
        low, middle, high = np.percentile(own["converged_to"], (25, 50, 75)).tolist()
        place = {name: own[name][0] for name in ("solver", "n", "alpha", "eps", "product")}
        counts = {"trials": len(own), "successes": 0, "seconds": np.mean(own["seconds"])}
        parts.append({"kind": "stuck", **place, **counts, "value": middle, "low": low, "high": high})
    return parts


def draw(table: Table) -> Figure:
    """A panel for each N; where the descents got stuck."""
    sizes = table.values("n")
    figure, axes = panels(len(sizes) + 1)
    for panel, n in zip(axes, sizes, strict=False):
        draw_comparison(panel, table.where(n=n), STYLES, "same start")
    _draw_stuck(axes[-1], table.where(kind="stuck", n=max(sizes)), max(sizes))
    for panel in axes:
        mark_alphas(panel, TICKS)
    letter(axes)
    legend(figure, *axes, title=f"{BARS}, ({'abc'[len(sizes)]}) quartiles")
    return figure


def _draw_stuck(axes: Axes, table: Table, n: int) -> None:
    for place, solver in enumerate(table.values("solver")):
        own, (line, colour, name) = table.where(solver=solver), STYLES[solver]
        own = own.take(own["trials"] >= ENOUGH_STUCK)
        at = own["alpha"] * 1.04 ** between(place, 2)
        with_bars(axes, at, own["value"], own["low"], own["high"], fmt=line, color=colour, label=name)
    axes.axhline(median_of_random_overlaps(n, 1, 0.5), color=GREY, ls="-.", lw=1.0, label="median of random directions")
    axes.set(xlabel=ALPHA, ylabel="overlap where stuck, median", ylim=(0, None), title=f"$N = {n}$, not recovered")

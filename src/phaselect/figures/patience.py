"""Message passing with all of the paper's iterations: what is recovered late?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phaselect.base.style import (
    BARS,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PINK,
    RECOVERED,
    RED,
    SKY,
    legend,
    letter,
    logarithmic,
    panels,
)
from phaselect.base.tables import Columns, Table, stack
from phaselect.experiments.grid import CURVE
from phaselect.experiments.limits import BAYES_OPTIMAL
from phaselect.experiments.success import finished, succeeded, wilson
from phaselect.figures.context import Context
from phaselect.figures.earlier_table import POINT, at_points, fuller_points, point_names
from phaselect.figures.success_curves import (
    BAYES,
    draw_alpha_50,
    draw_shares,
    same_alphas,
    size_looks,
    with_middles,
    without_limit,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CAPTION = (
    "Message passing with as many iterations as in the paper: single runs on random instances, mu from 1000 at "
    "mu*lam = 1, of up to 200,000 iterations each. (a), (b) Share that is recovered, with 95 % Wilson intervals, at "
    "two rates of the anneal. Diamonds: alpha_50 with its interval. Dashed: 1.128, the Bayes-optimal threshold. (c) "
    "alpha_50 against N and, where chi^2 is good and the sizes determine c or show no trend, the fit a + b N^-c and "
    "its limit. (d) and on: share of the fast runs that is recovered within so many iterations, with the band of its "
    "interval, for three sizes and at most five of the alphas, written beside, at which it is below 0.8 at first. A "
    "run is looked at every 2048 iterations, or more often. Dashed there: 3000 iterations, at which the runs of figure "
    "success_amp end. Points at one alpha or N are moved apart a little."
)
FIRST = 2500
"""Iterations by which each run has been looked at once."""
PER_DECADE = 12
ELSEWHERE = 3000
"""Iterations of the runs of success_amp."""
COLOURS = (BLUE, RED, GREEN, PINK, GREY, ORANGE, SKY)
"""Of lines against iterations: an alpha has the same in all panels."""
MOST_LINES = 5
"""In a panel."""
AT_ONCE = 0.8
"""Share recovered by then from which a curve is not drawn against iterations: little is left to come."""
COLUMNS = ("kind", *POINT, "eps", "iterations", "trials", "crashed", "successes", "value", "low", "high")


def compute(context: Context) -> Columns:
    """Shares of each rate, size and alpha, against iterations; points that an earlier table has more runs of are its.

    Rows of all iterations are of kind "share", as in other tables of sweeps, those of fewer of kind "within": the first
    of a point, and those at which its share rises.
    """
    rows = context.rows("patience")
    parts: list[dict[str, Any]] = []
    if context.earlier is not None:
        kept = fuller_points(context.earlier, rows)
        theirs = context.earlier.take(at_points(context.earlier, kept))
        parts = [{name: theirs[name] for name in COLUMNS}]
        rows = rows.take(~at_points(rows, kept))
    if len(rows):
        last = rows["iterations"].max()
        at = np.geomspace(FIRST, last, round(PER_DECADE * np.log10(last / FIRST)) + 1).round()
        parts += [
            recovered_within(one, at) for own in rows.by("plan") for each in own.by("n") for one in each.by("alpha")
        ]
    return rising(Table(stack(parts))).columns


def rising(table: Table) -> Table:
    """Without the rows that only repeat how many were recovered before them, at their point."""
    names, hits = np.array(point_names(table)), table["successes"]
    same = (names[1:] == names[:-1]) & (hits[1:] == hits[:-1])
    return table.take(~np.concatenate([[False], same]) | (table["kind"] == "share"))


def recovered_within(rows: Table, at: NDArray[np.float64]) -> dict[str, Any]:
    """Of the runs at one rate, size and alpha, within so many iterations."""
    runs = finished(rows)
    needed = np.where(succeeded(runs), runs["sweeps"], np.inf)
    hits = (needed <= at[:, None]).sum(axis=1)
    low, high = wilson(hits, len(runs))
    counts = {"trials": len(runs), "crashed": len(rows) - len(runs), "successes": hits}
    share = {"value": hits / len(runs) if len(runs) else np.full(at.size, math.nan), "low": low, "high": high}
    place = {name: rows[name][0] for name in (*POINT, "eps")} | {"kind": np.where(at == at[-1], "share", "within")}
    found = place | {"iterations": at} | counts | share
    return {name: found[name] for name in COLUMNS}


def judged(shares: Table) -> Table:
    """Shares of single runs of message passing at mu*lam = 1, of this figure or another, with alpha_50 and limits."""
    known = {name: column for name, column in shares.items() if name in CURVE}
    counted = {name: shares[name] for name in ("kind", "alpha", "trials", "successes", "value", "low", "high")}
    told = {"product": 1.0, "instances": shares["trials"]}
    blank = dict.fromkeys(CURVE, math.nan)
    return Table(with_middles(Table(stack([blank | known | counted | told]))))


def draw(table: Table) -> Figure:
    """The success of each rate, the thresholds, and for each size the fast runs against iterations."""
    fast, last = table.where(eps=table["eps"].max()), f"{table['iterations'].max():.0f}"
    found, sizes = judged(table.where(kind="share")), some(sorted(fast.values("n")))
    rates = sorted(found.values("eps"), reverse=True)
    figure, axes = panels(len(rates) + 1 + len(sizes))
    for panel, eps in zip(axes, rates, strict=False):
        draw_shares(panel, found.where(eps=eps), size_looks(found))
        panel.set_title(rf"$\mu\lambda = 1$, $\epsilon = {eps:g}$, $\leq {last}$ iterations")
    same_alphas(axes[: len(rates)])
    middles = axes[len(rates)]
    middles.axhline(BAYES_OPTIMAL, **BAYES)  # first, or the panel may end at it
    draw_alpha_50(middles, found)
    middles.set_title(rf"$\mu\lambda = 1$, $\leq {last}$ iterations")
    late = [rows for rows in of_points(fast) if rows["value"][0] < AT_ONCE]
    own = {n: [rows for rows in late if rows["n"][0] == n] for n in sizes}
    drawn = {n: points[:: math.ceil(len(points) / MOST_LINES) or 1] for n, points in own.items()}
    alphas = sorted({rows["alpha"][0] for points in drawn.values() for rows in points})
    colours = dict(zip(alphas, cycle(COLOURS), strict=False))
    for panel, (n, points) in zip(axes[len(rates) + 1 :], drawn.items(), strict=True):
        _draw_iterations(panel, points, colours)
        panel.set_title(rf"$N = {n:.0f}$, $\mu\lambda = 1$, $\epsilon = {fast['eps'][0]:g}$")
        logarithmic(panel, "x", table["iterations"] / 1000)
        panel.set_xlim(0.9 * FIRST / 1000, 2.2 * table["iterations"].max() / 1000)  # with room for what is beside lines
    letter(axes)
    legend(figure, *axes, columns=2, title=f"bands and {BARS}{without_limit(found)}")
    return figure


def some(sizes: Sequence[int]) -> list[int]:
    """The smallest, the largest and one between."""
    return sorted({sizes[0], sizes[len(sizes) // 2], sizes[-1]})


def of_points(table: Table) -> list[Table]:
    """The rows of each size and alpha, in the order of iterations."""
    points = (rows for own in table.by("n") for rows in own.by("alpha"))
    return [rows.take(np.argsort(rows["iterations"])) for rows in points]


def _draw_iterations(axes: Axes, points: Sequence[Table], colours: Mapping[float, str]) -> None:
    for rows in points:
        alpha, at = rows["alpha"][0], rows["iterations"] / 1000
        color = colours[alpha]
        axes.step(at, rows["value"], where="post", color=color)
        axes.fill_between(at, rows["low"], rows["high"], step="post", alpha=0.15, lw=0, color=color)
        place: dict[str, Any] = {"xytext": (3, 0), "textcoords": "offset points", "va": "center"}
        axes.annotate(f"{alpha:g}", (at[-1], rows["value"][-1]), color=color, size="small", **place)
    axes.plot([], [], color=GREY, label=r"recovered by then; beside each line its $\alpha$")
    axes.axvline(
        ELSEWHERE / 1000, color="black", ls="--", lw=0.8, label=f"{ELSEWHERE} iterations, where success_amp ends"
    )
    axes.set(xlabel="thousand iterations", ylabel=RECOVERED, ylim=(-0.03, 1.03))

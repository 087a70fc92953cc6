"""All solvers and baselines on the same instances: success against alpha, and the time it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaselect.experiments.contenders import CONTENDERS
from phaselect.figures.context import Context
from phaselect.figures.success_curves import BAYES_OPTIMAL, analyse
from phaselect.style import ALPHA, BLUE, GREEN, GREY, ORANGE, PINK, RED, SKY, letter, panels
from phaselect.tables import Columns, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CAPTION = (
    "Share of instances recovered by each solver, one run each on the same instances (the front door `solve` tries "
    "several in turn), at each N, with 95 % Wilson intervals; and, for the largest N, the time of repeated runs on "
    "one core until one has succeeded with 99 % certainty. Dashed: 1.128, the Bayes-optimal threshold."
)
STYLES = {
    "solve": ("-", "o", "black"),
    "pa": ("-", "s", GREEN),
    "amp": ("--", "^", BLUE),
    "sa": ("-.", "v", RED),
    "langevin": (":", "D", PINK),
    "raf": ("--", "P", ORANGE),
    "altmin": (":", "X", SKY),
}
TITLES = {"solve": "phaselect.solve"} | {name: CONTENDERS[name].title for name in STYLES if name != "solve"}


def compute(context: Context) -> Columns:
    """Success and time of the preset sweep."""
    return analyse(context.rows("solvers"))


def draw(table: Table) -> Figure:
    """A panel for each N, and one for the time."""
    shares = table.where(kind="share")
    sizes = sorted(shares.values("n"))
    figure, axes = panels(len(sizes) + 1)
    for panel, n in zip(axes, sizes, strict=False):
        _draw_success(panel, shares.where(n=n))
        panel.set_title(f"$N = {n}$")
    axes[0].legend(loc="lower right", fontsize=6.5)
    _draw_time(axes[-1], shares.where(n=sizes[-1]))
    axes[-1].set_title(f"$N = {sizes[-1]}$")
    letter(axes)
    return figure


def _draw_success(axes: Axes, shares: Table) -> None:
    for solver, (dashes, marker, colour) in STYLES.items():
        own = shares.where(solver=solver)
        bars = [own["value"] - own["low"], own["high"] - own["value"]]
        line = axes.errorbar(
            own["alpha"], own["value"], yerr=bars, ls=dashes, marker=marker, ms=3, lw=1, elinewidth=0.5, color=colour
        )
        line.set_label(TITLES[solver])
    axes.axvline(BAYES_OPTIMAL, color=RED, ls="--", lw=0.8)
    axes.axhline(0.5, color=GREY, ls=":", lw=0.7)
    axes.set(xlabel=ALPHA, ylabel="share of instances recovered", ylim=(-0.03, 1.05))
    _mark_alphas(axes)


def _draw_time(axes: Axes, shares: Table) -> None:
    for solver, (dashes, marker, colour) in STYLES.items():
        own = shares.where(solver=solver)
        time = np.where(np.isfinite(own["tts_99"]), own["tts_99"], np.nan)
        axes.plot(own["alpha"], time, ls=dashes, marker=marker, ms=3, lw=1, color=colour)
    axes.axvline(BAYES_OPTIMAL, color=RED, ls="--", lw=0.8)
    axes.set(xlabel=ALPHA, ylabel="seconds to 99 % certainty", yscale="log")
    _mark_alphas(axes)


def _mark_alphas(axes: Axes) -> None:
    ticks = (1.0, 1.2, 1.4, 1.6, 2.0, 3.0, 4.0)
    axes.set_xscale("log")
    axes.set_xticks(ticks, [f"{alpha:g}" for alpha in ticks])
    axes.xaxis.minorticks_off()

"""The hard phase: copies that population annealing needs, N by N, below the Bayes-optimal threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaselect.base.tables import Columns, Table, stack
from phaselect.experiments.hard_phase import hard_phase_rows
from phaselect.experiments.limits import BAYES_OPTIMAL
from phaselect.figures.context import Context
from phaselect.figures.style import ALPHA, BLUE, GREY, RED, letter, panels, shades

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CAPTION = (
    "Population annealing below the Bayes-optimal threshold. (a) The number of copies with which half of the random "
    "instances are recovered, against N, with its 95 % interval; arrows: more than were tried. Lines: growth by a "
    "factor with every unknown, where that fits. (b) The rate of that growth, in powers of two per unknown, against "
    "alpha, with the line that says where it vanishes."
)


def compute(context: Context) -> Columns:
    """Copies, their growth, and where it ends, of the preset sweep."""
    return stack(hard_phase_rows(context.rows("hard_phase")))


def draw(table: Table) -> Figure:
    """Copies against N; rates against alpha."""
    figure, axes = panels(2)
    copies = table.where(kind="copies")
    alphas = sorted(copies.values("alpha"))
    for colour, alpha in zip(shades(max(2, len(alphas))), alphas, strict=False):
        _draw_copies(axes[0], copies.where(alpha=alpha), table.where(kind="exponential", alpha=alpha), alpha, colour)
    axes[0].set(xlabel="unknowns $N$", ylabel="copies for half of the instances", yscale="log")
    axes[0].set_yscale("log", base=2)
    axes[0].legend(loc="upper left")
    _draw_rates(axes[1], table)
    letter(axes)
    return figure


def _draw_copies(axes: Axes, own: Table, fit: Table, alpha: float, colour: object) -> None:
    known, open_above = own.take(np.isfinite(own["value"])), own.take(np.isnan(own["value"]) & np.isinf(own["high"]))
    bars = np.exp2([known["value"], known["low"], np.minimum(known["high"], 60)])
    axes.errorbar(
        known["n"],
        bars[0],
        yerr=[bars[0] - bars[1], bars[2] - bars[0]],
        fmt="o",
        ms=4,
        capsize=2,
        color=colour,
        label=rf"$\alpha = {alpha:g}$",
    )
    axes.plot(open_above["n"], np.exp2(open_above["low"]), "^", mfc="none", color=colour)
    if len(fit) and not fit["doubt"][0]:
        n = np.linspace(own["n"].min(), own["n"].max(), 50)
        axes.plot(n, np.exp2(fit["amplitude"][0] + fit["value"][0] * n), color=colour, lw=0.9)


def _draw_rates(axes: Axes, table: Table) -> None:
    fits, end = table.where(kind="exponential"), table.where(kind="vanishing")
    trusted = fits.take(fits["doubt"] == "")
    bars = np.maximum([trusted["value"] - trusted["low"], trusted["high"] - trusted["value"]], 0)
    axes.errorbar(trusted["alpha"], trusted["value"], yerr=bars, fmt="o", ms=4, capsize=2, color=BLUE, label="rate")
    if len(end) and not end["doubt"][0]:
        low, zero, high = (end[name][0] for name in ("low", "value", "high"))
        axes.axvspan(low, high, color=GREY, alpha=0.3, lw=0, label=f"vanishes at {zero:.3f} [{low:.3f}, {high:.3f}]")
    axes.axvline(BAYES_OPTIMAL, color=RED, ls="--", lw=0.9, label=f"Bayes-optimal, {BAYES_OPTIMAL}")
    axes.axhline(0.0, color=GREY, lw=0.7)
    axes.set(xlabel=ALPHA, ylabel="powers of 2 per unknown")
    axes.legend()

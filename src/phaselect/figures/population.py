"""Population annealing and the baselines: success against alpha for all sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaselect.base.tables import Columns, Table, stack
from phaselect.figures.context import Context
from phaselect.figures.style import letter, panels
from phaselect.figures.success_curves import HEIGHT, analyse, draw_alpha_50, draw_shares, legend, size_colours

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTION = (
    "Share of random instances recovered, with 95 % Wilson intervals, (a) by population annealing with 64 copies, "
    "(b) by "
    "the baselines, reweighted amplitude flow (circles) and alternating minimisation (crosses). Diamonds: "
    "alpha_50 with its "
    "bootstrap interval. Dashed: 1.128, the Bayes-optimal threshold. (c) alpha_50 of population annealing against N."
)
NAMES = {"pa": ("", "o"), "raf": ("flow, ", "o"), "altmin": ("alternating, ", "x")}


def compute(context: Context) -> Columns:
    """Success and thresholds of two preset sweeps."""
    return stack([analyse(context.rows("pa")), analyse(context.rows("baselines"))])


def draw(table: Table) -> Figure:
    """Population annealing; baselines; thresholds."""
    population = table.where(solver="pa")
    figure, axes = panels(3)
    figure.set_figheight(HEIGHT)
    for panel, own in ((axes[0], population), (axes[1], table.take(table["solver"] != "pa"))):
        for solver in own.values("solver"):
            name, marker = NAMES[solver]
            draw_shares(panel, own.where(solver=solver), size_colours(own), name, marker)
        legend(panel, columns=2, title="(instances)")
    axes[0].set_title("population annealing")
    axes[1].set_title("baselines")
    draw_alpha_50(axes[2], population)
    letter(axes)
    return figure

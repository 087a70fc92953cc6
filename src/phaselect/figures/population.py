"""Population annealing and the baselines: success against alpha for all sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaselect.base.style import BARS, legend, letter, panels
from phaselect.base.tables import Columns, Table, stack
from phaselect.experiments.limits import BAYES_OPTIMAL
from phaselect.figures.context import Context
from phaselect.figures.success_curves import BAYES, analyse, draw_alpha_50, draw_shares, size_looks, without_limit
from phaselect.solvers.registry import REGISTRY

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTION = (
    "Share of random instances recovered, with 95 % Wilson intervals, (a) by population annealing with 64 copies, (b) "
    "by the baselines, reweighted amplitude flow and alternating minimisation. Diamonds: alpha_50 with its bootstrap "
    "interval. Dashed: 1.128, the Bayes-optimal threshold. (c) alpha_50 of population annealing against N. "
    "Points at one alpha are moved apart a little."
)
BASELINES = {"raf": "-", "altmin": ":"}


def compute(context: Context) -> Columns:
    """Success and thresholds of two preset sweeps."""
    return stack([analyse(context.rows("pa")), analyse(context.rows("baselines"))])


def draw(table: Table) -> Figure:
    """Population annealing; baselines; thresholds."""
    population, sizes = table.where(solver="pa"), size_looks(table)
    figure, axes = panels(3)
    draw_shares(axes[0], population, sizes)
    for solver, line in BASELINES.items():
        draw_shares(axes[1], table.where(solver=solver), sizes, line)
        axes[1].plot([], [], "k", ls=line, label=REGISTRY[solver].title)
    axes[1].set_title("baselines")
    axes[2].axhline(BAYES_OPTIMAL, **BAYES)
    draw_alpha_50(axes[2], population)
    for panel in (axes[0], axes[2]):
        panel.set_title(r"population annealing, 64 copies, $\mu\lambda = 1$")
    letter(axes)
    legend(figure, *axes, title=f"{BARS}{without_limit(population)}")
    return figure

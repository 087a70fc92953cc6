"""Is it the splitting that helps? The same anneal of x itself against that of the signs, at equal work."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from phaselect.base.style import BARS, BLUE, GREEN, ORANGE, legend, letter, panels
from phaselect.base.tables import Columns, Table
from phaselect.experiments.search_in_x import anneal_in_x, entries, singular_directions
from phaselect.experiments.trials import Method, by_name, side_by_side
from phaselect.figures.comparison import Styles, draw_comparison, mark_alphas, success_of
from phaselect.figures.context import Context
from phaselect.problem.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTION = (
    "Share of instances recovered, with 95 % Wilson intervals, by anneals on one schedule, mu from 1 to 30000 in steps "
    "of 10 % at mu*lam = 1, 100 sweeps at each, M N multiplications a sweep: of the signs, x being regressed "
    "(simulated annealing); of x itself, Metropolis on the amplitude loss, changing one entry at a time or moving "
    "along one singular vector of A. All end with greedy flips. Diamonds: alpha_50. Dashed: 1.128, the Bayes-optimal "
    "threshold. Points at one alpha are moved apart a little."
)
EPS, PRODUCT = 0.1, 1.0
SIZES = {"small": {100: 8}, "paper": {100: 30, 200: 16}}
"""N, and the number of instances."""
ALPHAS = {"small": (1.2, 1.4, 1.6, 2.0), "paper": (1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2.0, 2.4)}
TICKS = (1.0, 1.2, 1.4, 1.6, 2.0, 2.4)
STYLES: Styles = {
    "sa": ("o-", BLUE, "signs (simulated annealing)"),
    "x": ("s--", ORANGE, "$x$ along singular vectors"),
    "x-entries": ("^:", GREEN, "$x$ entry by entry"),
}


def searches() -> dict[str, Method]:
    """The anneal of the signs and the two of x, all on the schedule of the first."""
    schedule = Schedule.fixed_product(PRODUCT, eps=EPS)
    return {
        "sa": by_name("sa", eps=EPS, product=PRODUCT),
        "x": partial(anneal_in_x, schedule=schedule, along=singular_directions),
        "x-entries": partial(anneal_in_x, schedule=schedule, along=entries),
    }


def compute(context: Context) -> Columns:
    """Success and thresholds of the three."""
    sizes, alphas = SIZES[context.scale], ALPHAS[context.scale]
    return success_of(side_by_side(searches(), sizes, alphas, context.progress, eps=EPS, product=PRODUCT))


def draw(table: Table) -> Figure:
    """A panel for each N."""
    sizes = table.values("n")
    figure, axes = panels(len(sizes))
    for panel, n in zip(axes, sizes, strict=True):
        draw_comparison(panel, table.where(n=n), STYLES, rf"$\mu\lambda = {PRODUCT:g}$")
        mark_alphas(panel, TICKS)
    letter(axes)
    legend(figure, *axes, columns=3, title=BARS)
    return figure

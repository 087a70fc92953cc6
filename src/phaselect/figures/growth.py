"""Time of a unit of work against N, in the paper's form and in ours, all measured in one run on one thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaselect.base.style import BLUE, GREEN, GREY, ORANGE, RED, legend_under, letter, logarithmic, panels
from phaselect.base.tables import Columns, Table, stack
from phaselect.experiments.costs import ALPHA, microseconds, power_law, units_of_work
from phaselect.figures.context import Context

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTION = (
    "Time of a unit of work on one thread, 1.25 measurements per unknown, with exponents fitted to all sizes. (a) "
    "The paper's algorithms in NumPy: the matrix of the regression that each change of lam asks for, the estimate it "
    "makes of given signs, a proposed flip by shifting the errors, an iteration of message passing with its two "
    "variances. (b) Ours: the SVD, done once; a change of lam, a proposed flip, an iteration of message passing, a "
    "Langevin step. The least of several times at each N, and so without bars."
)
SIZES = {"small": (50, 100, 200, 400), "paper": (100, 200, 400, 800, 1600)}
COLOURS = {
    "regression": (RED, "o"),
    "SVD": (RED, "o"),
    "message passing": (BLUE, "s"),
    "estimate": (GREEN, "^"),
    "Langevin step": (GREEN, "^"),
    "proposal": (ORANGE, "D"),
    "change of lam": (GREY, "v"),
}


def compute(context: Context) -> Columns:
    """A row for each form, unit and N."""
    parts, sizes = [], SIZES[context.scale]
    for count, n in enumerate(sizes):
        context.progress(count / len(sizes))
        works = units_of_work(n)
        forms, units = zip(*works, strict=True)
        parts.append({"form": forms, "unit": units, "n": n, "microseconds": microseconds(list(works.values()))})
    return stack(parts)


def draw(table: Table) -> Figure:
    """A panel for each form."""
    figure, axes = panels(2)
    for panel, form, title in zip(axes, ("paper", "ours"), ("the paper's form", "ours"), strict=True):
        own = table.where(form=form)
        for unit in own.values("unit"):
            rows, (colour, marker) = own.where(unit=unit), COLOURS[unit]
            exponent = power_law(rows["n"], rows["microseconds"]).exponent
            label = unit.replace("lam", r"$\lambda$") + f", $N^{{{exponent:.2f}}}$"
            panel.plot(rows["n"], rows["microseconds"], marker=marker, ms=4, color=colour, label=label)
        panel.set(xlabel="unknowns $N$", ylabel="time of a unit (µs)")
        panel.set_title(rf"{title}, $\alpha = {ALPHA:g}$, one thread")
        logarithmic(panel, "x", table["n"])
        logarithmic(panel, "y", table["microseconds"])
        panel.set_ylim(0.5 * table["microseconds"].min(), 2 * table["microseconds"].max())  # the same, to compare
    letter(axes)
    legend_under(figure, *axes, columns=2)
    return figure

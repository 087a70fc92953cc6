"""Annealing mu and lam together, at fixed product."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from phaselect.base.style import MSE_Y, OVERLAP, letter, logarithmic, panels, shades
from phaselect.base.tables import Columns, Table, stack
from phaselect.figures.context import Context
from phaselect.problem.schedule import Schedule
from phaselect.theory import follow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTION = (
    "Infinitely slow anneals from high temperature at fixed product of mu and lambda, residual against overlap with "
    "the signal: (a) at the matched product, 1, for several numbers of measurements; (b) at 1.2 measurements per "
    "unknown for several products. A dot marks where the anneal ends, at mu = 30000."
)
MATCHED = (1.0,)
ALPHAS = (1.2, 1.3, 1.4, 1.5, 1.6, 1.7)
PRODUCTS = (0.1, 0.5, 1.0, 3.0)
HARD = 1.2
MU_RANGE = (0.05, 3e4)
STEPS = {"small": 0.1, "paper": 0.08}
"""Relative step of mu."""


def compute(context: Context) -> Columns:
    """One anneal per curve."""
    anneals = [("a", alpha, product) for product in MATCHED for alpha in ALPHAS]
    anneals += [("b", HARD, product) for product in PRODUCTS]
    parts = []
    for count, (panel, alpha, product) in enumerate(anneals):
        context.progress(count / len(anneals))
        parts.append({"panel": panel, "product": product, **anneal(alpha, product, STEPS[context.scale])})
    return stack(parts)


def anneal(alpha: float, product: float, step: float) -> dict[str, Any]:
    """The uninformed branch, followed from high temperature."""
    schedule = Schedule.fixed_product(product, mu0=MU_RANGE[0], mu_max=MU_RANGE[1], eps=step)
    branch = follow(alpha, schedule)
    return {name: branch[name] for name in ("alpha", "mu", "lam", "m", "mse_y", "O", "trusted")}


def draw(table: Table) -> Figure:
    """Residual against overlap, by alpha and by product."""
    figure, axes = panels(2)
    for panel, name, by, symbol in zip(axes, "ab", ("alpha", "product"), (r"\alpha", r"\mu\lambda"), strict=True):
        chosen = table.where(panel=name)
        values = chosen.values(by)
        for colour, value in zip(shades(len(values)), values, strict=True):
            rows = chosen.where(**{by: value})
            panel.plot(rows["m"], rows["mse_y"], color=colour, label=f"${symbol} = {value:g}$")
            panel.plot(rows["m"][-1], rows["mse_y"][-1], "o", color=colour, clip_on=False, zorder=3)
        panel.set(xlabel=OVERLAP, ylabel=MSE_Y, xlim=(-0.03, 1.03))
        logarithmic(panel, "y", chosen["mse_y"])
        panel.plot([], [], "ko", label=rf"end, $\mu = {MU_RANGE[1]:.0f}$")
        panel.legend(loc="lower center")
    axes[0].set_title(rf"$\mu\lambda = {MATCHED[0]:g}$")
    axes[1].set_title(rf"$\alpha = {HARD:g}$")
    letter(axes)
    return figure

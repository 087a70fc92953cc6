"""Where replica symmetry fails: clusters of sign vectors without overlap, and on the way of an anneal."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import brentq

from phaselect.base.style import (
    ALPHA,
    BLUE,
    GREEN,
    GREY,
    MSE_Y,
    MU,
    ORANGE,
    PINK,
    RED,
    SKY,
    legend,
    letter,
    logarithmic,
    panels,
)
from phaselect.base.tables import Columns, Table, stack
from phaselect.figures.context import Context
from phaselect.theory import Point, saddle_point_at_sign_overlap, traps
from phaselect.theory.continuation import anneal_path
from phaselect.theory.control import MU_MAX
from phaselect.theory.on_the_way import clusters_on_the_way

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CAPTION = (
    "Failure of replica symmetry. At zero overlap, without regulariser: (a) where the overlap begins to grow, clusters "
    "of sign vectors form, a few of them dominate (one step of replica symmetry breaking), the point becomes locally "
    "unstable, and its complexity vanishes; (b) the residual where clusters form, of the best sign vectors, and where "
    "that complexity vanishes. (c) On the branch of an infinitely slow anneal, until it finds the signal: the largest "
    "growth of clusters. From 1 on (filled) they form on the way."
)
ALPHAS = {
    "small": [1.15, 1.3, 1.45, 1.5, 1.53, 1.56, 1.6, 1.7],
    "paper": np.unique(np.round([*np.arange(1.15, 1.91, 0.05), *np.arange(1.5, 1.605, 0.01)], 3)).tolist(),
}
RULES = ((0.005, None), *((None, product) for product in (0.1, 0.3, 1.0, 3.0)))
"""lam, or the product mu*lam, that is kept fixed; besides lam = 0."""
RULE_ALPHAS = {"small": [1.1, 1.2, 1.4], "paper": [1.1, 1.13, 1.15, 1.2, 1.25, 1.3, 1.4, 1.5, 1.6]}
TEMPERATURES = (
    ("mu_leave", "-", "", BLUE, "$m$ begins to grow"),
    ("mu_dynamical", "--", "o", RED, "clusters form"),
    ("mu_static", ":", "s", GREEN, "few clusters dominate"),
    ("mu_replicon", "-.", "", GREY, "replicon of $m = 0$ is 1"),
    ("mu_crisis", "-", "^", ORANGE, "complexity of $m = 0$ vanishes"),
)
RESIDUALS = (
    ("mse_y_dynamical", "--", "o", RED, "where clusters form"),
    ("mse_y_ground", ":", "s", GREEN, "best without the signal"),
    ("mse_y_crisis", "-", "^", ORANGE, r"replica symmetric $\Sigma = 0$"),
)


def compute(context: Context) -> Columns:
    """A row for each alpha at lam = 0, then, of the followed branch alone, at each rule; nan where there is none."""
    alphas, fewer = ALPHAS[context.scale], RULE_ALPHAS[context.scale]
    jobs: list[Callable[[], dict[str, Any]]] = [partial(_at_lam_0, alpha) for alpha in alphas]
    jobs += [partial(_on_the_way, alpha, *rule) for rule in RULES for alpha in fewer]
    parts = []
    for count, job in enumerate(jobs):
        context.progress(count / len(jobs))
        parts.append(job())
    columns = stack(dict.fromkeys(parts[0], math.nan) | part for part in parts)
    never = {"mu_dynamical": columns["mu_dynamical"]}  # infinite: there are no clusters; nan: that is not known
    return {name: np.where(np.isfinite(column), column, math.nan) for name, column in columns.items()} | never


def _at_lam_0(alpha: float) -> dict[str, Any]:
    row: dict[str, Any] = dict(traps([alpha]))
    del row["converged"]  # a number that was not found is nan
    mu_replicon = mu_without_overlap(alpha, lambda point: point.replicon - 1)
    mu_crisis = mu_without_overlap(alpha, lambda point: -point.complexity)
    return row | {"mu_replicon": mu_replicon, "mu_crisis": mu_crisis, "mse_y_crisis": _residual(alpha, mu_crisis)}


def _on_the_way(alpha: float, lam: float | None, product: float | None) -> dict[str, Any]:
    found = clusters_on_the_way(anneal_path(alpha, lam, product))
    fixed = {"lam": math.nan if lam is None else lam, "product": math.nan if product is None else product}
    return {"alpha": alpha, **fixed, **{f"{name}_followed": value for name, value in found._asdict().items()}}


def mu_without_overlap(alpha: float, level: Callable[[Point], float]) -> float:
    """First mu at which `level` turns positive at the replica symmetric point of zero overlap; nan where it never does.

    Beyond mu_leave that point is no longer where an anneal goes, but it is where one without overlap stays.
    """

    def at(log_mu: float) -> float:
        return level(_without_overlap(alpha, math.exp(log_mu)))

    grid = np.linspace(math.log(0.01), math.log(MU_MAX), 60).tolist()
    above = next((i for i, log_mu in enumerate(grid) if at(log_mu) > 0), None)
    return math.nan if not above else math.exp(brentq(at, grid[above - 1], grid[above]))


def _residual(alpha: float, mu: float) -> float:
    return math.nan if math.isnan(mu) else _without_overlap(alpha, mu).mse_y


def _without_overlap(alpha: float, mu: float) -> Point:
    return saddle_point_at_sign_overlap(alpha, mu, sign_overlap=0.0)


def draw(table: Table) -> Figure:
    """Temperatures and residuals without overlap, and the growth of clusters on the way, against alpha."""
    figure, axes = panels(3)
    without = table.where(lam=0.0)
    for panel, lines, label in zip(axes, (TEMPERATURES, RESIDUALS), (MU, MSE_Y), strict=False):
        for name, dash, marker, colour, text in lines:
            panel.plot(without["alpha"], without[name], dash, marker=marker, ms=3, color=colour, label=text)
        panel.set(xlabel=ALPHA, ylabel=label, title=r"$m = 0$, $\lambda = 0$")
        logarithmic(panel, "y", np.concatenate([without[name] for name, *_ in lines]))
        panel.legend()
    _draw_growth(axes[2], table)
    letter(axes)
    legend(figure, axes[2])
    return figure


def _draw_growth(axes: Axes, table: Table) -> None:
    rules = [(rf"$\lambda = {lam:g}$", table.where(lam=lam)) for lam in table.values("lam") if math.isfinite(lam)]
    products = [product for product in table.values("product") if math.isfinite(product)]
    rules += [(rf"$\mu\lambda = {product:g}$", table.where(product=product)) for product in products]
    looks = ((BLUE, "o"), (SKY, "s"), (GREEN, "^"), (ORANGE, "v"), (RED, "D"), (PINK, "P"))
    for (label, own), (colour, marker) in zip(rules, looks, strict=False):
        clusters = own["growth_followed"] >= 1
        axes.plot(
            own["alpha"], own["growth_followed"], "-", marker=marker, ms=4, mfc="white", color=colour, label=label
        )
        axes.plot(own["alpha"][clusters], own["growth_followed"][clusters], marker, ms=4, color=colour)
    axes.plot([], [], "ko", label="filled: clusters form on the way")
    axes.axhline(1, color=GREY, lw=0.9, ls=":", label="from here on they do")
    axes.set(xlabel=ALPHA, ylabel="growth of clusters", title="on the way of an anneal")

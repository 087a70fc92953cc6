"""What the regulariser does to the work that recovery takes, on instances that are recovered with it and with less."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from phaselect.base.style import (
    ALPHA,
    BARS,
    GREY,
    between,
    legend,
    letter,
    logarithmic,
    looks,
    panels,
    with_bars,
)
from phaselect.base.tables import Columns, Table, stack
from phaselect.experiments.runs import one_thread
from phaselect.experiments.work_to_recovery import iterations_of_message_passing, mean_ratio, sweeps_of_annealing
from phaselect.figures.context import Context
from phaselect.problem.ensembles import gaussian_instance

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CAPTION = (
    "How many times the work recovery takes with a smaller product mu*lam than with 1, on the same instances, those "
    "recovered with both: geometric mean and 95 % interval. (a) Simulated annealing, N = 200: sweeps of the shortest "
    "anneal that recovers, of 1, 2, 4 ... 256 sweeps at each temperature. (b) Message passing, N = 400: iterations "
    "within one run. Open: where not all instances were recovered with both. Above the dotted line the "
    "regulariser speeds up recovery. Points at one alpha are moved apart a little."
)
MATCHED = 1.0
WORK: dict[str, Any] = {"sa": sweeps_of_annealing, "amp": iterations_of_message_passing}
SIZES = {"sa": 200, "amp": 400}
PRODUCTS = (0.3, 0.1, 0.0)
ALPHAS = {"sa": (1.6, 1.8, 2.0, 2.5, 3.0, 4.0), "amp": (1.3, 1.5, 1.75, 2.0, 2.5, 3.0)}
WIDE = 5.0
"""Ratios beyond this are drawn on a logarithmic axis."""
INSTANCES = {"small": 4, "paper": 24}


def compute(context: Context) -> Columns:
    """A row for each solver, alpha and product below 1."""
    places = [(solver, alpha) for solver in WORK for alpha in ALPHAS[solver]]
    parts: list[dict[str, Any]] = []
    for count, (solver, alpha) in enumerate(places):
        context.progress(count / len(places))
        work = work_by_product(solver, alpha, INSTANCES[context.scale])
        parts += [
            compared(work, product) | {"solver": solver, "n": SIZES[solver], "alpha": alpha} for product in PRODUCTS
        ]
    return stack(parts)


def work_by_product(solver: str, alpha: float, instances: int) -> dict[float, Any]:
    """Work on each instance at every product, nan where it is not recovered."""
    work: dict[float, Any] = {product: np.empty(instances) for product in (MATCHED, *PRODUCTS)}
    with one_thread():
        for seed in range(instances):
            problem = gaussian_instance(SIZES[solver], alpha, seed=seed)
            for product, found in work.items():
                found[seed] = WORK[solver](problem, product, seed)
    return work


def compared(work: dict[float, Any], product: float) -> dict[str, Any]:
    """Work at one product over that at the matched one, on the instances recovered with both."""
    less, matched = work[product], work[MATCHED]
    both = np.isfinite(less) & np.isfinite(matched)
    ratio = mean_ratio(less[both], matched[both])
    recovered = {"recovered": int(np.isfinite(less).sum()), "recovered_matched": int(np.isfinite(matched).sum())}
    counts = {"product": product, "instances": less.size, **recovered, "pairs": int(both.sum())}
    return counts | {"ratio": ratio.value, "low": ratio.low, "high": ratio.high}


def draw(table: Table) -> Figure:
    """A panel for each solver, a curve for each product."""
    figure, axes = panels(2)
    for panel, solver, title in zip(axes, WORK, ("simulated annealing", "message passing"), strict=True):
        own = table.where(solver=solver)
        _draw(panel, own)
        panel.set_title(f"{title}, $N = {own['n'][0]}$, {own['instances'].max()} instances")
    letter(axes)
    legend(figure, *axes, columns=5, title=BARS)
    return figure


def _draw(axes: Axes, table: Table) -> None:
    products = table.values("product")
    for place, (product, look) in enumerate(looks(products).items()):
        own = table.where(product=product)
        own = own.take(np.isfinite(own["ratio"]))
        at = own["alpha"] * 1.05 ** between(place, len(products))
        with_bars(axes, at, own["ratio"], own["low"], own["high"], label=rf"$\mu\lambda = {product:g}$", **look)
        fewer = own["pairs"] < own["instances"]
        axes.plot(at[fewer], own["ratio"][fewer], ls="", ms=4, mfc="white", zorder=3, **look)
    axes.plot([], [], "ko", mfc="white", label="recovered with both on some instances only")
    axes.axhline(1.0, color=GREY, ls=":", lw=0.9, label="no difference")
    axes.set(xlabel=ALPHA, ylabel=r"work over that at $\mu\lambda = 1$")
    if np.nanmax(table["high"]) > WIDE:
        logarithmic(axes, "y", table["ratio"])

"""How many measurements an anneal needs, against the product of mu and lambda that it keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaselect.base.style import BLUE, RED, logarithmic, panels
from phaselect.base.tables import Columns, Table, stack
from phaselect.figures.context import Context
from phaselect.theory import bayes_optimal, critical_alpha

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTION = (
    "Fewest measurements per unknown at which an infinitely slow anneal at fixed product of mu and lambda recovers the "
    "signal. The minimum, at the matched product 1 (star), is the threshold of Bayes-optimal message passing (dashed)."
)
PRODUCTS = {"small": np.geomspace(0.1, 10, 13), "paper": np.geomspace(0.1, 10, 25)}
TOLERANCE = 1e-4


def compute(context: Context) -> Columns:
    """A threshold for each product."""
    products = PRODUCTS[context.scale].tolist()
    thresholds = []
    for count, product in enumerate(products):
        context.progress(count / len(products))
        thresholds.append(critical_alpha(product, tolerance=TOLERANCE))
    return stack([{"product": products, "alpha": thresholds, "alpha_bayes": bayes_threshold()}])


def bayes_threshold() -> float:
    """Smallest alpha at which Bayes-optimal message passing recovers, by bisection of its scalar equation."""
    low, high = 1.0, 1.5
    while high - low > 1e-6:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if bayes_optimal(middle).phase == "easy" else (middle, high)
    return 0.5 * (low + high)


def draw(table: Table) -> Figure:
    """Threshold against product."""
    figure, (axes,) = panels(1)
    product, alpha, bayes = table["product"], table["alpha"], table["alpha_bayes"][0]
    best = int(np.argmin(alpha))
    axes.axhline(bayes, color=RED, ls="--", lw=0.9, label=f"Bayes-optimal: {bayes:.4f}")
    axes.plot(product, alpha, "o-", ms=3, color=BLUE, label="anneal at fixed product")
    axes.plot(
        product[best],
        alpha[best],
        "*",
        ms=10,
        color=BLUE,
        mec="white",
        label=rf"minimum: $\mu\lambda = {product[best]:.3g}$",
    )
    axes.set(xlabel=r"product $\mu\lambda$", ylabel=r"smallest $\alpha$ that recovers", title=r"theory, $N = \infty$")
    logarithmic(axes, "x", product)
    axes.legend(loc="upper center")
    return figure

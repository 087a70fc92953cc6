"""Where replica symmetry fails without regulariser, and what clusters of sign vectors do to an anneal."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

from phaselect.base.tables import Columns, Table
from phaselect.figures.context import Context
from phaselect.figures.style import ALPHA, BLUE, GREEN, GREY, MSE_Y, MU, ORANGE, RED, letter, logarithmic, panels
from phaselect.theory import Point, saddle_point_at_sign_overlap, traps

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTION = (
    "Failure of replica symmetry at zero overlap, without regulariser. (a) Inverse temperatures at which the overlap "
    "begins to grow, at which clusters of sign vectors form and a few of them dominate (one step of replica symmetry "
    "breaking), at which the point of zero overlap becomes locally unstable, and at which its complexity vanishes. (b) "
    "Residual where clusters form, of the best sign vectors without overlap, and where that complexity vanishes."
)
MU_RANGE = (0.01, 1e5)
ALPHAS = {
    "small": [1.15, 1.2, 1.25, 1.3, 1.35, 1.4, 1.45, 1.5, 1.51, 1.52, 1.53, 1.54, 1.55, 1.6, 1.65, 1.7, 1.8, 1.9],
    "paper": np.unique(np.round([*np.arange(1.15, 1.91, 0.025), *np.arange(1.5, 1.56, 0.01)], 3)).tolist(),
}
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
    """A row for each alpha; nan where there is no such transition."""
    alphas = ALPHAS[context.scale]
    columns = traps(alphas, progress=context.progress)
    del columns["converged"]  # a number that was not found is nan
    columns["mu_replicon"] = np.array([mu_without_overlap(alpha, lambda point: point.replicon - 1) for alpha in alphas])
    columns["mu_crisis"] = np.array([mu_without_overlap(alpha, lambda point: -point.complexity) for alpha in alphas])
    columns["mse_y_crisis"] = np.array(list(map(_residual, alphas, columns["mu_crisis"].tolist())))
    return {name: np.where(np.isfinite(column), column, math.nan) for name, column in columns.items()}


def mu_without_overlap(alpha: float, level: Callable[[Point], float]) -> float:
    """First mu at which `level` turns positive at the replica symmetric point of zero overlap; nan where it never does.

    Beyond mu_leave that point is no longer where an anneal goes, but it is where one without overlap stays.
    """

    def at(log_mu: float) -> float:
        return level(_without_overlap(alpha, math.exp(log_mu)))

    grid = np.linspace(math.log(MU_RANGE[0]), math.log(MU_RANGE[1]), 60).tolist()
    above = next((i for i, log_mu in enumerate(grid) if at(log_mu) > 0), None)
    return math.nan if not above else math.exp(brentq(at, grid[above - 1], grid[above]))


def _residual(alpha: float, mu: float) -> float:
    return math.nan if math.isnan(mu) else _without_overlap(alpha, mu).mse_y


def _without_overlap(alpha: float, mu: float) -> Point:
    return saddle_point_at_sign_overlap(alpha, mu, sign_overlap=0.0)


def draw(table: Table) -> Figure:
    """Temperatures and residuals against alpha."""
    figure, axes = panels(2)
    for panel, lines, label in zip(axes, (TEMPERATURES, RESIDUALS), (MU, MSE_Y), strict=True):
        for name, dash, marker, colour, text in lines:
            panel.plot(table["alpha"], table[name], dash, marker=marker, ms=3, color=colour, label=text)
        panel.set(xlabel=ALPHA, ylabel=label)
        logarithmic(panel, "y", np.concatenate([table[name] for name, *_ in lines]))
        panel.legend()
    letter(axes)
    return figure

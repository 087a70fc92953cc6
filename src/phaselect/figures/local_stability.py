"""Where along an anneal replica symmetry is locally stable, and where it counts less than one sign vector."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phaselect.base.curves import draw_split
from phaselect.base.style import COMPLEXITY, GREY, MSE_Y, SKY, legend, letter, logarithmic, panels, shades
from phaselect.base.tables import Columns, Table, stack
from phaselect.figures.context import Context
from phaselect.problem.schedule import Schedule
from phaselect.theory import complexity_curve, entropy_crisis, follow, saddle_point, transitions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CAPTION = (
    "Residual against complexity along the uninformed branch, (a) without regulariser and (b) at lambda = 0.005; mu "
    "grows downwards. Solid: locally stable (replicon below 1); dashed, on a band: unstable. Crosses: the complexity "
    "vanishes, and replica symmetry must be broken at the latest. Thin: the point of zero overlap, past where the "
    "anneal leaves it. A gap in a line is a jump: there the branch ends, and the anneal goes on elsewhere."
)
ALPHAS = (1.2, 1.3, 1.4, 1.5, 1.6, 1.7)
LAMS = (0.0, 0.005)
MU_RANGE = (0.02, 1e5)
COUNTS = {"small": 80, "paper": 120}
BAND: dict[str, Any] = {"color": SKY, "alpha": 0.5, "lw": 5, "zorder": 1}
"""What lies under a line where it is unstable."""


def compute(context: Context) -> Columns:
    """The uninformed branch at each alpha and lam, and the point of zero overlap that it may have left."""
    parts = []
    for row, lam in enumerate(LAMS):
        for column, alpha in enumerate(ALPHAS):
            context.progress((row + column / len(ALPHAS)) / len(LAMS))
            parts += stability_along(alpha, lam, np.geomspace(*MU_RANGE, COUNTS[context.scale]))
    return stack(parts)


def stability_along(alpha: float, lam: float, mus: NDArray[np.float64]) -> list[dict[str, Any]]:
    """Lines "anneal" (then "jumped", once the branch has ended and the anneal is on another) and "no overlap"."""
    ends = transitions(alpha, lam).mu_uninformed_end
    if math.isfinite(ends):
        mus = np.unique(np.concatenate([mus, ends * (1 + np.array([-1e-2, -1e-4, -1e-6, 1e-6]))]))
    branch = follow(alpha, Schedule(mus, np.full_like(mus, lam)))
    parts = [_part(np.where(mus > ends, "jumped", "anneal"), branch)]
    if branch["m"].max() > 0:
        parts.append(_part("no overlap", complexity_curve(alpha, mus.tolist(), lam, sign_overlap=0.0)))
    return parts


def _part(line: Any, branch: Table) -> dict[str, Any]:
    alpha, lam = float(branch["alpha"][0]), float(branch["lam"][0])
    crisis = entropy_crisis(alpha, lam)
    return {
        "line": line,
        **{name: branch[name] for name in ("alpha", "lam", "mu", "m", "mse_y", "complexity", "replicon")},
        "stable": branch["replicon"] < 1,
        "mse_y_crisis": saddle_point(alpha, crisis, lam).mse_y if math.isfinite(crisis) else math.nan,
    }


def _point_out(axes: Axes, x: NDArray[np.float64], y: NDArray[np.float64], words: str) -> None:
    """An arrow to the middle of what is unstable here: it may be short."""
    shown = np.flatnonzero(np.isfinite(y))
    middle = shown[len(shown) // 2]
    arrow = {"arrowstyle": "->", "lw": 0.8, "shrinkB": 4}
    place: dict[str, Any] = {"xytext": (0.4, 0.1), "textcoords": "axes fraction", "size": "small", "arrowprops": arrow}
    axes.annotate(words, (x[middle], y[middle]), **place)


def draw(table: Table) -> Figure:
    """A panel for each lam."""
    figure, axes = panels(2)
    for panel, lam in zip(axes, table.values("lam"), strict=True):
        chosen = table.where(lam=lam)
        alphas = chosen.values("alpha")
        for colour, alpha in zip(shades(len(alphas)), alphas, strict=True):
            rows = chosen.where(alpha=alpha)
            for line in rows.values("line"):
                part = rows.where(line=line)
                look = {"color": colour, "lw": 0.8 if line == "no overlap" else 1.5}
                label = rf"$\alpha = {alpha:g}$" if line == "anneal" else None
                draw_split(panel, part["complexity"], part["mse_y"], part["stable"], {"ls": "--"}, label=label, **look)
                unstable = np.where(part["stable"], np.nan, part["mse_y"])
                panel.plot(part["complexity"], unstable, **BAND)
                if line == "jumped" and np.isfinite(unstable).any():
                    _point_out(panel, part["complexity"], unstable, rf"$\alpha = {alpha:g}$, after its jump: unstable")
            panel.plot(0, rows["mse_y_crisis"][0], "x", color=colour, ms=5, zorder=3)
        panel.axvline(0, color=GREY, lw=0.7)
        panel.set(xlabel=COMPLEXITY, ylabel=MSE_Y, title=rf"$\lambda = {lam:g}$", xlim=(-0.25, 1.25))
        logarithmic(panel, "y", table["mse_y"])
    axes[0].plot([], [], "k-", lw=0.8, label="thin: $m = 0$, left by the anneal")
    for width, label in ((1.5, "unstable: replicon $> 1$"), (0.8, "unstable, $m = 0$")):
        axes[0].plot([], [], **BAND, label=label)
        axes[0].plot([], [], "k--", lw=width, label=label)
    axes[0].plot([], [], "kx", label=r"$\Sigma = 0$ on the anneal")
    letter(axes)
    legend(figure, *axes, columns=5)
    return figure

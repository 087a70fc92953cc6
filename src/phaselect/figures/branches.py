"""Informed and uninformed branches without regulariser, and which of the two dominates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phaselect.base.curves import draw_split
from phaselect.base.style import FREE_ENTROPY, MSE_Y, MU, OVERLAP, legend, letter, logarithmic, panels, shades
from phaselect.base.tables import Columns, Table, stack
from phaselect.figures.context import Context
from phaselect.problem.schedule import Schedule
from phaselect.theory import follow, transitions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CAPTION = (
    "Branches of the replica symmetric theory without regulariser: (a) free entropy against inverse temperature, (b) "
    "residual against overlap with the signal. Where two branches coexist the one of larger free entropy is solid, the "
    "other dashed; circles mark where the informed branch is born, crosses where the uninformed one ends."
)
ALPHAS = (1.2, 1.3, 1.4, 1.5, 1.6, 1.7)
MU_RANGE = (0.3, 3000.0)
COUNTS = {"small": 80, "paper": 160}


def compute(context: Context) -> Columns:
    """Both branches at each alpha."""
    parts: list[dict[str, Any]] = []
    for count, alpha in enumerate(ALPHAS):
        context.progress(count / len(ALPHAS))
        parts += coexisting(alpha, 0.0, np.geomspace(*MU_RANGE, COUNTS[context.scale]))
    return stack(parts)


def coexisting(alpha: float, lam: float, mus: NDArray[np.float64]) -> list[dict[str, Any]]:
    """The uninformed branch up to its end and the informed one from its birth; the same mu on both."""
    born, equal, ends = transitions(alpha, lam)
    mus = _refined(mus, born, equal, ends)
    found = {"uninformed": _along(alpha, lam, mus[~(mus > ends)], "uninformed")}
    if (mus > born).any():
        found["informed"] = _along(alpha, lam, mus[mus > born], "informed")
    parts = []
    for line, branch in found.items():
        rival = np.full_like(branch["mu"], -np.inf)
        for other in found.keys() - {line}:
            mu, value = found[other]["mu"], found[other]["free_entropy"]
            rival = np.interp(branch["mu"], mu, value, left=-np.inf, right=-np.inf)
        parts.append({"line": line, **branch, "dominant": branch["free_entropy"] >= rival})
    return parts


def _along(alpha: float, lam: float, mus: NDArray[np.float64], start: str) -> Columns:
    branch = follow(alpha, Schedule(mus, np.full_like(mus, lam)), start=start)
    return {name: branch[name] for name in ("alpha", "lam", "mu", "m", "mse_y", "free_entropy")}


def _refined(mus: NDArray[np.float64], born: float, equal: float, ends: float) -> NDArray[np.float64]:
    """More temperatures next to the folds, where m has a vertical slope, and at the crossing."""
    near = np.geomspace(1e-6, 0.1, 10)
    extra = np.concatenate([born * (1 + near), ends * (1 - near), [equal * (1 - 1e-9), equal * (1 + 1e-9)]])
    inside = extra[(extra > mus[0]) & (extra < mus[-1])]
    return np.unique(np.concatenate([mus, inside]))


def draw(table: Table) -> Figure:
    """Free entropy against mu, and residual against overlap."""
    figure, axes = panels(2)
    left, right = axes
    draw_branches(left, table, "mu", "free_entropy")
    draw_branches(right, table, "m", "mse_y")
    left.set(xlabel=MU, ylabel=FREE_ENTROPY, xlim=(table["mu"].min(), table["mu"].max()), ylim=(-0.45, 1.1))
    right.set(xlabel=OVERLAP, ylabel=MSE_Y, xlim=(-0.03, 1.03))
    logarithmic(left, "x", table["mu"])
    logarithmic(right, "y", table["mse_y"])
    for panel in axes:
        panel.set_title(r"$\lambda = 0$")
    label_ends(left)
    letter(axes)
    legend(figure, *axes, columns=5)
    return figure


def draw_branches(axes: Axes, table: Table, x: str, y: str) -> None:
    """Every branch of a table that `coexisting` made, with the ends of those that have one."""
    alphas = table.values("alpha")
    for colour, alpha in zip(shades(len(alphas)), alphas, strict=True):
        both = table.where(alpha=alpha)
        for line in both.values("line"):
            rows = both.where(line=line)
            label = rf"$\alpha = {alpha:g}$" if line == "uninformed" else None
            draw_split(axes, rows[x], rows[y], rows["dominant"], {"ls": "--"}, color=colour, label=label)
        informed, uninformed = both.where(line="informed"), both.where(line="uninformed")
        if len(informed):
            axes.plot(informed[x][0], informed[y][0], "o", ms=3, color=colour, mfc="white", zorder=3)
            if uninformed["mu"][-1] < informed["mu"][-1]:
                axes.plot(uninformed[x][-1], uninformed[y][-1], "x", ms=3.5, color=colour, zorder=3)


def label_ends(axes: Axes) -> None:
    """Legend entries for the dashes and the marks of `draw_branches`."""
    axes.plot([], [], "k--", label="smaller free entropy")
    axes.plot([], [], "ko", ms=3, mfc="white", label="informed born")
    axes.plot([], [], "kx", ms=3.5, label="uninformed ends")

"""What a fixed regulariser does: branches, phase diagram, where the overlap begins to grow and how far it gets."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from phaselect.base.style import (
    ALPHA,
    GREY,
    MSE_Y,
    MU,
    OVERLAP,
    legend,
    legend_under,
    letter,
    logarithmic,
    looks,
    panels,
)
from phaselect.base.tables import Columns, Table, stack
from phaselect.figures.branches import coexisting, draw_branches, label_ends
from phaselect.figures.context import Context
from phaselect.problem.schedule import Schedule
from phaselect.theory import alpha_merge, alpha_recovery, follow, max_overlap, mu_at_overlap, transitions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CAPTION = (
    "A fixed regulariser. (a) The two branches at lambda = 0.005, the dominant one solid, circles and crosses at their "
    "ends. (b) Where the informed branch is born (solid), takes over (dashed) and the uninformed one ends (dotted), at "
    "lambda = 0 and 0.005. Vertical lines: the information limit alpha = 1; at each lambda, where the two branches "
    "merge (solid, the solvability threshold) and from where on a slow anneal reaches m > 0.9 (dash-dotted). (c) "
    "Inverse temperature at which an anneal reaches m = 0.1, and (d) the largest overlap that it reaches; dotted: what "
    "is left of it at mu = 10^5."
)
BRANCHED = 0.005
BRANCH_ALPHAS = (1.2, 1.3, 1.4, 1.5, 1.6, 1.7)
MU_RANGE = (0.3, 1e5)
DIAGRAM_LAMS = (0.0, 0.005)
LAMS = (0.0, 0.001, 0.005, 0.02, 0.1)
GROWN = 0.1
COUNTS = {"small": (80, 18, 15), "paper": (200, 60, 53)}
"""Temperatures of a branch, alphas of the phase diagram, alphas of the panels below it."""
STEEP = (1.125, 1.13, 1.52, 1.54, 1.55, 1.575, 1.584)
"""Where an anneal begins to recover."""
LINES = {"born": "-", "equal": "--", "ends": ":"}
WORDS = {"merge": "branches merge", "recovery": "anneal recovers"}
THRESHOLDS: dict[str, Callable[[float], float]] = {"merge": alpha_merge, "recovery": alpha_recovery}


def compute(context: Context) -> Columns:
    """All panels, told apart by `panel` and `line`; what a line does not have is nan."""
    temperatures, diagram, anneals = COUNTS[context.scale]
    parts: list[dict[str, Any]] = []
    for count, alpha in enumerate(BRANCH_ALPHAS):
        context.progress(0.3 * count / len(BRANCH_ALPHAS))
        branches = coexisting(alpha, BRANCHED, np.geomspace(*MU_RANGE, temperatures))
        parts += [_part("a", **branch) for branch in branches]
    for count, lam in enumerate(DIAGRAM_LAMS):
        context.progress(0.3 + 0.3 * count / len(DIAGRAM_LAMS))
        parts += phase_lines(lam, diagram)
    for count, lam in enumerate(LAMS):
        context.progress(0.6 + 0.4 * count / len(LAMS))
        parts += anneal_lines(lam, np.unique([*np.linspace(1.02, 1.8, anneals), *STEEP]).tolist())
    return stack(parts)


def _part(panel: str, **columns: Any) -> dict[str, Any]:
    missing = dict.fromkeys(("alpha", "lam", "mu", "m", "mse_y", "free_entropy"), math.nan)
    return {"panel": panel, "line": "", **missing, "dominant": True} | columns


def phase_lines(lam: float, count: int) -> list[dict[str, Any]]:
    """Spinodals, first-order line and the two thresholds at one lam; the alphas crowd where the lines meet."""
    thresholds = {name: find(lam) for name, find in THRESHOLDS.items()}
    last = thresholds["merge"]
    alphas = last - (last - 1.04) * np.linspace(1, 0.02, count) ** 1.5
    rows = np.array([transitions(float(alpha), lam) for alpha in alphas])
    rows[~np.isfinite(rows)] = math.nan
    parts = [_part("b", line=line, alpha=alphas, lam=lam, mu=mu) for line, mu in zip(LINES, rows.T, strict=True)]
    return parts + [_part("b", line=name, alpha=alpha, lam=lam) for name, alpha in thresholds.items()]


def anneal_lines(lam: float, alphas: list[float]) -> list[dict[str, Any]]:
    """mu at which m = 0.1, the largest m with its mu, and the last m, along anneals at one lam."""
    grown = np.array([mu_at_overlap(alpha, lam, m=GROWN) for alpha in alphas])
    grown[~np.isfinite(grown)] = math.nan
    largest = [max_overlap(alpha, lam) for alpha in alphas]
    return [
        _part("c", line="grown", alpha=alphas, lam=lam, mu=grown, m=GROWN),
        _part(
            "d", line="largest", alpha=alphas, lam=lam, mu=[best.mu for best in largest], m=[best.m for best in largest]
        ),
        _part(
            "d", line="last", alpha=alphas, lam=lam, mu=MU_RANGE[1], m=[last_overlap(alpha, lam) for alpha in alphas]
        ),
    ]


def last_overlap(alpha: float, lam: float) -> float:
    """m at the largest mu of an anneal."""
    return float(follow(alpha, Schedule.fixed_lambda(lam, mu0=MU_RANGE[0], mu_max=MU_RANGE[1], eps=0.25))["m"][-1])


def draw(table: Table) -> Figure:
    """Two rows of two panels."""
    figure, axes = panels(4)
    branches, diagram, grown, largest = axes
    look_of = looks(sorted(table.take(table["panel"] != "a").values("lam")))  # the same in all panels
    _draw_branches(branches, table.where(panel="a"))
    _draw_diagram(diagram, table.where(panel="b"), {lam: look["color"] for lam, look in look_of.items()})
    for panel, name, y in ((grown, "c", "mu"), (largest, "d", "m")):
        chosen = table.where(panel=name)
        for lam in chosen.values("lam"):
            rows, last = chosen.take(chosen["line"] != "last").where(lam=lam), chosen.where(lam=lam, line="last")
            look = look_of[lam] | {"ms": 2.5, "markevery": 1 + len(rows) // 40}
            panel.plot(rows["alpha"], rows[y], "-", label=rf"$\lambda = {lam:g}$", **look)
            panel.plot(last["alpha"], last["m"], ":", lw=1.0, color=look["color"])
        panel.set_xlabel(ALPHA)
    logarithmic(grown, "y", table.where(panel="c")["mu"])
    grown.set_ylabel(rf"$\mu$ at which $m = {GROWN:g}$")
    largest.plot([], [], "k-", label="largest")
    largest.plot([], [], "k:", lw=1.0, label=r"left at $\mu = 10^5$")
    largest.set(ylabel="overlap $m$ of an anneal", ylim=(-0.03, 1.03))
    letter(axes)
    legend_under(figure, branches, diagram, columns=3)
    legend(figure, largest, columns=7)
    return figure


def _draw_branches(axes: Axes, table: Table) -> None:
    draw_branches(axes, table, "m", "mse_y")
    axes.set(xlabel=OVERLAP, ylabel=MSE_Y, xlim=(-0.03, 1.03), title=rf"$\lambda = {BRANCHED:g}$")
    logarithmic(axes, "y", table["mse_y"])
    label_ends(axes)


def _draw_diagram(axes: Axes, table: Table, colours: dict[float, Any]) -> None:
    for lam in table.values("lam"):
        at_lam, colour = table.where(lam=lam), colours[lam]
        for line, dash in LINES.items():
            rows = at_lam.where(line=line)
            label = rf"$\lambda = {lam:g}$" if dash == "-" else None
            axes.plot(rows["alpha"], rows["mu"], dash, color=colour, label=label)
        for name, dash in (("merge", "-"), ("recovery", "-.")):
            _mark(axes, at_lam.where(line=name)["alpha"][0], colour, dash, WORDS[name])
    _mark(axes, 1.0, GREY, "-", "information limit")
    for dash, text in zip(LINES.values(), ("informed born", "equal free entropy", "uninformed ends"), strict=True):
        axes.plot([], [], color=GREY, ls=dash, label=text)
    axes.set(xlabel=ALPHA, ylabel=MU, xlim=(0.95, 1.75))
    logarithmic(axes, "y", table["mu"])
    axes.set_ylim(1, 1e4)


def _mark(axes: Axes, alpha: float, colour: Any, dash: str, text: str) -> None:
    """A vertical line with its meaning along it."""
    axes.axvline(alpha, color=colour, ls=dash, lw=0.9)
    free = (0.006, 0.02, "left", "bottom") if 1.05 < alpha < 1.3 else (-0.006, 0.98, "right", "top")  # off the curves
    offset, height, side, end = free
    look: dict[str, Any] = {"fontsize": 7, "color": colour, "rotation": 90, "ha": side, "va": end}
    axes.text(alpha + offset, height, text, transform=axes.get_xaxis_transform(), **look)

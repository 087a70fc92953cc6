"""All sign vectors of small problems: the minima of phase retrieval and of phase selection, and those of zero loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from phaselect.base.style import ALPHA, BARS, between, legend, letter, logarithmic, looks, panels, with_bars
from phaselect.base.tables import Columns, Table, stack
from phaselect.experiments.sign_minima import SignMinima, sign_minima
from phaselect.experiments.success import STANDARD_ERRORS
from phaselect.figures.context import Context
from phaselect.problem.ensembles import gaussian_instance
from phaselect.problem.instance import Instance

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CAPTION = (
    "All sign vectors of small random problems, enumerated, up to the global sign. (a), (b) Mean number of minima, "
    "without and with regulariser: of phase retrieval (dashed, open: sign vectors that are the signs of their own "
    "regression) and of phase selection (solid, filled: those that no single flip improves). (c) Largest number of "
    "sign vectors with zero loss, to rounding in float64, in any instance, against the measurements in excess. (d) "
    "The smallest loss of any other sign vector over |y|^2: median, and range over instances. Points at one excess "
    "are moved apart a little."
)
LAMS = (0.0, 0.2)
FEWER = 2
"""Measurements short of N from which on zero loss is counted."""
SIZES = {"small": {6: 14, 8: 18}, "paper": {8: 20, 10: 24, 12: 24}}
"""N, and the largest M."""
INSTANCES = {"small": 10, "paper": 40}


def compute(context: Context) -> Columns:
    """A row for each N, M and lam; an instance with fewer measurements has the first ones of the instance with most."""
    sizes = SIZES[context.scale]
    instances = {n: whole_instances(n, most, INSTANCES[context.scale]) for n, most in sizes.items()}
    places = [(n, m_rows, lam) for n, most in sizes.items() for m_rows in range(n - FEWER, most + 1) for lam in LAMS]
    parts = []
    for count, (n, m_rows, lam) in enumerate(places):
        context.progress(count / len(places))
        found = [sign_minima(problem.A[:m_rows], problem.y[:m_rows], lam) for problem in instances[n]]
        parts.append({"n": n, "m_rows": m_rows, "alpha": m_rows / n, "lam": lam, **summed_up(found)})
    return stack(parts)


def whole_instances(n: int, m_rows: int, count: int) -> list[Instance]:
    """Random instances with all their measurements."""
    return [gaussian_instance(n, m_rows / n, seed=seed) for seed in range(count)]


def summed_up(found: list[SignMinima]) -> dict[str, Any]:
    """Means over instances with their standard errors; totals of what only one of the two problems has; ranges."""
    retrieval, selection, added, exact, runner_up = np.array(found, dtype=float).T
    removed = retrieval - (selection - added)
    error = np.sqrt(len(found))
    return {
        "instances": len(found),
        "retrieval": retrieval.mean(),
        "retrieval_error": retrieval.std() / error,
        "selection": selection.mean(),
        "selection_error": selection.std() / error,
        "added": int(added.sum()),
        "removed": int(removed.sum()),
        "zero_loss_least": int(exact.min()),
        "zero_loss_most": int(exact.max()),
        "runner_up": float(np.median(runner_up)),
        "runner_up_least": runner_up.min(),
        "runner_up_most": runner_up.max(),
    }


def draw(table: Table) -> Figure:
    """Minima at both lam; zero loss; the next best."""
    figure, axes = panels(4)
    sizes = table.values("n")
    for place, (n, look) in enumerate(looks(sizes).items()):
        own, look = table.where(n=n), look | {"ms": 3.5, "lw": 1.0}
        for panel, lam in zip(axes, LAMS, strict=False):
            _draw_minima(panel, own.where(lam=lam).take(own.where(lam=lam)["m_rows"] > n), look)
        _draw_zero_loss(axes[2], axes[3], own.where(lam=0.0), between(place, len(sizes)), look)
        axes[0].plot([], [], "-", label=f"$N = {n}$", **look)
    for panel in axes[:2]:
        panel.set(xlabel=ALPHA, ylabel="mean number of minima")
        logarithmic(panel, "y", table["selection"])
    instances = f"{table['instances'].max()} instances"
    for panel, lam in zip(axes, (*LAMS, 0.0, 0.0), strict=True):
        panel.set_title(rf"$\lambda = {lam:g}$, {instances}")
    axes[2].set(ylabel="sign vectors of zero loss, most", yscale="log")
    axes[3].set(ylabel=r"next loss over $|y|^2$, median", yscale="log")
    for panel in axes[2:]:
        panel.set_xlabel("measurements in excess $M - N$")
        panel.locator_params("x", integer=True)
    axes[0].plot([], [], "ko--", ms=3.5, lw=1.0, mfc="white", label="minima of phase retrieval")
    axes[0].plot([], [], "ko-", ms=3.5, lw=1.0, label="minima of phase selection")
    letter(axes)
    legend(figure, *axes, columns=5, title=f"{BARS} (a, b), range over instances (d)")
    return figure


def _draw_minima(axes: Axes, own: Table, look: dict[str, Any]) -> None:
    for name, line, face in (("retrieval", "--", "white"), ("selection", "-", look["color"])):
        axes.errorbar(own["alpha"], own[name], yerr=STANDARD_ERRORS * own[f"{name}_error"], ls=line, mfc=face, **look)


def _draw_zero_loss(left: Axes, right: Axes, own: Table, shift: float, look: dict[str, Any]) -> None:
    excess = own["m_rows"] - own["n"]
    left.plot(excess + shift, own["zero_loss_most"], "-", **look)
    known = own.take(np.isfinite(own["runner_up"]))
    at = known["m_rows"] - known["n"] + shift
    with_bars(right, at, known["runner_up"], known["runner_up_least"], known["runner_up_most"], **look)

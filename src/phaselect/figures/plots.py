"""Quick looks at the theory's tables: one function per command, a matplotlib Figure each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaselect.base.curves import draw_split
from phaselect.base.style import (
    ALPHA,
    BLUE,
    COMPLEXITY,
    GREEN,
    MSE_Y,
    MU,
    OVERLAP,
    RED,
    legend,
    legend_under,
    logarithmic,
    panels,
)
from phaselect.base.tables import Table
from phaselect.theory import Point, bayes_optimal, critical_alpha, gap_density
from phaselect.theory.at_sign_overlap import complexity_at_random
from phaselect.theory.bayes import BayesOptimal
from phaselect.theory.coexistence import PhaseDiagram
from phaselect.theory.spectra import SpectrumLike, degrees_of_freedom

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_point(point: Point) -> Figure:
    """The distribution of the gaps at a saddle point."""
    figure, (axes,) = panels(1)
    density = gap_density(point, 4 * np.sinh(np.linspace(-6, 6, 601)) / np.sinh(6))  # dense around 0
    axes.plot(density.gap, density.P, color=BLUE, label=r"$P(\Delta)$")
    axes.plot(density.gap, density.P_right, "--", color=RED, label=r"$P_*(\Delta)$, right sign")
    axes.set(xlabel=r"gap $\Delta = (Ax)_\nu$", ylabel="density", ylim=(0, None), xlim=(-4, 4))
    legend(figure, axes)
    title = rf"$\alpha = {point.alpha:g}$, $\mu = {point.mu:g}$, $\lambda = {point.lam:g}$"
    figure.suptitle(title + (rf", $\phi = {point.phi:g}$" if point.phi else ""))
    return figure


def draw_thresholds(products: list[float], alphas: list[float], best: float) -> Figure:
    """Threshold of the anneal against its product, and the Bayes-optimal one."""
    figure, (axes,) = panels(1)
    axes.plot(products, alphas, "o-", color=BLUE, label="anneal at fixed product")
    axes.axhline(best, color="grey", lw=0.8, ls=":", label=f"Bayes-optimal, {best:.5g}")
    axes.set(xlabel=r"product $\mu\lambda$", ylabel=r"smallest $\alpha$ that recovers")
    logarithmic(axes, "x", np.array(products))
    legend(figure, axes)
    return figure


def draw_diagram(diagram: PhaseDiagram) -> Figure:
    """Spinodals and first-order line."""
    figure, (axes,) = panels(1)
    lines = diagram.lines
    styles = (
        ("mu_spinodal", "-", BLUE, "informed branch born"),
        ("mu_first_order", "--", RED, "equal free entropy"),
        ("mu_uninformed_end", ":", GREEN, "uninformed branch ends"),
    )
    for name, style, colour, label in styles:
        if not np.isfinite(lines[name]).any():
            continue
        axes.plot(
            lines["alpha"],
            np.where(np.isfinite(lines[name]), lines[name], np.nan),
            style,
            marker=".",
            color=colour,
            label=label,
        )
    marks = ((diagram.alpha_recovery, "-.", "anneal recovers"), (diagram.alpha_merge, "-", "branches merge"))
    for value, style, label in marks:
        if lines["alpha"].min() <= value <= lines["alpha"].max() + 0.1:
            axes.axvline(value, ls=style, color="grey", lw=0.8, label=f"{label}: {value:.3f}")
    axes.set(xlabel=ALPHA, ylabel=MU)
    logarithmic(axes, "y", np.concatenate([lines[name] for name, *_ in styles]))
    legend(figure, axes, columns=2)
    if not figure.legends:
        axes.text(0.5, 0.5, "one branch at every $\\mu$", ha="center", va="center", transform=axes.transAxes)
    figure.suptitle(rf"$\lambda = {diagram.lam:g}$")
    return figure


def draw_complexity(curve: Table) -> Figure:
    """Complexity against residual and overlap, with its maximum; dotted where replica symmetry fails."""
    figure, (left, right) = panels(2)
    alpha, O = float(curve["alpha"][0]), float(curve["O"][0])
    for axes, name, label in ((left, "mse_y", MSE_Y), (right, "m", OVERLAP)):
        dots = {"ls": ":", "label": "replica symmetry fails"}
        draw_split(axes, curve[name], curve["complexity"], curve["trusted"], dots, color=BLUE, label="trusted")
        axes.axhline(complexity_at_random(alpha, O), color=RED, ls="--", lw=0.8, label="random signs")
        axes.axhline(0, color="grey", lw=0.8)
        axes.set(xlabel=label, ylabel=COMPLEXITY)
    legend(figure, left)
    figure.suptitle(rf"$\alpha = {alpha:g}$, $\lambda = {curve['lam'][0]:g}$, overlap of the signs $O = {O:g}$")
    return figure


def draw_bayes(results: list[BayesOptimal], spectrum: SpectrumLike, field: str) -> Figure:
    """Mean squared error against alpha, the points asked for marked."""
    figure, (axes,) = panels(1)
    best = critical_alpha(spectrum=spectrum, field=field)
    first = 0.3 if isinstance(spectrum, str) and spectrum == "gaussian" else 1.0
    last = max(1.25 * best, *(1.05 * result.alpha for result in results))
    jumps = [degrees_of_freedom(field) + 1e-9, best - 1e-4, best + 1e-4]
    alphas = np.sort([*np.linspace(first, 1.25 * best, 56), *jumps, last])
    curve = [bayes_optimal(alpha, spectrum=spectrum, field=field) for alpha in alphas]
    axes.plot(alphas, [point.mse_x for point in curve], color=BLUE, label="message passing")
    axes.plot(alphas, [point.mse_x_informed for point in curve], "--", color=RED, label="best possible")
    asked = [result.alpha for result in results], [result.mse_x for result in results]
    axes.plot(*asked, "o", color=BLUE, label="asked for")
    axes.set(xlabel=ALPHA, ylabel=r"$\mathrm{MSE}_x$ of the posterior mean")
    legend(figure, axes)
    return figure


def draw_traps(table: Table) -> Figure:
    """Transitions of the clusters, and the misfit at which an anneal is trapped, against alpha."""
    figure, (left, right) = panels(2)
    alpha = table["alpha"]
    temperatures = (
        ("mu_leave", "o-", BLUE, "$m$ begins to grow"),
        ("mu_dynamical", "o--", RED, "clusters form at $m = 0$"),
        ("mu_static", "o:", GREEN, "few clusters dominate"),
        ("mu_followed", "x", "black", "clusters form on the way"),
    )
    misfits = (
        ("mse_y_dynamical", "o--", RED, "where clusters form"),
        ("mse_y_ground", "o:", GREEN, "best without the signal"),
    )
    for axes, lines, label in ((left, temperatures, MU), (right, misfits, MSE_Y)):
        for name, style, colour, text in lines:
            if np.isfinite(table[name]).any():
                values = np.where(np.isfinite(table[name]), table[name], np.nan)
                axes.plot(alpha, values, style, ms=6 if style == "x" else 3, color=colour, label=text)
        axes.set(xlabel=ALPHA, ylabel=label)
        logarithmic(axes, "y", np.concatenate([table[name] for name, *_ in lines]))
    legend_under(figure, left, right, columns=1)
    lam, product = table["lam"][0], table["product"][0]
    figure.suptitle(rf"$\lambda = {lam:g}$" if np.isfinite(lam) else rf"$\mu\lambda = {product:g}$")
    return figure

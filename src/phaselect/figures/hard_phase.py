"""The hard phase: copies that population annealing needs, N by N, below the Bayes-optimal threshold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from phaselect.base.style import ALPHA, BARS, BLUE, GREY, between, legend, letter, looks, panels, with_bars
from phaselect.base.tables import Columns, Table, stack
from phaselect.experiments.copies_needed import hard_phase_rows, lattice_rows
from phaselect.experiments.limits import BAYES_OPTIMAL, intervals
from phaselect.experiments.vanishing import Vanishing
from phaselect.figures.context import Context
from phaselect.figures.success_curves import BAYES, counts, ends, share_rows
from phaselect.solvers.population_annealing import PopulationAnnealing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CAPTION = (
    "Population annealing below the Bayes-optimal threshold. (a) The number of copies with which half of the random "
    "instances are recovered, where their odds, fitted to all numbers of copies, reach one half, against N, with its "
    "95 % interval; arrows: bounds, more or fewer than these; hollow: beyond the numbers of copies tried; a bar "
    "without an upper end goes on beyond the picture. Points at one N and their lines are moved apart a little. Lines: "
    "growth by a factor with every unknown, the likeliest by all runs at that alpha, successes and failures alike, "
    "where it is in no doubt. The legend has chi^2, at all alphas together, of this law and of a power of N, with "
    "fewer degrees of freedom than there are shares: runs of one instance go together. At the bottom: the N at which a "
    "lattice with blocks of 40 rows recovers half from data in float64, with no copies at all, and its interval; "
    "larger blocks go further. (b) The rate of that growth, in powers of two per unknown, "
    "against alpha, with its interval, and the laws c (alpha_c - alpha)^p of three powers, each from the smallest "
    "alpha on from which it fits: chosen by its chi^2, which the interval of alpha_c, where the rate would vanish, "
    "does not count."
)
LATTICE: dict[str, Any] = {"marker": "|", "ms": 6, "mew": 2.0, "lw": 1.2}
ABOVE = 4.0
"""Powers of 2 that are shown above what was measured."""
SPREAD = 20.0
"""Unknowns by which the bars of different alphas are moved apart."""


def compute(context: Context) -> Columns:
    """Shares of the preset sweep, copies, their growth, and where it ends."""
    rows = context.rows("hard_phase")
    shares = share_rows(rows)
    blank = {name: "" if np.asarray(column).dtype.kind == "U" else math.nan for name, column in shares.items()}
    found = [*hard_phase_rows(rows.where(solver="pa")), *lattice_rows(rows.where(solver="lattice"))]
    return stack([shares, *(blank | row for row in found)])


def vanishing_of(table: Table) -> list[Vanishing]:
    """The laws of the rates that a table has."""
    own = table.where(kind="vanishing")
    if len(own) == 0:
        return []
    numbers = (own[name].tolist() for name in ("exponent", "amplitude", "alpha", "chi2", "dof", "doubt"))
    return [
        Vanishing(power, end, scale, least, chi2, int(dof), doubt)
        for end, power, scale, least, chi2, dof, doubt in zip(intervals(own), *numbers, strict=True)
    ]


def draw(table: Table) -> Figure:
    """Copies against N; rates against alpha."""
    figure, axes = panels(2)
    copies = table.where(kind="copies")
    alphas = sorted(copies.values("alpha"))
    for place, (alpha, look) in enumerate(looks(alphas).items()):
        own, fit = copies.where(alpha=alpha), table.where(kind="exponential", alpha=alpha)
        shift = SPREAD * between(place, len(alphas))
        tried = table.where(kind="share", solver="pa", alpha=alpha)
        _draw_copies(axes[0], own, tried, shift, look | {"label": rf"$\alpha = {alpha:g}$"})
        _draw_law(axes[0], own["n"], shift, fit, look["color"])
        _draw_lattice(axes[0], table.where(kind="lattice", alpha=alpha), 0.03 + 0.035 * place, look["color"])
    if len(table.where(kind="lattice")):
        axes[0].plot([], [], **LATTICE, color=GREY, label="below: $N$ at which a lattice recovers half")
    axes[0].plot([], [], "o", mfc="white", color=GREY, label="hollow: beyond the numbers of copies tried")
    _label_laws(axes[0], table)
    axes[0].set(xlabel="unknowns $N$", ylabel="copies for half of the instances")
    axes[0].set_yscale("log", base=2)
    known = np.concatenate([copies[name] for name in ("value", "low")])
    axes[0].set_ylim(1.0, 2.0 ** (known[np.isfinite(known)].max() + ABOVE))  # lines and bars go on beyond
    plan = PopulationAnnealing().default_schedule()
    growth = np.median(plan.mu[1:] / plan.mu[:-1]) - 1  # the first steps, where nothing freezes, are larger
    pace = rf"$\mu$ to {plan.mu[-1]:g} by {growth:.0%}, {plan.steps} sweeps each"
    axes[0].set_title(rf"$\mu\lambda = 1$, {pace}")
    _draw_rates(axes[1], table)
    last = max([law.end.high for law in vanishing_of(table) if not law.doubt], default=BAYES_OPTIMAL)
    axes[1].set_xlim(alphas[0] - 0.01, max(alphas[-1], BAYES_OPTIMAL, last) + 0.01)
    letter(axes)
    trials = table.where(kind="share", solver="pa")["trials"]
    many = f"{counts(trials)} instances at each $N$, $\\alpha$ and number of copies"
    legend(figure, *axes, columns=2, title=f"{BARS}; {many}")
    return figure


def _draw_copies(axes: Axes, own: Table, tried: Table, shift: float, look: dict[str, Any]) -> None:
    """Hollow where half of the instances need more copies than any run had."""
    value, low, high = ends(own, least=0.0)
    low = np.where(np.isinf(low), np.nan, np.exp2(low))
    most = np.array([tried.where(n=n)["replicas"].max() for n in own["n"].tolist()])
    beyond = np.exp2(value) > most
    for chosen, face in ((~beyond, {}), (beyond, {"mfc": "white", "label": "_hollow"})):
        if chosen.any():
            bars = np.exp2(value)[chosen], low[chosen], np.exp2(high)[chosen]
            with_bars(axes, own["n"][chosen] + shift, *bars, ls="none", capsize=2, **look | face)


def _draw_law(axes: Axes, sizes: Any, shift: float, fit: Table, color: Any) -> None:
    """Growth by a factor with every unknown, moved like its points."""
    if len(fit) and not fit["doubt"][0]:
        n = np.linspace(sizes.min(), sizes.max(), 50)
        axes.plot(n + shift, np.exp2(fit["amplitude"][0] + fit["value"][0] * n), color=color, lw=0.9)


def _label_laws(axes: Axes, table: Table) -> None:
    """How both laws fit, at all alphas together."""
    for law, words, line in (("exponential", "exponential in $N$", "-"), ("power", "not drawn: a power of $N$", " ")):
        for fit in table.where(kind=f"{law} together").by("kind"):
            misfit = f"χ² = {fit['chi2'][0]:.0f} / {fit['dof'][0]}"
            axes.plot([], [], line, color=GREY, lw=0.9, label=f"{words}, {misfit}")


def _draw_lattice(axes: Axes, found: Table, height: float, color: Any) -> None:
    """A mark in a line over its interval, at this height of the panel; of a bound nothing."""
    for value, low, high in intervals(found):
        if math.isfinite(value):
            line: dict[str, Any] = {"color": color, "transform": axes.get_xaxis_transform()}
            axes.plot([low, high], [height, height], lw=LATTICE["lw"], **line)
            axes.plot([value], [height], **LATTICE, **line)


def _draw_rates(axes: Axes, table: Table) -> None:
    fits, laws = table.where(kind="exponential"), vanishing_of(table)
    trusted = fits.take(fits["doubt"] == "")
    look: dict[str, Any] = {
        "color": BLUE,
        "marker": "o",
        "ls": "none",
        "capsize": 2,
        "label": "rate of the lines in (a)",
    }
    if len(trusted):
        with_bars(axes, trusted["alpha"], trusted["value"], trusted["low"], trusted["high"], **look)
        axes.axhline(0.0, color=GREY, lw=0.7)
    else:
        axes.text(0.05, 0.5, "no rate is known yet:\nno lines in (a)", va="center", transform=axes.transAxes)
        axes.set_yticks([])
    for alpha, doubt in zip(fits["alpha"], fits["doubt"], strict=True):
        if doubt:
            axes.plot([], [], " ", label=rf"no rate at $\alpha = {alpha:g}$: {doubt}")
    axes.plot([], [], " ", label=r"laws $c\,(\alpha_c - \alpha)^p$; thick: $\alpha_c$")
    for law, line in zip(laws, ("-", "--", ":"), strict=False):
        _draw_end(axes, law, line)
    axes.axvline(BAYES_OPTIMAL, label=f"Bayes-optimal, {BAYES_OPTIMAL}", **BAYES)
    axes.set(xlabel=ALPHA, ylabel="powers of 2 per unknown")
    axes.set_title("how fast copies grow with $N$")


def _draw_end(axes: Axes, law: Vanishing, line: str) -> None:
    """A law of the rates, with the interval of where it ends."""
    name = f"$p = {law.power:g}$"
    if law.doubt:
        axes.plot([], [], " ", label=f"not {name}: {law.doubt}")
        return
    alpha = np.linspace(law.least, law.end.value, 100)
    found = rf"{name}, χ² = {law.chi2:.1f} / {law.dof}: $\alpha_c$ = {law.end}"
    axes.plot(alpha, law.at(alpha), line, color=BLUE, lw=0.9, label=found)
    axes.plot([law.end.low, law.end.high], [0.0, 0.0], color=BLUE, lw=3, alpha=0.4, solid_capstyle="butt")

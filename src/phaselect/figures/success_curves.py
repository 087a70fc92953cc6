"""Success against alpha for several sizes and two rates, with alpha_50 and its limit: shared by three figures."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from phaselect.base.style import (
    ALPHA,
    BARS,
    BLUE,
    GREEN,
    GREY,
    PINK,
    RECOVERED,
    RED,
    between,
    legend,
    letter,
    look_of_size,
    panels,
    with_bars,
)
from phaselect.base.tables import Columns, Table, stack
from phaselect.experiments.grid import CURVE
from phaselect.experiments.limits import (
    BAYES_OPTIMAL,
    ENOUGH_SIZES,
    NO_FIT,
    Interval,
    alpha_50,
    alpha_50_of_shares,
    limit_rows,
)
from phaselect.experiments.outcomes import endings_of, outcomes
from phaselect.experiments.success import curves, success_table, timed_on_one_core
from phaselect.figures.context import Context
from phaselect.figures.earlier_table import at_points, fuller_points, names_of
from phaselect.solvers.registry import REGISTRY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Members = tuple[str, Callable[[Context], Columns], Callable[[Table], Figure]]

HALF: dict[str, Any] = {"ms": 4.5, "mec": "black", "mew": 0.6, "zorder": 5}
BAYES: dict[str, Any] = {"color": GREY, "ls": "--", "lw": 1.1}
Looks = dict[int, dict[str, Any]]
MEASURED = ("trials", "crashed", "successes", "seconds", "tts_50", "tts_99")
"""Columns of `analyse`: what a share has beside its value."""
SAID = ("amplitude", "chi2", "dof", "doubt")
"""Columns of a limit that legends speak of, beside its value."""
VARIANTS = {
    "sa-proposals": "$T_A$ in proposals",
    "sa-fixed": r"$\lambda = 0.005$",
    "amp-paper": "the paper's schedule",
}
"""What the legends call solvers that are drawn beside the one that they are variants of."""


def success_figure(solver: str, title: str, anneal: str, fixed: str, variants: str = "", alike: str = "") -> Members:
    """CAPTION, compute and draw of the success figure of one solver, from the preset sweep of the same name.

    anneal: its schedule, for the caption. fixed: what of it the panels say. variants: those that (d) shows, if any;
    alike: what they share, for that panel.
    """
    caption = (
        f"{title}: share of random instances recovered against measurements per unknown, with 95 % Wilson intervals, "
        f"at two rates of the anneal ({anneal}). Diamonds: alpha_50 with its interval, where it has one. Dashed: "
        "1.128, the Bayes-optimal threshold. (c) alpha_50 against N, and, where there are four sizes or more, chi^2 is "
        "good and the sizes determine c or show no trend, the fit a + b N^-c and its limit."
        f"{f' (d) {variants}.' if variants else ''} Points at one alpha or N are moved apart a little."
    )
    return (
        caption,
        lambda context: analyse(context.rows(solver), context.earlier),
        lambda table: draw_success(table, solver, fixed, alike),
    )


def analyse(rows: Table, earlier: Table | None = None) -> Columns:
    """One table with three kinds of rows.

    "share": successes at one alpha, `value` with its Wilson interval `low` to `high`, the time of a run on one core,
    and which instances were recovered. "threshold": alpha_50 of a curve. "limit": its extrapolation to infinite N (n =
    0) over the sizes of a family, with amplitude, exponent, chi2, degrees of freedom and, where it says nothing of the
    limit, the doubt. earlier: a table, of whose points those are kept that have more runs than there are rows of.
    """
    parts: list[Columns] = []
    if earlier is not None:
        kept = fuller_points(earlier, rows)
        parts, rows = [{"instances": kept["trials"]} | kept.columns], rows.take(~at_points(rows, kept))
    parts += [share_rows(rows)] if len(rows) else []
    names = ("kind", *CURVE, "alpha", *MEASURED, "value", "low", "high", "instances", "outcomes", *NO_FIT)
    blank = dict.fromkeys(names, math.nan) | NO_FIT
    return with_middles(Table(stack({name: (blank | part)[name] for name in names} for part in parts)))


def with_middles(shares: Table) -> Columns:
    """Shares, and below them alpha_50 of each curve, and the limits of these."""
    names = [name for name, column in shares.items() if column.dtype.kind != "U"]
    unsaid = dict.fromkeys(shares, "") | dict.fromkeys(names, math.nan) | NO_FIT | {"kind": "threshold"}
    middles = [unsaid | curve | {"instances": own["instances"].max()} for curve, own in curves(shares)]
    return refitted(with_thresholds(Table(stack([NO_FIT | shares.columns, *middles])))).columns


def share_rows(rows: Table) -> dict[str, Any]:
    """The rows "share" of such a table."""
    shares = success_table(timed_on_one_core(rows))
    return (
        {"kind": "share", **{name: shares[name] for name in (*CURVE, "alpha", *MEASURED)}}
        | {"value": shares["p"], "low": shares["p_low"], "high": shares["p_high"]}
        | {"instances": shares["trials"], "outcomes": np.array(outcomes(rows))}
        | NO_FIT
    )


def refitted(table: Table) -> Table:
    """The table of such a figure with its limits fitted anew to the thresholds that it has."""
    measured = table.take(table["kind"] != "limit")
    own = measured.where(kind="threshold")
    lines = zip(*(column.tolist() for column in own.columns.values()), strict=True)
    thresholds = [row | {"alpha_50": row["value"]} for row in (dict(zip(own.columns, it, strict=True)) for it in lines)]
    limits = [row | {"value": row["alpha_50"]} for row in limit_rows(thresholds)]
    return Table(stack([NO_FIT | measured.columns, *limits]), table.provenance)


def with_thresholds(table: Table) -> Table:
    """The table of any figure that has shares, with its thresholds computed anew, by instances where it names them."""
    names = [name for name in CURVE if name in table]
    shares, bounds = table.where(kind="share"), {name: table[name].copy() for name in Interval._fields}
    of_share, of_row = (np.array(names_of(part, names)) for part in (shares, table))
    for line in np.flatnonzero(table["kind"] == "threshold"):
        own = shares.take(of_share == of_row[line])
        if "outcomes" in own and all(own["outcomes"].tolist()):
            found = alpha_50(endings_of(own)).interval
        else:
            found = alpha_50_of_shares(own)
        for name, value in found._asdict().items():
            bounds[name][line] = value
    return Table(table.columns | bounds, table.provenance)


def draw_success(table: Table, solver: str, fixed: str, alike: str) -> Figure:
    """(a), (b): success at the two rates; (c): alpha_50 against N, with the fit and its limit; (d): of variants."""
    annealed = (table["solver"] == solver) & (table["product"] != 0.0)
    own, variants = table.take(annealed), table.take(~annealed)
    sizes = size_looks(own)
    figure, axes = panels(4 if len(variants) else 3)
    for panel, eps in zip(axes, sorted(own.values("eps"), reverse=True), strict=False):
        draw_shares(panel, own.where(eps=eps), sizes)
        panel.set_title(rf"$\epsilon = {eps:g}$, {fixed}")
    same_alphas(axes[:2])
    axes[2].axhline(BAYES_OPTIMAL, **BAYES)  # first, or the panel may end at it
    draw_alpha_50(axes[2], own)
    axes[2].set_title(fixed)
    if len(variants):
        draw_alpha_50(axes[3], variants, (("^", GREEN), ("s", RED), ("v", PINK)))
        axes[3].set_title(f"variants, {alike}")
    letter(axes)
    legend(figure, *axes, columns=2, title=f"{BARS}{without_limit(table)}")
    return figure


def same_alphas(panels: Sequence[Axes]) -> None:
    """Let panels that are to be compared show the same range."""
    lows, highs = zip(*(panel.get_xlim() for panel in panels), strict=True)
    for panel in panels:
        panel.set_xlim(min(lows), max(highs))


def without_limit(table: Table) -> str:
    """Why some families of curves have no fit, for the title of a legend; nothing if all have sizes enough."""
    middles = table.where(kind="threshold")
    families = zip(*(middles[name].tolist() for name in ("solver", "eps", "product")), strict=True)
    few = any(size < ENOUGH_SIZES for size in Counter(map(repr, families)).values())  # not-a-number differs from itself
    return "; no limit from fewer than four sizes" if few else ""


def size_looks(table: Table) -> Looks:
    """Colour, marker and label for each N of a table, from its shares."""
    shares = table.where(kind="share") if "kind" in table.columns else table
    sizes = sorted(shares.values("n"))
    words = {n: f"$N = {n}$, {counts(shares.where(n=n)['trials'])} instances" for n in sizes}
    return {n: look_of_size(n) | {"label": words[n]} for n in sizes}


def counts(trials: Any) -> str:
    """How many, or between how many and how many."""
    low, high = int(trials.min()), int(trials.max())
    return f"{low}" if low == high else f"{low} to {high}"


def draw_shares(axes: Axes, table: Table, sizes: Looks, line: str = "-") -> None:
    """Success against alpha, a curve for each N; a diamond at one half for alpha_50."""
    alphas = np.unique(table.where(kind="share")["alpha"])
    gap = np.diff(alphas).min(initial=0.1)
    for place, (n, look) in enumerate(sizes.items()):
        share = table.where(kind="share", n=n)
        if len(share) == 0:
            continue
        share = share.take(np.argsort(share["alpha"]))
        at = share["alpha"] + gap * between(place, len(sizes))
        with_bars(axes, at, share["value"], share["low"], share["high"], ls=line, **look)
        draw_half(axes, table.where(kind="threshold", n=n), look["color"])
    mark_half(axes)
    axes.set(xlabel=ALPHA, ylabel=RECOVERED, ylim=(-0.03, 1.05))


def draw_half(axes: Axes, middles: Table, colour: Any) -> None:
    """Diamonds at one half for alpha_50."""
    half = np.full(len(middles), 0.5)
    with_bars(axes, half, *ends(middles), along="x", fmt="D", color=colour, **HALF | {"elinewidth": 1.2})


def mark_half(axes: Axes) -> None:
    """The line of one half with its diamonds, and the Bayes-optimal threshold."""
    axes.plot([], [], "D:", color=GREY, lw=0.7, mfc="white", label=r"$\alpha_{50}$, half recovered", **HALF)
    axes.axhline(0.5, color=GREY, ls=":", lw=0.7)
    axes.axvline(BAYES_OPTIMAL, label=f"Bayes-optimal, {BAYES_OPTIMAL}", **BAYES)


def ends(middles: Table, least: float = 1.0) -> tuple[Any, Any, Any]:
    """Values with the ends of their intervals: that below an unknown value is none if it is the least there can be."""
    value, low, high = (middles[name] for name in ("value", "low", "high"))
    return value, np.where(np.isnan(value) & (low <= least), -math.inf, low), high


def draw_alpha_50(axes: Axes, table: Table, marks: Sequence[tuple[str, str]] = (("o", BLUE), ("s", RED))) -> None:
    """alpha_50 against N for every family of curves; with the fitted a + b N^-c if it says something of the limit."""
    middles = table.where(kind="threshold")
    middles = middles.take(np.isfinite(np.array(ends(middles))).any(axis=0))
    named = zip(middles["solver"].tolist(), middles["eps"].tolist(), strict=True)
    families = list({repr(family): family for family in named}.values())  # not-a-number differs from itself
    styles = dict(zip(middles.values("solver"), cycle(marks), strict=False))
    for place, (solver, eps) in enumerate(families):
        own, limit = (
            part.take((part["solver"] == solver) & ((part["eps"] == eps) | np.isnan(part["eps"])))
            for part in (middles, table.where(kind="limit"))
        )
        marker, colour = styles[solver]
        face = "white" if eps == middles["eps"].max() else colour
        at = own["n"] * 1.3 ** between(place, len(families))
        look = {"color": colour, "mfc": face, "ms": 4, "elinewidth": 1.2, "label": _in_words(own, limit)}
        with_bars(axes, at, *ends(own), fmt=marker, **look)
        if len(limit) and not limit["doubt"][0]:
            n = np.geomspace(own["n"].min(), 2 * own["n"].max(), 60)
            fit = limit["value"][0] + limit["amplitude"][0] * n ** -limit["exponent"][0]
            line = {"color": colour, "lw": 0.8, "ls": "--" if face == "white" else "-"}
            axes.plot(n, fit, label=look["label"], **line)
    axes.set(xscale="log", xlabel="unknowns $N$", ylabel=r"$\alpha_{50}$, half recovered", xmargin=0.08)
    sizes = sorted(middles.values("n"))
    axes.set_xticks(sizes, [str(n) for n in sizes])
    axes.xaxis.minorticks_off()


def _in_words(own: Table, limit: Table) -> str:
    """A family of curves, and below it what its fit says of the limit, if it has more sizes than parameters."""
    solver, product, eps = (own[name][0] for name in ("solver", "product", "eps"))
    words = r"$\lambda = 0$" if product == 0.0 else VARIANTS.get(solver, REGISTRY[solver].title)
    words += "" if math.isnan(eps) else rf", $\epsilon = {eps:g}$"
    words += f", {counts(own['instances'])} instances"
    return words + (f":\n{_limit_in_words(limit)}" if len(limit) and limit["dof"][0] else "")


def _limit_in_words(limit: Table) -> str:
    value, low, high, amplitude, chi2, dof, doubt = (limit[name][0] for name in ("value", "low", "high", *SAID))
    if doubt:
        return f"no limit, {doubt}"
    trend = "fit" if amplitude else "no trend"
    return rf"{trend} $\to$ {value:.3f} [{low:.3f}, {high:.3f}], χ² = {chi2:.1f} / {dof:g}"

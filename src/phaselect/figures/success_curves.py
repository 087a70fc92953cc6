"""Success against alpha for several sizes and two rates, with alpha_50 and its limit: shared by three figures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from phaselect.base.tables import Columns, Table, stack
from phaselect.experiments.grid import CURVE
from phaselect.experiments.limits import BAYES_OPTIMAL, NO_FIT, alpha_50_table, limit_rows
from phaselect.experiments.success import success_table, timed_on_one_core
from phaselect.figures.style import ALPHA, BLUE, GREEN, GREY, PINK, RED, letter, panels, shades

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


HEIGHT = 3.6
"""Inches: a panel and the legend below it."""


def caption(title: str, anneal: str) -> str:
    """What the figure of one solver shows."""
    return (
        f"{title}: share of random instances recovered against measurements per unknown, with 95 % Wilson intervals, "
        f"at two rates of the anneal ({anneal}). Diamonds: alpha_50 with its interval, where it has one. Dashed: "
        "1.128, the Bayes-optimal threshold. (c) alpha_50 against N, with the fit a + b N^-c and its limit where "
        "chi^2 is good and the sizes determine c."
    )


def analyse(rows: Table) -> Columns:
    """One table with three kinds of rows.

    "share": successes at one alpha, `value` with its Wilson interval `low` to `high`, and the time of a run on one
    core. "threshold": alpha_50 of a curve. "limit": its extrapolation to infinite N (n = 0) over the sizes of a
    family, with amplitude, exponent, chi2, degrees of freedom and, where it says nothing of the limit, the doubt.
    """
    shares, middles = success_table(timed_on_one_core(rows)), alpha_50_table(rows)
    names = ("trials", "crashed", "successes", "seconds", "tts_50", "tts_99")
    parts: list[dict[str, Any]] = [
        {"kind": "share", **{name: shares[name] for name in (*CURVE, "alpha", *names)}}
        | {"value": shares["p"], "low": shares["p_low"], "high": shares["p_high"]}
        | {"instances": shares["trials"]}
        | NO_FIT,
        {name: middles[name] for name in ("kind", *CURVE, "low", "high", "instances", *NO_FIT)}
        | {"value": middles["alpha_50"], "alpha": math.nan}
        | dict.fromkeys(names, math.nan),
    ]
    return stack({name: part[name] for name in parts[0]} for part in parts)


def refitted(table: Table) -> Table:
    """The table of such a figure with its limits fitted anew to the thresholds that it has."""
    measured = table.take(table["kind"] != "limit")
    own = measured.where(kind="threshold")
    lines = zip(*(column.tolist() for column in own.columns.values()), strict=True)
    thresholds = [row | {"alpha_50": row["value"]} for row in (dict(zip(own.columns, it, strict=True)) for it in lines)]
    limits = [row | {"value": row["alpha_50"]} for row in limit_rows(thresholds)]
    return Table(stack([measured.columns | NO_FIT, *limits]), table.provenance)


def draw_success(table: Table, solver: str) -> Figure:
    """(a), (b): success at the two rates; (c): alpha_50 against N, with the fit and its limit; not at fixed lam."""
    table = table.take((table["product"] != 0.0) & (table["solver"] != "sa-fixed"))
    own = table.where(solver=solver)
    colours = size_colours(own)
    figure, axes = panels(3)
    figure.set_figheight(HEIGHT)
    for panel, eps in zip(axes, sorted(own.values("eps"), reverse=True), strict=False):
        draw_shares(panel, own.where(eps=eps), colours)
        panel.set_title(rf"$\epsilon = {eps:g}$")
        legend(panel, columns=2, title="(instances)")
    draw_alpha_50(axes[2], table)
    letter(axes)
    return figure


def size_colours(table: Table) -> dict[int, Any]:
    """A colour for each N of a table, the same in all of its panels."""
    sizes = sorted(table.where(kind="share").values("n"))
    return dict(zip(sizes, shades(len(sizes)), strict=True))


def draw_shares(axes: Axes, table: Table, colours: dict[int, Any], name: str = "", marker: str = "o") -> None:
    """Success against alpha, a curve for each N; a diamond at one half for alpha_50."""
    for place, (n, colour) in enumerate(colours.items()):
        share = table.where(kind="share", n=n)
        if len(share) == 0:
            continue
        shift = 0.0012 * (place - (len(colours) - 1) / 2)  # so that the bars of all sizes are seen
        bars = [share["value"] - share["low"], share["high"] - share["value"]]
        axes.errorbar(
            share["alpha"] + shift,
            share["value"],
            yerr=np.maximum(bars, 0.0),
            fmt=f"{marker}-",
            ms=2.5,
            lw=1.0,
            elinewidth=0.6,
            color=colour,
            label=f"{name}$N = {n}$ ({_counts(share['trials'])})",
        )
        middle = table.where(kind="threshold", n=n)
        middle = middle.take(np.isfinite(middle["value"]))
        width = _bars(middle)
        axes.errorbar(
            middle["value"],
            0.5 + 0 * middle["value"],
            xerr=width,
            fmt="D",
            ms=4,
            color=colour,
            mec="black",
            mew=0.5,
            zorder=5,
        )
    axes.axvline(BAYES_OPTIMAL, color=RED, ls="--", lw=0.9)
    axes.axhline(0.5, color=GREY, ls=":", lw=0.7)
    axes.set(xlabel=ALPHA, ylabel="share of instances recovered", ylim=(-0.03, 1.05))


def _bars(middles: Table) -> Any:
    """Lengths of the error bars, none where an interval is open."""
    lengths = np.array([middles["value"] - middles["low"], middles["high"] - middles["value"]])
    return np.where(np.isfinite(lengths).all(axis=0), lengths, 0.0)


def _counts(trials: Any) -> str:
    low, high = int(trials.min()), int(trials.max())
    return f"{low}" if low == high else f"{low} to {high}"


def legend(axes: Axes, columns: int = 1, **options: Any) -> None:
    """A legend below the panel, where it hides no curve, if there is anything to name."""
    if axes.get_legend_handles_labels()[0]:
        place: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.2), "fontsize": 6.5}
        axes.legend(ncols=columns, title_fontsize=6.5, **place, **options)


def draw_alpha_50(axes: Axes, table: Table) -> None:
    """alpha_50 against N for every family of curves; with the fitted a + b N^-c if it says something of the limit."""
    middles = table.where(kind="threshold")
    middles = middles.take(np.isfinite(middles["value"]))
    named = zip(middles["solver"].tolist(), middles["eps"].tolist(), strict=True)
    families = list({repr(family): family for family in named}.values())  # not-a-number differs from itself
    styles = (("o", BLUE), ("s", RED), ("^", "black"), ("v", GREY), ("D", GREEN), ("P", PINK))
    for (solver, eps), (marker, colour) in zip(families, styles, strict=False):
        own, limit = (
            part.take((part["solver"] == solver) & ((part["eps"] == eps) | np.isnan(part["eps"])))
            for part in (middles, table.where(kind="limit"))
        )
        label = solver + ("" if math.isnan(eps) else rf", $\epsilon = {eps:g}$") + _limit_in_words(limit)
        axes.errorbar(own["n"], own["value"], yerr=_bars(own), fmt=marker, color=colour, ms=4, label=label)
        if len(limit) and not limit["doubt"][0]:
            n = np.geomspace(own["n"].min(), 2 * own["n"].max(), 60)
            fit = limit["value"][0] + limit["amplitude"][0] * n ** -limit["exponent"][0]
            axes.plot(n, fit, color=colour, lw=0.8)
    axes.axhline(BAYES_OPTIMAL, color=RED, ls="--", lw=0.9)
    axes.set(xscale="log", xlabel="unknowns $N$", ylabel=r"$\alpha_{50}$, half recovered")
    sizes = sorted(middles.values("n"))
    axes.set_xticks(sizes, [str(n) for n in sizes])
    axes.xaxis.minorticks_off()
    legend(axes)


def _limit_in_words(limit: Table) -> str:
    if len(limit) == 0:
        return ": too few sizes for a limit"
    value, low, high, chi2, dof, doubt = (limit[name][0] for name in ("value", "low", "high", "chi2", "dof", "doubt"))
    return (
        f": no limit, {doubt}" if doubt else rf" $\to$ {value:.3f} [{low:.3f}, {high:.3f}], χ² = {chi2:.1f} / {dof:g}"
    )

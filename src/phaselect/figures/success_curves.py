"""Success against alpha for several sizes and two rates, with alpha_50 and its limit: shared by three figures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from phaselect.experiments.success import CURVE, alpha_50, curves, finished, large_n_limit, success_table
from phaselect.style import ALPHA, BLUE, GREY, RED, letter, panels, shades
from phaselect.tables import Columns, Table, stack

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BAYES_OPTIMAL = 1.128
"""Published threshold of Bayes-optimal message passing, where the anneal at mu*lam = 1 begins to work."""
NOTHING = dict.fromkeys(("trials", "successes", "seconds", "tts_50", "tts_99", "amplitude", "exponent"), math.nan)


def caption(title: str, anneal: str) -> str:
    """What the figure of one solver shows."""
    return (
        f"{title}: share of random instances recovered against measurements per unknown, with 95 % Wilson intervals, "
        f"at two rates of the anneal ({anneal}). Diamonds: alpha_50 with its bootstrap interval. Dashed: 1.128, the "
        "Bayes-optimal threshold. (c) alpha_50 against N, with fits a + b N^-c."
    )


def analyse(rows: Table) -> Columns:
    """One table with three kinds of rows.

    "share": successes at one alpha, `value` with its Wilson interval `low` to `high`. "threshold": alpha_50 of a
    curve. "limit": its extrapolation to infinite N over the sizes of a family, with amplitude and exponent.
    """
    shares = success_table(rows)
    columns = {name: shares[name] for name in (*CURVE, "alpha", "trials", "successes", "seconds", "tts_50", "tts_99")}
    ends = {"value": shares["p"], "low": shares["p_low"], "high": shares["p_high"]}
    parts: list[dict[str, Any]] = [{"kind": "share"} | columns | ends | {"amplitude": math.nan, "exponent": math.nan}]
    families: dict[str, list[Any]] = {}
    for curve, own in curves(rows):
        found = alpha_50(own)
        parts.append(_row("threshold", curve, found.interval) | {"trials": float(len(finished(own)))})
        family = {name: value for name, value in curve.items() if name != "n"}
        families.setdefault(repr(family), []).append((family, int(curve["n"]), found))
    for members in families.values():
        known = [(n, found) for _, n, found in members if math.isfinite(found.interval.value)]
        if len(known) >= 3:
            fit = large_n_limit([n for n, _ in known], [found for _, found in known])
            row = _row("limit", members[0][0] | {"n": 0}, fit.limit)
            parts.append(row | {"amplitude": fit.amplitude, "exponent": fit.exponent.value})
    return stack({name: part[name] for name in parts[0]} for part in parts)


def _row(kind: str, curve: dict[str, Any], interval: tuple[float, float, float]) -> dict[str, Any]:
    value, low, high = interval
    return {"kind": kind} | curve | {"alpha": math.nan} | NOTHING | {"value": value, "low": low, "high": high}


def draw_success(table: Table, solver: str) -> Figure:
    """(a), (b): success at the two rates; (c): alpha_50 against N, with the fit and its limit; not at fixed lam."""
    table = table.take((table["product"] != 0.0) & (table["solver"] != "sa-fixed"))
    own = table.where(solver=solver)
    figure, axes = panels(3)
    for panel, eps in zip(axes, sorted(own.values("eps"), reverse=True), strict=False):
        draw_rate(panel, own.where(eps=eps))
        panel.set_title(rf"$\epsilon = {eps:g}$")
    axes[0].legend()
    draw_thresholds(axes[2], table)
    letter(axes)
    return figure


def draw_rate(axes: Axes, table: Table) -> None:
    """Success at one rate, a curve for each N; a diamond at one half for alpha_50."""
    sizes = sorted(table.where(kind="share").values("n"))
    for n, colour in zip(sizes, shades(len(sizes)), strict=True):
        share = table.where(kind="share", n=n)
        bars = [share["value"] - share["low"], share["high"] - share["value"]]
        runs = f"{share['trials'].max():.0f} runs" if share["trials"].max() == share["trials"].min() else ""
        axes.errorbar(
            share["alpha"],
            share["value"],
            yerr=bars,
            fmt="o-",
            ms=2.5,
            lw=1.0,
            elinewidth=0.6,
            color=colour,
            label=f"$N = {n}$" + (f", {runs}" if runs else ""),
        )
        middle = table.where(kind="threshold", n=n)
        if len(middle) and np.isfinite(middle["value"][0]):
            width = [[middle["value"][0] - middle["low"][0]], [middle["high"][0] - middle["value"][0]]]
            axes.errorbar(
                middle["value"], [0.5], xerr=width, fmt="D", ms=4, color=colour, mec="black", mew=0.5, zorder=5
            )
    axes.axvline(BAYES_OPTIMAL, color=RED, ls="--", lw=0.9)
    axes.axhline(0.5, color=GREY, ls=":", lw=0.7)
    axes.set(xlabel=ALPHA, ylabel="share of instances recovered", ylim=(-0.03, 1.05))


def draw_thresholds(axes: Axes, table: Table) -> None:
    """alpha_50 against N for every family of curves, with the fitted a + b N^-c."""
    middles = table.where(kind="threshold")
    middles = middles.take(np.isfinite(middles["value"]))
    families = list(dict.fromkeys(zip(middles["solver"].tolist(), middles["eps"].tolist(), strict=True)))
    styles = (("o", BLUE), ("s", RED), ("^", "black"), ("v", GREY))
    for (solver, eps), (marker, colour) in zip(families, styles, strict=False):
        own = middles.where(solver=solver, eps=eps)
        label = rf"{solver}, $\epsilon = {eps:g}$"
        limit = table.where(kind="limit", solver=solver, eps=eps)
        if len(limit) and np.isfinite(limit["value"][0]):
            n = np.geomspace(own["n"].min(), 2 * own["n"].max(), 60)
            fit = limit["value"][0] + limit["amplitude"][0] * n ** -limit["exponent"][0]
            axes.plot(n, fit, color=colour, lw=0.8)
            label += rf" $\to$ {limit['value'][0]:.3f} [{limit['low'][0]:.3f}, {limit['high'][0]:.3f}]"
        bars = np.abs([own["value"] - own["low"], own["high"] - own["value"]])
        axes.errorbar(own["n"], own["value"], yerr=bars, fmt=marker, color=colour, ms=4, label=label)
    axes.axhline(BAYES_OPTIMAL, color=RED, ls="--", lw=0.9)
    axes.set(xscale="log", xlabel="unknowns $N$", ylabel=r"$\alpha_{50}$, half recovered")
    sizes = sorted(middles.values("n"))
    axes.set_xticks(sizes, [str(n) for n in sizes])
    axes.xaxis.minorticks_off()
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + (0.1 + 0.08 * len(families)) * (high - low))  # room for the legend
    axes.legend(loc="upper right", fontsize=6.5)

"""Digits of the data are measurements to a lattice: where it succeeds, the rule of that, and others beside it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from phaselect.base.style import (
    ALPHA,
    BARS,
    BLUE,
    GREEN,
    GREY,
    RECOVERED,
    RED,
    between,
    legend,
    letter,
    logarithmic,
    looks,
    panels,
    with_bars,
)
from phaselect.base.tables import Columns, Table, stack
from phaselect.experiments.lattice_bits import fit_rule, rows_for, trial
from phaselect.experiments.runs import one_thread
from phaselect.experiments.success import success_table, wilson
from phaselect.experiments.trials import by_name, side_by_side
from phaselect.figures.comparison import draw_times
from phaselect.figures.context import Context
from phaselect.solvers.lattice_reach import strength

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CAPTION = (
    "Lattice reduction of exact data: Gaussian A and x with b binary digits, y rounded to as many. (a) N and k = M - "
    "N at which instances were drawn; filled where blocks of up to 40 rows find the signs of half of them or more. "
    "Lines: the rule k b + M = c M^2 with c of (b), for blocks of up to 40 (solid) and LLL alone (dashed). Dotted: k "
    "b = M, below which signs are not determined. (b) Share of instances whose signs are found against (k b + M) / "
    "M^2, of points above that line, with the logistic curve of the rule; c is where it is one half, in brackets its "
    "95 % interval, widened where points scatter by more than chance, as chi^2 of its degrees of freedom says, of "
    "LLL alone (open) and of blocks (filled). (c) Data in float64: share recovered against measurements per unknown, "
    "on the same instances, by lattice reduction, by population annealing with 64 copies and by message passing with "
    "restarts. (d) Time of one core to a solution with 99 % certainty, with what the intervals of (c) make of it; "
    "none is shown where none was found. In (c) and (d) points at one alpha are moved apart a little."
)
BLOCK = 40
KINDS = {2: ("LLL alone", "open", "--"), BLOCK: (f"blocks of up to {BLOCK}", "filled", "-")}
"""Sizes of blocks of which the rule is fitted, in words, as points and as lines."""
PLACES: dict[str, dict[int, tuple[int, ...]]] = {
    "small": {24: (4,), 53: (2,), 100: (1,), 200: (1,)},
    "paper": {24: (4, 8), 53: (2, 4, 8), 100: (1, 2, 4), 200: (1, 2, 4)},
}
"""k by bits."""
STRENGTHS = {
    "small": (0.026, 0.032, 0.04, 0.05),
    "paper": (0.022, 0.026, 0.03, 0.035, 0.041, 0.048, 0.056),
}
"""(k b + M) / M^2 at which instances are drawn."""
INSTANCES = {"small": 5, "paper": 20}
DETERMINED = 8
"""Digits beyond one for each sign from which on wrong ones are left aside: one in 2^8 fits by chance."""
SIZES = {"small": (50, 5), "paper": (100, 20)}
"""N of the comparison, and instances."""
EXCESS = {"small": (2, 4, 8, 16), "paper": (3, 4, 5, 6, 8, 11, 15, 20, 27, 35)}
"""M - N of it."""
SEARCHES = {
    "lattice": ("o-", BLUE, f"lattice, blocks of up to {BLOCK} (c, d)"),
    "pa": ("s--", RED, "population annealing, 64 copies (c, d)"),
    "amp": ("^:", GREEN, "message passing (c, d)"),
}
NAMES = (
    *("kind", "solver", "bits", "block", "n", "m_rows", "digits", "trials", "successes", "value", "low", "high"),
    *("width", "chi2", "freedom", "seconds", "to_solution"),
)
TICKS = (0.02, 0.03, 0.04, 0.06)


def compute(context: Context) -> Columns:
    """Shares of all places by size of blocks, the rules, and the comparison."""
    points = found(context)
    rules = [rule(points, block) for block in KINDS]
    return stack([*points, *rules, compared(context)])


def _row(kind: str, **known: Any) -> dict[str, Any]:
    return dict.fromkeys(NAMES, math.nan) | {"solver": "", "kind": kind} | known


def found(context: Context) -> list[dict[str, Any]]:
    """A row for each place and size of blocks: how many of the instances were solved."""
    sizes = [
        (bits, k, rows_for(bits, k, x))
        for bits, ks in PLACES[context.scale].items()
        for k in ks
        for x in STRENGTHS[context.scale]
    ]
    parts = []
    with one_thread():
        for done, (bits, k, m_rows) in enumerate(sizes):
            context.progress(0.7 * done / len(sizes))
            runs = [trial(m_rows - k, m_rows, bits, seed, BLOCK) for seed in range(INSTANCES[context.scale])]
            mean = {name: float(np.mean([run[name] for run in runs])) for name in ("digits", "seconds")}
            for block in KINDS:
                hits = sum(run["found_at"] <= block for run in runs)
                low, high = wilson(hits, len(runs))
                counts = {"trials": len(runs), "successes": hits, "value": hits / len(runs), "low": low, "high": high}
                parts.append(_row("point", bits=bits, block=block, n=m_rows - k, m_rows=m_rows, **mean, **counts))
    return parts


def rule(points: list[dict[str, Any]], block: int) -> dict[str, Any]:
    """The c of one size of blocks, as `value`, of the places where signs are determined."""
    own = [it for it in points if it["block"] == block and it["digits"] >= it["m_rows"] + DETERMINED]
    digits, m_rows, successes, trials = (
        np.array([it[name] for it in own], dtype=float) for name in ("digits", "m_rows", "successes", "trials")
    )
    fit = fit_rule(strength(digits, m_rows), successes, trials)._asdict()
    return _row("rule", block=block, trials=trials.sum(), value=fit.pop("c"), **fit)


def compared(context: Context) -> dict[str, Any]:
    """The searches on the same instances of float64."""
    n, count = SIZES[context.scale]
    searches = {"lattice": by_name("lattice", block=BLOCK), "pa": by_name("pa"), "amp": by_name("amp")}
    alphas = [1 + k / n for k in EXCESS[context.scale]]
    rows = side_by_side(searches, {n: count}, alphas, lambda share: context.progress(0.7 + 0.3 * share))
    shares = Table(success_table(rows))
    names = {"value": "p", "low": "p_low", "high": "p_high", "to_solution": "tts_99"}
    same = {name: shares[name] for name in ("solver", "n", "trials", "successes", "seconds")}
    m_rows = np.rint(shares["alpha"] * n)
    return _row("share", bits=53, m_rows=m_rows, **same, **{name: shares[other] for name, other in names.items()})


def draw(table: Table) -> Figure:
    """The diagram, the rule, the comparison and its times."""
    figure, axes = panels(4)
    points, rules, shares = (table.where(kind=kind) for kind in ("point", "rule", "share"))
    bits = looks(sorted(points.values("bits")))
    _draw_diagram(axes[0], points, rules, bits)
    _draw_rule(axes[1], points, rules, bits)
    _draw_shares(axes[2], shares)
    _draw_times(axes[3], shares)
    letter(axes)
    legend(figure, *axes, columns=2, title=f"{BARS} (c, d)")
    return figure


def _draw_diagram(axes: Axes, points: Table, rules: Table, bits: dict[Any, dict[str, Any]]) -> None:
    strong = points.where(block=max(KINDS))
    rows = np.geomspace(20, 2.0 * points["m_rows"].max(), 200)
    for b, look in bits.items():
        own = strong.where(bits=b)
        half = own["value"] >= 0.5
        for chosen, face in ((half, look["color"]), (~half, "white")):
            axes.plot(own["n"][chosen], (own["m_rows"] - own["n"])[chosen], ls="none", ms=3.5, **look, mfc=face)
        axes.plot([], [], ls="none", ms=4, **look, label=f"{b:.0f} bits (a, b)")
        for block, (*_, dashes) in KINDS.items():
            k = (rules.where(block=block)["value"][0] * rows**2 - rows) / b
            axes.plot(rows - k, k, color=look["color"], ls=dashes, lw=0.9)
        axes.plot(rows - rows / b, rows / b, color=look["color"], ls=":", lw=0.8)
    axes.plot([], [], ls="none", marker="o", mfc=GREY, mec=GREY, ms=4, label="half or more solved (a)")
    axes.plot([], [], ls="none", marker="o", mfc="white", mec=GREY, ms=4, label="fewer (a)")
    axes.plot([], [], color=GREY, ls=":", lw=0.8, label="$kb = M$ (a)")
    logarithmic(axes, "y", np.array([1.0, 100.0]))
    axes.set(xlabel="unknowns $N$", ylabel="$k = M - N$", xlim=(0, 1.05 * points["n"].max()), ylim=(0.8, 40))
    axes.set_title(f"{points['trials'].max():.0f} instances each")


def _draw_rule(axes: Axes, points: Table, rules: Table, bits: dict[Any, dict[str, Any]]) -> None:
    determined = points.take(points["digits"] >= points["m_rows"] + DETERMINED)
    drawn = strength(determined["digits"], determined["m_rows"])
    x = np.geomspace(0.9 * drawn.min(), 1.1 * drawn.max(), 200)
    scatter = []
    for block, (name, face_of_points, dashes) in KINDS.items():
        for b, look in bits.items():
            own = determined.where(block=block, bits=b)
            at = strength(own["digits"], own["m_rows"])
            face = "white" if block == min(KINDS) else look["color"]
            axes.plot(at, own["value"], ls="none", ms=3, **look, mfc=face)
        fit = {name: column[0] for name, column in rules.where(block=block).columns.items()}
        words = (
            rf"{name} ({face_of_points} in b): $c = {fit['value']:.4f}$ [{fit['low']:.4f}, {fit['high']:.4f}] (a, b)"
        )
        axes.plot(x, expit(np.log(x / fit["value"]) / fit["width"]), color=GREY, ls=dashes, label=words)
        scatter.append(f"{name.split(' of')[0]} {fit['chi2']:.0f} / {fit['freedom']:.0f}")
    logarithmic(axes, "x", x)
    axes.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
    axes.xaxis.minorticks_off()
    axes.set(xlabel="$(kb + M)/M^2$", ylabel="share of instances solved", ylim=(-0.04, 1.06))
    axes.set_title(rf"$\chi^2$: {', '.join(scatter)}")


def _draw_shares(axes: Axes, shares: Table) -> None:
    for place, (solver, (line, colour, name)) in enumerate(SEARCHES.items()):
        own = shares.where(solver=solver)
        with_bars(axes, _at(own, place), own["value"], own["low"], own["high"], fmt=line, color=colour, label=name)
    n, trials = shares["n"][0], shares["trials"].max()
    axes.set(xlabel=ALPHA, ylabel=RECOVERED, ylim=(-0.04, 1.06))
    axes.set_title(f"float64, $N = {n:.0f}$, {trials:.0f} instances")


def _at(shares: Table, place: int) -> Any:
    """Measurements per unknown, moved apart for each search."""
    return shares["m_rows"] / shares["n"] + 0.006 * between(place, len(SEARCHES))


def _draw_times(axes: Axes, shares: Table) -> None:
    for place, (solver, (line, colour, _)) in enumerate(SEARCHES.items()):
        own = shares.where(solver=solver)
        draw_times(axes, _at(own, place), own, fmt=line, color=colour)
    logarithmic(axes, "y", shares["to_solution"])
    axes.set(xlabel=ALPHA, ylabel="seconds to solution, 99 %", title=f"float64, $N = {shares['n'][0]:.0f}$, one core")

"""Simulated annealing, larger and slower: alpha_50 against the rate for all sizes, and where it ends."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from phaselect.base.style import BARS, GREY, SKY, between, legend, letter, logarithmic, panels, with_bars
from phaselect.base.tables import Columns, Table, stack
from phaselect.experiments.joint_limit import JointLimit, joint_limit
from phaselect.experiments.limits import BAYES_OPTIMAL, NO_FIT, Interval, intervals, limit_of
from phaselect.figures.context import Context
from phaselect.figures.success_curves import analyse, ends, size_looks
from phaselect.solvers.registry import recipe
from phaselect.theory.thresholds import alpha_recovery

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CAPTION = (
    "Simulated annealing of the signs, mu from 1 to 300 in steps of 10 %: alpha at which half of the random instances "
    "are recovered, with its 95 % interval, by how much it exceeds that from which theory has an anneal recover "
    "(subtracted), against the sweeps that it spends while mu grows by a factor of e, (a) at mu*lam = 1 and (b) at lam "
    "= 0. What tends to the threshold of theory goes down without end. Lines: the fit a_N + d tau^-e, a level for each "
    "size and one law of rates, to all but the fastest, drawn where chi^2 is good and e is determined. Hollow, at the "
    "right: the levels a_N, what ever slower anneals tend to at each size, with their 95 % intervals. Band: the limit "
    "of these for large N, where a + b N^-c fits and c is determined. Points at one rate are moved apart a little."
)
LEAST = 1e-3
"""Where the axis of what is in excess ends, at the latest."""
RATES = ("rate_amplitude", "rate_exponent", "rate_chi2", "rate_dof", "rate_doubt", "slower_than")
"""Columns of the fit over rates."""
NO_RATES = dict.fromkeys(RATES, math.nan) | {"rate_dof": 0, "rate_doubt": ""}
TITLES = {1.0: r"$\mu\lambda = 1$", 0.0: r"$\lambda = 0$"}
"""Of each product."""
BEYOND = 6.0
"""Where levels are drawn, over the slowest rate."""


def compute(context: Context) -> Columns:
    """What `analyse` says of the preset sweep, with the sweeps per e-fold, and for each product rows of its fit.

    "slow": the level of each size. "joint": their limit (n = 0). "theory": where an infinitely slow anneal recovers.
    """
    found = Table(analyse(context.rows("rate_and_size"), context.earlier), {})
    found = Table(found.columns | {"tau": np.array([sweeps_per_e_fold(steps) for steps in found["steps"]])}, {})
    return stack([found.columns | NO_RATES, *joint_rows(found)])


def sweeps_per_e_fold(steps: float) -> float:
    """tau of the solver `sa-rate` with so many steps."""
    schedule = recipe("sa-rate").plan(steps=int(steps))[1]
    assert schedule is not None
    return schedule.steps_per_e_fold


def joint_rows(found: Table) -> Iterator[dict[str, Any]]:
    """The fit over all sizes and rates, and where theory has an infinitely slow anneal recover, of each product."""
    for product in found.values("product"):
        own = found.where(kind="threshold", product=product)
        fit = joint_limit(own["n"].tolist(), own["tau"].tolist(), intervals(own))
        empty = {name: column[0] for name, column in own.columns.items()} | NO_RATES | NO_FIT
        blank = empty | {"n": 0, "steps": math.nan, "tau": math.nan, "instances": 0, "plan": ""}
        theory = BAYES_OPTIMAL if product else alpha_recovery(0.0)
        yield blank | {"kind": "theory", "value": theory, "low": math.nan, "high": math.nan}
        if fit is not None:
            rates = {name: getattr(fit, name) for name in RATES}
            for n, level in fit.levels.items():
                yield blank | rates | {"kind": "slow", "n": n} | level._asdict()
            fitted = {name: getattr(fit.large, name) for name in NO_FIT}
            yield blank | rates | fitted | {"kind": "joint"} | fit.limit._asdict()


def slowest(table: Table, product: float) -> dict[int, Interval]:
    """alpha_50 by size at the slowest rate of a product."""
    own = table.where(kind="threshold", product=product)
    if len(own) == 0:
        return {}
    own = own.take(own["tau"] == own["tau"].max())
    return dict(sorted(zip(own["n"].tolist(), intervals(own), strict=True)))


def fit_of(table: Table, product: float) -> JointLimit | None:
    """The fit that a table has for a product."""
    own = table.where(kind="joint", product=product)
    if len(own) == 0:
        return None
    slow = table.where(kind="slow", product=product)
    levels = dict(zip(map(int, slow["n"]), intervals(slow), strict=True)) if len(slow) else {}
    return JointLimit(levels, **{name: own[name][0].item() for name in RATES}, large=limit_of(own))


def draw(table: Table) -> Figure:
    """A panel for each product."""
    figure, axes = panels(2)
    for panel, product in zip(axes, TITLES, strict=True):
        own = table.where(product=product)
        if len(own.where(kind="threshold")):
            _draw_product(panel, own, fit_of(table, product), size_looks(table))
        panel.set_title(TITLES[product] + r", $\mu$ from 1 to 300 in steps of 10 %")
    letter(axes)
    legend(figure, *axes, columns=2, title=BARS)
    return figure


def _draw_product(axes: Axes, own: Table, fit: JointLimit | None, sizes: dict[int, dict[str, Any]]) -> None:
    middles, theory = own.where(kind="threshold"), float(own.where(kind="theory")["value"][0])
    taus = np.geomspace(middles["tau"].min(), middles["tau"].max(), 60)
    for place, (n, look) in enumerate(sizes.items()):
        at = middles.where(n=n)
        moved = at["tau"] * 1.6 ** between(place, len(sizes))
        with_bars(axes, moved, *(end - theory for end in ends(at)), ls="none", **look)
        if fit is not None and not fit.rate_doubt and n in fit.levels:
            here = taus[taus >= fit.slower_than]
            axes.plot(here, fit.at(n, here) - theory, color=look["color"], lw=0.9)
            at_last = BEYOND * taus[-1] * 1.6 ** between(place, len(sizes))
            a_n, least, most = (np.array([max(LEAST, end - theory)]) for end in fit.levels[n])
            hollow: dict[str, Any] = {"color": look["color"], "marker": look["marker"], "mfc": "white"}
            with_bars(axes, np.array([at_last]), a_n, least, most, ls="none", **hollow)
    if fit is not None and fit.doubt:
        what = "no fit" if fit.rate_doubt else "no limit for large $N$"
        lines = "\n".join([f"{what}:", *fit.doubt.split(", ", 1)])
        axes.text(0.03, 0.04, lines, size="small", transform=axes.transAxes)
    if fit is not None and not fit.rate_doubt:
        law = rf"$\tau^{{-{fit.rate_exponent:.2f}}}$, χ² = {fit.rate_chi2:.1f} / {fit.rate_dof}"
        axes.plot([], [], "o-", color=GREY, mfc="white", lw=0.9, label=f"fit ({law}) and, hollow, what it tends to")
    if fit is not None and not fit.doubt:
        bounds = f"{fit.limit.value:.3f} [{fit.limit.low:.3f}, {fit.limit.high:.3f}]"
        low, high = (max(LEAST, end - theory) for end in (fit.limit.low, fit.limit.high))
        axes.axhspan(low, high, color=SKY, alpha=0.3, lw=0)
        axes.plot([], [], color=SKY, lw=6, alpha=0.3, label=f"for large $N$ {bounds}")
    axes.set(xlabel=r"sweeps per e-fold of $\mu$", ylabel=rf"half recovered, $\alpha_{{50}} - {theory:.3f}$")
    axes.set_xlim(middles["tau"].min() / 3, 2.5 * BEYOND * middles["tau"].max())
    logarithmic(axes, "x", middles["tau"])
    logarithmic(axes, "y", middles["value"] - theory)

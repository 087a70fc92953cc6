"""Simulated annealing, larger and slower: alpha_50 against the rate for all sizes, and where it ends."""

from __future__ import annotations

import math
from collections.abc import Iterator
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from phaselect.base.style import BARS, GREY, SKY, between, legend, letter, logarithmic, panels, with_bars
from phaselect.base.tables import Columns, Table, stack
from phaselect.experiments.fits import bad_fit
from phaselect.experiments.joint_limit import (
    Cut,
    EndsAtTheory,
    Fitted,
    JointLimit,
    RateLaw,
    cuts,
    ending_at_theory,
    joint_limit,
)
from phaselect.experiments.limits import BAYES_OPTIMAL, NO_FIT, Interval, intervals, limit_of
from phaselect.figures.context import Context
from phaselect.figures.success_curves import analyse, ends, size_looks
from phaselect.solvers.registry import recipe
from phaselect.theory.thresholds import alpha_recovery

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CAPTION = (
    "Simulated annealing of the signs, mu from 1 to 300 in steps of 10 %: how far alpha_50, at which half of the "
    "random instances are recovered, lies above the alpha from which theory has an infinitely slow anneal recover, "
    "with 95 % intervals, against the sweeps spent while mu grows by a factor of e, (a) at mu*lam = 1 and (b) at lam = "
    "0. On this logarithmic axis what tends to theory falls without end. Lines: the fit a_N + d tau^-e, a level for "
    "each size and one law of rates. Dotted: its rival theory + d_N tau^-e, which ends at theory at every size. For "
    "either the fastest rates are left out, one at a time, until chi^2 is acceptable, a choice that the intervals do "
    "not include; a fit is drawn where that succeeds and e is determined. Rates of one size share instances, which "
    "makes every chi^2 too small. Hollow, at the right: the levels a_N, to which ever slower anneals tend at each size "
    "if that law goes on, with their 95 % intervals. A band, where there is one: the limit of the levels for large N, "
    "by a + b N^-c where c is determined, and by any c where no trend with N is seen. Points at one rate are moved "
    "apart a little."
)
LEAST = 1e-3
"""Where the axis of what is in excess ends, at the latest."""
RATES = (
    "rate_amplitude",
    "rate_exponent",
    "rate_low",
    "rate_high",
    "rate_chi2",
    "rate_dof",
    "rate_doubt",
    "rates_from",
)
"""Columns of a fit over rates: its amplitude, and its law with the interval of the exponent."""
NO_RATES = dict.fromkeys(RATES, math.nan) | {"rate_dof": 0, "rate_doubt": ""}
TITLES = {1.0: r"$\mu\lambda = 1$", 0.0: r"$\lambda = 0$"}
"""Of each product."""
BEYOND = 6.0
"""Where levels are drawn, over the slowest rate."""


def compute(context: Context) -> Columns:
    """What `analyse` says of the preset sweep, with the sweeps per e-fold, and for each product rows of its fits.

    "slow": the level of each size. "joint": their limit (n = 0). "rival": the law that ends at theory, of which each
    size has its amplitude. "levels cut", "rival cut", "common cut": these laws and that of one level for all sizes,
    with it, fitted to the same rates, whichever are left out. "theory": where an infinitely slow anneal recovers.
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
    """The fits over all sizes and rates, and where theory has an infinitely slow anneal recover, of each product."""
    for product in found.values("product"):
        own = found.where(kind="threshold", product=product)
        curves = own["n"].tolist(), own["tau"].tolist(), intervals(own)
        fit = joint_limit(*curves)
        empty = {name: column[0] for name, column in own.columns.items()} | NO_RATES | NO_FIT
        empty |= dict.fromkeys(Interval._fields, math.nan)
        blank = empty | {"n": 0, "steps": math.nan, "tau": math.nan, "instances": 0, "plan": ""}
        theory = BAYES_OPTIMAL if product else alpha_recovery(0.0)
        yield blank | {"kind": "theory", "value": theory}
        if fit is not None:
            rates = _rate_columns(fit.amplitude, fit.rates)
            for n, level in fit.levels.items():
                yield blank | rates | {"kind": "slow", "n": n} | level._asdict()
            fitted = {name: getattr(fit.large, name) for name in NO_FIT}
            yield blank | rates | fitted | {"kind": "joint"} | fit.limit._asdict()
        rival = ending_at_theory(theory, *curves)
        if rival is not None:
            for n, amplitude in rival.amplitudes.items():
                yield blank | _rate_columns(amplitude, rival.rates) | {"kind": "rival", "n": n}
        for cut in cuts(theory, *curves):
            for law in ("levels", "rival", "common"):
                own_fit = {f"rate_{name}": value for name, value in getattr(cut, law)._asdict().items()}
                free = cut.level._asdict() if law == "common" else {}
                yield blank | own_fit | free | {"kind": f"{law} cut", "rates_from": cut.from_tau}


def _rate_columns(amplitude: float, law: RateLaw) -> dict[str, Any]:
    exponent, *others = law
    return dict(zip(RATES, (amplitude, *exponent, *others), strict=True))


def _rate_law(row: Table) -> RateLaw:
    """What the first of these rows has."""
    _, value, low, high, *others = (row[name][0].item() for name in RATES)
    return RateLaw(Interval(value, low, high), *others)


def fit_of(table: Table, product: float) -> JointLimit | None:
    """The fit that a table has for a product."""
    own = table.where(kind="joint", product=product)
    if len(own) == 0:
        return None
    slow = table.where(kind="slow", product=product)
    levels = dict(zip(map(int, slow["n"]), intervals(slow), strict=True)) if len(slow) else {}
    return JointLimit(levels, own["rate_amplitude"][0].item(), _rate_law(own), limit_of(own))


def rival_of(table: Table, product: float) -> EndsAtTheory | None:
    """Its rival, which ends where theory says."""
    own, theory = (table.where(kind=kind, product=product) for kind in ("rival", "theory"))
    if len(own) == 0 or len(theory) == 0:
        return None
    amplitudes = dict(zip(map(int, own["n"]), own["rate_amplitude"].tolist(), strict=True))
    return EndsAtTheory(theory["value"][0].item(), amplitudes, _rate_law(own))


def cuts_of(table: Table, product: float) -> list[Cut]:
    """How the laws compare on the same rates."""
    laws = [table.where(kind=f"{law} cut", product=product) for law in ("levels", "rival", "common")]
    if not all(map(len, laws)):
        return []
    levels, rival, common = map(_by_first_rate, laws)
    level = dict(zip(common, intervals(laws[-1]), strict=True))
    shared = [tau for tau in levels if tau in rival and tau in common]
    return [Cut(tau, levels[tau], rival[tau], common[tau], level[tau]) for tau in shared]


def _by_first_rate(own: Table) -> dict[float, Fitted]:
    fits = map(Fitted, *(own[f"rate_{name}"].tolist() for name in Fitted._fields))
    return dict(zip(own["rates_from"].tolist(), fits, strict=True))


def draw(table: Table) -> Figure:
    """A panel for each product."""
    figure, axes = panels(2)
    for panel, product, name in zip(axes, TITLES, "ab", strict=True):
        own = table.where(product=product)
        if len(own.where(kind="threshold")):
            _draw_product(panel, own, product, size_looks(table), f"({name})")
        panel.set_title(TITLES[product] + r", $\mu$ from 1 to 300 in steps of 10 %")
    letter(axes)
    legend(figure, *axes, columns=2, title=BARS)
    return figure


def _draw_product(axes: Axes, own: Table, product: float, sizes: dict[int, dict[str, Any]], name: str) -> None:
    middles, theory = own.where(kind="threshold"), float(own.where(kind="theory")["value"][0])
    fit, rival = fit_of(own, product), rival_of(own, product)
    for place, (n, look) in enumerate(sizes.items()):
        at = middles.where(n=n)
        moved = at["tau"] * 1.6 ** between(place, len(sizes))
        with_bars(axes, moved, *(end - theory for end in ends(at)), ls="none", **look)
    room = 3.0
    if rival is not None and not rival.rates.doubt:
        _draw_rival(axes, rival, middles["tau"].max(), sizes, name)
        for cut in cuts_of(own, product):
            if fit is not None and cut.from_tau == fit.rates.from_tau < rival.rates.from_tau:
                words = f"{name} from {cut.from_tau:.0f} on, not drawn: χ² = {cut.rival.chi2:.1f} / {cut.rival.dof}"
                axes.plot([], [], " ", label=words)
    if fit is not None and not fit.rates.doubt:
        room = 2.5 * BEYOND
        _draw_fit(axes, fit, middles["tau"].max(), theory, sizes, name)
    if fit is not None and fit.doubt:
        _say_doubt(axes, fit)
    axes.set(xlabel=r"sweeps per e-fold of $\mu$", ylabel=rf"half recovered, $\alpha_{{50}} - {theory:.3f}$")
    axes.set_xlim(middles["tau"].min() / 3, room * middles["tau"].max())
    logarithmic(axes, "x", middles["tau"])
    logarithmic(axes, "y", middles["value"] - theory)


def _draw_rival(axes: Axes, rival: EndsAtTheory, slowest: float, sizes: dict[int, dict[str, Any]], name: str) -> None:
    taus = np.geomspace(rival.rates.from_tau, np.sqrt(BEYOND) * slowest, 10)
    for n in rival.amplitudes:
        axes.plot(taus, rival.at(n, taus) - rival.theory, color=sizes[n]["color"], lw=0.9, ls=":")
    label = f"{name} from {rival.rates.from_tau:.0f} on: down to {rival.theory:.3f} ({_law(rival.rates)})"
    axes.plot([], [], color=GREY, lw=0.9, ls=":", label=label)


def _draw_fit(
    axes: Axes, fit: JointLimit, slowest: float, theory: float, sizes: dict[int, dict[str, Any]], name: str
) -> None:
    """The curves of its sizes, the levels that they tend to and the limit of these."""
    taus = np.geomspace(fit.rates.from_tau, slowest, 60)
    for place, (n, look) in enumerate(sizes.items()):
        if n in fit.levels:
            axes.plot(taus, fit.at(n, taus) - theory, color=look["color"], lw=0.9)
            at_last = np.array([BEYOND * slowest * 1.6 ** between(place, len(sizes))])
            a_n, least, most = (np.array([max(LEAST, end - theory)]) for end in fit.levels[n])
            hollow: dict[str, Any] = {"color": look["color"], "marker": look["marker"], "mfc": "white"}
            with_bars(axes, at_last, a_n, least, most, ls="none", **hollow)
    words: dict[str, Any] = {"ha": "center", "va": "top", "size": "small", "transform": axes.get_xaxis_transform()}
    axes.text(BEYOND * slowest, 0.97, r"$\tau\to\infty$", **words)
    axes.axvline(np.sqrt(BEYOND) * slowest, color=GREY, lw=0.5, ls=":")
    label = f"{name} from {fit.rates.from_tau:.0f} on: to a level for each $N$, hollow ({_law(fit.rates)})"
    axes.plot([], [], "o-", color=GREY, mfc="white", lw=0.9, label=label)
    if not fit.doubt:
        bounds = f"{fit.limit.value:.3f} [{fit.limit.low:.3f}, {fit.limit.high:.3f}]"
        low, high = (max(LEAST, end - theory) for end in (fit.limit.low, fit.limit.high))
        axes.axhspan(low, high, color=SKY, alpha=0.3, lw=0)
        axes.plot([], [], color=SKY, lw=6, alpha=0.3, label=f"{name} for large $N$ {bounds}")


def _say_doubt(axes: Axes, fit: JointLimit) -> None:
    """Why there is no fit, or no limit of it, with chi^2 where that is not the reason."""
    what, of = ("no fit", fit.rates) if fit.rates.doubt else ("no limit for large $N$", fit.large)
    said = wrap(f"{what}: {fit.doubt}", 26) + ([] if bad_fit(of.chi2, of.dof) else [f"(χ² = {of.chi2:.1f} / {of.dof})"])
    axes.text(0.03, 0.04, "\n".join(said), size="small", transform=axes.transAxes)


def _law(rates: RateLaw) -> str:
    """In the words of a legend."""
    return rf"$\tau^{{-{rates.exponent.value:.2f}}}$, χ² = {rates.chi2:.1f} / {rates.dof}"

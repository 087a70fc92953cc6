"""The claims of the paper on annealing of the signs: its thresholds, its rate, where it must fail."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy.special import chdtrc

from phaselect.base.tables import Table
from phaselect.experiments.copies_needed import FEW
from phaselect.experiments.fits import misfit
from phaselect.experiments.limits import BAYES_OPTIMAL, Interval, intervals
from phaselect.experiments.vanishing import Vanishing
from phaselect.figures.hard_phase import vanishing_of
from phaselect.figures.rate_and_size import cuts_of, fit_of, rival_of
from phaselect.report.comparisons import (
    Halves,
    above,
    arrives,
    below,
    both_rates,
    gains,
    halves,
    largest,
    listed,
    mean_gain,
    paired,
)
from phaselect.report.evidence import known
from phaselect.report.ledger import (
    Claim,
    Finding,
    Said,
    Tables,
    claims_into,
    every,
    regulariser_threshold,
    verdict,
)

ANNEALING_CLAIMS: list[Claim] = []
claim = claims_into(ANNEALING_CLAIMS)
LARGEST = 1.475
"""The largest alpha of the paper's success curves."""
WORDS = {True: "yes", False: "no", None: "not settled"}


@claim(
    "Sec. III and IV",
    "Without a regulariser simulated annealing solves the problem only for alpha > 1.7, beyond what replica "
    "symmetry says",
    "success_sa",
    "rate_and_size",
    "regularisation",
)
def unregularised_needs_more(tables: Tables) -> Finding:
    """alpha_50 at lam = 0, of the largest size at both rates and at the slowest, against 1.7 and against theory.

    That is, against where theory has an anneal recover. Small ones need fewer: the claim is one on large instances.
    """
    fast, slow = both_rates(tables["success_sa"], "sa", product=0.0)
    recovery, slowest_of_all = regulariser_threshold(tables, "recovery", 0.0), _slowest(tables["rate_and_size"], 0.0)
    text = (
        f"alpha_50 at lam = 0: fast, {listed(fast)}; slow, {listed(slow)}; slowest of all rates: "
        f"{listed(slowest_of_all)}{_trend(slowest_of_all)}; replica symmetry has an anneal recover from "
        f"{recovery:.3f} on"
    )
    ends = [largest(own) for own in (fast, slow, slowest_of_all)]
    answers = {alpha: every(above(end, alpha) for end in ends) for alpha in (1.7, recovery)}
    text += f"; the largest of each beyond {', '.join(f'{at:.4g}: {WORDS[said]}' for at, said in answers.items())}"
    return Finding(text, verdict(*answers.values()))


@claim(
    "Sec. IV",
    "At constant lam simulated annealing fails at alpha = 1.3, and its threshold lies above where replica symmetry "
    "has an anneal recover",
    "success_sa",
    "regularisation",
)
def fixed_regulariser_fails(tables: Tables) -> Finding:
    """Simulated annealing at lam = 0.005: its shares at alpha = 1.3, and alpha_50 of the largest size."""
    table = tables["success_sa"].where(solver="sa-fixed")
    recovery = regulariser_threshold(tables, "recovery", 0.005)
    shares = table.where(kind="share", alpha=1.3)
    fast, slow = both_rates(table, "sa-fixed")
    text = (
        f"lam = 0.005, alpha = 1.3: {shares['successes'].sum():.0f} of {shares['trials'].sum():.0f} runs recover; "
        f"alpha_50: fast, {listed(fast)}; slow, {listed(slow)}; replica symmetry has an anneal recover from "
        f"{recovery:.3f} on"
    )
    fails = every(below(share, Interval(0.5, 0.5, 0.5)) for share in intervals(shares))
    return Finding(text, verdict(fails, every(above(largest(own), recovery) for own in (fast, slow))))


@claim("Sec. IV, SA", "Simulated annealing: a slower anneal recovers from fewer measurements", "success_sa")
def slower_annealing_is_better(tables: Tables) -> Finding:
    """alpha_50 of the slow anneal against that of the fast one, at the matched product."""
    fast, slow = both_rates(tables["success_sa"], "sa", product=1.0)
    return Finding(paired(fast, slow), verdict(gains(fast, slow)))


@claim(
    "Sec. IV, SA",
    "The threshold of simulated annealing approaches the Bayes-optimal 1.13 for larger instances and slower schedules",
    "success_sa",
    "rate_and_size",
)
def annealing_approaches_bayes(tables: Tables) -> Finding:
    """Do slower schedules help; is the limit of slow anneals of large instances the Bayes-optimal threshold?"""
    fast, slow = both_rates(tables["success_sa"], "sa", product=1.0)
    words, arrived = annealing_limit(tables["rate_and_size"], 1.0, BAYES_OPTIMAL)
    text = f"slow anneal: {listed(slow)}; mean gain over fast {mean_gain(fast, slow)}; {words}"
    return Finding(text, verdict(gains(fast, slow), arrived))


@claim(
    "Sec. III, asked on",
    "Without a regulariser simulated annealing recovers, for larger instances and slower schedules, from where "
    "replica symmetry says",
    "rate_and_size",
)
def unregularised_reaches_theory(tables: Tables) -> Finding:
    """The limit of large instances and slow anneals at lam = 0, against where theory has an anneal recover."""
    table = tables["rate_and_size"]
    theory = known(table.where(kind="theory", product=0.0)["value"], "the threshold")[0]
    words, arrived = annealing_limit(table, 0.0, theory)
    return Finding(f"{words}; replica symmetry: {theory:.3f}", verdict(arrived))


@claim(
    "Sec. I, asked on",
    "Below the Bayes-optimal threshold the time to recover a signal grows exponentially with its size",
    "hard_phase",
)
def hard_below_bayes(tables: Tables) -> Finding:
    """Copies that population annealing needs: do they grow at every alpha, and by which law at all of them together?

    It needs a correction where they grow by neither law exactly, but surely more nearly by the exponential.
    """
    table = tables["hard_phase"]
    rates = table.where(kind="exponential")
    texts = [
        f"alpha = {alpha:g}, {rate}{f' (in doubt, {doubt})' if doubt else ''}"
        for alpha, rate, doubt in zip(rates["alpha"], intervals(rates), rates["doubt"], strict=True)
    ]
    trusted = intervals(rates.where(doubt=""))
    grows = every(above(rate, 0.0) for rate in trusted) if 2 * len(trusted) > len(rates) else None
    words, nearest, exactly = _law_of_growth(table)
    text = "copies of population annealing that half of the instances need, in powers of 2 per unknown: "
    parts = [*texts, words, *_where_rates_vanish(vanishing_of(table), exactly), *_lattice(table.where(kind="lattice"))]
    text += "; ".join(parts)
    exponential = every([grows, nearest])
    return Finding(text, verdict(exponential, exactly) if exponential else verdict(exponential))


def _where_rates_vanish(laws: Sequence[Vanishing], exactly: Said) -> list[str]:
    """Where the laws of the rates end, in words, if there are any; is growth exactly exponential?"""
    trusted = [law for law in laws if not law.doubt]
    if not trusted:
        return [f"no law of the rates says where they vanish: {law.doubt}" for law in laws[:1]]
    low, high = min(law.end.low for law in trusted), max(law.end.high for law in trusted)
    side = "all below" if high < BAYES_OPTIMAL else "all above" if low > BAYES_OPTIMAL else "around"
    ends = [
        f"p = {law.power:g}, {law.end} (from alpha = {law.least:g} on, {misfit(law.chi2, law.dof)})" for law in trusted
    ]
    return [
        f"rates that vanish like (alpha_c - alpha)^p do so at {', '.join(ends)}, {side} the Bayes-optimal "
        f"{BAYES_OPTIMAL}: where they vanish is open between {low:.3f} and {high:.3f}, and more so, since no interval "
        "holds that χ² chose where each law begins, or how small the instances are"
        + (", or that growth is not exactly exponential" if exactly is False else "")
    ]


def _lattice(found: Table) -> list[str]:
    """How far lattices go, in words, if they were run."""
    if len(found) == 0:
        return []
    reach = [
        f"{_whole(half)} at alpha = {alpha:g}" for alpha, half in zip(found["alpha"], intervals(found), strict=True)
    ]
    block = found["block"][0]
    return [f"a lattice, with blocks of {block:.0f} rows and no copies, recovers half up to N = {', '.join(reach)}"]


def _whole(half: Interval) -> str:
    """An interval of sizes."""
    return str(half) if math.isnan(half.value) else f"{half.value:.0f} [{half.low:.0f}, {half.high:.0f}]"


def _law_of_growth(table: Table) -> tuple[str, Said, Said]:
    """In words; is the exponential law the better one, surely; does it fit?"""
    fits = {law: table.where(kind=f"{law} together") for law in ("exponential", "power")}
    if any(len(fit) == 0 for fit in fits.values()):
        return "known at too few sizes", None, None
    few = {law: fit["doubt"][0] == FEW for law, fit in fits.items()}
    fitting = {law: None if few[law] else not fit["doubt"][0] for law, fit in fits.items()}
    (gain,) = intervals(table.where(kind="gain"))
    words = [f"{law}, {_tested(fit['chi2'][0], int(fit['dof'][0]))}" for law, fit in fits.items()]
    words += [fit["doubt"][0] for law, fit in fits.items() if few[law]][:1]
    words += ["neither fits at the 5 % level"] if set(fitting.values()) == {False} else []
    text = f"at all of these together {'; '.join(words)}; the deviance of the power law is larger by {gain.value:.0f} "
    text += f"[{gain.low:.0f}, {gain.high:.0f}]"
    better = True if gain.low > 0 else False if gain.high < 0 and not few["power"] else None
    return text, better, fitting["exponential"]


def _tested(chi2: float, dof: int) -> str:
    return f"{misfit(chi2, dof)} (p = {chdtrc(dof, chi2):.1g})"


@claim(
    "Sec. IV, SA",
    "T_A = 100 Monte Carlo steps at each temperature, one proposal each, recover half of the instances within "
    "the alphas shown",
    "success_sa",
)
def hundred_steps(tables: Tables) -> Finding:
    """Is alpha_50 within the paper's range at all sizes and rates: with steps that are proposals, and sweeps?"""
    table = tables["success_sa"]
    proposals, sweeps = (both_rates(table, name, product=1.0) for name in ("sa-proposals", "sa"))
    text = "; ".join(
        f"{name}, {rate}: {listed(found) or 'not run'}"
        for name, pair in (("proposals", proposals), ("sweeps instead", sweeps))
        for rate, found in zip(("fast", "slow"), pair, strict=True)
    )
    return Finding(text, verdict(*(every(_within_reach(half) for half in _all(pair)) for pair in (proposals, sweeps))))


def annealing_limit(table: Table, product: float, theory: float) -> tuple[str, Said]:
    """What the fits over sizes and rates say, in words; is theory the limit?

    A fit that ends elsewhere does not say no as long as a law that ends there fits the slow rates.
    """
    fit, rival, slowest = fit_of(table, product), rival_of(table, product), _slowest(table, product)
    words = [f"slowest of all rates: {listed(slowest) or 'not run'}{_trend(slowest)}", str(fit or "no limit fitted")]
    if rival:
        words += [str(rival)]
        if compared := cuts_of(table, product):
            fitting = "; ".join(str(cut) for cut in compared if cut.fits) or "none fits"
            words += [f"χ² on the same rates, of these two and of one level for all sizes, free: {fitting}"]
        words += ["every χ² of a law of rates is too small, as those of one size share instances"]
    arrived = arrives(fit, theory)
    return "; ".join(words), None if arrived is False and rival and rival.fits else arrived


def _slowest(table: Table, product: float) -> Halves:
    """alpha_50 by size at the slowest rate of a product."""
    own = table.where(kind="threshold", product=product)
    return halves(own, "sa-rate", tau=own["tau"].max()) if len(own) else {}


def _trend(found: Halves) -> str:
    """What alpha_50 does from the smallest size to the largest, in words; nothing where that may be chance."""
    moved = below(found[min(found)], found[max(found)]) if found else None
    return "" if moved is None else f", {'rising' if moved else 'falling'} with N"


def _all(pair: tuple[Halves, Halves]) -> list[Interval]:
    return [half for found in pair for half in found.values()]


def _within_reach(half: Interval) -> Said:
    return True if half.high <= LARGEST else False if half.low >= LARGEST else None

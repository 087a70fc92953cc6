"""The claims of the paper on annealing of the signs: its thresholds, its rate, where it must fail."""

from __future__ import annotations

from phaselect.base.tables import Table
from phaselect.experiments.limits import BAYES_OPTIMAL, Interval, intervals, misfit
from phaselect.figures.rate_and_size import fit_of, slowest
from phaselect.report.comparisons import (
    Halves,
    above,
    arrives,
    below,
    both_rates,
    gains,
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


@claim(
    "Sec. III and IV",
    "Without a regulariser simulated annealing solves the problem only for alpha > 1.7, beyond what replica "
    "symmetry says",
    "success_sa",
    "regularisation",
)
def unregularised_needs_more(tables: Tables) -> Finding:
    """alpha_50 at lam = 0 of the largest size, at both rates, against 1.7 and against where theory has it recover."""
    fast, slow = both_rates(tables["success_sa"], "sa", product=0.0)
    recovery = regulariser_threshold(tables, "recovery", 0.0)
    text = (
        f"alpha_50 at lam = 0: fast, {listed(fast)}; slow, {listed(slow)}; replica symmetry has an anneal recover "
        f"from {recovery:.3f} on"
    )
    ends = [largest(fast), largest(slow)]
    return Finding(text, verdict(*(every(above(end, alpha) for end in ends) for alpha in (1.7, recovery))))


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
    """Do slower schedules help, and larger instances; is the limit of both together the Bayes-optimal threshold?"""
    fast, slow = both_rates(tables["success_sa"], "sa", product=1.0)
    fit = fit_of(tables["rate_and_size"], 1.0)
    text = (
        f"slow anneal: {listed(slow)}; mean gain over fast {mean_gain(fast, slow)}; slowest of all rates: "
        f"{listed(slowest(tables['rate_and_size'], 1.0)) or 'not run'}; limit of large instances and slow anneals: "
        f"{fit or 'not fitted'}"
    )
    larger_helps = below(largest(slow), slow[min(slow)])
    return Finding(text, verdict(gains(fast, slow), larger_helps, arrives(fit)))


@claim(
    "Sec. III, asked on",
    "Without a regulariser simulated annealing recovers, for larger instances and slower schedules, from where "
    "replica symmetry says",
    "rate_and_size",
)
def unregularised_reaches_theory(tables: Tables) -> Finding:
    """The limit of large instances and slow anneals at lam = 0, against where theory has an anneal recover."""
    table = tables["rate_and_size"]
    fit, theory = fit_of(table, 0.0), known(table.where(kind="theory", product=0.0)["value"], "the threshold")[0]
    text = (
        f"slowest of all rates: {listed(slowest(table, 0.0)) or 'not run'}; limit of large instances and slow anneals: "
        f"{fit or 'not fitted'}; replica symmetry: {theory:.3f}"
    )
    return Finding(text, verdict(arrives(fit, theory)))


@claim(
    "Sec. I, asked on",
    "Below the Bayes-optimal threshold the time to recover a signal grows exponentially with its size",
    "hard_phase",
)
def hard_below_bayes(tables: Tables) -> Finding:
    """Copies that population annealing needs: by which law they grow, at alphas that settle it, more than half."""
    table = tables["hard_phase"]
    alphas = [alpha for alpha in sorted(table.where(kind="copies").values("alpha")) if alpha < BAYES_OPTIMAL]
    found = [_growth(table.where(alpha=alpha)) for alpha in alphas]
    texts = [f"alpha = {alpha:g}: {text}" for alpha, (text, _) in zip(alphas, found, strict=True)]
    end = table.where(kind="vanishing")
    if len(end):
        doubt = str(end["doubt"][0])
        texts.append(
            f"no line through these rates says where they vanish: {doubt}"
            if doubt
            else f"vanishing at {intervals(end)[0]}"
        )
    settled = [said for _, said in found if said is not None]
    said = every(settled) if 2 * len(settled) > len(found) else None
    return Finding("; ".join(texts) or "nothing was measured", verdict(said))


def _growth(own: Table) -> tuple[str, Said]:
    """In words, and whether it is exponential: not known unless one law fits, and is surely better than the other."""
    fits = {law: own.where(kind=law) for law in ("exponential", "power")}
    if len(fits["exponential"]) == 0:
        return "open, known at too few sizes", None
    trusted = {law: not fit["doubt"][0] for law, fit in fits.items()}
    words = {law: f"{law}, {_fit_in_words(fit)}" for law, fit in fits.items()}
    if not any(trusted.values()):
        return f"open, {'; '.join(words.values())}", None
    (rate,), (gain,) = intervals(fits["exponential"]), intervals(own.where(kind="gain"))
    grown = f"{rate} powers of 2 per unknown, "
    if trusted["exponential"] and rate.high <= 0:
        return grown + "no growth", False
    if trusted["exponential"] and rate.low > 0 and gain.low > 0:
        return grown + words["exponential"], True
    if trusted["power"] and gain.high < 0:
        return words["power"], False
    if not all(trusted.values()):
        (fitting,) = (law for law, good in trusted.items() if good)
        return f"{grown}open, only the {fitting} law fits, but not surely better", None
    return grown + "open, the laws are not told apart", None


def _fit_in_words(fit: Table) -> str:
    return str(fit["doubt"][0]) or misfit(fit["chi2"][0], int(fit["dof"][0]))


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


def _all(pair: tuple[Halves, Halves]) -> list[Interval]:
    return [half for found in pair for half in found.values()]


def _within_reach(half: Interval) -> Said:
    return True if half.high <= LARGEST else False if half.low >= LARGEST else None

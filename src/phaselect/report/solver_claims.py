"""The claims of the paper's numerical experiments, judged by the tables of the success figures and of single runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from phaselect.base.tables import Table
from phaselect.experiments.limits import BAYES_OPTIMAL, Interval, Limit, intervals, large_n_limit, misfit
from phaselect.experiments.success import STANDARD_ERRORS
from phaselect.figures.patience import thresholds
from phaselect.figures.rate_and_size import fit_of, slowest
from phaselect.report.comparisons import (
    FAST,
    SLOW,
    Halves,
    above,
    arrives,
    below,
    both_rates,
    clearly_below,
    gains,
    halves,
    largest,
    limit,
    listed,
    mean_gain,
    paired,
)
from phaselect.report.evidence import known
from phaselect.report.ledger import (
    Claim,
    Conclusion,
    Finding,
    Said,
    Tables,
    claims_into,
    every,
    holds_if,
    regulariser_threshold,
    verdict,
)

SOLVER_CLAIMS: list[Claim] = []
claim = claims_into(SOLVER_CLAIMS)
FAR = 0.1
"""Instances whose alpha_50 is surely farther than this from a threshold are not approaching it."""
WORDS = {True: "approaches it", False: "does not", None: "not settled"}
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


@claim(
    "Sec. IV, AMP",
    "The threshold of annealed message passing approaches the Bayes-optimal one",
    "success_amp",
    "patience",
)
def message_passing_approaches_bayes(tables: Tables) -> Finding:
    """The limit of alpha_50 at the matched product, at both rates within 3000 iterations, and within the paper's."""
    table, long = tables["success_amp"], thresholds(tables["patience"].where(kind="share"))
    fast, slow = both_rates(table, "amp", product=1.0)
    fits = [limit(table, "amp", eps=eps, product=1.0) for eps in (FAST, SLOW)]
    fits.append(large_n_limit(list(long), list(long.values())))
    curves = (("fast", fast), ("slow", slow), ("fast, within 2*10^5 iterations", long))
    texts = [
        f"{name}, {listed(found)}, limit {fit or 'not fitted'}" for (name, found), fit in zip(curves, fits, strict=True)
    ]
    return Finding(f"at mu*lam = 1: {'; '.join(texts)}", verdict(*map(arrives, fits)))


@claim(
    "Sec. IV, AMP, asked on",
    "Within the paper's 2*10^5 iterations message passing recovers from fewer measurements than within 3000",
    "patience",
    "success_amp",
)
def patience_pays(tables: Tables) -> Finding:
    """alpha_50 of the same runs at the same alphas, within all of their iterations and ended after 3000."""
    shares = tables["patience"].where(kind="share")
    ended = tables["success_amp"].where(kind="share", solver="amp", eps=FAST, product=1.0)
    places = {*zip(shares["n"].tolist(), shares["alpha"].tolist(), strict=True)}
    both = [place in places for place in zip(ended["n"].tolist(), ended["alpha"].tolist(), strict=True)]
    short, long = thresholds(ended.take(np.array(both))), thresholds(shares)
    sizes = "; ".join(f"N = {n}: {short[n]} within 3000, {long[n]} within all" for n in long if n in short)
    return Finding(f"{sizes}; mean gain {mean_gain(short, long)}", verdict(gains(short, long)))


@claim("Sec. IV, AMP", "Message passing: it does so in the limit of a vanishing rate", "success_amp")
def rate_matters_for_message_passing(tables: Tables) -> Finding:
    """Fast against slow, on the paper's schedule and at the matched product."""
    printed = both_rates(tables["success_amp"], "amp-paper")
    matched = both_rates(tables["success_amp"], "amp", product=1.0)
    text = f"on the paper's schedule: {paired(*printed)}. At mu*lam = 1: {paired(*matched)}"
    return Finding(text, verdict(gains(*printed), gains(*matched)))


@claim(
    "Sec. IV, AMP",
    "State evolution, the saddle-point iteration, describes the trajectories of message passing",
    "trajectories",
)
def state_evolution_describes(tables: Tables) -> Finding:
    """The mean run against state evolution, iteration by iteration, at every alpha."""
    table = tables["trajectories"]
    parts, texts = [], []
    for mean in table.where(source="mean of amp").by("alpha"):
        theory = table.where(source="state evolution", alpha=mean["alpha"][0])
        gap = known(mean["m"] - np.interp(mean["sweeps"], theory["sweeps"], theory["m"]), "the mean of m")
        error = known(mean["m_error"], "its error")
        worst = int(np.argmax(np.abs(gap)))
        parts.append(_describes(np.abs(gap), error))
        texts.append(f"alpha = {mean['alpha'][0]:g}: {gap[worst]:.2f} ± {error[worst]:.2f}")
    return Finding("largest gap in m of the mean run, with its standard error: " + "; ".join(texts), verdict(*parts))


def _describes(gap: NDArray[np.float64], error: NDArray[np.float64]) -> Said:
    """Yes if it is surely within 0.2 throughout, no if it is surely beyond 0.1 somewhere."""
    if np.any(gap - 2 * error > 0.1):
        return False
    return True if np.all(gap + 2 * error < 0.2) else None


@claim("Sec. IV, Langevin", "Langevin dynamics: a slower anneal recovers from fewer measurements", "success_langevin")
def slower_langevin_is_better(tables: Tables) -> Finding:
    """alpha_50 of the slow anneal against that of the fast one, at the paper's product."""
    fast, slow = both_rates(tables["success_langevin"], "langevin", product=0.75)
    return Finding(paired(fast, slow), verdict(gains(fast, slow)))


@claim(
    "Sec. IV, Langevin",
    "Langevin dynamics is the poorest of the three solvers",
    "success_langevin",
    "success_sa",
    "success_amp",
)
def langevin_is_poorest(tables: Tables) -> Finding:
    """alpha_50 of the three solvers at all sizes and rates that they share."""
    texts, parts = [], []
    for eps in (FAST, SLOW):
        langevin = halves(tables["success_langevin"], "langevin", eps=eps, product=0.75)
        sa, amp = (halves(tables[f"success_{name}"], name, eps=eps, product=1.0) for name in ("sa", "amp"))
        for n in (n for n in langevin if n in sa and n in amp):
            texts.append(f"N = {n}, eps = {eps:g}: Langevin {langevin[n]}, sa {sa[n]}, amp {amp[n]}")
            parts += [below(sa[n], langevin[n]), below(amp[n], langevin[n])]
    return Finding("; ".join(texts) or "they share no size", verdict(*parts))


@claim(
    "Sec. IV, Langevin",
    "It still recovers where gradient descent is stuck in local minima orthogonal to the signal",
    "descent",
)
def langevin_beats_descent(tables: Tables) -> Finding:
    """alpha_50 against descent from the same start, in x and in theta; overlap of descent in x where only it fails."""
    table = tables["descent"]
    langevin, in_x, in_theta = (halves(table, name) for name in ("langevin", "descent", "descent-signs"))
    sizes = [n for n in langevin if n in in_x and n in in_theta]
    text = "; ".join(f"N = {n}: Langevin {langevin[n]}, descent in x {in_x[n]}, in theta {in_theta[n]}" for n in sizes)
    pairs = [(langevin[n], rival[n]) for n in sizes for rival in (in_x, in_theta)]
    if not pairs or any(clearly_below(rival, own) for own, rival in pairs):
        return Finding(text or "0 sizes have all three", Conclusion.FAILS if pairs else Conclusion.OPEN)
    n = max(sizes)
    stuck = table.where(kind="stuck", solver="descent", n=n)
    here = stuck.take((stuck["alpha"] > langevin[n].high) & (stuck["alpha"] < in_x[n].low)) if len(stuck) else stuck
    if not all(clearly_below(*pair) for pair in pairs) or len(here) == 0:
        return Finding(text, Conclusion.OPEN)
    random = STANDARD_ERRORS * n**-0.5
    text += f"; meanwhile descent in x ends, N = {n}, at overlaps of median {here['value'].min():.2f} to "
    text += f"{here['value'].max():.2f}, a random direction below {random:.2f} (95 %)"
    return Finding(text, holds_if(bool((here["value"] < random).all()), Conclusion.CORRECTED))


@claim(
    "Abstract",
    "With temperature and regulariser annealed together, all three algorithms approach the Bayes-optimal efficiency",
    "success_amp",
    "success_sa",
    "success_langevin",
)
def all_approach_bayes(tables: Tables) -> Finding:
    """The slow anneal of each: its limit where it has one to be trusted, else the largest size."""
    texts, parts = [], []
    for name, product in (("amp", 1.0), ("sa", 1.0), ("langevin", 0.75)):
        table = tables[f"success_{name}"]
        found = halves(table, name, eps=SLOW, product=product)
        fit = limit(table, name, eps=SLOW, product=product)
        parts.append(_approaches(largest(found), fit))
        texts.append(f"{name}, N = {max(found)}: {largest(found)}, limit {fit or 'not fitted'} ({WORDS[parts[-1]]})")
    return Finding("; ".join(texts) + f"; Bayes-optimal {BAYES_OPTIMAL}", verdict(every(parts)))


def _approaches(half: Interval, fit: Limit | None) -> Said:
    """By the limit; without one, no if the largest instances are still far away."""
    answer = arrives(fit)
    return False if answer is None and above(half, BAYES_OPTIMAL + FAR) else answer

"""The claims of the paper's numerical experiments, judged by the tables of the success figures and of single runs."""

from __future__ import annotations

import math

import numpy as np

from phaselect.base.tables import Table
from phaselect.experiments.limits import BAYES_OPTIMAL, Interval
from phaselect.report.ledger import (
    Assessment,
    Claim,
    Conclusion,
    Finding,
    Tables,
    claims_into,
    holds_if,
    regulariser_threshold,
)

SOLVER_CLAIMS: list[Claim] = []
claim = claims_into(SOLVER_CLAIMS)
SLOW, FAST = 0.01, 0.1
NARROW = 0.06
"""An interval wider than this does not settle a limit."""

Halves = dict[int, Interval]
"""alpha_50 by size."""


def halves(table: Table, solver: str, **options: float) -> Halves:
    """alpha_50 by size, of one solver."""
    own = table.where(kind="threshold", solver=solver, **options)
    found = zip(own["n"].tolist(), own["value"].tolist(), own["low"].tolist(), own["high"].tolist(), strict=True)
    return {n: Interval(*numbers) for n, *numbers in sorted(found)}


def limit(table: Table, solver: str, **options: float) -> Interval | None:
    """alpha_50 extrapolated to infinite N, where enough sizes were measured."""
    own = table.where(kind="limit", solver=solver, **options)
    return Interval(own["value"][0], own["low"][0], own["high"][0]) if len(own) else None


def clearly_below(one: Interval, other: Interval) -> bool:
    """Does the one interval end before the other begins?"""
    return one.high < other.low


def listed(found: Halves) -> str:
    """alpha_50 by size, in words."""
    return "; ".join(f"N = {n}: {half}" for n, half in found.items())


def paired(fast: Halves, slow: Halves) -> str:
    """Both rates by size, in words."""
    return "; ".join(f"N = {n}: {fast[n]} fast, {slow[n]} slow" for n in fast if n in slow)


def improvement(fast: Halves, slow: Halves) -> Conclusion:
    """Is slow better than fast: clearly at some size, and clearly worse at none?"""
    both = [(slow[n], fast[n]) for n in fast if n in slow]
    better, worse = any(clearly_below(s, f) for s, f in both), any(clearly_below(f, s) for s, f in both)
    return Conclusion.FAILS if worse else Conclusion.HOLDS if better else Conclusion.OPEN


@claim(
    "Sec. III and IV",
    "Without a regulariser simulated annealing solves the problem only for alpha > 1.7, beyond what replica "
    "symmetry says",
    "success_sa",
    "regularisation",
)
def unregularised_needs_more(tables: Tables) -> Finding:
    """alpha_50 at lam = 0 of the largest size, against 1.7 and against where theory has an anneal recover."""
    found = {eps: halves(tables["success_sa"], "sa", eps=eps, product=0.0) for eps in (FAST, SLOW)}
    recovery = regulariser_threshold(tables, "recovery", 0.0)
    text = f"alpha_50 at lam = 0: fast, {listed(found[FAST])}; slow, {listed(found[SLOW])}"
    text += f"; replica symmetry has an anneal recover from {recovery:.3f} on"
    if not all(found.values()):
        return Finding(text, Conclusion.OPEN)
    least = min(own[max(own)].low for own in found.values())
    return Finding(text, holds_if(least > 1.7, Conclusion.CORRECTED if least > recovery else Conclusion.FAILS))


@claim(
    "Sec. IV",
    "At constant lam simulated annealing fails at alpha = 1.3, and its threshold lies above where replica symmetry "
    "has an anneal recover",
    "success_sa",
    "regularisation",
)
def fixed_regulariser_fails(tables: Tables) -> Finding:
    """Simulated annealing at lam = 0.005: its share at alpha = 1.3, and alpha_50 of the largest size."""
    table = tables["success_sa"].where(solver="sa-fixed")
    recovery = regulariser_threshold(tables, "recovery", 0.005)
    shares = table.where(kind="share", alpha=1.3)
    found = {eps: halves(table, "sa-fixed", eps=eps) for eps in (FAST, SLOW)}
    if len(shares) == 0 or not all(found.values()):
        return Finding("no runs at lam = 0.005", Conclusion.OPEN)
    text = f"lam = 0.005, alpha = 1.3: {shares['successes'].sum():.0f} of {shares['trials'].sum():.0f} runs recover; "
    text += f"alpha_50: fast, {listed(found[FAST])}; slow, {listed(found[SLOW])}"
    text += f"; replica symmetry has an anneal recover from {recovery:.3f} on"
    above = min(own[max(own)].low for own in found.values()) > recovery
    few = bool(shares["high"].max() < 0.5)
    return Finding(text, holds_if(few and above, Conclusion.CORRECTED if above else Conclusion.FAILS))


def slower_is_better(figure: str, solver: str, product: float) -> Assessment:
    """At each size, alpha_50 of the slow anneal against that of the fast one."""

    def judge(tables: Tables) -> Finding:
        fast, slow = (halves(tables[figure], solver, eps=eps, product=product) for eps in (FAST, SLOW))
        return Finding(paired(fast, slow), improvement(fast, slow))

    return judge


claim("Sec. IV, SA", "Simulated annealing: a slower anneal recovers from fewer measurements", "success_sa")(
    slower_is_better("success_sa", "sa", 1.0)
)


@claim(
    "Sec. IV, SA",
    "The threshold of simulated annealing approaches the Bayes-optimal 1.13 for larger instances and slower schedules",
    "success_sa",
)
def annealing_approaches_bayes(tables: Tables) -> Finding:
    """Do larger instances help, and slower schedules; is the limit of the slow anneal the Bayes-optimal threshold?"""
    table = tables["success_sa"]
    fast, slow = (halves(table, "sa", eps=eps, product=1.0) for eps in (FAST, SLOW))
    end = limit(table, "sa", eps=SLOW, product=1.0)
    known = [half for half in slow.values() if math.isfinite(half.value)]
    if end is None or len(known) < 2:
        return Finding(f"slow anneal: {listed(slow)}; too few sizes for a limit", Conclusion.OPEN)
    text = f"slow anneal: {listed(slow)}; fitted limit {end}"
    slower_helps = improvement(fast, slow) is Conclusion.HOLDS
    if end.low <= BAYES_OPTIMAL <= end.high:
        return Finding(text, holds_if(slower_helps and end.high - end.low < NARROW, Conclusion.OPEN))
    larger_helps = clearly_below(known[-1], known[0])
    text += f": slower schedules {'help' if slower_helps else 'do not help'}"
    text += f", larger instances {'help' if larger_helps else 'do not'}"
    return Finding(text, Conclusion.CORRECTED if slower_helps or larger_helps else Conclusion.FAILS)


@claim("Sec. IV, SA", "T_A = 100 Monte Carlo steps at each temperature", "success_sa")
def hundred_steps(tables: Tables) -> Finding:
    """T_A = 100 as single proposals against 100 sweeps, slow anneal."""
    table = tables["success_sa"]
    sweeps, proposals = (halves(table, name, eps=SLOW, product=1.0) for name in ("sa", "sa-proposals"))
    both = [n for n in sweeps if n in proposals]
    text = "; ".join(f"N = {n}: {sweeps[n]} in sweeps, {proposals[n]} in proposals" for n in both)
    worse = all(clearly_below(sweeps[n], proposals[n]) for n in both)
    return Finding(text, (Conclusion.CORRECTED if worse else Conclusion.HOLDS) if both else Conclusion.OPEN)


@claim("Sec. IV, AMP", "The threshold of annealed message passing approaches the Bayes-optimal one", "success_amp")
def message_passing_approaches_bayes(tables: Tables) -> Finding:
    """alpha_50 at the matched product, and its limit at either rate."""
    table = tables["success_amp"]
    ends = {eps: limit(table, "amp", eps=eps, product=1.0) for eps in (FAST, SLOW)}
    fits = [end for end in ends.values() if end is not None]
    text = f"at mu*lam = 1: {listed(halves(table, 'amp', eps=FAST, product=1.0))}"
    if not fits:
        return Finding(text + "; too few sizes for a limit", Conclusion.OPEN)
    text += f"; fitted limit {ends[FAST] or 'unknown'} fast, {ends[SLOW] or 'unknown'} slow"
    if any(end.low <= BAYES_OPTIMAL <= end.high for end in fits):
        return Finding(text, holds_if(min(end.high - end.low for end in fits) < NARROW, Conclusion.OPEN))
    if all(end.high < BAYES_OPTIMAL for end in fits):
        return Finding(text + ", below what is possible: the fit is no good", Conclusion.OPEN)
    nearest = min(abs(end.value - BAYES_OPTIMAL) for end in fits)
    return Finding(text, Conclusion.CORRECTED if nearest < 0.015 else Conclusion.FAILS)


@claim("Sec. IV, AMP", "Message passing: it does so in the limit of a vanishing rate", "success_amp")
def rate_matters_for_message_passing(tables: Tables) -> Finding:
    """Fast against slow, on the paper's schedule and at the matched product."""
    table = tables["success_amp"]
    printed = [halves(table, "amp-paper", eps=eps) for eps in (FAST, SLOW)]
    matched = [halves(table, "amp", eps=eps, product=1.0) for eps in (FAST, SLOW)]
    text = f"on the paper's schedule: {paired(*printed)}. At mu*lam = 1: {paired(*matched)}"
    if not (set(printed[0]) & set(printed[1])) or not (set(matched[0]) & set(matched[1])):
        return Finding(text, Conclusion.OPEN)
    on_print, on_match = improvement(*printed), improvement(*matched)
    if on_print is Conclusion.HOLDS and on_match is Conclusion.OPEN:
        return Finding(text + ": there the rate does not matter", Conclusion.CORRECTED)
    return Finding(text, on_print)


@claim(
    "Sec. IV, AMP",
    "State evolution, the saddle-point iteration, describes the trajectories of message passing",
    "trajectories",
)
def state_evolution_describes(tables: Tables) -> Finding:
    """Mean of the runs at alpha = 1.4 against state evolution, iteration by iteration."""
    table, alpha = tables["trajectories"], 1.4
    theory = table.where(source="state evolution", alpha=alpha)
    runs = table.where(source="amp", alpha=alpha)
    gaps = []
    for seed in runs.values("seed"):
        own = runs.where(seed=seed)
        gaps.append(own["m"] - np.interp(own["sweeps"], theory["sweeps"], theory["m"]))
    length = min(len(gap) for gap in gaps)
    mean = np.abs(np.mean([gap[:length] for gap in gaps], axis=0))
    text = f"alpha = {alpha:g}, N = 1000: the mean m of {len(gaps)} runs is within {mean.max():.3f} of it throughout"
    return Finding(text, holds_if(mean.max() < 0.15))


claim("Sec. IV, Langevin", "Langevin dynamics: a slower anneal recovers from fewer measurements", "success_langevin")(
    slower_is_better("success_langevin", "langevin", 0.75)
)


@claim(
    "Sec. IV, Langevin",
    "Langevin dynamics is the poorest of the three solvers",
    "success_langevin",
    "success_sa",
    "success_amp",
)
def langevin_is_poorest(tables: Tables) -> Finding:
    """alpha_50 of the three solvers at the sizes and rates they share."""
    parts, pairs = [], []
    for eps in (FAST, SLOW):
        langevin = halves(tables["success_langevin"], "langevin", eps=eps, product=0.75)
        sa, amp = (halves(tables[f"success_{name}"], name, eps=eps, product=1.0) for name in ("sa", "amp"))
        for n in (n for n in langevin if n in sa and n in amp):
            parts.append(f"N = {n}, eps = {eps:g}: Langevin {langevin[n]}, sa {sa[n]}, amp {amp[n]}")
            pairs += [(sa[n], langevin[n]), (amp[n], langevin[n])]
    if not pairs or any(clearly_below(langevin, other) for other, langevin in pairs):
        return Finding("; ".join(parts), Conclusion.FAILS if pairs else Conclusion.OPEN)
    return Finding("; ".join(parts), holds_if(all(clearly_below(*pair) for pair in pairs), Conclusion.OPEN))


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
    text += f"; meanwhile descent in x ends, N = {n}, at overlaps of median {here['value'].min():.2f} to "
    text += f"{here['value'].max():.2f}, a random direction below {1.96 * n**-0.5:.2f} (95 %)"
    return Finding(text, holds_if(bool((here["value"] < 1.96 * n**-0.5).all()), Conclusion.CORRECTED))


@claim(
    "Abstract",
    "With temperature and regulariser annealed together, all three algorithms approach the Bayes-optimal efficiency",
    "success_amp",
    "success_sa",
    "success_langevin",
)
def all_approach_bayes(tables: Tables) -> Finding:
    """alpha_50 of the slow anneal at the largest size of each."""
    products = {"amp": 1.0, "sa": 1.0, "langevin": 0.75}
    found = {name: halves(tables[f"success_{name}"], name, eps=SLOW, product=value) for name, value in products.items()}
    if not all(found.values()):
        return Finding("not all three were run", Conclusion.OPEN)
    largest = {name: (max(own), own[max(own)]) for name, own in found.items()}
    text = "; ".join(f"{name}, N = {n}: {half}" for name, (n, half) in largest.items())
    near = [half.low < BAYES_OPTIMAL + 0.03 for _, half in largest.values()]
    return Finding(
        text + f"; Bayes-optimal {BAYES_OPTIMAL}",
        holds_if(all(near), Conclusion.CORRECTED if any(near) else Conclusion.FAILS),
    )

"""The claims of the paper's numerical experiments, judged by the tables of the success figures and of single runs."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from phaselect.report.ledger import Claim, Finding, Judge, Tables, Verdict, claims_into, verdict
from phaselect.tables import Table

SOLVER_CLAIMS: list[Claim] = []
claim = claims_into(SOLVER_CLAIMS)
BAYES_OPTIMAL = 1.128
SLOW, FAST = 0.01, 0.1


class Half(NamedTuple):
    """alpha_50 with its interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if math.isnan(self.value):
            return f"above {self.low:.3g}" if math.isinf(self.high) else f"below {self.high:.3g}"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def halves(table: Table, solver: str, **options: float) -> dict[int, Half]:
    """alpha_50 by size."""
    own = table.where(kind="threshold", solver=solver, **options)
    order = np.argsort(own["n"])
    return {int(own["n"][i]): Half(own["value"][i], own["low"][i], own["high"][i]) for i in order}


def limit(table: Table, solver: str, **options: float) -> Half | None:
    """alpha_50 extrapolated to infinite N, where three sizes were measured."""
    own = table.where(kind="limit", solver=solver, **options)
    return Half(own["value"][0], own["low"][0], own["high"][0]) if len(own) else None


def slower_is_better(figure: str, solver: str, product: float) -> Judge:
    """At each size, alpha_50 of the slow anneal against that of the fast one."""

    def judge(tables: Tables) -> Finding:
        fast, slow = (halves(tables[figure], solver, eps=eps, product=product) for eps in (FAST, SLOW))
        text = "; ".join(f"N = {n}: {fast[n]} fast, {slow[n]} slow" for n in fast if n in slow)
        better = [_below(slow[n], fast[n]) for n in fast if n in slow]
        clear = [slow[n].high < fast[n].low for n in fast if n in slow]
        return Finding(text, verdict(all(better) and any(clear), Verdict.CORRECTED if any(clear) else Verdict.OPEN))

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
    """alpha_50 of the slow anneal as N grows, and its limit."""
    table = tables["success_sa"]
    slow = halves(table, "sa", eps=SLOW, product=1.0)
    end = limit(table, "sa", eps=SLOW, product=1.0)
    text = "slow anneal: " + "; ".join(f"N = {n}: {half}" for n, half in slow.items())
    if end is None or math.isnan(end.value):
        return Finding(text + "; too few sizes for a limit", Verdict.OPEN)
    text += f"; fitted limit {end}"
    if end.low > BAYES_OPTIMAL + 0.005:
        return Finding(
            text + f", above {BAYES_OPTIMAL}: slower schedules help, larger instances do not", Verdict.CORRECTED
        )
    settled = end.high - end.low < 0.05
    return Finding(text, Verdict.HOLDS if settled else Verdict.OPEN)


@claim(
    "Sec. III and IV",
    "Without a regulariser simulated annealing solves the problem only for alpha > 1.7, beyond what replica "
    "symmetry says",
    "success_sa",
    "regularisation",
)
def unregularised_needs_more(tables: Tables) -> Finding:
    """Simulated annealing at lam = 0: above 1.7 at the largest size, or at least above where theory has it recover?"""
    table = tables["success_sa"]
    found = {eps: halves(table, "sa", eps=eps, product=0.0) for eps in (FAST, SLOW)}
    recovery = tables["regularisation"].where(panel="b", line="recovery", lam=0.0)["alpha"][0]
    texts = [
        f"eps = {eps:g}: " + ", ".join(f"N = {n}: {half}" for n, half in own.items()) for eps, own in found.items()
    ]
    text = (
        "alpha_50 at lam = 0: " + "; ".join(texts) + f"; replica symmetry has an anneal recover from {recovery:.3f} on"
    )
    if not all(found.values()):
        return Finding(text, Verdict.OPEN)
    largest = [own[max(own)].low for own in found.values()]
    every = [half.low for own in found.values() for half in own.values()]
    return Finding(text, verdict(min(largest) > 1.7, Verdict.CORRECTED if min(every) > recovery else Verdict.FAILS))


@claim(
    "Sec. IV",
    "At constant lam simulated annealing fails at alpha = 1.3, and its threshold lies above where replica "
    "symmetry has an anneal recover",
    "success_sa",
    "regularisation",
)
def fixed_regulariser_fails(tables: Tables) -> Finding:
    """Simulated annealing at lam = 0.005: its share at alpha = 1.3, and alpha_50 against what theory has."""
    table = tables["success_sa"].where(solver="sa-fixed")
    recovery = tables["regularisation"].where(panel="b", line="recovery", lam=0.005)["alpha"][0]
    shares = table.where(kind="share", alpha=1.3)
    if len(shares) == 0:
        return Finding("no runs", Verdict.OPEN)
    found = {eps: halves(table, "sa-fixed", eps=eps) for eps in (FAST, SLOW)}
    texts = [
        f"eps = {eps:g}: " + ", ".join(f"N = {n}: {half}" for n, half in own.items()) for eps, own in found.items()
    ]
    text = f"at alpha = 1.3 {shares['successes'].sum():.0f} of {shares['trials'].sum():.0f} runs recover; alpha_50: "
    text += "; ".join(texts) + f"; replica symmetry has an anneal recover from {recovery:.3f} on"
    above = all(half.low > recovery for own in found.values() for half in own.values())
    few = shares["high"].max() < 0.5
    return Finding(text, verdict(bool(few and above), Verdict.CORRECTED if above else Verdict.FAILS))


@claim("Sec. IV, SA", "T_A = 100 Monte Carlo steps at each temperature", "success_sa")
def hundred_steps(tables: Tables) -> Finding:
    """T_A = 100 as single proposals against 100 sweeps, slow anneal."""
    table = tables["success_sa"]
    sweeps, proposals = (halves(table, name, eps=SLOW, product=1.0) for name in ("sa", "sa-proposals"))
    both = [n for n in sweeps if n in proposals]
    text = "; ".join(f"N = {n}: {sweeps[n]} in sweeps, {proposals[n]} in proposals" for n in both)
    worse = all(sweeps[n].high < proposals[n].low for n in both)
    return Finding(text, (Verdict.CORRECTED if worse else Verdict.HOLDS) if both else Verdict.OPEN)


@claim("Sec. IV, AMP", "The threshold of annealed message passing approaches the Bayes-optimal one", "success_amp")
def message_passing_approaches_bayes(tables: Tables) -> Finding:
    """alpha_50 at the matched product, its limit, and the paper's schedule."""
    table = tables["success_amp"]
    fast, end = halves(table, "amp", eps=FAST, product=1.0), limit(table, "amp", eps=FAST, product=1.0)
    printed = {eps: halves(table, "amp-paper", eps=eps) for eps in (FAST, SLOW)}
    text = "at mu*lam = 1: " + "; ".join(f"N = {n}: {half}" for n, half in fast.items())
    text += f"; fitted limit {end}" if end else ""
    if both := printed[FAST].keys() & printed[SLOW].keys():
        n = max(both)
        text += f". The paper's schedule at N = {n}: {printed[FAST][n]} fast, {printed[SLOW][n]} slow"
    if end is None or math.isnan(end.value):
        return Finding(text, Verdict.OPEN)
    near = end.low <= BAYES_OPTIMAL <= end.high or abs(end.value - BAYES_OPTIMAL) < 0.01
    return Finding(text, verdict(near, Verdict.CORRECTED))


@claim("Sec. IV, AMP", "Message passing: it does so in the limit of a vanishing rate", "success_amp")
def rate_matters_for_message_passing(tables: Tables) -> Finding:
    """Fast against slow, at the matched product and on the paper's schedule."""
    table = tables["success_amp"]
    fast, slow = (halves(table, "amp", eps=eps, product=1.0) for eps in (FAST, SLOW))
    texts = [f"N = {n}: {fast[n]} fast, {slow[n]} slow" for n in fast if n in slow]
    alike = all(fast[n].low <= slow[n].high and slow[n].low <= fast[n].high for n in fast if n in slow)
    text = "at mu*lam = 1: " + "; ".join(texts)
    return Finding(
        text + (": the rate does not matter there" if alike else ""), Verdict.CORRECTED if alike else Verdict.HOLDS
    )


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
    seeds = runs.values("seed")
    gaps = []
    for seed in seeds:
        own = runs.where(seed=seed)
        gaps.append(own["m"] - np.interp(own["steps"] - 1, theory["steps"], theory["m"]))
    length = min(len(gap) for gap in gaps)
    mean = np.abs(np.mean([gap[:length] for gap in gaps], axis=0))
    text = f"alpha = {alpha:g}, N = 1000: the mean m of {len(seeds)} runs is within {mean.max():.3f} of it throughout"
    return Finding(text, verdict(mean.max() < 0.15))


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
    """alpha_50 of the three solvers at the sizes they share."""
    parts, worst = [], []
    for eps in (FAST, SLOW):
        langevin = halves(tables["success_langevin"], "langevin", eps=eps, product=0.75)
        others = [halves(tables[f"success_{name}"], name, eps=eps, product=1.0) for name in ("sa", "amp")]
        for n in langevin:
            if all(n in other for other in others):
                parts.append(f"N = {n}, eps = {eps:g}: Langevin {langevin[n]}, sa {others[0][n]}, amp {others[1][n]}")
                worst.append(all(_below(other[n], langevin[n]) for other in others))
    return Finding("; ".join(parts), verdict(all(worst)) if worst else Verdict.OPEN)


@claim(
    "Sec. IV, Langevin",
    "It still recovers where gradient descent is stuck in local minima orthogonal to the signal",
    "solvers",
    "success_langevin",
)
def langevin_beats_descent(tables: Tables) -> Finding:
    """Slow Langevin dynamics against amplitude flow and alternating minimisation."""
    slow = halves(tables["success_langevin"], "langevin", eps=SLOW, product=0.75)
    flow, minimisation = (halves(tables["solvers"], name) for name in ("raf", "altmin"))
    sizes = [n for n in slow if n in flow and n in minimisation]
    parts = [
        f"N = {n}: Langevin {slow[n]}, amplitude flow {flow[n]}, alternating minimisation {minimisation[n]}"
        for n in sizes
    ]
    rivals = {n: min(flow[n], minimisation[n], key=lambda half: half.low) for n in sizes}
    if not sizes or any(slow[n].low <= rivals[n].high and rivals[n].low <= slow[n].high for n in sizes):
        return Finding("; ".join(parts), Verdict.OPEN)
    return Finding("; ".join(parts), verdict(all(slow[n].high < rivals[n].low for n in sizes)))


def _below(one: Half, other: Half) -> bool:
    """Is the estimate of the one below that of the other? An open interval counts by its closed end."""
    left = one.value if math.isfinite(one.value) else (one.low if math.isinf(one.high) else one.high)
    right = other.value if math.isfinite(other.value) else (other.low if math.isinf(other.high) else other.high)
    return left <= right

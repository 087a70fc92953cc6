"""The claims of the paper on Langevin dynamics, and on all three solvers together."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from phaselect.experiments.gradient_descent import median_of_random_overlaps
from phaselect.experiments.limits import BAYES_OPTIMAL, ENOUGH_SIZES, Limit
from phaselect.experiments.success import CONFIDENCE
from phaselect.figures.descent import ENOUGH_STUCK
from phaselect.figures.rate_and_size import fit_of
from phaselect.report.annealing_claims import annealing_limit
from phaselect.report.comparisons import (
    FAST,
    SLOW,
    Halves,
    above,
    agreed,
    below,
    both_rates,
    clearly_below,
    gains,
    halves,
    largest,
    limits_from_each_size,
    paired,
    told,
)
from phaselect.report.ledger import (
    Claim,
    Conclusion,
    Finding,
    Said,
    Tables,
    claims_into,
    every,
    holds_if,
    verdict,
)
from phaselect.report.message_passing_claims import patient

SOLVER_CLAIMS: list[Claim] = []
claim = claims_into(SOLVER_CLAIMS)
FAR = 0.1
"""Instances whose alpha_50 is surely farther than this from a threshold are not approaching it."""
PRODUCTS = {"amp": 1.0, "sa": 1.0, "langevin": 0.75}
"""mu*lam of each, as in the paper."""
WORDS = {True: "approaches it", False: "does not", None: "not settled"}


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
    """alpha_50 against descent from the same start, in x and in theta; overlap of descent in x where only it fails.

    Orthogonal to the signal: no more aligned with it, in the median, than random directions are.
    """
    table = tables["descent"]
    langevin, in_x, in_theta = (halves(table, name) for name in ("langevin", "descent", "descent-signs"))
    sizes = [n for n in langevin if n in in_x and n in in_theta]
    text = "; ".join(f"N = {n}: Langevin {langevin[n]}, descent in x {in_x[n]}, in theta {in_theta[n]}" for n in sizes)
    pairs = [(langevin[n], rival[n]) for n in sizes for rival in (in_x, in_theta)]
    if not pairs or any(clearly_below(rival, own) for own, rival in pairs):
        return Finding(text or "0 sizes have all three", Conclusion.FAILS if pairs else Conclusion.OPEN)
    n = max(sizes)
    stuck = table.where(kind="stuck", solver="descent", n=n)
    if len(stuck):
        between = (stuck["alpha"] > langevin[n].high) & (stuck["alpha"] < in_x[n].low)
        stuck = stuck.take(between & (stuck["trials"] >= ENOUGH_STUCK))
    if not all(clearly_below(*pair) for pair in pairs) or len(stuck) == 0:
        return Finding(text, Conclusion.OPEN)
    level = CONFIDENCE ** (1 / len(stuck))  # at all alphas together
    most = np.array([median_of_random_overlaps(n, int(runs), level) for runs in stuck["trials"]])
    random = median_of_random_overlaps(n, 1, 0.5)
    text += (
        f"; meanwhile descent in x ends, N = {n}, at overlaps of median {stuck['value'].min():.2f} to "
        f"{stuck['value'].max():.2f} at {len(stuck)} alphas; random directions have {random:.3f}, "
        f"and medians of as many up to {most.max():.3f} (95 %, all alphas together)"
    )
    return Finding(text, holds_if(bool((stuck["value"] <= most).all()), Conclusion.CORRECTED))


@claim(
    "Abstract",
    "With temperature and regulariser annealed together, all three algorithms approach the Bayes-optimal efficiency",
    "patience",
    "rate_and_size",
    "success_langevin",
)
def all_approach_bayes(tables: Tables) -> Finding:
    """The limit of slow anneals of each where it has one to be trusted, else the largest size."""
    texts, parts = [], []
    own = {"amp": patient(tables["patience"]), "langevin": tables["success_langevin"]}
    for name, table in own.items():
        found = halves(table, name, eps=SLOW, product=PRODUCTS[name])
        fits = limits_from_each_size(found)
        parts.append(_approaches(found, fits.values()))
        few = "; so few sizes have no limit" if len(found) < ENOUGH_SIZES else ""
        texts.append(f"{name}, N = {max(found)}: {largest(found)}, {told(fits)}{few} ({WORDS[parts[-1]]})")
    parts.append(annealing_limit(tables["rate_and_size"], 1.0, BAYES_OPTIMAL)[1])
    texts.append(f"sa: {fit_of(tables['rate_and_size'], 1.0) or 'no limit fitted'} ({WORDS[parts[-1]]})")
    return Finding(f"slow anneals: {'; '.join(texts)}; Bayes-optimal {BAYES_OPTIMAL}", verdict(every(parts)))


def _approaches(found: Halves, fits: Iterable[Limit | None]) -> Said:
    """By the limits; without one, no if the largest instances are still far away, and no nearer than smaller ones."""
    answer, last = agreed(fits), largest(found)
    nearer = len(found) < 2 or any(clearly_below(last, half) for half in found.values())
    return False if answer is None and above(last, BAYES_OPTIMAL + FAR) and not nearer else answer

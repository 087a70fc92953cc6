"""The claims of the paper on Langevin dynamics, and on all three solvers together."""

from __future__ import annotations

from phaselect.experiments.limits import BAYES_OPTIMAL, Limit
from phaselect.experiments.success import STANDARD_ERRORS
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
    paired,
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

SOLVER_CLAIMS: list[Claim] = []
claim = claims_into(SOLVER_CLAIMS)
FAR = 0.1
"""Instances whose alpha_50 is surely farther than this from a threshold are not approaching it."""
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
        parts.append(_approaches(found, fit))
        texts.append(f"{name}, N = {max(found)}: {largest(found)}, limit {fit or 'not fitted'} ({WORDS[parts[-1]]})")
    return Finding("; ".join(texts) + f"; Bayes-optimal {BAYES_OPTIMAL}", verdict(every(parts)))


def _approaches(found: Halves, fit: Limit | None) -> Said:
    """By the limit; without one, no if the largest instances are still far away, and no nearer than smaller ones."""
    answer, last = arrives(fit), largest(found)
    nearer = any(clearly_below(last, half) for half in found.values())
    return False if answer is None and above(last, BAYES_OPTIMAL + FAR) and not nearer else answer

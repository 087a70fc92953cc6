"""The claims of the paper on the role of lam: at fixed lam, and annealed together with mu."""

from __future__ import annotations

import numpy as np

from phaselect.base.tables import Table
from phaselect.report.ledger import (
    Claim,
    Finding,
    Outcome,
    Tables,
    claims_into,
    numbers,
    outcome,
    regulariser_threshold,
)

REGULARISER_CLAIMS: list[Claim] = []
claim = claims_into(REGULARISER_CLAIMS)


@claim("Sec. III, role of lam", "At lam = 0.005 the branches merge at smaller alpha", "regularisation")
def regulariser_helps(tables: Tables) -> Finding:
    """Both thresholds at lam = 0.005 against lam = 0."""
    values = {
        (name, lam): regulariser_threshold(tables, name, lam) for name in ("merge", "recovery") for lam in (0.0, 0.005)
    }
    text = (
        f"merging at alpha = {values['merge', 0.005]:.3f} (lam = 0: {values['merge', 0.0]:.3f}), and an anneal reaches "
        f"m > 0.9 from {values['recovery', 0.005]:.3f} on (lam = 0: {values['recovery', 0.0]:.3f})"
    )
    right = all(values[name, 0.005] < values[name, 0.0] for name in ("merge", "recovery"))
    return Finding(text, outcome(right))


@claim("Sec. III, role of lam", "At fixed lam > 0 the overlap peaks and can then fall as mu grows", "regularisation")
def regulariser_biases(tables: Tables) -> Finding:
    """m along the last of each branch at lam = 0.005: does it turn back?"""
    falls = []
    for own in tables["regularisation"].where(panel="a", line="informed").by("alpha"):
        if own["m"].max() - own["m"][-1] > 1e-5:
            falls.append((own["alpha"][0], own["m"].max(), own["m"][-1]))
    if not falls:
        return Finding("m grows all along the informed branch at lam = 0.005", Outcome.FAILS)
    alpha, top, end = falls[0]
    return Finding(
        f"at lam = 0.005 and alpha = {alpha:g}, m peaks at {top:.5f} and is {end:.5f} at the largest mu", Outcome.HOLDS
    )


@claim(
    "Sec. III, role of lam",
    "At alpha = 1.3, lam = 0.005 there is a range of m in which neither branch is stable; the uninformed one "
    "eventually merges with the informed one",
    "regularisation",
)
def gap_of_overlaps_at_1_3(tables: Tables) -> Finding:
    """Overlaps at which neither branch dominates, alpha = 1.3, lam = 0.005."""
    own = tables["regularisation"].where(panel="a", alpha=1.3)
    lower, upper = own.where(line="uninformed"), own.where(line="informed")
    below, above = lower["m"][lower["dominant"]].max(), upper["m"][upper["dominant"]].min()
    end = float(lower["mu"].max())
    beyond = float(np.interp(end, upper["mu"], upper["m"]))
    jumps = end < upper["mu"].max() and beyond > lower["m"][-1] + 0.01
    text = (
        f"neither branch dominates for m between {below:.3f} and {above:.3f}; the uninformed one goes on, "
        f"subdominant, to "
        f"m = {lower['m'][-1]:.3f} at mu = {end:.1f}, where the informed one has m = {beyond:.3f}: "
        f"{'it ends there, and an anneal jumps' if jumps else 'the two merge'}"
    )
    return Finding(text, Outcome.FAILS if above <= below else Outcome.CORRECTED if jumps else Outcome.HOLDS)


@claim("Sec. III, role of lam", "The hard window of mu shrinks with regularisation", "regularisation")
def hard_window_shrinks(tables: Tables) -> Finding:
    """Ratio of the temperatures of equal free entropy and birth, at alpha where both lam have them."""
    table = tables["regularisation"].where(panel="b")
    ratios = []
    for lam in (0.0, 0.005):
        born, equal = (table.where(line=line, lam=lam) for line in ("born", "equal"))
        ratio = equal["mu"] / born["mu"]
        ratios.append(float(np.interp(1.4, born["alpha"], ratio)))
    text = (
        f"at alpha = 1.4 mu of equal free entropy is {ratios[0]:.2f} times mu of birth at lam = 0, "
        f"{ratios[1]:.2f} at 0.005"
    )
    return Finding(text, outcome(ratios[1] < ratios[0]))


@claim("Sec. III, role of lam", "Larger lam anticipates the mu at which an overlap builds up", "regularisation")
def regulariser_anticipates(tables: Tables) -> Finding:
    """mu at which m = 0.1 falls as lam grows."""
    table, alpha = tables["regularisation"].where(panel="c"), 1.7
    lams = table.values("lam")
    mus = [float(np.interp(alpha, (own := table.where(lam=lam))["alpha"], own["mu"])) for lam in lams]
    return Finding(
        f"at alpha = {alpha:g}: mu = {numbers(mus)} for lam = {numbers(lams)}", outcome(bool(np.all(np.diff(mus) < 0)))
    )


@claim("Sec. III, role of lam", "Larger lam lowers the largest overlap reached", "regularisation")
def regulariser_limits(tables: Tables) -> Finding:
    """The largest m falls as lam grows, once it is reached at all."""
    table = tables["regularisation"].where(panel="d")
    lams = [lam for lam in table.values("lam") if lam > 0]
    tops = [float(table.where(lam=lam)["m"][-1]) for lam in lams]
    alpha = float(table["alpha"].max())
    return Finding(
        f"at alpha = {alpha:g}: largest m = {numbers(tops, 4)} for lam = {numbers(lams)}",
        outcome(bool(np.all(np.diff(tops) < 0))),
    )


@claim(
    "Sec. III, annealing",
    "At mu*lam = 1 an anneal flows to perfect recovery even near the Bayes-optimal 1.13",
    "annealing",
    "critical_product",
)
def matched_anneal_recovers(tables: Tables) -> Finding:
    """The anneal at product 1 at every alpha of the figure, and its threshold."""
    table = tables["annealing"].where(panel="a")
    ends = [own["m"][-1] for own in table.by("alpha")]
    at_one = _critical(tables["critical_product"], 1.0)
    text = (
        f"m > {min(ends):.4f} at the end for alpha = {numbers(table.values('alpha'))}; threshold alpha = {at_one:.4f}"
    )
    return Finding(text, outcome(min(ends) > 0.999 and abs(at_one - 1.13) < 0.005))


@claim("Sec. III, annealing", "It is crucial to keep the product mu*lam small enough", "annealing", "critical_product")
def product_must_be_small(tables: Tables) -> Finding:
    """Which products recover at alpha = 1.2, and the thresholds on both sides."""
    table = tables["annealing"].where(panel="b")
    ends = {product: float(table.where(product=product)["m"][-1]) for product in table.values("product")}
    works = [product for product, m in ends.items() if m > 0.99]
    fails = [product for product in ends if product not in works]
    found = tables["critical_product"]
    low, high = found["product"].min(), found["product"].max()
    text = (
        f"at alpha = 1.2 products {numbers(works)} recover and {numbers(fails)} do{'es' if len(fails) == 1 else ''} "
        f"not: too "
        f"small is as bad as too large (thresholds {found['alpha'][0]:.3f} at {low:g}, {found['alpha'][-1]:.3f} "
        f"at {high:g})"
    )
    small_fails, large_fails = (found["alpha"][end] > _critical(found, 1.0) + 0.01 for end in (0, -1))
    return Finding(text, outcome(large_fails and not small_fails, Outcome.CORRECTED if large_fails else Outcome.FAILS))


def _critical(table: Table, product: float) -> float:
    return float(table["alpha"][np.argmin(np.abs(np.log(table["product"] / product)))])

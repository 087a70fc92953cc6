"""The claims of the paper on the role of lam: at fixed lam, and annealed together with mu."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from phaselect.base.tables import Table
from phaselect.report.evidence import Missing, known, matched
from phaselect.report.ledger import (
    Claim,
    Conclusion,
    Finding,
    Said,
    Tables,
    claims_into,
    numbers,
    regulariser_threshold,
    verdict,
)
from phaselect.report.theory_claims import VISIBLE

REGULARISER_CLAIMS: list[Claim] = []
claim = claims_into(REGULARISER_CLAIMS)
SAME = 0.01
"""Thresholds closer than this are the same."""


@claim("Sec. III, role of lam", "At lam = 0.005 the branches merge at smaller alpha", "regularisation")
def regulariser_helps(tables: Tables) -> Finding:
    """Both thresholds at lam = 0.005 against lam = 0."""
    (merge, before), (recovery, alone) = (
        [regulariser_threshold(tables, name, lam) for lam in (0.005, 0.0)] for name in ("merge", "recovery")
    )
    text = (
        f"merging at alpha = {merge:.3f} (lam = 0: {before:.3f}), and an anneal reaches m > 0.9 from {recovery:.3f} "
        f"on (lam = 0: {alone:.3f})"
    )
    return Finding(text, verdict(merge < before - SAME, recovery < alone - SAME))


@claim("Sec. III, role of lam", "At fixed lam > 0 the overlap peaks and can then fall as mu grows", "regularisation")
def regulariser_biases(tables: Tables) -> Finding:
    """How far m falls back: on the paper's branches, at lam = 0.005, and along anneals at all lam."""
    table = tables["regularisation"]
    branches = table.where(panel="a", line="informed").by("alpha")
    shown = known([own["m"].max() - own["m"][np.argmax(own["mu"])] for own in branches], "the overlap m")
    alphas, lams, falls = _falls_of_anneals(table.where(panel="d"))
    at = np.unravel_index(np.argmax(falls), falls.shape)
    unseen = "" if shown.max() > VISIBLE else ", which no figure shows"
    text = (
        f"at lam = 0.005 and alpha = {numbers([own['alpha'][0] for own in branches])} by at most {shown.max():.1e}"
        f"{unseen}; of {falls.size} anneals over all alpha and lam {np.sum(falls > VISIBLE)} lose more than "
        f"{VISIBLE:g}, the most at alpha = {alphas[at[1]]:g}, lam = {lams[at[0]]:g}: {falls[at]:.2f}"
    )
    return Finding(text, verdict(bool(shown.max() > VISIBLE), bool(falls.max() > VISIBLE)))


def _falls_of_anneals(table: Table) -> tuple[NDArray[np.float64], list[float], NDArray[np.float64]]:
    """alphas, lams > 0, and by how much m ends below its largest, a line for each lam."""
    with_lam = table.take(table["lam"] > 0)
    alphas, lams, largest = _by_lam(with_lam.where(line="largest"), "m")
    *places, last = _by_lam(with_lam.where(line="last"), "m")
    for ours, theirs in zip((alphas, lams), places, strict=True):
        matched(ours, theirs, "the overlap m")
    return alphas, lams, known(largest - last, "the overlap m")


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
    below = float(known(lower.take(lower["dominant"])["m"], "the overlap m").max())
    above = float(known(upper.take(upper["dominant"])["m"], "the overlap m").min())
    end, last = (float(known(lower[name], name)[-1]) for name in ("mu", "m"))
    beyond = float(np.interp(end, upper["mu"], upper["m"]))
    jumps = end < upper["mu"].max() and beyond > last + 0.01
    text = (
        f"the dominant branch has m up to {below:.3f} and from {above:.3f} on; the uninformed one goes on, "
        f"subdominant, to m = {last:.3f} at mu = {end:.1f}, where the informed one has m = {beyond:.3f}: "
        f"{'it ends there, and an anneal jumps' if jumps else 'the two merge'}"
    )
    return Finding(text, verdict(above > below + VISIBLE, not jumps))


@claim("Sec. III, role of lam", "The hard window of mu shrinks with regularisation", "regularisation")
def hard_window_shrinks(tables: Tables) -> Finding:
    """Ratio of the temperatures of equal free entropy and birth, at every alpha at which both lam have them."""
    free, held = (_window(tables["regularisation"].where(panel="b"), lam) for lam in (0.0, 0.005))
    alphas = [alpha for alpha in held[0] if free[0].min() <= alpha <= free[0].max()]
    if not alphas:
        raise Missing("no window is known at both lam")
    ratios = [(np.interp(alpha, *free), np.interp(alpha, *held)) for alpha in alphas]
    smaller = [bool(with_lam < without) for without, with_lam in ratios]
    without, with_lam = ratios[len(ratios) // 2]
    text = (
        f"mu of equal free entropy over mu of birth is smaller at lam = 0.005 than at 0 at {sum(smaller)} of "
        f"{len(smaller)} alphas from {alphas[0]:.2f} to {alphas[-1]:.2f}; half way it is {with_lam:.2f} instead of "
        f"{without:.2f}"
    )
    return Finding(text, verdict(*smaller))


def _window(table: Table, lam: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """alpha, and how many times mu of birth the branches are equal at, where both are known."""
    born, equal = (table.where(line=line, lam=lam) for line in ("born", "equal"))
    matched(born["alpha"], equal["alpha"], "the window")
    ratio = equal["mu"] / born["mu"]
    there = np.isfinite(ratio)
    return known(born["alpha"][there], "the window"), ratio[there]


@claim("Sec. III, role of lam", "Larger lam anticipates the mu at which an overlap builds up", "regularisation")
def regulariser_anticipates(tables: Tables) -> Finding:
    """Does mu at which m = 0.1 fall as lam grows, at every alpha; nan: never reached."""
    alphas, lams, mus = _by_lam(tables["regularisation"].where(panel="c"), "mu")
    never = np.where(np.isnan(mus), np.inf, mus)
    asked = np.isfinite(never).sum(axis=0) > 1
    earlier = [_falls_where_finite(column) for column in never[:, asked].T]
    middle = int(np.argmin(np.abs(alphas - 1.7)))
    text = (
        f"so at {sum(earlier)} of {len(earlier)} alphas; at alpha = {alphas[middle]:g}, mu = {numbers(mus[:, middle])} "
        f"for lam = {numbers(lams)}"
    )
    return Finding(text, verdict(*earlier))


def _falls_where_finite(values: NDArray[np.float64]) -> bool:
    """Does it fall from line to line, infinities only at the start?"""
    finite = np.isfinite(values)
    return bool(np.all(np.diff(values[finite]) < 0) and np.all(np.diff(finite.astype(int)) >= 0))


@claim("Sec. III, role of lam", "Larger lam lowers the largest overlap reached", "regularisation")
def regulariser_limits(tables: Tables) -> Finding:
    """Does the largest m fall as lam > 0 grows, at every alpha?"""
    table = tables["regularisation"].where(panel="d", line="largest")
    alphas, lams, tops = _by_lam(table.take(table["lam"] > 0), "m")
    lower = [bool(np.all(np.diff(column) < 0)) for column in known(tops, "the largest overlap").T]
    text = (
        f"so at {sum(lower)} of {len(lower)} alphas for lam > 0; at alpha = {alphas[-1]:g}, largest m = "
        f"{numbers(tops[:, -1], 4)} for lam = {numbers(lams)}"
    )
    return Finding(text, verdict(*lower) if len(lams) > 1 else Conclusion.OPEN)


def _by_lam(table: Table, name: str) -> tuple[NDArray[np.float64], list[float], NDArray[np.float64]]:
    """alphas, lams, and a column with a line for each lam, in ascending order, at the alphas that all lams have."""
    lams = np.unique(table["lam"]).tolist()
    parts = [table.where(lam=lam) for lam in lams]
    alphas = sorted(set.intersection(*(set(own.values("alpha")) for own in parts)))
    lines = [[own.where(alpha=alpha)[name][0] for alpha in alphas] for own in parts]
    return known(alphas, "alpha at every lam"), lams, np.array(lines, dtype=float)


@claim(
    "Sec. III, annealing",
    "At mu*lam = 1 an anneal flows to perfect recovery even near the Bayes-optimal 1.13",
    "annealing",
    "critical_product",
)
def matched_anneal_recovers(tables: Tables) -> Finding:
    """The anneal at product 1 at every alpha of the figure, and its threshold."""
    table = tables["annealing"].where(panel="a")
    ends = known([own["m"][-1] for own in table.by("alpha")], "where an anneal ends")
    threshold = _critical(tables["critical_product"], 1.0)
    text = (
        f"m > {np.floor(1e4 * ends.min()) / 1e4:g} at the end for alpha = {numbers(table.values('alpha'))}; threshold "
        f"alpha = {threshold:.4f}"
    )
    return Finding(text, verdict(bool(ends.min() > 0.999), round(threshold, 2) == 1.13))


@claim("Sec. III, annealing", "It is crucial to keep the product mu*lam small enough", "annealing", "critical_product")
def product_must_be_small(tables: Tables) -> Finding:
    """Is it the larger products that fail at alpha = 1.2, and is a smaller one than the matched never worse?"""
    table, found = tables["annealing"].where(panel="b"), tables["critical_product"]
    ends = {float(own["product"][0]): float(known(own["m"], "an anneal")[-1]) for own in table.by("product")}
    works, fails = ([product for product, m in ends.items() if (m > 0.99) is good] for good in (True, False))
    matched = _critical(found, 1.0)
    text = (
        f"at alpha = {table['alpha'][0]:g} products {numbers(works) or 'none'} recover and {numbers(fails) or 'none'} "
        f"fail; an anneal works from alpha = {_critical(found, 0.0):.3f} on at product {found['product'].min():g}, "
        f"{matched:.3f} at 1, {_critical(found, np.inf):.3f} at {found['product'].max():g}"
    )
    small = found.take(found["product"] < 1.0)
    safe = bool(known(small["alpha"], "the threshold").max() < matched + SAME)
    return Finding(text, verdict(_failing_are_larger(works, fails), safe))


def _failing_are_larger(works: list[float], fails: list[float]) -> Said:
    """Do those that fail lie above those that work? Not known if there are none of either kind."""
    return min(fails) > max(works) if works and fails else None


def _critical(table: Table, product: float) -> float:
    """The threshold at the product that is nearest."""
    nearest = np.argmin(np.abs(table["product"] - min(product, table["product"].max())))
    return float(known(table["alpha"], "the threshold")[nearest])

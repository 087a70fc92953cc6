"""The claims of the paper's replica analysis without a regulariser: complexity, branches, stabilities."""

from __future__ import annotations

import numpy as np

from phaselect.base.tables import Table
from phaselect.report.evidence import Missing, known
from phaselect.report.ledger import (
    Claim,
    Conclusion,
    Finding,
    Said,
    Tables,
    claims_into,
    holds_if,
    numbers,
    regulariser_threshold,
    verdict,
)

THEORY_CLAIMS: list[Claim] = []
claim = claims_into(THEORY_CLAIMS)
VISIBLE = 1e-3
"""A change of the overlap below this is thinner than the line that shows it."""
LEVELS = 9
"""At how many points curves are compared."""


@claim("Sec. III, fixed overlap", "The misfit falls as the overlap O of the signs grows", "complexity")
def overlap_lowers_misfit(tables: Tables) -> Finding:
    """Misfit at equal temperature, and at equal complexity, wherever all curves have it."""
    curves = [own.take(own["trusted"]) for own in tables["complexity"].by("sign_overlap")]
    overlaps = [float(own["sign_overlap"][0]) for own in curves]
    at_mu, at_complexity = (_falls_across(curves, name) for name in ("mu", "complexity"))
    text = (
        f"from O = {overlaps[0]:g} to {overlaps[-1]:g} mse_y falls at {sum(at_mu)} of {LEVELS} equal mu, and at "
        f"{sum(at_complexity)} of {LEVELS} equal complexities"
    )
    return Finding(text, verdict(all(at_mu), all(at_complexity)))


def _falls_across(curves: list[Table], name: str) -> list[bool]:
    """Does the misfit fall from curve to curve, at levels of a column that all curves reach?"""
    if len(curves) < 2:
        raise Missing("no two curves are known")
    low, high = max(own[name].min() for own in curves), min(own[name].max() for own in curves)
    if not low < high:
        raise Missing(f"no {name} is reached by all curves")
    return [
        bool(np.all(np.diff([_misfit_at(own, name, x) for own in curves]) < 0)) for x in np.linspace(low, high, LEVELS)
    ]


def _misfit_at(own: Table, name: str, level: float) -> float:
    order = np.argsort(own[name])
    return float(known(np.interp(level, own[name][order], own["mse_y"][order]), "the misfit")[0])


@claim("Sec. III, fixed overlap", "At low overlap m is not monotonic while the complexity falls", "complexity")
def overlap_not_monotonic(tables: Tables) -> Finding:
    """How far m turns back at the lowest overlap while the complexity falls, where replica symmetry can be trusted."""
    table = tables["complexity"]
    own = table.where(sign_overlap=table["sign_overlap"].min())
    m = known(own.take(own["trusted"])["m"], "the overlap m")
    fall = float(m.max() - m[-1])
    text = f"O = {own['sign_overlap'][0]:g}: m rises to {m.max():.4f}, then falls by {fall:.1e}"
    return Finding(text, holds_if(fall > VISIBLE, Conclusion.CORRECTED if fall > 1e-6 else Conclusion.FAILS))


@claim(
    "Sec. III, lam = 0",
    "At large mu and small alpha an informed and an uninformed branch coexist; the informed one takes over, m -> 1",
    "branches",
)
def branches_coexist(tables: Tables) -> Finding:
    """Two branches at the smaller alphas, and the informed one dominates at large mu."""
    table = tables["branches"]
    alphas = table.values("alpha")
    two = [alpha for alpha in alphas if _overlapping(table.where(alpha=alpha))]
    ends = [own.take(np.array([np.argmax(own["mu"])])) for own in table.where(line="informed").by("alpha")]
    m = known([end["m"][0] for end in ends], "the overlap m")
    wins = [bool(end["dominant"][0]) for end in ends]
    text = (
        f"two branches at alpha = {numbers(two) or 'none'} of {numbers(alphas)}; at mu = {table['mu'].max():g} the "
        f"informed one dominates at {sum(wins)} of {len(wins)} alphas, with m > {np.floor(1e4 * m.min()) / 1e4:g}"
    )
    return Finding(text, verdict(_only_small(two, alphas), all(wins), bool(m.min() > 0.99)))


def _only_small(chosen: list[float], alphas: list[float]) -> Said:
    """Are the chosen ones the smallest? Not known if all are."""
    rest = [alpha for alpha in alphas if alpha not in chosen]
    return (bool(chosen) and max(chosen) < min(rest)) if rest else None


def _overlapping(own: Table) -> bool:
    """Do the two branches share temperatures?"""
    upper, lower = own.where(line="informed"), own.where(line="uninformed")
    return len(upper) > 0 and len(lower) > 0 and bool(upper["mu"].min() < lower["mu"].max())


@claim("Sec. III, lam = 0", "The branches merge at alpha = 1.7", "regularisation")
def merging_at_1_7(tables: Tables) -> Finding:
    """Where the two folds annihilate at lam = 0, to the digits that are given."""
    merge = regulariser_threshold(tables, "merge", 0.0)
    near = Conclusion.CORRECTED if abs(merge - 1.7) < 0.15 else Conclusion.FAILS
    return Finding(f"at lam = 0 they merge at alpha = {merge:.4f}", holds_if(round(merge, 1) == 1.7, near))


@claim(
    "Sec. III, lam = 0",
    "An anneal in mu recovers the signal where the branches have merged; below, it is trapped",
    "regularisation",
)
def anneal_needs_merging(tables: Tables) -> Finding:
    """Does an anneal recover from where the branches merge on, already below, or not even there?"""
    merge, recovery = (regulariser_threshold(tables, name, 0.0) for name in ("merge", "recovery"))
    text = (
        f"an infinitely slow anneal at lam = 0 recovers from alpha = {recovery:.4f} on, where the uninformed branch "
        f"ends at a finite mu; the branches merge at {merge:.4f}"
    )
    early = Conclusion.CORRECTED if recovery < merge else Conclusion.FAILS
    return Finding(text, holds_if(abs(merge - recovery) < 0.01, early))


@claim(
    "Sec. III, stabilities",
    "Larger mu and larger lam both move right signs to gaps of large magnitude (P_* becomes bimodal)",
    "stabilities",
)
def right_signs_at_large_gaps(tables: Tables) -> Finding:
    """P_* at zero, relative to its peak, in the three panels."""
    ratios = [own["P_right"][_at_zero(own)] / own["P_right"].max() for own in _gap_panels(tables["stabilities"])]
    base, colder, stiffer = known(ratios, "P_*")
    text = f"P_*(0) over its maximum: {base:.3f} to start with, {colder:.3f} at larger mu, {stiffer:.3f} at larger lam"
    return Finding(text, verdict(bool(colder < base), bool(stiffer < base)))


@claim("Sec. III, stabilities", "Larger mu and larger lam both squeeze P around zero", "stabilities")
def gaps_squeeze(tables: Tables) -> Finding:
    """Width and height of P in the three panels."""
    panels = _gap_panels(tables["stabilities"])
    moments = [np.trapezoid(own["gap"] ** 2 * own["P"], own["gap"]) for own in panels]
    widths = np.sqrt(known(moments, "P"))
    heights = known([own["P"][_at_zero(own)] for own in panels], "P(0)")
    text = (
        f"standard deviation of P: {widths[0]:.3f} to start with, {widths[1]:.3f} at larger mu, {widths[2]:.3f} at "
        f"larger lam; P(0): {heights[0]:.3f}, {heights[1]:.3f}, {heights[2]:.3f}"
    )
    return Finding(text, verdict(*(bool(heights[k] > heights[0] and widths[k] < widths[0]) for k in (1, 2))))


def _gap_panels(table: Table) -> list[Table]:
    theory = table.where(source="theory")
    return [theory.where(mu=mu, lam=lam) for mu, lam in ((2.5, 0.0), (3.5, 0.0), (2.5, 0.5))]


def _at_zero(own: Table) -> int:
    return int(np.argmin(np.abs(own["gap"])))

"""The claims of the paper's replica analysis without a regulariser: complexity, branches, stabilities."""

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

THEORY_CLAIMS: list[Claim] = []
claim = claims_into(THEORY_CLAIMS)


@claim(
    "Sec. III, fixed overlap",
    "At mu = 0 the complexity reaches the binary entropy of random signs at overlap O",
    "complexity",
)
def random_signs_maximise(tables: Tables) -> Finding:
    """The top of each curve against the binary entropy."""
    table = tables["complexity"]
    gaps = [float(own["complexity_random"][0] - own["complexity"][0]) for own in table.by("sign_overlap")]
    text = f"at the smallest mu ({table['mu'].min():g}) each curve is within {max(np.abs(gaps)):.1e} of the formula"
    return Finding(text, outcome(max(np.abs(gaps)) < 1e-4))


@claim("Sec. III, fixed overlap", "The misfit falls as the overlap O of the signs grows", "complexity")
def overlap_lowers_misfit(tables: Tables) -> Finding:
    """Misfit of random signs, and at equal complexity."""
    table, level = tables["complexity"], 0.5
    random, equal = [], []
    for own in table.by("sign_overlap"):
        random.append(own["mse_y_random"][0])
        order = np.argsort(own["complexity"])
        equal.append(np.interp(level, own["complexity"][order], own["mse_y"][order]))
    at_random, at_level = bool(np.all(np.diff(random) < 0)), bool(np.all(np.diff(equal) < 0))
    text = (
        f"random signs: mse_y {numbers(random)} at O = {numbers(table.values('sign_overlap'))}; at equal complexity "
        f"{level:g} it is {numbers(equal)}{'' if at_level else ': there the order is not that of O'}"
    )
    return Finding(text, outcome(at_random and at_level, Outcome.CORRECTED if at_random else Outcome.FAILS))


@claim("Sec. III, fixed overlap", "At low overlap m is not monotonic while the complexity falls", "complexity")
def overlap_not_monotonic(tables: Tables) -> Finding:
    """Does m turn back while the complexity falls, where replica symmetry can be trusted?"""
    turning = []
    for own in tables["complexity"].by("sign_overlap"):
        m = own["m"][own["trusted"]]
        if m.max() - m[-1] > 1e-4:
            turning.append((own["sign_overlap"][0], m.max(), m[-1]))
    lowest = tables["complexity"]["sign_overlap"].min()
    text = "; ".join(f"O = {O:g}: m rises to {top:.3f}, then falls to {end:.3f}" for O, top, end in turning)
    return Finding(text or "m never falls", outcome(any(lowest == O for O, *_ in turning)))


@claim(
    "Sec. III, lam = 0",
    "At large mu and small alpha an informed and an uninformed branch coexist; the informed one takes over, m -> 1",
    "branches",
)
def branches_coexist(tables: Tables) -> Finding:
    """Two branches up to 1.6, one at 1.7, and the informed one dominates at large mu."""
    table = tables["branches"]
    two = [alpha for alpha in table.values("alpha") if _overlapping(table.where(alpha=alpha))]
    informed = table.where(line="informed")
    wins = all(own["dominant"][-1] for own in informed.by("alpha"))
    grows = all(own["m"][-1] > 0.99 for own in informed.by("alpha"))
    text = f"two branches at alpha = {numbers(two)}; at mu = {table['mu'].max():g} the informed dominates with m > 0.99"
    right = wins and grows and two == [alpha for alpha in table.values("alpha") if alpha < 1.68]
    return Finding(text if right else text + ": not for all", outcome(right))


@claim("Sec. III, lam = 0", "The branches merge at alpha = 1.7", "regularisation")
def merging_at_1_7(tables: Tables) -> Finding:
    """Where the two folds annihilate at lam = 0."""
    merge = regulariser_threshold(tables, "merge", 0.0)
    gap = abs(merge - 1.7)
    return Finding(
        f"at lam = 0 they merge at alpha = {merge:.4f}",
        outcome(gap < 0.005, Outcome.CORRECTED if gap < 0.05 else Outcome.FAILS),
    )


@claim(
    "Sec. III, lam = 0",
    "An anneal in mu recovers the signal where the branches have merged; below, it is trapped",
    "regularisation",
)
def anneal_needs_merging(tables: Tables) -> Finding:
    """An anneal recovers where the uninformed branch ends, before the two are one."""
    merge, recovery = (regulariser_threshold(tables, name, 0.0) for name in ("merge", "recovery"))
    text = (
        f"an infinitely slow anneal at lam = 0 recovers from alpha = {recovery:.4f} on, where the uninformed "
        f"branch ends "
        f"at a finite mu; the branches merge only at {merge:.4f}"
    )
    return Finding(text, outcome(abs(merge - recovery) < 0.01, Outcome.CORRECTED))


@claim(
    "Sec. III, stabilities",
    "Larger mu and larger lam both move right signs to gaps of large magnitude (P_* becomes bimodal)",
    "stabilities",
)
def right_signs_at_large_gaps(tables: Tables) -> Finding:
    """P_* at zero, relative to its peak, in the three panels."""
    base, colder, stiffer = _gap_panels(tables["stabilities"])
    dips = [own["P_right"][_at_zero(own)] / own["P_right"].max() for own in (base, colder, stiffer)]
    text = (
        f"P_*(0) over its maximum: {dips[0]:.3f} to start with, {dips[1]:.3f} at larger mu, {dips[2]:.3f} at larger lam"
    )
    return Finding(text, outcome(dips[1] < dips[0] and dips[2] < dips[0]))


@claim("Sec. III, stabilities", "Larger mu and larger lam both squeeze P around zero", "stabilities")
def gaps_squeeze(tables: Tables) -> Finding:
    """Width and height of P in the three panels."""
    panels = _gap_panels(tables["stabilities"])
    widths = [float(np.sqrt(np.trapezoid(own["gap"] ** 2 * own["P"], own["gap"]))) for own in panels]
    heights = [own["P"][_at_zero(own)] for own in panels]
    text = (
        f"standard deviation of P: {widths[0]:.3f} to start with, {widths[1]:.3f} at larger mu, {widths[2]:.3f} "
        f"at larger "
        f"lam; P(0): {heights[0]:.3f}, {heights[1]:.3f}, {heights[2]:.3f}"
    )
    mu_squeezes, lam_squeezes = (heights[k] > heights[0] and widths[k] < widths[0] for k in (1, 2))
    both = mu_squeezes and lam_squeezes
    return Finding(text, outcome(both, Outcome.CORRECTED if lam_squeezes else Outcome.FAILS))


def _overlapping(own: Table) -> bool:
    """Do the two branches share temperatures?"""
    upper, lower = own.where(line="informed"), own.where(line="uninformed")
    return len(upper) > 0 and bool(upper["mu"].min() < lower["mu"].max())


def _gap_panels(table: Table) -> list[Table]:
    theory = table.where(source="theory")
    return [theory.where(mu=mu, lam=lam) for mu, lam in ((2.5, 0.0), (3.5, 0.0), (2.5, 0.5))]


def _at_zero(own: Table) -> int:
    return int(np.argmin(np.abs(own["gap"])))

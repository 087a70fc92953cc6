"""The claims of the paper on where replica symmetry is stable, and what its failure means."""

from __future__ import annotations

import math

import numpy as np

from phaselect.base.tables import Table
from phaselect.experiments.success import wilson
from phaselect.report.evidence import Missing
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

STABILITY_CLAIMS: list[Claim] = []
claim = claims_into(STABILITY_CLAIMS)


def anneals(table: Table) -> list[Table]:
    """The followed branch at each lam and alpha."""
    followed = table.take(table["line"] != "no overlap")
    return [own for lam in followed.values("lam") for own in followed.where(lam=lam).by("alpha")]


@claim("App. A, stability", "The high-complexity part of each branch is locally stable", "local_stability")
def stable_at_high_complexity(tables: Tables) -> Finding:
    """The replicon along an anneal, as long as the complexity exceeds half of its largest value."""
    curves = anneals(tables["local_stability"])
    high = [own.take(own["complexity"] > 0.5 * own["complexity"].max()) for own in curves]
    stable = [bool(own["stable"].all()) for own in high]
    text = (
        f"where the complexity exceeds half of its largest value, the replicon stays below 1 on {sum(stable)} of "
        f"{len(stable)} anneals (the largest: {max((own['replicon'].max() for own in high), default=0.0):.3f})"
    )
    return Finding(text, verdict(*stable))


@claim("App. A, stability", "Regularisation makes regions of smaller misfit locally stable", "local_stability")
def regulariser_stabilises(tables: Tables) -> Finding:
    """The smallest misfit that is locally stable and has a complexity: along the anneal, and of the point it leaves."""
    table = tables["local_stability"]
    left = table["line"] == "no overlap"
    along, behind = (_lowered(table.take(chosen)) for chosen in (~left, left))
    if not along:
        raise Missing("no alpha is known at both lam")
    text = (
        f"from lam = 0 to 0.005 the smallest stable misfit falls on {_those(along)}, and at the point without overlap "
        f"that they leave on {_those(behind)}"
    )
    return Finding(text, verdict(*along.values(), *behind.values()))


def _lowered(table: Table) -> dict[float, bool]:
    """By alpha, wherever both are known: is the smallest stable misfit smaller at lam = 0.005 than at 0?"""
    lowest = {
        alpha: [_lowest_stable(table.where(alpha=alpha, lam=lam)) for lam in (0.0, 0.005)]
        for alpha in table.values("alpha")
    }
    return {
        alpha: with_it < without for alpha, (without, with_it) in lowest.items() if math.isfinite(without + with_it)
    }


def _lowest_stable(own: Table) -> float:
    """Smallest misfit before the replicon passes 1 or the complexity vanishes, coming from high temperature."""
    if len(own) == 0:
        return math.nan
    good = own["stable"] & (own["complexity"] >= 0)
    end = int(np.argmin(good)) if not good.all() else len(own)
    return float(own["mse_y"][:end].min()) if end else math.nan


def _those(cases: dict[float, bool]) -> str:
    """How many, and which."""
    chosen = [alpha for alpha, case in cases.items() if case]
    return f"{len(chosen)} of {len(cases)} anneals" + (f" (alpha = {numbers(chosen)})" if chosen else "")


@claim("App. A, 1RSB", "Replica symmetry is not globally stable", "rsb")
def symmetry_breaks(tables: Tables) -> Finding:
    """Clusters at Parisi parameter 1, the paper's criterion: at the point without overlap, and on the branches."""
    table = tables["rsb"]
    known = table.take(np.isfinite(table["growth_followed"]))
    rules = {f"lam = {lam:g}": known.where(lam=lam) for lam in known.values("lam") if math.isfinite(lam)}
    rules |= {f"mu*lam = {it:g}": known.where(product=it) for it in known.values("product") if math.isfinite(it)}
    without = [_form(mu) for mu in table.where(lam=0.0)["mu_dynamical"].tolist()]
    text = (
        f"without overlap, at lam = 0, clusters form at a finite mu for {without.count(True)} of {len(without)} "
        f"alphas; on the branch that an anneal follows to the signal, "
        + "; ".join(f"{name}: {_up_to(own)}" for name, own in rules.items())
    )
    followed = (known["growth_followed"] >= 1).tolist() if len(known) else [None]
    return Finding(text, verdict(*without, *followed))


def _form(mu: float) -> Said:
    """Do clusters form at this mu? Not if it is infinite."""
    return None if math.isnan(mu) else math.isfinite(mu)


def _up_to(own: Table) -> str:
    """At how many alphas clusters form on the way."""
    formed = own["alpha"][own["growth_followed"] >= 1]
    return f"for {formed.size} of {len(own)}" + (f" (up to {formed.max():g})" if formed.size else "")


@claim(
    "Sec. III, lam = 0",
    "That simulated annealing needs more than replica symmetry says is signalled by the local instability of the "
    "replica symmetric solution at large mu",
    "local_stability",
)
def instability_signals_the_trap(tables: Tables) -> Finding:
    """The replicon on the branches that anneals at lam = 0 follow, and at the points that they leave."""
    table = tables["local_stability"].where(lam=0.0)
    followed, left = anneals(table), table.where(line="no overlap").by("alpha")
    warned = [not own["stable"].all() for own in followed]
    behind = sum(not own["stable"].all() for own in left)
    text = (
        f"{sum(warned)} of {len(warned)} anneals at lam = 0 meet a replicon above 1 (the largest: "
        f"{max((own['replicon'].max() for own in followed), default=0.0):.6f}); the point without overlap, where it "
        f"passes 1 for {behind} of {len(left)}, is one that they have left"
    )
    return Finding(text, verdict(*warned))


@claim(
    "Sec. III and IV, constant lam",
    "That simulated annealing at constant lam needs more than replica symmetry says is due to the breaking of replica "
    "symmetry",
    "rates",
    "rsb",
    "regularisation",
)
def breaking_is_the_cause(tables: Tables) -> Finding:
    """Clusters on the way, or haste? Asked wherever replica symmetry has an anneal recover and quick ones fail.

    Without clusters it is haste if the slowest anneals, of all cases together, recover more than the quickest.
    """
    broken, texts, quick, slow = [], [], np.zeros(2), np.zeros(2)
    for lam in (0.0, 0.005):
        recovery = regulariser_threshold(tables, "recovery", lam)
        for own in tables["rates"].where(lam=lam).by("alpha"):
            alpha, own = own["alpha"][0], own.take(np.argsort(own["sweeps"]))
            growth = tables["rsb"].where(lam=lam, alpha=alpha)["growth_followed"]
            if alpha <= recovery or own["value"][0] >= 0.5 or not np.isfinite(growth).any():
                continue
            broken.append(bool(growth[0] >= 1))
            quick += own["successes"][0], own["trials"][0]
            slow += own["successes"][-1], own["trials"][-1]
            recovered, sweeps = (", ".join(f"{it:.0f}" for it in own[name]) for name in ("successes", "sweeps"))
            texts.append(
                f"lam = {lam:g}, alpha = {alpha:g}: growth of clusters on the way at most {growth[0]:.2f}, "
                f"{recovered} of {own['trials'][0]:.0f} recovered at {sweeps} sweeps per e-fold"
            )
    text = "; ".join(texts) or "0 cases where replica symmetry has an anneal recover and quick ones fail"
    hasty = wilson(*slow)[0] > wilson(*quick)[1]
    conclusion = verdict(*broken)
    return Finding(text, Conclusion.OPEN if conclusion is Conclusion.FAILS and not hasty else conclusion)

"""The claims of the paper on where replica symmetry is stable, and what its failure means."""

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
)

STABILITY_CLAIMS: list[Claim] = []
claim = claims_into(STABILITY_CLAIMS)


@claim("App. A, stability", "The high-complexity part of each branch is locally stable", "local_stability")
def stable_at_high_complexity(tables: Tables) -> Finding:
    """Where along an anneal the replicon passes 1."""
    table = tables["local_stability"].where(line="anneal")
    starts = [bool(own["stable"][0]) for lam in table.values("lam") for own in table.where(lam=lam).by("alpha")]
    text = (
        f"{sum(starts)} of {len(starts)} curves, at lam = {numbers(table.values('lam'))}, begin with a replicon below 1"
    )
    return Finding(text, outcome(all(starts)))


@claim("App. A, stability", "Regularisation makes regions of smaller misfit locally stable", "local_stability")
def regulariser_stabilises(tables: Tables) -> Finding:
    """The smallest misfit that is locally stable and has a complexity: along the anneal, and of the point it leaves."""
    table = tables["local_stability"]
    anneal, left = (table.take(chosen) for chosen in (table["line"] != "no overlap", table["line"] == "no overlap"))
    along = [_lowest_stable(anneal.where(alpha=1.5, lam=lam)) for lam in (0.0, 0.005)]
    behind = [_lowest_stable(left.where(alpha=1.6, lam=lam)) for lam in (0.0, 0.005)]
    text = (
        f"along an anneal at alpha = 1.5 the smallest stable misfit is {along[0]:.1e} at lam = 0 and "
        f"{along[1]:.1e} at 0.005, "
        f"where it goes on to the signal; but at alpha = 1.6 the point without overlap is stable down to "
        f"{behind[0]:.4f} at lam = 0 and only to {behind[1]:.4f} at 0.005"
    )
    better = along[1] < along[0], behind[1] < behind[0]
    return Finding(text, outcome(all(better), Outcome.CORRECTED if any(better) else Outcome.FAILS))


def _lowest_stable(own: Table) -> float:
    """Smallest misfit before the replicon passes 1 or the complexity vanishes, coming from high temperature."""
    good = own["stable"] & (own["complexity"] >= 0)
    end = int(np.argmin(good)) if not good.all() else len(own)
    return float(own["mse_y"][:end].min()) if end else float("nan")


@claim("App. A, 1RSB", "Replica symmetry is not globally stable", "rsb")
def symmetry_breaks(tables: Tables) -> Finding:
    """Clusters form at a finite mu, and their ground state lies above the replica symmetric one."""
    table = tables["rsb"]
    finite = np.isfinite(table["mu_dynamical"])
    first = table.where(alpha=1.5)
    text = (
        f"one-step breaking sets in at a finite mu for all {len(table)} alphas; at alpha = 1.5 clusters form at "
        f"mu = {first['mu_dynamical'][0]:.2f}, dominate from {first['mu_static'][0]:.2f}, and the best misfit "
        f"without the "
        f"signal is {first['mse_y_ground'][0]:.4f}, where replica symmetry says {first['mse_y_crisis'][0]:.4f}"
    )
    return Finding(text, outcome(bool(finite.all())))


@claim(
    "Sec. III, lam = 0",
    "That simulated annealing needs more than replica symmetry says is signalled by the local instability of the "
    "replica symmetric solution at large mu",
    "rsb",
)
def instability_signals_the_trap(tables: Tables) -> Finding:
    """Is the replicon above 1 where clusters form?"""
    table = tables["rsb"]
    silent = table.take(np.isnan(table["mu_replicon"]) | (table["mu_replicon"] > 1.01 * table["mu_dynamical"]))
    told = len(table) - len(silent)
    text = (
        f"clusters form with the replicon still below 1, unseen by local stability, at {len(silent)} of "
        f"{len(table)} alphas "
        f"(up to {silent['alpha'].max(initial=0.0):g}); at {told} they are born where it reaches 1"
    )
    return Finding(text, outcome(len(silent) == 0, Outcome.CORRECTED if told else Outcome.FAILS))

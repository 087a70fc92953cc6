"""The claims of the paper on message passing: its thresholds, its rate, its trajectories."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from phaselect.base.tables import Table
from phaselect.figures.patience import judged
from phaselect.report.comparisons import (
    FAST,
    agreed,
    both_rates,
    gains,
    halves,
    limits_from_each_size,
    listed,
    mean_gain,
    paired,
    told,
)
from phaselect.report.evidence import Missing, known
from phaselect.report.ledger import (
    Claim,
    Finding,
    Said,
    Tables,
    claims_into,
    verdict,
)

MESSAGE_PASSING_CLAIMS: list[Claim] = []
claim = claims_into(MESSAGE_PASSING_CLAIMS)


def patient(table: Table) -> Table:
    """Thresholds and limits of figure patience: of single runs within all of the paper's iterations."""
    return judged(table.where(kind="share"))


@claim("Sec. IV, AMP", "The threshold of annealed message passing approaches the Bayes-optimal one", "patience")
def message_passing_approaches_bayes(tables: Tables) -> Finding:
    """The limit of alpha_50 at the matched product, at both rates, within the paper's iterations."""
    found = both_rates(patient(tables["patience"]), "amp")
    rates = [(name, own, limits_from_each_size(own)) for name, own in zip(("fast", "slow"), found, strict=True)]
    texts = [f"{name}, {listed(own)}, {told(fits)}" for name, own, fits in rates]
    answers = [agreed(fits.values()) for _, _, fits in rates]
    return Finding(f"at mu*lam = 1, within 2*10^5 iterations: {'; '.join(texts)}", verdict(*answers))


@claim(
    "Sec. IV, AMP, asked on",
    "Within the paper's 2*10^5 iterations message passing recovers from fewer measurements than within 3000",
    "patience",
    "success_amp",
)
def patience_pays(tables: Tables) -> Finding:
    """alpha_50 of runs at the same alphas, within all of their iterations and ended after 3000."""
    long = tables["patience"].where(kind="share", eps=FAST)
    short = tables["success_amp"].where(kind="share", solver="amp", eps=FAST, product=1.0)
    ended, patient_ones = (halves(judged(_at_places_of(*pair)), "amp") for pair in ((short, long), (long, short)))
    sizes = "; ".join(f"N = {n}: {half} within 3000, {patient_ones[n]} within all" for n, half in ended.items())
    text = f"{sizes}; mean gain {mean_gain(ended, patient_ones)}, at the alphas of both"
    return Finding(text, verdict(gains(ended, patient_ones)))


def _at_places_of(shares: Table, others: Table) -> Table:
    """Those shares whose size and alpha the others have too."""
    places, wanted = (list(zip(it["n"].tolist(), it["alpha"].tolist(), strict=True)) for it in (shares, others))
    both = shares.take(np.array([place in set(wanted) for place in places]))
    if len(both) == 0:
        raise Missing("no size is known at the same alphas")
    return Table(both.columns)


@claim("Sec. IV, AMP", "Message passing: it does so in the limit of a vanishing rate", "success_amp", "patience")
def rate_matters_for_message_passing(tables: Tables) -> Finding:
    """Fast against slow, on the paper's schedule, and at the matched product with all its iterations."""
    printed = both_rates(tables["success_amp"], "amp-paper")
    matched = both_rates(patient(tables["patience"]), "amp")
    text = f"on the paper's schedule: {paired(*printed)}. At mu*lam = 1, within 2*10^5 iterations: {paired(*matched)}"
    return Finding(text, verdict(gains(*printed), gains(*matched)))


@claim(
    "Sec. IV, AMP",
    "State evolution, the saddle-point iteration, describes the trajectories of message passing",
    "trajectories",
)
def state_evolution_describes(tables: Tables) -> Finding:
    """The mean run against state evolution, iteration by iteration, at every alpha."""
    table = tables["trajectories"]
    means = table.where(source="mean of amp")
    parts, texts = [], []
    for mean in means.by("alpha"):
        theory = table.where(source="state evolution", alpha=mean["alpha"][0])
        gap = known(mean["m"] - np.interp(mean["sweeps"], theory["sweeps"], theory["m"]), "the mean of m")
        error = known(mean["m_error"], "its error")
        worst = int(np.argmax(np.abs(gap)))
        errors = stdtrit(mean["runs"][0] - 1, 1 - 0.025 / len(means))  # 95 % for all iterations and alphas together
        parts.append(_describes(np.abs(gap), errors * error))
        texts.append(f"alpha = {mean['alpha'][0]:g}: {gap[worst]:.2f} ± {error[worst]:.2f}")
    runs = f"{means['runs'][0]:.0f} runs" if len(means) else "runs"
    text = f"largest gap in m of the mean of {runs}, with its standard error: {'; '.join(texts)}"
    return Finding(text, verdict(*parts))


def _describes(gap: NDArray[np.float64], error: NDArray[np.float64]) -> Said:
    """Yes if it is surely within 0.2 throughout, no if it is surely beyond 0.1 somewhere."""
    if np.any(gap - error > 0.1):
        return False
    return True if np.all(gap + error < 0.2) else None

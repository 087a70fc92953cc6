"""The claims of the paper on message passing: its thresholds, its rate, its trajectories."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from phaselect.experiments.limits import large_n_limit
from phaselect.figures.patience import thresholds
from phaselect.report.comparisons import (
    FAST,
    SLOW,
    arrives,
    both_rates,
    gains,
    limit,
    listed,
    mean_gain,
    paired,
)
from phaselect.report.evidence import known
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


@claim(
    "Sec. IV, AMP",
    "The threshold of annealed message passing approaches the Bayes-optimal one",
    "success_amp",
    "patience",
)
def message_passing_approaches_bayes(tables: Tables) -> Finding:
    """The limit of alpha_50 at the matched product, at both rates within 3000 iterations, and within the paper's."""
    table, long = tables["success_amp"], thresholds(tables["patience"].where(kind="share", eps=FAST))
    fast, slow = both_rates(table, "amp", product=1.0)
    fits = [limit(table, "amp", eps=eps, product=1.0) for eps in (FAST, SLOW)]
    fits.append(large_n_limit(list(long), list(long.values())))
    curves = (("fast", fast), ("slow", slow), ("fast, within 2*10^5 iterations", long))
    texts = [
        f"{name}, {listed(found)}, limit {fit or 'not fitted'}" for (name, found), fit in zip(curves, fits, strict=True)
    ]
    return Finding(f"at mu*lam = 1: {'; '.join(texts)}", verdict(*map(arrives, fits)))


@claim(
    "Sec. IV, AMP, asked on",
    "Within the paper's 2*10^5 iterations message passing recovers from fewer measurements than within 3000",
    "patience",
    "success_amp",
)
def patience_pays(tables: Tables) -> Finding:
    """alpha_50 of the same runs at the same alphas, within all of their iterations and ended after 3000."""
    shares = tables["patience"].where(kind="share", eps=FAST)
    ended = tables["success_amp"].where(kind="share", solver="amp", eps=FAST, product=1.0)
    places = {*zip(shares["n"].tolist(), shares["alpha"].tolist(), strict=True)}
    both = [place in places for place in zip(ended["n"].tolist(), ended["alpha"].tolist(), strict=True)]
    short, long = thresholds(ended.take(np.array(both))), thresholds(shares)
    sizes = "; ".join(f"N = {n}: {short[n]} within 3000, {long[n]} within all" for n in long if n in short)
    return Finding(f"{sizes}; mean gain {mean_gain(short, long)}", verdict(gains(short, long)))


@claim("Sec. IV, AMP", "Message passing: it does so in the limit of a vanishing rate", "success_amp", "patience")
def rate_matters_for_message_passing(tables: Tables) -> Finding:
    """Fast against slow, on the paper's schedule and at the matched product, there with all its iterations too."""
    printed = both_rates(tables["success_amp"], "amp-paper")
    matched = both_rates(tables["success_amp"], "amp", product=1.0)
    fast, slow = (thresholds(tables["patience"].where(kind="share", eps=eps)) for eps in (FAST, SLOW))
    text = (
        f"on the paper's schedule: {paired(*printed)}. At mu*lam = 1: {paired(*matched)}. Within 2*10^5 iterations: "
        f"{paired(fast, slow)}"
    )
    return Finding(text, verdict(gains(*printed), gains(*matched), gains(fast, slow)))


@claim(
    "Sec. IV, AMP",
    "State evolution, the saddle-point iteration, describes the trajectories of message passing",
    "trajectories",
)
def state_evolution_describes(tables: Tables) -> Finding:
    """The mean run against state evolution, iteration by iteration, at every alpha."""
    table = tables["trajectories"]
    parts, texts = [], []
    for mean in table.where(source="mean of amp").by("alpha"):
        theory = table.where(source="state evolution", alpha=mean["alpha"][0])
        gap = known(mean["m"] - np.interp(mean["sweeps"], theory["sweeps"], theory["m"]), "the mean of m")
        error = known(mean["m_error"], "its error")
        worst = int(np.argmax(np.abs(gap)))
        parts.append(_describes(np.abs(gap), error))
        texts.append(f"alpha = {mean['alpha'][0]:g}: {gap[worst]:.2f} ± {error[worst]:.2f}")
    return Finding("largest gap in m of the mean run, with its standard error: " + "; ".join(texts), verdict(*parts))


def _describes(gap: NDArray[np.float64], error: NDArray[np.float64]) -> Said:
    """Yes if it is surely within 0.2 throughout, no if it is surely beyond 0.1 somewhere."""
    if np.any(gap - 2 * error > 0.1):
        return False
    return True if np.all(gap + 2 * error < 0.2) else None

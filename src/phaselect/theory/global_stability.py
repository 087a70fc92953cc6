r"""Global stability of a replica symmetric point: can clusters of any size keep themselves up?

At Parisi parameter tau = 1 clusters leave the overlaps V, D and m of the point as they are and only divide its
variance, `V0 = D1 + inside`: into that between the estimates of a branch and that within a cluster of them. In one
iteration (clusters.py) the odds `D1/inside` grow by a factor, which for small clusters is the replicon: local
stability is a limit of this. Clusters exist where the factor reaches 1 at any odds.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize_scalar

from phaselect.theory.clusters import ClusterState, cluster_map
from phaselect.theory.control import Control, State
from phaselect.theory.replicon import replicon

LOG_ODDS = np.linspace(math.log(0.1), math.log(1e6), 8)
"""Smaller clusters grow by the replicon; the largest ones that ever form up to mu = 1e5 have odds of about 1e5."""


def growth_of_odds(odds: float, state: State, control: Control) -> float:
    """Factor by which the odds of clusters grow in one iteration at tau = 1."""
    frozen = control.response / control.mu
    variance = state.V - frozen
    inside = variance / (1 + odds)
    moved, _ = cluster_map(ClusterState(frozen + inside, variance - inside, state.spread, state.m), control, 1.0)
    return moved.D1 / (moved.V - frozen) / odds


def cluster_growth(state: State, control: Control) -> float:
    """The largest such factor, the replicon included: from 1 on there are clusters."""

    def decay(log_odds: float) -> float:
        return -growth_of_odds(math.exp(log_odds), state, control)

    best = int(np.argmin([decay(log_odds) for log_odds in LOG_ODDS]))
    if best == 0:
        return max(-decay(LOG_ODDS[0]), replicon(state, control))
    around = LOG_ODDS[best - 1], LOG_ODDS[min(best + 1, LOG_ODDS.size - 1)]
    refined = minimize_scalar(decay, bounds=around, method="bounded", options={"xatol": 0.05})
    return max(-float(refined.fun), replicon(state, control))

"""Where an infinitely slow anneal of vector message passing ends, at any fixed product mu lam."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from phaselect.base.errors import TheoryError
from phaselect.theory.control import State
from phaselect.theory.flow import LARGEST_STEP, descend, linearise, logarithms, relative_size
from phaselect.theory.quadrature import Array
from phaselect.theory.vector_nodes import Ensemble, vector_map

MUS = np.geomspace(0.5, 1e8, 50)

RECOVERED = 1e-4
"""Mean squared error of z, true and believed, once the signal is found: uneven spectra leave little long before."""

SETTLED = 1e-6
"""Residual of a state that is followed to the next temperature: at the edge of a spectrum half of the digits go."""

FINEST = 8
"""How often a step in mu is halved before it is given up."""

SEEDS = (1e-3, 1e-2, 0.1, 0.3)
"""Overlaps sown where there is none; the smallest that leaves the messages a variance."""


class Temperature(NamedTuple):
    """Matrices of one kind, at one temperature."""

    mu: float
    product: float
    ensemble: Ensemble

    def map(self, V: Array, spread: Array, m: Array) -> tuple[Array, Array, Array]:
        """One undamped iteration."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return vector_map(V, spread, m, self.product, 0.5 / self.mu, self.ensemble)


def slow_anneal_recovers(product: float, ensemble: Ensemble) -> bool:
    """Does an infinitely slow anneal at fixed mu lam end at the signal?"""
    state, before = State(1 / product, 0.0, 0.0), float(MUS[0])
    for mu in MUS.tolist():
        state = _advance(state, before, Temperature(mu, product, ensemble), FINEST)
        if (1 - state.m) ** 2 + state.spread + state.V < RECOVERED:
            return True
        before = mu
    return False


def _advance(state: State, before: float, at: Temperature, halvings: int) -> State:
    """The attractor, from the one at mu = `before`, through temperatures in between where it cannot be reached."""
    found = _attractor(state, at)
    if found is not None:
        return found
    if halvings == 0 or before == at.mu:
        raise TheoryError(f"the state at alpha = {at.ensemble.alpha:g}, mu = {at.mu:g} did not converge")
    halfway = at._replace(mu=math.sqrt(before * at.mu))
    return _advance(_advance(state, before, halfway, halvings - 1), halfway.mu, at, halvings - 1)


def _attractor(state: State, at: Temperature) -> State | None:
    """Where the flow ends; a state without overlap keeps none where small ones die out."""
    if state.m == state.spread == 0.0:
        state = _paramagnet(state.V, at)
        if _is_stable(state.V, at):
            return state
        state = next(
            (sown for sown in (state._replace(spread=m * m, m=m) for m in SEEDS) if _is_inside(sown, at)), state
        )
    s, _ = descend(lambda s: linearise(s, at.map), logarithms(state), relative_size, LARGEST_STEP, lambda _: False)
    converged = relative_size(linearise(s, at.map)[0], s) < SETTLED
    return State(math.exp(s[0]), math.exp(s[1]), float(s[2])) if converged else None


def _is_inside(state: State, at: Temperature) -> bool:
    V, spread, m = at.map(*map(np.asarray, state))
    return bool(np.isfinite(V) and V > 0 and spread > 0 and m > 0)


def _paramagnet(V: float, at: Temperature) -> State:
    """The fixed point without overlap, searched from a larger V down; where there is none, the given V."""

    def excess(V: float) -> float:
        return V / float(at.map(*map(np.asarray, (V, 0.0, 0.0)))[0]) - 1

    low, high = V, 2 * V
    while not excess(high) > 0:
        low, high = high, 2 * high
    while excess(low) > 0:
        low, high = 0.8 * low, low
    return State(brentq(excess, low, high) if excess(low) <= 0 else V, 0.0, 0.0)


def _is_stable(V: float, at: Temperature) -> bool:
    """Do small overlaps and spreads die out? There `variance = 1`, `miss = 1 - (1 + 2/degrees) m/s2` to first order."""
    alpha, spectrum, degrees = at.ensemble
    nu = 0.5 / at.mu
    s2 = V + nu
    scale = nu + V / s2
    g = (1 - 1 / s2) / scale
    response = spectrum.response(np.asarray(g), np.asarray(at.product), alpha)
    pull, steepness = float(response.pull), float(response.pull + g * response.pull_slope)
    growth_m = 2 / degrees * V * pull / (s2 * scale)
    growth_spread = 2 / degrees * V**2 * steepness / (s2 * scale) ** 2
    return max(growth_m, growth_spread) <= 1

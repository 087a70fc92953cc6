"""Do clusters form on the branch that an infinitely slow anneal follows, before it has found the signal?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from phaselect.base.errors import TheoryError
from phaselect.theory.branch import states_along
from phaselect.theory.continuation import AnnealPath
from phaselect.theory.control import MU_MAX, Control, State
from phaselect.theory.global_stability import cluster_growth
from phaselect.theory.saddle import Start
from phaselect.theory.thresholds import HIGH

MUS = np.geomspace(0.1, MU_MAX, 40)
FINER = 8
"""Parts of the last step before the signal: the branch may end within it, and clusters form just before the end."""


class OnTheWay(NamedTuple):
    """mu of the first clusters, infinite without any; the overlap m there, or the last one.

    growth: the largest on the way, 1 where they form.
    """

    mu: float
    m: float
    growth: float


class Place(NamedTuple):
    """A point of the branch."""

    control: Control
    state: State

    @property
    def growth(self) -> float:
        """That of clusters, 1 where they form."""
        return cluster_growth(self.state, self.control)

    @property
    def start(self) -> Start:
        """From where the next point is sought; one without overlap leaves m = 0 where that is unstable."""
        return self.state.overlaps(self.control) if self.state.q0 > 0 else "uninformed"


def clusters_on_the_way(path: AnnealPath) -> OnTheWay:
    """Along the branch, until clusters form or the signal is found."""
    largest, last = 0.0, None
    for place in _way(path):
        growth = place.growth
        if growth >= 1:
            born = _born(path, last, place) if last else place
            return OnTheWay(born.control.mu, born.state.m, 1.0)
        largest, last = max(largest, growth), place
    return OnTheWay(math.inf, last.state.m if last else math.nan, largest)


def _way(path: AnnealPath) -> Iterator[Place]:
    """Places on the way, none of them at the signal."""
    start: Start = "uninformed"
    for place in _places(path, MUS.tolist(), start):
        if place.state.m > HIGH:
            mus = np.geomspace(place.control.mu * MUS[0] / MUS[1], place.control.mu, FINER + 1)[1:-1]
            yield from (finer for finer in _places(path, mus.tolist(), start) if finer.state.m <= HIGH)
            return
        yield place
        start = place.start


def _places(path: AnnealPath, mus: Sequence[float], start: Start) -> Iterator[Place]:
    for control, arrival in states_along(map(path.control, mus), start):
        if not arrival.converged:
            raise TheoryError(f"the saddle point at {control} did not converge")
        yield Place(control, arrival.state._replace(m=abs(arrival.state.m)))


def _born(path: AnnealPath, before: Place, after: Place) -> Place:
    """Where between two places clusters form."""

    def at(log_mu: float) -> Place:
        return next(_places(path, [math.exp(log_mu)], before.start))

    low, high = math.log(before.control.mu), math.log(after.control.mu)
    return at(brentq(lambda log_mu: at(log_mu).growth - 1, low, high, xtol=1e-6))

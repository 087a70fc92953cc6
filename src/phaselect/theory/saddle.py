"""One point of the theory: solve the saddle point, and say all there is to say about it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from enum import Enum
from typing import Any

import numpy as np

from phaselect.base.checks import shortened
from phaselect.base.errors import InputError, TheoryError
from phaselect.theory.averages import averages
from phaselect.theory.control import Control, Overlaps, State, collapse
from phaselect.theory.flow import Arrival, flow, paramagnet, paramagnet_is_stable
from phaselect.theory.free_entropy import free_entropy_at
from phaselect.theory.replicon import replicon, replicon_regression

Start = str | Overlaps
"""Where the search begins: "uninformed", "informed", or given overlaps."""

DISTINCT = 1e-6
"""Difference in m beyond which two attractors are two."""


class PointStatus(Enum):
    """How the search for a saddle point ended; the value is the message for a person."""

    CONVERGED = "converged"
    ONE_BRANCH = "converged; informed and uninformed starts lead to this same point: there is one branch here"
    NOT_CONVERGED = "not converged: these numbers are no saddle point"


@dataclass(frozen=True)
class Point:
    """A saddle point with its observables, under the column names of a solver's trace, and its validity.

    energy is E/N, complexity the logarithm of the number of sign vectors per unknown, `residual` the largest change
    in one undamped iteration, `iterations` the evaluations of the map. `replicon` and `replicon_regression` are the
    eigenvalues of types I and II: the replica symmetric ansatz is locally stable while both are below 1.
    """

    alpha: float
    mu: float
    lam: float
    phi: float
    V0: float
    V1: float
    V: float
    q0: float
    q1: float
    m: float
    O: float
    free_entropy: float
    energy: float
    mse_y: float
    mse_x: float
    complexity: float
    replicon: float
    replicon_regression: float
    residual: float
    iterations: int
    status: PointStatus

    @property
    def converged(self) -> bool:
        """Is this a saddle point?"""
        return self.status is not PointStatus.NOT_CONVERGED

    @property
    def trusted(self) -> bool:
        """A saddle point where the replica symmetric ansatz is locally stable and counts at least one sign vector."""
        return self.converged and self.replicon < 1 and self.complexity >= 0

    @property
    def control(self) -> Control:
        """Where it lies."""
        return Control(self.alpha, self.mu, self.lam, self.phi)

    @property
    def overlaps(self) -> Overlaps:
        """The order parameters; `start=point.overlaps` continues from here."""
        return Overlaps(self.V0, self.V1, self.q0, self.m)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and strings, ready for JSON."""
        record = asdict(self) | {"converged": self.converged, "trusted": self.trusted}
        return record | {"status": self.status.name.lower(), "message": self.status.value}


def saddle_point(alpha: float, mu: float, lam: float = 0.0, *, phi: float = 0.0, start: Start = "uninformed") -> Point:
    """The replica symmetric saddle point that the iteration reaches from `start`.

    start: "uninformed" (signs that know nothing of the signal), "informed" (the signal itself), or `Overlaps`.
    An anneal, `follow`, may be elsewhere at the same mu: it starts from what it found at smaller mu, not afresh.
    An informed start that falls to the uninformed point is marked so in `status`, and so is a search that did not
    converge: see `Point.converged`.

    >>> point = saddle_point(alpha=1.7, mu=1.0)
    >>> f"{point.free_entropy:.6f} {point.mse_y:.6f} {point.complexity:.5f} {point.status.value}"
    '0.754032 0.152825 1.01384 converged'
    """
    control = Control(alpha, mu, lam, phi)
    arrival = flow(starting_state(start, control), control)
    point = point_at(arrival, control)
    if isinstance(start, str) and start == "informed" and point.converged:
        other = flow(starting_state("uninformed", control), control)
        if other.converged and abs(other.state.m - arrival.state.m) < DISTINCT:
            return replace(point, status=PointStatus.ONE_BRANCH)
    return point


def require_converged(point: Point) -> Point:
    """The point, if it is one: what is computed from points that are none would be no answer."""
    if not point.converged:
        raise TheoryError(f"the saddle point at {point.control} did not converge")
    return point


def starting_state(start: Start, control: Control) -> State:
    """The state that a start stands for."""
    if isinstance(start, Overlaps):
        return collapse(start, control.mu)
    if not isinstance(start, str):
        raise InputError('start: use "uninformed", "informed" or theory.Overlaps(V0, V1, q0, m)')
    if start == "informed":
        return State(control.response / control.mu, 0.0, 1.0)  # all signs right: V0 = 0
    if start == "uninformed":
        return _uninformed(control)
    raise InputError(f'start = {shortened(start)}: use "uninformed", "informed" or theory.Overlaps(V0, V1, q0, m)')


def _uninformed(control: Control) -> State:
    """The paramagnet where it is stable, else a small departure from it; at phi != 0 the signs' own bias."""
    state = paramagnet(control)
    if control.phi != 0.0:
        bias = math.tanh(control.phi)
        return State(state.V, 0.1 * (1 - bias**2), bias)
    if paramagnet_is_stable(control):
        return state
    return State(state.V, 1e-6, 1e-3)


def mean_residual(misfit: float, V0: float, V: float, control: Control) -> float:
    """mse_y: the misfit of the field, shrunk by the regression, and its spread over the signs."""
    W = 2 * control.mu * (V + control.noise)
    return misfit / W**2 + V0 / (W * (1 + 2 * control.response))


def point_at(arrival: Arrival, control: Control) -> Point:
    """Every observable of a state."""
    state = arrival.state
    if control.phi == 0.0 and state.m < 0:
        state = state._replace(m=-state.m)  # the other global sign
    V0, V1, q0, m = state.overlaps(control)
    s2 = state.V + control.noise
    out = averages(*map(np.asarray, (s2, state.spread, m, control.phi)))
    mse_y = mean_residual(float(out.misfit), V0, state.V, control)
    energy = control.alpha * mse_y + 0.5 * control.lam * (q0 + V0)
    O = float(out.O) if m or control.phi else 0.0  # exactly, by symmetry
    phi = free_entropy_at(state, out, control)
    return Point(
        alpha=control.alpha,
        mu=control.mu,
        lam=control.lam,
        phi=control.phi,
        V0=V0,
        V1=V1,
        V=state.V,
        q0=q0,
        q1=q0 + V0,
        m=m,
        O=O,
        free_entropy=phi,
        energy=energy,
        mse_y=mse_y,
        mse_x=(1 - m) ** 2 + state.spread + V0,
        complexity=phi + control.mu * energy - control.phi * control.alpha * O,
        replicon=replicon(state, control),
        replicon_regression=replicon_regression(control),
        residual=arrival.residual,
        iterations=arrival.iterations,
        status=PointStatus.CONVERGED if arrival.converged else PointStatus.NOT_CONVERGED,
    )

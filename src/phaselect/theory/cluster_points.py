r"""One step of replica symmetry breaking: one saddle point, and the Parisi parameter of equilibrium.

At tau = 1 clusters describe the equilibrium state as long as they are many: exp(N complexity_clusters) with
`complexity_clusters = -tau^2 dPhi/dtau`. Where that would be negative, the few best clusters dominate, and tau < 1
keeps their number at 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from phaselect.base.errors import InputError, TheoryError
from phaselect.theory.clusters import (
    ClusterState,
    cluster_free_entropy,
    cluster_map,
    free_entropy_by_tau,
    overlaps_and_conjugates,
)
from phaselect.theory.control import Control, number
from phaselect.theory.flow import descend, flow, paramagnet
from phaselect.theory.quadrature import Array
from phaselect.theory.saddle import mean_residual, starting_state


@dataclass(frozen=True)
class ClusterPoint:
    """A saddle point of the 1RSB free entropy.

    free_entropy is Phi(tau); complexity_clusters the logarithm of the number of clusters per unknown, which must be
    >= 0; complexity the total one, clusters and their insides. `broken` tells whether p1 > p0: else it is replica
    symmetric.
    """

    alpha: float
    mu: float
    lam: float
    tau: float
    V: float
    V0: float
    V1: float
    p1: float
    p0: float
    m: float
    O: float
    free_entropy: float
    complexity_clusters: float
    complexity: float
    energy: float
    mse_y: float
    residual: float
    iterations: int
    broken: bool

    @property
    def converged(self) -> bool:
        """Is this a saddle point?"""
        return self.residual < QUADRATURE

    @property
    def q1(self) -> float:
        """Squared norm of the estimate, per unknown."""
        return self.p1 + self.V0

    @property
    def state(self) -> ClusterState:
        """The collapsed order parameters, to start from."""
        return ClusterState(self.V, self.p1 - self.p0, self.p0 - self.m**2, self.m)


def one_step_rsb(
    alpha: float, mu: float, lam: float = 0.0, *, tau: float = 1.0, start: str | ClusterState = "uninformed"
) -> ClusterPoint:
    """The 1RSB saddle point at Parisi parameter tau.

    start: frozen clusters of the "uninformed" or "informed" branch; of the "paramagnet", where clusters have no
    overlap with each other and the signal whatever the branch does; or a state to continue from. Where the overlap
    inside clusters decays to that between them, the result is the replica symmetric point, `broken` False. Where the
    search did not converge, `converged` is False.
    """
    control = Control(alpha, mu, lam)
    if not 0 < number("tau", tau) <= 1:
        raise InputError(f"tau = {tau:g} must lie in (0, 1]")
    symmetric, begin = _departure(start, control)
    s, free = _variables(begin)

    def vanished(s: Array) -> bool:
        return math.exp(s[1] - s[0]) < UNBROKEN

    def linearise(s: Array) -> tuple[Array, Array]:
        width = np.array([1e-5, 1e-5, 1e-5, 1e-5 * math.exp(0.5 * min(0.0, s[2])) if s.size == 4 else 0.0])[: s.size]
        points = [s, *(s + row for row in np.diag(width))]
        moved = [_variables(cluster_map(_state(point), control, tau)[0], free)[0] for point in points]
        velocity = np.array([new - old for new, old in zip(moved, points, strict=True)])
        return velocity[0], ((velocity[1:] - velocity[0]) / width[:, None]).T

    largest_step = np.array([1.0, 3.0, 3.0, 0.1])[: s.size]
    with np.errstate(invalid="ignore", divide="ignore"):
        s, iterations = descend(linearise, s, _size, largest_step, vanished)
        broken = not vanished(s)
        state = _state(s) if broken else symmetric
        return _cluster_point(state, control, tau, iterations, broken)


QUADRATURE = 1e-8
"""Residual of a converged point: the integrals inside the logarithm are good to about 1e-9."""

UNBROKEN = 1e-6
"""D1/V below which clusters are no clusters."""


def _departure(start: str | ClusterState, control: Control) -> tuple[ClusterState, ClusterState]:
    """The replica symmetric state to compare with, and the state to begin from: clusters with little room inside."""
    if isinstance(start, ClusterState):
        if not (all(map(math.isfinite, start)) and start.V > 0 and start.D1 > 0 and start.D0 >= 0):
            raise InputError("start: a ClusterState needs finite V > 0, D1 > 0 and D0 >= 0")
        name = "uninformed" if start.D0 > 0 else "paramagnet"
        return _departure(name, control)[0], start
    state = paramagnet(control) if start == "paramagnet" else None
    if state is None:
        arrival = flow(starting_state(start, control), control)
        state = arrival.state._replace(m=abs(arrival.state.m))
    frozen = control.response / control.mu
    V0 = state.V - frozen
    symmetric = ClusterState(state.V, 0.0, state.spread, state.m)
    inside = min(0.01 * V0, frozen)
    return symmetric, symmetric._replace(V=frozen + inside, D1=V0 - inside)


def _variables(state: ClusterState, free: int | None = None) -> tuple[Array, int]:
    """(log V, log D1), with (log D0, m) where clusters overlap with each other and the signal."""
    free = free or (4 if state.D0 > 0 else 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        logs = np.log(np.array(state[:3]))
    return np.append(logs, state.m)[:free], free


def _state(s: Array) -> ClusterState:
    V, D1 = math.exp(s[0]), math.exp(s[1])
    return ClusterState(V, D1, math.exp(s[2]), float(s[3])) if s.size == 4 else ClusterState(V, D1, 0.0, 0.0)


def _size(velocity: Array, s: Array) -> float:
    """Largest change in one iteration: of variances relative to their sum, of m absolute."""
    share = np.exp(s[1:3] - np.logaddexp.reduce(s[:3]))
    moved = np.where(share > 0, np.abs(velocity[1:3]) * share, 0.0)
    return float(np.max([abs(velocity[0]), *moved, *np.abs(velocity[3:])]))


def _cluster_point(state: ClusterState, control: Control, tau: float, iterations: int, broken: bool) -> ClusterPoint:
    new, out = cluster_map(state, control, tau)
    s, free = _variables(state)
    V1, mu, alpha = control.response, control.mu, control.alpha
    order, conjugates = overlaps_and_conjugates(state, out, control)
    free_entropy = cluster_free_entropy(order, conjugates, control, tau)
    by_tau = free_entropy_by_tau(order, conjugates, out, control, tau)
    V0, _, p1, p0, _ = order
    mse_y = mean_residual(out.misfit, V0, state.V, control)
    energy = alpha * mse_y + 0.5 * control.lam * (p1 + V0)
    return ClusterPoint(
        alpha=alpha,
        mu=mu,
        lam=control.lam,
        tau=tau,
        V=state.V,
        V0=V0,
        V1=V1,
        p1=p1,
        p0=p0,
        m=state.m,
        O=out.O,
        free_entropy=free_entropy,
        complexity_clusters=-(tau**2) * by_tau,
        complexity=free_entropy + mu * energy,
        energy=energy,
        mse_y=mse_y,
        residual=_size(_variables(new, free)[0] - s, s),
        iterations=iterations,
        broken=broken,
    )


def equilibrium_clusters(
    alpha: float, mu: float, lam: float = 0.0, *, start: str | ClusterState = "uninformed"
) -> ClusterPoint:
    """The 1RSB point of equilibrium: tau = 1 while clusters are many, else the tau where their complexity vanishes.

    TheoryError where a point on the way to that tau does not converge.
    """
    point = require_converged(one_step_rsb(alpha, mu, lam, start=start))
    if not point.broken or point.complexity_clusters >= 0:
        return point
    found = {1.0: point}

    def at(tau: float) -> ClusterPoint:
        nearest = min(found, key=lambda other: abs(other - tau))
        point = one_step_rsb(alpha, mu, lam, tau=tau, start=found[nearest].state)
        if not point.converged:
            point = one_step_rsb(alpha, mu, lam, tau=tau, start=start)
        found[tau] = require_converged(point)
        return point

    low = 1.0
    while at(0.85 * low).complexity_clusters < 0:
        low *= 0.85
    return at(brentq(lambda tau: at(tau).complexity_clusters, 0.85 * low, low, xtol=1e-10))


def require_converged(point: ClusterPoint) -> ClusterPoint:
    """The point, if it is one with a number of clusters."""
    if not point.converged or math.isnan(point.complexity_clusters):
        where = f"alpha = {point.alpha:g}, mu = {point.mu:g}, lam = {point.lam:g}, tau = {point.tau:g}"
        raise TheoryError(f"the clusters at {where} did not converge")
    return point

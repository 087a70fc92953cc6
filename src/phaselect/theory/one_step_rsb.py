r"""One step of replica symmetry breaking: clusters of sign vectors, where they form, and where the best of them lie.

At Parisi parameter tau = 1 the clusters describe the equilibrium state. They form at `dynamical_transition`: from
there on single-flip dynamics is trapped in one of exponentially many. Their number, exp(N complexity_clusters) with
`complexity_clusters = -tau^2 dPhi/dtau`, vanishes at a larger mu; beyond, the few best clusters dominate and
`static_tau` < 1 keeps their number at 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from phaselect.errors import InputError
from phaselect.theory.branch import Branch
from phaselect.theory.clusters import (
    ClusterState,
    cluster_free_entropy,
    cluster_map,
    free_entropy_by_tau,
    overlaps_and_conjugates,
)
from phaselect.theory.control import Control
from phaselect.theory.flow import TOLERANCE, descend, flow, growth_rates, paramagnet
from phaselect.theory.quadrature import Array
from phaselect.theory.saddle import starting_state


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
        return self.residual < TOLERANCE

    @property
    def q1(self) -> float:
        """Squared norm of the estimate, per unknown."""
        return self.p1 + self.V0

    @property
    def state(self) -> ClusterState:
        """The collapsed order parameters, to start from."""
        return ClusterState(self.V, self.p1 - self.p0, self.p0 - self.m**2, self.m)


def one_step_rsb(
    alpha: float, mu: float, lam: float = 0.0, tau: float = 1.0, start: str | ClusterState = "uninformed"
) -> ClusterPoint:
    """The 1RSB saddle point at Parisi parameter tau.

    start: frozen clusters of the "uninformed" or "informed" branch; of the "paramagnet", where clusters have no
    overlap with each other and the signal whatever the branch does; or a state to continue from. Where the overlap
    inside clusters decays to that between them, the result is the replica symmetric point, `broken` False.
    """
    control = Control(alpha, mu, lam)
    if not 0 < tau <= 1:
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


MU_MAX = 1e5
"""Beyond, the precision inside a cluster exceeds that between them so much that rounding shows."""

UNBROKEN = 1e-6
"""D1/V below which clusters are no clusters."""


def _departure(start: str | ClusterState, control: Control) -> tuple[ClusterState, ClusterState]:
    """The replica symmetric state to compare with, and the state to begin from: clusters with little room inside."""
    if isinstance(start, ClusterState):
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
    W = 2 * mu * (state.V + control.noise)
    mse_y = out.misfit / W**2 + V0 / (W * (1 + 2 * V1))
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


def static_tau(alpha: float, mu: float, lam: float = 0.0, start: str | ClusterState = "uninformed") -> ClusterPoint:
    """The 1RSB point of equilibrium: tau = 1 while clusters are many, else the tau where their complexity vanishes."""
    point = one_step_rsb(alpha, mu, lam, start=start)
    if not point.broken or point.complexity_clusters >= 0:
        return point
    found = {1.0: point}

    def at(tau: float) -> ClusterPoint:
        nearest = min(found, key=lambda other: abs(other - tau))
        found[tau] = one_step_rsb(alpha, mu, lam, tau, start=found[nearest].state)
        return found[tau]

    low = 1.0
    while at(0.7 * low).complexity_clusters < 0:
        low *= 0.7
        if low < 1e-6:
            raise ArithmeticError(f"no static tau at alpha = {alpha:g}, mu = {mu:g}, lam = {lam:g}")
    return at(brentq(lambda tau: at(tau).complexity_clusters, 0.7 * low, low, xtol=1e-10))


def dynamical_transition(alpha: float, lam: float = 0.0) -> float:
    """mu from which sign vectors without overlap with the signal gather in clusters (tau = 1).

    Single-flip dynamics that has not found the signal by then falls out of equilibrium: it stays near the energy it
    has there. Infinite where no clusters are found up to mu = 1e5.
    """

    def at(mu: float, start: str | ClusterState) -> ClusterPoint:
        return one_step_rsb(alpha, mu, lam, start=start)

    last = next(
        (point for mu in np.geomspace(1.0, MU_MAX, 30).tolist() if (point := at(mu, "paramagnet")).broken), None
    )
    if last is None:
        return math.inf
    ratio = 1.25
    while ratio > 1 + 1e-7:  # follow the clusters to smaller mu, in steps that shrink where they dissolve
        point = at(last.mu / ratio, last.state)
        last, ratio = (point, ratio) if point.broken else (last, math.sqrt(ratio))
    return last.mu


def static_transition(alpha: float, lam: float = 0.0) -> float:
    """mu beyond which a few of these clusters dominate: their complexity at tau = 1 vanishes. Infinite beyond 1e5."""
    begin = dynamical_transition(alpha, lam)
    if not math.isfinite(begin):
        return math.inf

    def complexity(log_mu: float) -> float:
        return one_step_rsb(alpha, math.exp(log_mu), lam, start="paramagnet").complexity_clusters

    low = math.log(begin) + 1e-5
    if complexity(low) <= 0:
        return begin  # clusters are born dominant: a continuous transition
    high = low + 0.5
    while complexity(high) > 0:
        low, high = high, high + 0.5
        if high > math.log(MU_MAX):
            return math.inf
    return math.exp(brentq(complexity, low, high, xtol=1e-8))


def ground_state(alpha: float, lam: float = 0.0) -> ClusterPoint:
    """The lowest energy of sign vectors without overlap with the signal: equilibrium, cooled until it settles."""
    mu = 4 * static_transition(alpha, lam)
    if not math.isfinite(mu):
        raise InputError(
            f"alpha = {alpha:g}, lam = {lam:g}: no clusters dominate up to mu = {MU_MAX:g}; try a larger alpha"
        )
    point = static_tau(alpha, mu, lam, start="paramagnet")
    while True:
        colder = static_tau(alpha, 2 * point.mu, lam, start="paramagnet")
        if abs(colder.energy - point.energy) < 1e-4 * point.energy or colder.mu > 2 * MU_MAX:
            return colder
        point = colder


def traps(alphas: Sequence[float], lam: float = 0.0, *, progress: Callable[[float], None] | None = None) -> Branch:
    """Where single-flip annealing that has not found the signal is trapped, a row for each alpha.

    Columns: mu_leave, where the uninformed branch leaves m = 0 (infinite where never); mu_dynamical and mu_static,
    the transitions of this file; mse_y_dynamical, the misfit at the first; mse_y_ground, that of the best sign
    vectors without overlap. An anneal escapes only between mu_leave and mu_dynamical, if there is room. Beyond mu =
    1e5: infinite, and nan.
    """
    rows = []
    for count, alpha in enumerate(alphas):
        if progress is not None:
            progress(count / len(alphas))
        dynamical, static = dynamical_transition(alpha, lam), static_transition(alpha, lam)
        there = one_step_rsb(alpha, dynamical, lam, start="paramagnet").mse_y if math.isfinite(dynamical) else math.nan
        ground = ground_state(alpha, lam).mse_y if math.isfinite(static) else math.nan
        rows.append((alpha, _leaves_paramagnet(alpha, lam), dynamical, static, there, ground))
    names = ("alpha", "mu_leave", "mu_dynamical", "mu_static", "mse_y_dynamical", "mse_y_ground")
    return dict(zip(names, np.array(rows).T, strict=True))


def _leaves_paramagnet(alpha: float, lam: float) -> float:
    """mu at which a small overlap with the signal begins to grow."""

    def growth(log_mu: float) -> float:
        control = Control(alpha, math.exp(log_mu), lam)
        return growth_rates(paramagnet(control), control)[1] - 1

    grid = np.linspace(math.log(0.01), math.log(MU_MAX), 100).tolist()
    above = next((i for i, log_mu in enumerate(grid) if growth(log_mu) > 0), None)
    if above is None:
        return math.inf
    return math.exp(brentq(growth, grid[above - 1], grid[above])) if above else math.exp(grid[0])

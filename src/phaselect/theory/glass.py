"""The glass that annealing without the signal ends in: where clusters of sign vectors form, and how well the best fit.

All of it at tau and overlaps where clusters know nothing of the signal: m = p0 = 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from phaselect.base.errors import InputError, TheoryError
from phaselect.theory.branch import Branch
from phaselect.theory.cluster_points import ClusterPoint, equilibrium_clusters, one_step_rsb, require_converged
from phaselect.theory.clusters import ClusterState
from phaselect.theory.control import Control, numbers
from phaselect.theory.flow import growth_rates, paramagnet

MU_MAX = 1e5
"""Beyond, the precision inside a cluster exceeds that between them so much that rounding shows."""


def dynamical_transition(alpha: float, lam: float = 0.0) -> float:
    """mu from which sign vectors without overlap with the signal gather in clusters (tau = 1).

    Single-flip dynamics that has not found the signal by then falls out of equilibrium: it stays near the energy it
    has there. Infinite where no clusters are found up to mu = 1e5.
    """

    def at(mu: float, start: str | ClusterState) -> ClusterPoint:
        return require_converged(one_step_rsb(alpha, mu, lam, start=start))

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
    """mu beyond which a few of these clusters dominate: their complexity at tau = 1 vanishes, or is born negative.

    Infinite beyond 1e5.
    """
    return _static_after(dynamical_transition(alpha, lam), alpha, lam)


def _static_after(begin: float, alpha: float, lam: float) -> float:
    """The static transition, given the dynamical one."""
    if not math.isfinite(begin):
        return math.inf

    def complexity(log_mu: float) -> float:
        return _at_tau_one(alpha, math.exp(log_mu), lam).complexity_clusters

    born = _at_tau_one(alpha, 1.001 * begin, lam)
    low = math.log(begin) + 1e-5
    if born.p1 < 0.1 * born.V0 or complexity(low) <= 0:
        return begin  # the first clusters already dominate, as at a continuous transition
    high = low + 0.5
    while complexity(high) > 0:
        low, high = high, high + 0.5
        if high > math.log(MU_MAX):
            return math.inf
    return math.exp(brentq(complexity, low, high, xtol=1e-8))


def _at_tau_one(alpha: float, mu: float, lam: float) -> ClusterPoint:
    return require_converged(one_step_rsb(alpha, mu, lam, start="paramagnet"))


def ground_state(alpha: float, lam: float = 0.0) -> ClusterPoint:
    """The lowest energy of sign vectors without overlap with the signal: equilibrium, cooled until it settles.

    Cooled by factors of 2 until the energy changes by less than 1e-4 of itself, or mu exceeds 2e5. InputError where
    no clusters dominate at any such mu.
    """
    return _ground_after(static_transition(alpha, lam), alpha, lam)


def _ground_after(static: float, alpha: float, lam: float) -> ClusterPoint:
    """The ground state, given the static transition."""
    if not math.isfinite(static):
        raise InputError(
            f"alpha = {alpha:g}, lam = {lam:g}: no clusters dominate up to mu = {MU_MAX:g}; try a larger alpha"
        )
    point = equilibrium_clusters(alpha, 4 * static, lam, start="paramagnet")
    while True:
        colder = equilibrium_clusters(alpha, 2 * point.mu, lam, start="paramagnet")
        if abs(colder.energy - point.energy) < 1e-4 * point.energy or colder.mu > 2 * MU_MAX:
            return colder
        point = colder


def traps(alphas: Sequence[float], lam: float = 0.0, *, progress: Callable[[float], None] | None = None) -> Branch:
    """Where single-flip annealing that has not found the signal is trapped, one row per alpha.

    Columns: alpha, lam; mu_leave, where the uninformed branch leaves m = 0 (infinite where never); mu_dynamical and
    mu_static, the transitions of this file; mse_y_dynamical, the misfit at the first; mse_y_ground, that of the best
    sign vectors without overlap. An anneal escapes only between mu_leave and mu_dynamical, if there is room. Beyond
    mu = 1e5: infinite, and nan. Where `converged` is False, what could not be computed is nan too.
    """
    alphas = numbers("alphas", alphas)
    for alpha in alphas:
        Control(alpha, 1.0, lam)  # bad input before any work
    rows = []
    for count, alpha in enumerate(alphas):
        if progress is not None:
            progress(count / len(alphas))
        rows.append(_trap(alpha, lam))
    columns = {name: np.array([getattr(row, name) for row in rows]) for name in Trap._fields}
    return {"alpha": np.array(alphas), "lam": np.full(len(alphas), lam), **columns}


class Trap(NamedTuple):
    """A row of `traps`."""

    mu_leave: float
    mu_dynamical: float = math.nan
    mu_static: float = math.nan
    mse_y_dynamical: float = math.nan
    mse_y_ground: float = math.nan
    converged: bool = False


def _trap(alpha: float, lam: float) -> Trap:
    """As far as the computation gets."""
    found = Trap(_leaves_paramagnet(alpha, lam))
    try:
        dynamical = dynamical_transition(alpha, lam)
        found = found._replace(mu_dynamical=dynamical)
        if math.isfinite(dynamical):
            found = found._replace(mse_y_dynamical=_at_tau_one(alpha, dynamical, lam).mse_y)
        static = _static_after(dynamical, alpha, lam)
        found = found._replace(mu_static=static)
        if math.isfinite(static):
            found = found._replace(mse_y_ground=_ground_after(static, alpha, lam).mse_y)
    except TheoryError:
        return found
    return found._replace(converged=True)


def _leaves_paramagnet(alpha: float, lam: float) -> float:
    """mu at which a small overlap with the signal begins to grow."""

    def growth(log_mu: float) -> float:
        control = Control(alpha, math.exp(log_mu), lam)
        return growth_rates(paramagnet(control), control).m - 1

    grid = np.linspace(math.log(0.01), math.log(MU_MAX), 100).tolist()
    above = next((i for i, log_mu in enumerate(grid) if growth(log_mu) > 0), None)
    if above is None:
        return math.inf
    return math.exp(brentq(growth, grid[above - 1], grid[above])) if above else math.exp(grid[0])

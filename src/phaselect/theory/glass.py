"""The glass that annealing without the signal ends in: where clusters of sign vectors form, and how well the best fit.

All of it at tau and overlaps where clusters know nothing of the signal: m = p0 = 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import brentq

from phaselect.base.errors import InputError
from phaselect.theory.branch import Branch
from phaselect.theory.clusters import ClusterState
from phaselect.theory.control import Control
from phaselect.theory.flow import growth_rates, paramagnet
from phaselect.theory.one_step_rsb import ClusterPoint, one_step_rsb, static_tau

MU_MAX = 1e5
"""Beyond, the precision inside a cluster exceeds that between them so much that rounding shows."""


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
    """mu beyond which a few of these clusters dominate: their complexity at tau = 1 vanishes, or is born negative.

    Infinite beyond 1e5.
    """
    return _static_after(dynamical_transition(alpha, lam), alpha, lam)


def _static_after(begin: float, alpha: float, lam: float) -> float:
    """The static transition, given the dynamical one."""
    if not math.isfinite(begin):
        return math.inf

    def complexity(log_mu: float) -> float:
        return one_step_rsb(alpha, math.exp(log_mu), lam, start="paramagnet").complexity_clusters

    born = one_step_rsb(alpha, 1.001 * begin, lam, start="paramagnet")
    low = math.log(begin) + 1e-5
    if born.p1 < 0.1 * born.V0 or complexity(low) <= 0:
        return begin  # the first clusters already dominate, as at a continuous transition
    high = low + 0.5
    while complexity(high) > 0:
        low, high = high, high + 0.5
        if high > math.log(MU_MAX):
            return math.inf
    return math.exp(brentq(complexity, low, high, xtol=1e-8))


def ground_state(alpha: float, lam: float = 0.0) -> ClusterPoint:
    """The lowest energy of sign vectors without overlap with the signal: equilibrium, cooled until it settles.

    Cooled by factors of 2 until the energy changes by less than 1e-4 of itself, or mu exceeds 2e5.
    """
    return _ground_after(static_transition(alpha, lam), alpha, lam)


def _ground_after(static: float, alpha: float, lam: float) -> ClusterPoint:
    """The ground state, given the static transition."""
    if not math.isfinite(static):
        raise InputError(
            f"alpha = {alpha:g}, lam = {lam:g}: no clusters dominate up to mu = {MU_MAX:g}; try a larger alpha"
        )
    point = static_tau(alpha, 4 * static, lam, start="paramagnet")
    while True:
        colder = static_tau(alpha, 2 * point.mu, lam, start="paramagnet")
        if abs(colder.energy - point.energy) < 1e-4 * point.energy or colder.mu > 2 * MU_MAX:
            return colder
        point = colder


def traps(alphas: Sequence[float], lam: float = 0.0, *, progress: Callable[[float], None] | None = None) -> Branch:
    """Where single-flip annealing that has not found the signal is trapped, a row for each alpha.

    Columns: alpha, lam; mu_leave, where the uninformed branch leaves m = 0 (infinite where never); mu_dynamical and
    mu_static, the transitions of this file; mse_y_dynamical, the misfit at the first; mse_y_ground, that of the best
    sign vectors without overlap. An anneal escapes only between mu_leave and mu_dynamical, if there is room. Beyond
    mu = 1e5: infinite, and nan.
    """
    rows = []
    for count, alpha in enumerate(alphas):
        if progress is not None:
            progress(count / len(alphas))
        dynamical = dynamical_transition(alpha, lam)
        static = _static_after(dynamical, alpha, lam)
        there = one_step_rsb(alpha, dynamical, lam, start="paramagnet").mse_y if math.isfinite(dynamical) else math.nan
        try:
            ground = _ground_after(static, alpha, lam).mse_y
        except (InputError, ArithmeticError):
            ground = math.nan
        rows.append((alpha, lam, _leaves_paramagnet(alpha, lam), dynamical, static, there, ground))
    names = ("alpha", "lam", "mu_leave", "mu_dynamical", "mu_static", "mse_y_dynamical", "mse_y_ground")
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

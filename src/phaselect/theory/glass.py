"""The glass that an anneal may end in: where clusters of sign vectors form, and how well the best of them fit.

At m = p0 = 0, where clusters know nothing of the signal; and on the branch that an infinitely slow anneal follows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

from phaselect.base.bars import Share, share_told
from phaselect.base.errors import InputError, TheoryError
from phaselect.base.tables import Table
from phaselect.theory.cluster_points import ClusterPoint, equilibrium_clusters, one_step_rsb, require_converged
from phaselect.theory.clusters import ClusterState
from phaselect.theory.continuation import AnnealPath, anneal_path
from phaselect.theory.control import MU_MAX, numbers
from phaselect.theory.flow import growth_rates, paramagnet
from phaselect.theory.on_the_way import clusters_on_the_way


def dynamical_transition(alpha: float, lam: float = 0.0) -> float:
    """mu from which sign vectors without overlap with the signal gather in clusters (tau = 1).

    Single-flip dynamics that has not found the signal by then falls out of equilibrium: it stays near the energy it
    has there. Infinite where no clusters are found up to mu = 1e5.
    """
    return _dynamical(anneal_path(alpha, lam, None))


def _dynamical(path: AnnealPath) -> float:
    last = next(
        (point for mu in np.geomspace(1.0, MU_MAX, 30).tolist() if (point := _at_tau_one(path, mu)).broken), None
    )
    if last is None:
        return math.inf
    ratio = 1.25
    while ratio > 1 + 1e-7:  # follow the clusters to smaller mu, in steps that shrink where they dissolve
        point = _at_tau_one(path, last.mu / ratio, last.state)
        last, ratio = (point, ratio) if point.broken else (last, math.sqrt(ratio))
    return last.mu


def static_transition(alpha: float, lam: float = 0.0) -> float:
    """mu beyond which a few of these clusters dominate: their complexity at tau = 1 vanishes, or is born negative.

    Infinite beyond 1e5.
    """
    path = anneal_path(alpha, lam, None)
    return _static_after(_dynamical(path), path)


def _static_after(begin: float, path: AnnealPath) -> float:
    """The static transition, given the dynamical one."""
    if not math.isfinite(begin):
        return math.inf

    def complexity(log_mu: float) -> float:
        return _at_tau_one(path, math.exp(log_mu)).complexity_clusters

    born = _at_tau_one(path, 1.001 * begin)
    low = math.log(begin) + 1e-5
    if born.p1 < 0.1 * born.V0 or complexity(low) <= 0:
        return begin  # the first clusters already dominate, as at a continuous transition
    high = low + 0.5
    while complexity(high) > 0:
        low, high = high, high + 0.5
        if high > math.log(MU_MAX):
            return math.inf
    return math.exp(brentq(complexity, low, high, xtol=1e-8))


def _at_tau_one(path: AnnealPath, mu: float, start: str | ClusterState = "paramagnet") -> ClusterPoint:
    return require_converged(one_step_rsb(path.alpha, mu, path.control(mu).lam, start=start))


def ground_state(alpha: float, lam: float = 0.0) -> ClusterPoint:
    """The lowest energy of sign vectors without overlap with the signal: equilibrium, cooled until it settles.

    Cooled by factors of 2 until the energy changes by less than 1e-4 of itself, or mu exceeds 2e5. InputError where
    no clusters dominate at any such mu.
    """
    path = anneal_path(alpha, lam, None)
    return _ground_after(_static_after(_dynamical(path), path), path)


def _ground_after(static: float, path: AnnealPath) -> ClusterPoint:
    """The ground state, given the static transition."""
    if not math.isfinite(static):
        where = f"alpha = {path.alpha:g}, lam = {path.lam:g}"
        raise InputError(f"{where}: no clusters dominate up to mu = {MU_MAX:g}; try a larger alpha")
    point = _equilibrium(path, 4 * static)
    while True:
        colder = _equilibrium(path, 2 * point.mu)
        if abs(colder.energy - point.energy) < 1e-4 * point.energy or colder.mu > 2 * MU_MAX:
            return colder
        point = colder


def _equilibrium(path: AnnealPath, mu: float) -> ClusterPoint:
    return equilibrium_clusters(path.alpha, mu, path.control(mu).lam, start="paramagnet")


def traps(
    alphas: Sequence[float],
    lam: float | None = None,
    *,
    product: float | None = None,
    progress: Share | bool | None = None,
) -> Table:
    """Where single-flip annealing at fixed lam (0 if not given), or at fixed `mu*lam = product`, is trapped.

    One row per alpha. Columns: alpha, lam, product (nan: the other of the two is fixed). At m = 0, where an anneal that
    has not found the signal stays: mu_leave, where the uninformed branch leaves it (infinite where never); mu_dynamical
    and mu_static, the transitions of this file; mse_y_dynamical, the misfit at the first; mse_y_ground, that of the
    best sign vectors without overlap. On the branch that an infinitely slow anneal follows, until it has found the
    signal (m > 0.9): mu_followed, where clusters form on it (infinite where they do not), m_followed, the overlap there
    or, without clusters, the last one, and growth_followed, the largest growth of clusters on the way (1: they form).
    Beyond mu = 1e5: infinite, and nan. Where `converged` is False, what could not be computed is nan too.
    progress: True for a bar, or a function, called with the share done, from 0 to 1.
    """
    alphas = numbers("alphas", alphas)
    lam = 0.0 if lam is None and product is None else lam
    paths = [anneal_path(alpha, lam, product) for alpha in alphas]
    rows = []
    with share_told(progress, "traps") as tell:
        for count, path in enumerate(paths):
            tell(count / len(alphas))
            rows.append(_trap(path))
    columns = {name: np.array([getattr(row, name) for row in rows]) for name in Trap._fields}
    fixed = {"lam": math.nan if lam is None else lam, "product": math.nan if product is None else product}
    same = {name: np.full(len(alphas), it) for name, it in fixed.items()}
    return Table({"alpha": np.array(alphas), **same, **columns}, shown=("alpha", "mu_dynamical", "mse_y_dynamical"))


class Trap(NamedTuple):
    """A row of `traps`."""

    mu_leave: float
    mu_dynamical: float = math.nan
    mu_static: float = math.nan
    mse_y_dynamical: float = math.nan
    mse_y_ground: float = math.nan
    mu_followed: float = math.nan
    m_followed: float = math.nan
    growth_followed: float = math.nan
    converged: bool = False


def _trap(path: AnnealPath) -> Trap:
    """As far as the computation gets."""
    found, complete = Trap(_leaves_paramagnet(path)), True
    for part in (_followed, _without_overlap):
        try:
            for columns in part(path):
                found = found._replace(**columns)
        except TheoryError:
            complete = False
    return found._replace(converged=complete)


def _without_overlap(path: AnnealPath) -> Iterator[dict[str, Any]]:
    """The transitions at m = 0, and what follows from each."""
    dynamical = _dynamical(path)
    yield {"mu_dynamical": dynamical}
    if math.isfinite(dynamical):
        yield {"mse_y_dynamical": _at_tau_one(path, dynamical).mse_y}
    static = _static_after(dynamical, path)
    yield {"mu_static": static}
    if math.isfinite(static):
        yield {"mse_y_ground": _ground_after(static, path).mse_y}


def _followed(path: AnnealPath) -> Iterator[dict[str, Any]]:
    """What there is on the branch."""
    found = clusters_on_the_way(path)
    yield {"mu_followed": found.mu, "m_followed": found.m, "growth_followed": found.growth}


def _leaves_paramagnet(path: AnnealPath) -> float:
    """mu at which a small overlap with the signal begins to grow."""

    def growth(log_mu: float) -> float:
        control = path.control(math.exp(log_mu))
        return growth_rates(paramagnet(control), control).m - 1

    grid = np.linspace(math.log(0.01), math.log(MU_MAX), 100).tolist()
    above = next((i for i, log_mu in enumerate(grid) if growth(log_mu) > 0), None)
    if above is None:
        return math.inf
    return math.exp(brentq(growth, grid[above - 1], grid[above])) if above else math.exp(grid[0])

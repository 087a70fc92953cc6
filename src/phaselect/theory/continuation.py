r"""Branches through their folds: pseudo-arclength continuation in mu, at fixed lam or fixed product.

A fold is where the stable branch meets the unstable one that separates the two basins: a spinodal. Unknowns
`z = (log V, log D, m, log mu)`; each step solves `map(z) - z = 0` with the length along the tangent prescribed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from phaselect.base.errors import InputError, TheoryError
from phaselect.base.tables import Table
from phaselect.theory.branch import table
from phaselect.theory.control import Control, State, check_positive
from phaselect.theory.flow import TOLERANCE, Arrival, channel_map, flow, residual
from phaselect.theory.quadrature import Array
from phaselect.theory.saddle import Start, point_at, starting_state

WIDTH = 1e-6
SHORTEST, LONGEST, FINE = 1e-5, 0.25, 0.08
VANISHING = 2e-3
"""Overlap m below which the curve has reached the uninformed point."""
METRIC = np.array([1.0, 0.3, 3.0, 1.0])
"""How lengths along the branch weigh (log V, log D, m, log mu)."""


class AnnealPath(NamedTuple):
    """An anneal at one alpha, with lam as a function of mu: constant, or `product/mu`."""

    alpha: float
    lam: float | None
    product: float | None

    def control(self, mu: float) -> Control:
        """The control parameters at mu."""
        return Control(self.alpha, mu, self.product / mu if self.product is not None else self.lam or 0.0)


class CurvePoint(NamedTuple):
    """A point of the curve of fixed points, with the unit tangent in the metric above."""

    z: Array
    tangent: Array

    @property
    def mu(self) -> float:
        """Inverse temperature."""
        return math.exp(self.z[3])

    @property
    def state(self) -> State:
        """Order parameters."""
        return State(math.exp(self.z[0]), math.exp(self.z[1]), float(self.z[2]))


def anneal_path(alpha: float, lam: float | None, product: float | None) -> AnnealPath:
    """Checks that one of lam and product is given."""
    if (lam is None) == (product is None):
        raise InputError("give either lam or product")
    if product is not None:
        check_positive("product", product)
    path = AnnealPath(alpha, lam, product)
    path.control(1.0)  # checks alpha and lam
    return path


class Fold(NamedTuple):
    """Where a curve turns back in mu."""

    mu: float
    m: float


def curve_through_folds(
    alpha: float,
    mu: float,
    lam: float | None = None,
    *,
    product: float | None = None,
    start: Start = "informed",
    mu_range: tuple[float, float] = (0.1, 1e5),
) -> Table:
    """The curve of saddle points with m > 0 through the one at `mu`, in both directions, through folds.

    At fixed lam or at fixed product: give one of them. Rows are in order along the curve; the column `stable` tells
    the parts that a flow (and an anneal) can reach. The curve ends where it leaves mu_range or m vanishes. InputError
    where there is no such point at `mu`, TheoryError where the curve cannot be followed.
    """
    path = anneal_path(alpha, lam, product)
    check_positive("mu", mu)
    if not 0 < mu_range[0] <= mu <= mu_range[1] < math.inf:
        raise InputError("mu_range must hold two positive numbers, the smaller first, with mu between them")
    first = curve_from(path, mu, start)
    backwards = first._replace(tangent=-first.tangent)
    both = [list(walk(path, backwards, mu_range, FINE))[::-1], list(walk(path, first, mu_range, FINE))[1:]]
    curve = [point for part in both for point in part]
    points, stable = [], []
    for point in curve:
        control = path.control(point.mu)
        arrival = Arrival(point.state, residual(point.state, control), 0)
        points.append(point_at(arrival, control))
        jacobian = _equations(path, point.z)[1][:, :3]
        stable.append(bool(np.linalg.eigvals(jacobian).real.max() < 0))
    found = table(points)
    return replace(found, columns=found.columns | {"stable": np.array(stable)})


def curve_from(path: AnnealPath, mu: float, start: Start) -> CurvePoint:
    """A point of the curve to walk from, tangent towards larger mu."""
    control = path.control(mu)
    state, _, _ = arrival = flow(starting_state(start, control), control)
    if not arrival.converged:
        raise TheoryError(f"the saddle point at {control} did not converge")
    if state.m < VANISHING:
        raise InputError(f"no saddle point with m > 0 at mu = {mu:g} from this start: choose another mu")
    z = np.array([math.log(state.V), math.log(state.spread), state.m, math.log(mu)])
    corrected = _correct(path, z, np.array([0.0, 0.0, 0.0, 1.0]), z)
    if corrected is None:
        raise TheoryError(f"the saddle point at mu = {mu:g} is too close to a fold: choose another mu")
    return CurvePoint(corrected, _tangent(path, corrected, np.array([0.0, 0.0, 0.0, 1.0])))


def walk(
    path: AnnealPath, start: CurvePoint, mu_range: tuple[float, float], longest: float = LONGEST, limit: int = 2000
) -> Iterator[CurvePoint]:
    """Points along the curve from `start` in the direction of its tangent; the step adapts to the corrector."""
    here, length = start, 0.05
    low, high = map(math.log, mu_range)
    for count in range(limit):
        yield here
        following = step(path, here, length)
        while following is None or following.tangent @ (here.tangent * METRIC**2) < 0.9:
            length *= 0.5
            if length < SHORTEST:
                raise TheoryError(f"the curve of saddle points cannot be followed beyond {path.control(here.mu)}")
            following = step(path, here, length)
        here, length = following, min(longest, 1.5 * length)
        if _length(start, here) >= 0 and np.max(np.abs(here.z - start.z) * METRIC) < length and count > 10:
            return  # once round a closed curve
        if not (low <= here.z[3] <= high and here.z[2] > VANISHING):
            return


def step(path: AnnealPath, here: CurvePoint, length: float) -> CurvePoint | None:
    """The point at `length` along the tangent, corrected; None where Newton does not converge."""
    guess = here.z + length * here.tangent
    z = _correct(path, guess, here.tangent * METRIC**2, guess)
    return None if z is None else CurvePoint(z, _tangent(path, z, here.tangent))


def folds(path: AnnealPath, start: CurvePoint, mu_range: tuple[float, float]) -> list[Fold]:
    """Every fold met while walking from `start`: where the tangent has no component along mu."""
    curve = _with_turning_points(path, list(walk(path, start, mu_range)))
    return [
        _fold_between(path, before, after)
        for before, after in pairwise(curve)
        if before.tangent[3] * after.tangent[3] < 0
    ]


def least_slope(path: AnnealPath, start: CurvePoint, mu_range: tuple[float, float]) -> float:
    """Smallest component of the tangent along the first direction of mu; negative where the curve has folds."""
    curve = _with_turning_points(path, list(walk(path, start, mu_range)))
    return min(math.copysign(1.0, start.tangent[3]) * float(point.tangent[3]) for point in curve)


def _with_turning_points(path: AnnealPath, curve: list[CurvePoint]) -> list[CurvePoint]:
    """Adds the points where the curve comes closest to turning back in mu: two folds may hide between neighbours."""
    heading = math.copysign(1.0, curve[0].tangent[3])
    slopes = [heading * float(point.tangent[3]) for point in curve]
    denser = curve[:1]
    for i in range(1, len(curve)):
        extra = []
        if i < len(curve) - 1 and 0 < slopes[i] < min(0.5, slopes[i - 1], slopes[i + 1]):
            extra = _turning_point(path, curve[i - 1 : i + 2], heading)
        denser += sorted([curve[i], *extra], key=lambda point: _length(curve[i - 1], point))
    return denser


def _turning_point(path: AnnealPath, around: list[CurvePoint], heading: float) -> list[CurvePoint]:
    """The point of least slope near the middle one of three neighbours, if Newton finds it."""
    before, middle, after = around

    def slope(length: float) -> float:
        point = step(path, middle, length)
        return math.inf if point is None else heading * float(point.tangent[3])

    bounds = (-_length(before, middle), _length(middle, after))
    best = minimize_scalar(slope, bounds=bounds, method="bounded", options={"xatol": 1e-4})
    turning = step(path, middle, float(best.x))
    return [] if turning is None else [turning]


def _fold_between(path: AnnealPath, before: CurvePoint, after: CurvePoint) -> Fold:
    def at(length: float) -> CurvePoint:
        point = step(path, before, length) if length > 0 else before
        if point is None:
            raise TheoryError(f"the fold near {path.control(before.mu)} was not found")
        return point

    length = brentq(lambda length: float(at(length).tangent[3]), 0.0, _length(before, after), xtol=1e-10)
    return Fold(at(length).mu, at(length).state.m)


def _length(before: CurvePoint, after: CurvePoint) -> float:
    return float((after.z - before.z) @ (before.tangent * METRIC**2))


def _equations(path: AnnealPath, z: Array) -> tuple[Array, Array]:
    """`map(z) - z` (three) and its Jacobian (three by four), by central differences in one batch."""
    width = np.full(4, WIDTH)
    width[2] *= min(1.0, math.exp(0.5 * z[1]))
    points = z[:, None] + np.concatenate([np.zeros((4, 1)), np.diag(width), -np.diag(width)], axis=1)
    mu = np.exp(points[3])
    product = mu * (path.lam or 0.0) if path.product is None else np.full_like(mu, path.product)
    with np.errstate(invalid="ignore", divide="ignore"):
        V, spread, m, _ = channel_map(
            np.exp(points[0]), np.exp(points[1]), points[2], path.alpha, product, 0.5 / mu, np.zeros_like(mu)
        )
        velocity = np.array([np.log(V), np.log(spread), m]) - points[:3]
    return velocity[:, 0], (velocity[:, 1:5] - velocity[:, 5:]) / (2 * width)


def _correct(path: AnnealPath, guess: Array, normal: Array, anchor: Array) -> Array | None:
    """Newton in the plane through `anchor` with the given normal."""
    z = guess
    for _ in range(8):
        velocity, jacobian = _equations(path, z)
        if not np.isfinite(jacobian).all():
            return None
        if np.max(np.abs(velocity)) < TOLERANCE:
            return z
        move = np.linalg.solve(np.vstack([jacobian, normal]), np.append(velocity, normal @ (z - anchor)))
        if np.max(np.abs(move)) > 1:
            return None
        z = z - move
    return None


def _tangent(path: AnnealPath, z: Array, along: Array) -> Array:
    """Unit tangent (in the metric), pointing the same way as `along`."""
    jacobian = _equations(path, z)[1]
    direction: Array = np.linalg.svd(jacobian / METRIC)[2][-1] / METRIC
    direction /= math.sqrt(float(np.sum((direction * METRIC) ** 2)))
    return direction if direction @ (along * METRIC**2) >= 0 else -direction

r"""How many sign vectors have a given overlap with the truth and a given misfit: the complexity Sigma(O, e).

The overlap is fixed through its conjugate, the chemical potential phi, solved for together with the order parameters:
where Sigma is not concave in O the saddle point at that phi is unstable, and an iteration at fixed phi would leave
it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from phaselect.base.errors import InputError
from phaselect.base.tables import Table
from phaselect.theory.branch import table
from phaselect.theory.control import Control, State, check_positive, number, numbers
from phaselect.theory.flow import AIM, TOLERANCE, Arrival, channel_map, flow, paramagnet, residual
from phaselect.theory.quadrature import Array
from phaselect.theory.saddle import Point, PointStatus, point_at, starting_state

WIDTH = 1e-6
RUNG = 1.3
"""Largest factor between neighbouring mu of the continuation."""


def complexity_at_random(alpha: float, sign_overlap: float) -> float:
    """The largest complexity at a given overlap of the signs, reached as mu -> 0: alpha times the binary entropy."""
    check_sign_overlap(sign_overlap)
    check_positive("alpha", alpha)
    return -alpha * sum(p * math.log(p) for p in (0.5 * (1 + sign_overlap), 0.5 * (1 - sign_overlap)))


def check_sign_overlap(sign_overlap: float) -> None:
    """One line for an overlap that no typical sign vector has."""
    if not -1 < number("sign_overlap", sign_overlap) < 1:
        raise InputError(f"sign_overlap = {sign_overlap:g} must lie strictly between -1 and 1")


def complexity_curve(alpha: float, mus: Sequence[float], lam: float = 0.0, *, sign_overlap: float) -> Table:
    """Saddle points at fixed overlap O of the signs, one row per mu (in increasing order).

    Columns as in `follow`; `complexity` against `mse_y` or `m` is the paper's figure. Rows that are not `converged`
    are no saddle points.
    """
    return table(_points(alpha, numbers("mus", mus), lam, sign_overlap), shown=("mse_y", "complexity", "m"))


def saddle_point_at_sign_overlap(alpha: float, mu: float, lam: float = 0.0, *, sign_overlap: float) -> Point:
    """The saddle point at which the signs have overlap O with the truth, phi being whatever it takes.

    At the same phi `saddle_point` may find another: where phi < 0 < O, the mirror image has more sign vectors.
    """
    return next(_points(alpha, [number("mu", mu)], lam, sign_overlap))


def _points(alpha: float, mus: list[float], lam: float, sign_overlap: float) -> Iterator[Point]:
    check_sign_overlap(sign_overlap)
    for mu in mus:
        check_positive("mu", mu)
    if not mus or any(low >= high for low, high in pairwise(mus)):
        raise InputError("mus must be a non-empty increasing list of inverse temperatures")
    for control, state in _states(alpha, mus, lam, sign_overlap):
        arrival = Arrival(state, residual(state, control), 0)
        point = point_at(arrival, control)
        met = abs(point.O - sign_overlap) < TOLERANCE
        yield point if met else replace(point, status=PointStatus.NOT_CONVERGED)


def _states(alpha: float, mus: list[float], lam: float, sign_overlap: float) -> Iterator[tuple[Control, State]]:
    """Control (with phi) and state at each mu, by continuation from high temperature."""
    if sign_overlap == 0.0:  # by symmetry phi = m = 0
        yield from ((Control(alpha, mu, lam), paramagnet(Control(alpha, mu, lam))) for mu in mus)
        return
    mu = min(0.05, mus[0])
    z = _at_high_temperature(alpha, mu, lam, sign_overlap)
    for target in mus:
        for rung in np.geomspace(mu, target, 2 + int(math.log(target / mu) / math.log(RUNG)))[1:].tolist():
            z = _solve(z, Control(alpha, rung, lam), sign_overlap)
        mu = target
        yield Control(alpha, mu, lam, float(z[3])), State(math.exp(z[0]), math.exp(z[1]), float(z[2]))


def _at_high_temperature(alpha: float, mu: float, lam: float, sign_overlap: float) -> Array:
    """At mu -> 0 the signs are independent, with tanh(phi) = O."""
    control = Control(alpha, mu, lam, math.atanh(sign_overlap))
    state = flow(starting_state("uninformed", control), control).state
    return np.array([math.log(state.V), math.log(state.spread), state.m, control.phi])


def _solve(z: Array, control: Control, sign_overlap: float) -> Array:
    """Newton for (log V, log D, m, phi); returns the best found."""
    best, best_size = z, math.inf
    for _ in range(30):
        velocity, jacobian = _equations(z, control, sign_overlap)
        size = float(np.max(np.abs(velocity)))
        if size < best_size:
            best, best_size = z, size
        if not np.isfinite(jacobian).all() or best_size < AIM or size > 1e3 * best_size:
            break
        step = np.linalg.lstsq(jacobian, velocity)[0]
        z = z - step / max(1.0, float(np.max(np.abs(step))))
    return best


def _equations(z: Array, control: Control, sign_overlap: float) -> tuple[Array, Array]:
    width = np.array([WIDTH, WIDTH, WIDTH * min(1.0, math.exp(0.5 * z[1])), WIDTH])
    points = z[:, None] + np.concatenate([np.zeros((4, 1)), np.diag(width)], axis=1)
    product, noise = (np.full(5, value) for value in (control.product, control.noise))
    with np.errstate(invalid="ignore", divide="ignore"):
        V, spread, m, O = channel_map(
            np.exp(points[0]), np.exp(points[1]), points[2], control.alpha, product, noise, points[3]
        )
        velocity = np.array([np.log(V), np.log(spread), m, O]) - [*points[:3], np.full(5, sign_overlap)]
    return velocity[:, 0], (velocity[:, 1:] - velocity[:, :1]) / width

r"""The saddle-point iteration of the collapsed order parameters, and the flow that finds its attractors.

    s2 = V + 1/(2 mu);   1/V <- mu lam + alpha (1 - E[u0^2 sech^2]/s2)/s2;
    m <- V m_hat,  m_hat = alpha dI/dm;       D <- V^2 q0_hat,  q0_hat = alpha E[(u0 T - w)^2]/s2^2.

Iterating this map is state evolution, and where it ends depends on the start: that is what "branch" means. The flow is
`ds/dtime = map(s) - s`, the limit of strong damping, in implicit steps: with J the Jacobian of the right-hand side,

    (rate - J) step = map(s) - s,     rate = |map(s) - s| + four times the largest growth rate in J,

or higher where that step would be too long. All eigenvalues of the left-hand side are positive, so a step never runs
against the flow, never settles on an unstable fixed point, and is Newton's near an attractor. The rate is raised until
the linear model foretells the velocity at the end of the step (to a tenth while anything grows): so it keeps to the
trajectory where two basins meet, and does not leap over a pair of fixed points, which near a fold lie close together.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from phaselect.theory.averages import averages
from phaselect.theory.control import Control, State
from phaselect.theory.quadrature import Array

TOLERANCE = 1e-10
"""Largest undamped residual of a converged point."""

AIM, MAX_EVALUATIONS = 1e-13, 4000
LARGEST_STEP = np.array([1.0, 3.0, 0.1])  # in log V, log D, m
SURPRISE_GROWING, SURPRISE_SETTLING = 0.1, 0.5  # share of the velocity that a step may fail to foretell
FLOOR = 1e-14
"""D/V below which D is rounding, as at large phi where all signs are right."""

NEGLIGIBLE = 1e-7
"""q0 below which the flow is as good as at the paramagnet, if that is stable."""


class Arrival(NamedTuple):
    """Where the flow ended: the state, the undamped residual there, and the evaluations of the map it took."""

    state: State
    residual: float
    iterations: int

    @property
    def converged(self) -> bool:
        """Is it a fixed point, as far as rounding lets one say?"""
        return self.residual < TOLERANCE


class Update(NamedTuple):
    """(V, D, m) after one undamped iteration, and the overlap of the signs before it."""

    V: Array
    spread: Array
    m: Array
    O: Array


def saddle_map(V: Array, spread: Array, m: Array, control: Control) -> Update:
    """One undamped iteration of a batch of states. V <= 0 where the map leaves its domain."""
    phi = np.asarray(control.phi)
    return channel_map(V, spread, m, control.alpha, np.asarray(control.product), np.asarray(control.noise), phi)


def channel_map(V: Array, spread: Array, m: Array, alpha: float, product: Array, noise: Array, phi: Array) -> Update:
    """The map in the language of inference: precision of the prior and variance of the noise, which may be 0."""
    s2 = V + noise
    out = averages(s2, spread, m, phi)
    updated = 1 / (product + alpha * (1 - out.sech / s2) / s2)
    return Update(updated, alpha * out.force * (updated / s2) ** 2, alpha * out.gain * updated / s2, out.O)


def residual(state: State, control: Control) -> float:
    """Largest change of (V, D, m) in one undamped iteration: of V and D relative to their sum, of m absolute."""
    V, spread, m, _ = (
        float(value)
        for value in saddle_map(np.asarray(state.V), np.asarray(state.spread), np.asarray(state.m), control)
    )
    scale = state.V + state.spread
    return max(abs(V - state.V) / state.V, abs(spread - state.spread) / scale, abs(m - state.m))


def paramagnet(control: Control) -> State:
    """The fixed point m = D = 0 of phi = 0: the root V > 0 of `s2^2 = V (mu lam s2^2 + alpha (s2 - 1))`, a cubic."""
    alpha, product, noise = control.alpha, control.product, control.noise
    # in powers of V; negative at V = 0 and positive at infinity, so there is a root
    coefficients = [
        product,
        alpha - 1 + 2 * product * noise,
        product * noise**2 + alpha * (noise - 1) - 2 * noise,
        -(noise**2),
    ]
    roots = np.roots(coefficients)
    return State(max(float(root.real) for root in roots if abs(root.imag) < 1e-9 * abs(root)), 0.0, 0.0)


class GrowthRates(NamedTuple):
    """Factors by which a small spread (the replicon) and a small m grow in one iteration at the paramagnet."""

    spread: float
    m: float


def growth_rates(state: State, control: Control) -> GrowthRates:
    """Those of the given paramagnet."""
    V, s2 = state.V, state.V + control.noise
    return GrowthRates(control.alpha * (V / s2) ** 2 * (3 / s2**2 - 2 / s2 + 1), 2 * control.alpha * V / s2**2)


def paramagnet_is_stable(control: Control) -> bool:
    """Do small departures from the paramagnet die out?"""
    return max(growth_rates(paramagnet(control), control)) <= 1


def flow(start: State, control: Control) -> Arrival:
    """Follow the flow from `start` to its attractor."""
    if control.phi == 0.0 and start.m == start.spread == 0.0:
        return _at_paramagnet(control, 0)
    s = logarithms(start)
    settles = control.phi == 0.0 and paramagnet_is_stable(control)

    def undamped(V: Array, spread: Array, m: Array) -> tuple[Array, Array, Array]:
        return saddle_map(V, spread, m, control)[:3]

    def vanished(s: Array) -> bool:
        return settles and math.exp(s[1]) + s[2] ** 2 < NEGLIGIBLE

    s, evaluations = descend(lambda s: linearise(s, undamped), s, relative_size, LARGEST_STEP, vanished)
    if vanished(s):
        return _at_paramagnet(control, evaluations)
    state = State(math.exp(s[0]), math.exp(s[1]), float(s[2]))
    return Arrival(state, residual(state, control), evaluations)


def descend(
    linearise: Callable[[Array], tuple[Array, Array]],
    s: Array,
    size: Callable[[Array, Array], float],
    largest_step: Array,
    vanished: Callable[[Array], bool],
) -> tuple[Array, int]:
    """The implicit steps of the module, for any number of variables: the point of least residual, and evaluations.

    linearise: velocity and Jacobian at s; size: the residual, of (velocity, s); vanished: leave off here.
    """
    velocity, jacobian = linearise(s)
    batch = s.size + 1
    evaluations, pace = batch, 1.0
    best, least = s, size(velocity, s)
    while evaluations < MAX_EVALUATIONS and least > AIM and np.isfinite(jacobian).all():
        growth = float(np.linalg.eigvals(jacobian).real.max())
        step, pace = _implicit_step(velocity, jacobian, size(velocity, s), max(0.0, growth), pace, largest_step)
        velocity_ahead, jacobian_ahead = linearise(s + step)
        evaluations += batch
        surprise = np.max(np.abs(velocity_ahead - velocity - jacobian @ step) / largest_step)
        allowed = SURPRISE_GROWING if growth > 0 else SURPRISE_SETTLING
        if not (np.isfinite(jacobian_ahead).all() and surprise < allowed * np.max(np.abs(velocity) / largest_step)):
            if least < TOLERANCE or pace > 1e6:
                break  # nothing but rounding is left
            pace *= 4
            continue
        s, velocity, jacobian, pace = s + step, velocity_ahead, jacobian_ahead, max(1.0, pace / 2)
        if size(velocity, s) < least:
            best, least = s, size(velocity, s)
        if vanished(s):
            return s, evaluations
    return best, evaluations


def _implicit_step(
    velocity: Array, jacobian: Array, size: float, growth: float, pace: float, largest_step: Array
) -> tuple[Array, float]:
    """The step of the module's formula with `pace` times its rate, raised until no component exceeds its largest step.

    A higher rate is a shorter time, in which fast modes still relax; a shorter vector would hold them back.
    """
    while True:
        rate = pace * size + (1 + 3 * pace) * growth
        step = np.linalg.solve(rate * np.eye(len(velocity)) - jacobian, velocity)
        if np.max(np.abs(step) / largest_step) <= 1:
            return np.asarray(step, dtype=np.float64), pace
        pace *= 2


def relative_size(velocity: Array, s: Array) -> float:
    """The residual of `residual`, from changes of (log V, log D, m)."""
    return float(np.max(np.abs(velocity) * [1.0, 1 / (1 + math.exp(s[0] - s[1])), 1.0]))


def _at_paramagnet(control: Control, iterations: int) -> Arrival:
    state = paramagnet(control)
    return Arrival(state, residual(state, control), iterations)


SaddleMap = Callable[[Array, Array, Array], tuple[Array, Array, Array]]
"""One undamped iteration of a batch of (V, D, m)."""


def logarithms(state: State) -> Array:
    """The variables of the flow: (log V, log D, m)."""
    return np.array([math.log(state.V), math.log(max(state.spread, 1e-12 * state.V)), state.m])


def linearise(s: Array, undamped: SaddleMap) -> tuple[Array, Array]:
    """`map(s) - s` in (log V, log D, m), and its Jacobian by forward differences: one batch of four states."""
    width = np.array([1e-6, 1e-6, 1e-5 * min(1.0, math.exp(0.5 * s[1])) + 1e-11])
    points = s[:, None] + np.concatenate([np.zeros((3, 1)), np.diag(width)], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        V, spread, m = undamped(np.exp(points[0]), np.exp(points[1]), points[2])
        velocity = np.array([np.log(V), np.log(np.maximum(spread, FLOOR * V)), m]) - points
    return velocity[:, 0], (velocity[:, 1:] - velocity[:, :1]) / width

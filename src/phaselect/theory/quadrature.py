r"""Gaussian averages of functions of the product `u0 w`, exact to rounding at every temperature.

In polar coordinates the product of two correlated Gaussians, `E[w u0] = m` and `E[w^2] = m^2 + D`, factorises:

    u0 w = t (m + r cos(psi)),   t ~ Exp(1),  psi uniform,  r = sqrt(m^2 + D).

The angle is integrated on the two arcs between the zeros of `m + r cos(psi)`, where the integrand has its kinks at low
temperature, with tanh-sinh nodes that crowd at the zeros. The radius has a closed form at phi = 0: with
`beta(x) = sum_k (-1)^k / (x + k) = [digamma((x+1)/2) - digamma(x/2)]/2`,

    E_t tanh(c t) = 1 - beta(1 + 1/(2c))/c,   c > 0;

at phi != 0 it is integrated on two panels that meet at the kink. By parts in t, every average the theory needs
follows from two of them, `E_t tanh(phi + c t)` and `E_t[t sech^2(phi + c t)]`. Gauss-Hermite quadrature, the
usual choice, is wrong at low temperature because of the kinks.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phaselect.base.kernels import kernel

Array = NDArray[np.float64]

FADED, SATURATED, TAIL = 45.0, 20.0, 8.5
"""exp(-45), 1 - tanh(20) and a Gaussian beyond 8.5 standard deviations are below rounding."""


def _arc_nodes(count: int = 112, reach: float = 3.35) -> tuple[Array, Array]:
    """Half of a tanh-sinh rule on [-1, 1]: distances to the end point 1, and weights that add up to 1."""
    u = (np.arange(count) + 0.5) * (reach / count)
    nearness = 2 / (1 + np.exp(np.pi * np.sinh(u)))
    weight = 0.5 * np.pi * np.cosh(u) / np.cosh(0.5 * np.pi * np.sinh(u)) ** 2
    return nearness, weight / weight.sum()


def _alternating_weights(count: int = 24) -> Array:
    """Weights that sum an alternating series from few terms (Cohen, Rodriguez Villegas, Zagier, Exp. Math. 2000)."""
    total = np.cosh(count * np.arccosh(3.0))
    b, c, weights = -1.0, -total, []
    for k in range(count):
        c = b - c
        weights.append(c / total)
        b *= (k + count) * (k - count) / ((k + 0.5) * (k + 1))
    return np.array(weights)


@cache
def legendre(count: int) -> tuple[Array, Array]:
    """Gauss-Legendre nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return 0.5 * (nodes + 1), 0.5 * weights


NEARNESS, ARC_WEIGHT = _arc_nodes()
ALTERNATING = _alternating_weights()
TERMS = np.arange(ALTERNATING.size, dtype=np.float64)
PANEL_NODE, PANEL_WEIGHT = legendre(56)
SMALL = 0.012
TANGENT_NUMBERS = np.array([1.0, 2.0, 16.0, 272.0, 7936.0, 353792.0, 22368256.0])
"""`E_t tanh(c t) = sum_k (-1)^k T_k c^(2k+1)`: the factorial of E t^n cancels that of the Taylor series."""


class Angles(NamedTuple):
    """Nodes psi on both arcs: `rate = m + r cos(psi)`, its sign exact, `u0^2 = t * square` on average over +-psi,
    `u0^4 = t^2 * fourth`, and weights that add up to 1."""

    rate: Array
    square: Array
    fourth: Array
    weight: Array


@kernel()
def angles(spread: float, m: float) -> Angles:
    """Nodes for overlap m and spread `D = q0 - m^2`.

    With `psi = pi - eps` and `m = r cos(delta)`, the zeros sit at `eps = delta`; nodes are placed by their distance to
    it, so that small rates suffer no cancellation.
    """
    r, delta = math.sqrt(m * m + spread), math.atan2(math.sqrt(spread), m)
    sin_delta, cos_delta, sin_half, cos_half = (
        math.sin(delta),
        math.cos(delta),
        math.sin(delta / 2),
        math.cos(delta / 2),
    )
    count = NEARNESS.size
    rate, square, fourth, weight = np.empty(2 * count), np.empty(2 * count), np.empty(2 * count), np.empty(2 * count)
    for arc, span in enumerate((-delta, math.pi - delta)):  # eps = delta + span * nearness
        for k in range(count):
            s, c = math.sin(0.5 * span * NEARNESS[k]), math.cos(0.5 * span * NEARNESS[k])
            sin_eps_half, cos_eps_half = sin_half * c + cos_half * s, cos_half * c - sin_half * s
            i = arc * count + k
            rate[i] = 2 * r * (sin_delta * c + cos_delta * s) * s  # r (cos(delta) - cos(eps))
            square[i] = 2 * sin_half**2 + 2 * cos_delta * sin_eps_half**2
            fourth[i] = square[i] ** 2 + (2 * sin_eps_half * cos_eps_half * sin_delta) ** 2
            weight[i] = abs(span) * ARC_WEIGHT[k] / math.pi
    return Angles(rate, square, fourth, weight)


@kernel()
def radial(c: float, phi: float) -> tuple[float, float, float, float]:
    """`E_t` of tanh, 1 - tanh, t sech^2 and t tanh^2 at `phi + c t`, for t ~ Exp(1) and any real c.

    Each accurate where it is small: tanh and t tanh^2 as c -> 0, the others at large c.
    """
    if phi == 0.0:
        tanh, wrong, slope, flat = _radial_closed(abs(c))
    else:
        wrong, slope, _ = _radial_panels(abs(c), -phi if c < 0 else phi)
        tanh, flat = 1 - wrong, 1 - slope
    return (-tanh, 1 + tanh, slope, flat) if c < 0 else (tanh, wrong, slope, flat)


@kernel()
def radial_fourth(c: float, phi: float) -> float:
    """`E_t[t^2 sech^4(phi + c t)]`, the one extra average that the replicon needs."""
    _, _, fourth = _radial_panels(abs(c), -phi if c < 0 else phi)
    return float(fourth)


@kernel()
def _radial_closed(c: float) -> tuple[float, float, float, float]:
    """phi = 0, c >= 0. Below SMALL the closed form cancels and the (asymptotic) series is exact to rounding."""
    if c < SMALL:
        tanh, flat, power = 0.0, 0.0, 1.0
        for k in range(TANGENT_NUMBERS.size):
            tanh += power * c * TANGENT_NUMBERS[k]
            if k > 0:
                flat -= power * (2 * k + 1) * TANGENT_NUMBERS[k]
            power *= -c * c
        return tanh, 1 - tanh, 1 - flat, flat
    beta, slope_of_beta = alternating_beta(1 + 0.5 / c)
    wrong, slope = beta / c, beta / c**2 + slope_of_beta / (2 * c**3)
    return 1 - wrong, wrong, slope, 1 - slope


@kernel(fastmath={"reassoc", "contract"})  # lets the sum be vectorised
def alternating_beta(x: float) -> tuple[float, float]:
    """`beta(x) = sum_k (-1)^k/(x + k)` and its derivative, for x >= 1."""
    beta, slope = 0.0, 0.0
    for k in range(ALTERNATING.size):
        inverse = 1 / (x + TERMS[k])
        beta += ALTERNATING[k] * inverse
        slope -= ALTERNATING[k] * inverse * inverse
    return beta, slope


@kernel()
def _radial_panels(c: float, phi: float) -> tuple[float, float, float]:
    """`E_t` of 1 - tanh, t sech^2 and t^2 sech^4 at `phi + c t`, for c >= 0 and phi of either sign.

    Panels: up to the kink at `t = -phi/c` where phi < 0, and from there to where tanh has saturated or exp(-t) is gone.
    """
    kink = min(FADED, -phi / c) if phi < 0 and c > 0 else (FADED if phi < 0 else 0.0)
    tail = min(FADED, SATURATED / c) if c > 0 else FADED
    wrong, slope, fourth = 0.0, 0.0, 0.0
    for begin, length in ((0.0, kink), (kink, tail)):
        for k in range(PANEL_NODE.size if length > 0 else 0):
            t = begin + length * PANEL_NODE[k]
            weight = length * PANEL_WEIGHT[k] * math.exp(-t)
            v = phi + c * t
            decay = math.exp(-2 * abs(v))
            sech2 = 4 * decay / (1 + decay) ** 2
            wrong += weight * (2 * decay if v >= 0 else 2.0) / (1 + decay)
            slope += weight * t * sech2
            fourth += weight * (t * sech2) ** 2
    return wrong, slope, fourth


def panelled_gaussian(mean: Array, width: Array, kinks: list[tuple[Array, Array]], count: int) -> tuple[Array, Array]:
    """Nodes and weights (along a new last axis) for Gaussian averages of functions with kinks.

    kinks: where, and over which length each is blurred. Gauss-Legendre on the panels between them, and on either side
    of each a panel as long as it takes to saturate.
    """
    node, weight = legendre(count)
    scale = np.where(width > 0, width, 1.0)
    reaches = [(where, SATURATED * blur) for where, blur in kinks]
    cuts = [where + side * reach for where, reach in reaches for side in (-1, 0, 1)]
    ends = np.sort(np.clip([(cut - mean) / scale for cut in cuts], -TAIL, TAIL), axis=0)
    ends = np.concatenate([np.full((1, *mean.shape), -TAIL), ends, np.full((1, *mean.shape), TAIL)])
    z = np.concatenate([a[..., None] + (b - a)[..., None] * node for a, b in pairwise(ends)], axis=-1)
    weights = np.concatenate([(b - a)[..., None] * weight for a, b in pairwise(ends)], axis=-1)
    return mean[..., None] + width[..., None] * z, weights * np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)

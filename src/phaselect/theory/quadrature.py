r"""Gaussian averages of functions of the product `u0 w`, exact to rounding at every temperature.

In polar coordinates the product of two correlated Gaussians, `E[w u0] = m` and `E[w^2] = m^2 + D`, factorises:

    u0 w = t (m + r cos(psi)),   t ~ Exp(1),  psi uniform,  r = sqrt(m^2 + D).

The angle is integrated on the two arcs between the zeros of `m + r cos(psi)`, where the integrand has its kinks at low
temperature, with tanh-sinh nodes that crowd at the zeros. The radius has a closed form at phi = 0: with
`beta(x) = sum_k (-1)^k / (x + k) = [digamma((x+1)/2) - digamma(x/2)]/2`,

    E_t tanh(c t) = 1 - beta(1 + 1/(2c))/c,   c > 0;

at phi != 0 it is integrated on two panels that meet at the kink. By parts in t, every average the theory needs
follows from two of them, `E_t[1 - tanh(phi + c t)]` and `E_t[t sech^2(phi + c t)]`. Gauss-Hermite quadrature, the
usual choice, is wrong at low temperature because of the kinks.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Angles(NamedTuple):
    """Nodes psi on both arcs: `rate = m + r cos(psi)`, its sign exact, `u0^2 = t * square` on average over +-psi,
    `u0^4 = t^2 * fourth`, and weights that add up to 1."""

    rate: Array
    square: Array
    fourth: Array
    weight: Array


def angles(spread: Array, m: Array) -> Angles:
    """Nodes for overlap m and spread `D = q0 - m^2`; the last axis of the result runs over the nodes.

    With `psi = pi - eps` and `m = r cos(delta)`, the zeros sit at `eps = delta`; nodes are placed by their distance to
    it, so that small rates suffer no cancellation.
    """
    r = np.sqrt(m * m + spread)[..., None]
    delta = np.arctan2(np.sqrt(spread), m)[..., None]
    nearness, weight = _arc_nodes()
    inner, outer = delta * nearness, (np.pi - delta) * nearness  # distances to the zero: negative and positive arc
    eps = np.concatenate([delta - inner, delta + outer], axis=-1)
    gap = np.concatenate([-inner, outer], axis=-1)
    rate = 2 * r * np.sin(0.5 * (eps + delta)) * np.sin(0.5 * gap)
    square = 2 * np.sin(0.5 * delta) ** 2 + 2 * np.cos(delta) * np.sin(0.5 * eps) ** 2
    fourth = square**2 + (np.sin(eps) * np.sin(delta)) ** 2
    return Angles(rate, square, fourth, np.concatenate([delta * weight, (np.pi - delta) * weight], axis=-1) / np.pi)


def radial(c: Array, phi: Array) -> tuple[Array, Array]:
    """`E_t[1 - tanh(phi + c t)]` and `E_t[t sech^2(phi + c t)]` for t ~ Exp(1) and any real c; phi broadcasts."""
    if not phi.any():
        wrong, slope = _radial_closed(np.abs(c))
    else:
        side = np.where(c < 0, -phi, phi)
        t, tanh_complement, sech2, weight = _radial_panels(np.abs(c), side)
        wrong = np.einsum("...k,...k->...", weight, tanh_complement)
        slope = np.einsum("...k,...k->...", weight, t * sech2)
    return np.where(c < 0, 2 - wrong, wrong), slope


def radial_fourth(c: Array, phi: Array) -> Array:
    """`E_t[t^2 sech^4(phi + c t)]`, the one extra average that the replicon needs."""
    t, _, sech2, weight = _radial_panels(np.abs(c), np.where(c < 0, -phi, phi))
    return np.asarray(np.einsum("...k,...k->...", weight, (t * sech2) ** 2))


@cache
def _arc_nodes(count: int = 112, reach: float = 3.35) -> tuple[Array, Array]:
    """Half of a tanh-sinh rule on [-1, 1]: distances to the end point 1, and weights that add up to 1."""
    u = (np.arange(count) + 0.5) * (reach / count)
    nearness = 2 / (1 + np.exp(np.pi * np.sinh(u)))
    weight = 0.5 * np.pi * np.cosh(u) / np.cosh(0.5 * np.pi * np.sinh(u)) ** 2
    return nearness, weight / weight.sum()


def _radial_closed(c: Array) -> tuple[Array, Array]:
    """phi = 0, c >= 0. Below SMALL the closed form cancels and the (asymptotic) series is exact to rounding."""
    small = c < SMALL
    safe = np.where(small, 1.0, c)
    beta, slope_of_beta = alternating_beta(1 + 0.5 / safe)
    wrong, slope = beta / safe, beta / safe**2 + slope_of_beta / (2 * safe**3)
    if small.any():
        z = c[small] ** 2
        orders = 2 * np.arange(len(TANGENT_NUMBERS)) + 1
        wrong[small] = 1 - c[small] * np.polyval(TANGENT_NUMBERS[::-1], -z)
        slope[small] = np.polyval((TANGENT_NUMBERS * orders)[::-1], -z)
    return wrong, slope


SMALL = 0.012
TANGENT_NUMBERS = np.array([1.0, 2.0, 16.0, 272.0, 7936.0, 353792.0, 22368256.0])
"""`E_t tanh(c t) = sum_k (-1)^k T_k c^(2k+1)`: the factorial of E t^n cancels that of the Taylor series."""


def alternating_beta(x: Array) -> tuple[Array, Array]:
    """`beta(x) = sum_k (-1)^k/(x + k)` and its derivative, for x >= 1.

    Terms of the alternating series, weighted as by Cohen, Rodriguez Villegas and Zagier, Exp. Math. 9 (2000).
    """
    order, weight = _alternating_weights()
    inverse = 1 / (x[..., None] + order)
    return inverse @ weight, -(inverse * inverse) @ weight


@cache
def _alternating_weights(count: int = 24) -> tuple[Array, Array]:
    total = np.cosh(count * np.arccosh(3.0))
    b, c, weights = -1.0, -total, []
    for k in range(count):
        c = b - c
        weights.append(c / total)
        b *= (k + count) * (k - count) / ((k + 0.5) * (k + 1))
    return np.arange(count, dtype=float), np.array(weights)


@cache
def legendre(count: int) -> tuple[Array, Array]:
    """Gauss-Legendre nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return 0.5 * (nodes + 1), 0.5 * weights


def _radial_panels(c: Array, phi: Array) -> tuple[Array, Array, Array, Array]:
    """t, 1 - tanh, sech^2 at `phi + c t` and weights (with exp(-t)), c >= 0, phi of either sign, along a new last axis.

    Panels: up to the kink at `t = -phi/c` where phi < 0, and from there to where tanh has saturated or exp(-t) is gone.
    """
    node, weight = legendre(56)
    with np.errstate(divide="ignore", invalid="ignore"):
        kink = np.minimum(FADED, np.where(phi < 0, -phi / c, 0.0))[..., None]
        tail = np.minimum(FADED, SATURATED / c)[..., None]
    t = np.concatenate([kink * node, kink + tail * node], axis=-1)
    weights = np.concatenate([kink * weight, tail * weight], axis=-1) * np.exp(-t)
    v = phi[..., None] + c[..., None] * t
    decay = np.exp(-2 * np.abs(v))
    complement = np.where(v < 0, 2.0, 2 * decay) / (1 + decay)
    return t, complement, 4 * decay / (1 + decay) ** 2, weights


FADED, SATURATED = 45.0, 20.0
"""exp(-45) and exp(-2*20) are below rounding."""


def half_gaussian(mean: Array, width: Array, kink: Array, blur: Array, side: float, count: int) -> tuple[Array, Array]:
    """Nodes and weights (along a new last axis) for the Gaussian integral over one side of a kink blurred over `blur`.

    Gauss-Legendre on two panels: one as long as it takes the kink to saturate, and the rest.
    """
    node, weight = legendre(count)
    scale = np.where(width > 0, width, 1.0)
    cut = np.clip((kink - mean) / scale, -TAIL, TAIL)[..., None]
    end = np.full_like(cut, side * TAIL)
    turn = np.clip(cut + side * SATURATED * (blur / scale)[..., None], -TAIL, TAIL)
    panels = [(cut, turn), (turn, end)]
    z = np.concatenate([a + (b - a) * node for a, b in panels], axis=-1)
    weights = np.concatenate([side * (b - a) * weight for a, b in panels], axis=-1)
    return mean[..., None] + width[..., None] * z, weights * np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)


def kinked_gaussian(mean: Array, width: Array, kink: Array, blur: Array, count: int) -> tuple[Array, Array]:
    """Nodes and weights for the Gaussian average of a function with a kink: both sides."""
    sides = [half_gaussian(mean, width, kink, blur, side, count) for side in (-1.0, 1.0)]
    nodes, weights = (np.concatenate(parts, axis=-1) for parts in zip(*sides, strict=True))
    return nodes, weights


TAIL = 8.5
"""Standard deviations beyond which a Gaussian is below rounding."""


def average(values: Array, nodes: Angles) -> Any:
    """Mean over the angle; a number for numbers, an array for a batch."""
    return np.einsum("...k,...k->...", values, nodes.weight)

r"""Input and output channels of Phase selection (eq:channels), collapsed onto one variance.

The Hessian of H in x does not depend on S, so the paper's two variances act only through their sum
`V = V0 + V1/mu`: with precision `c = 1 / (V + 1/(2 mu))`,

    phi_out(w; y, c) = log 2cosh(c y w) - c (y^2 + w^2)/2        (constants in w dropped)
    phi_in(B; K, Lam) = B^2 / (2 (K + Lam)) - log((K + Lam)/Lam)/2

where `Lam = mu*lam` (the paper prints lam; only mu*lam follows from its own rescaling). What depends on the mean t of a
sign is made for what has it at hand: Python's tanh in compiled loops over numbers, NumPy's or JAX's for arrays.

Complex measurements have phases in the place of signs: `t = R(2 c y |w|) w/|w|` in the place of tanh(c y w), with
R = I1/I0 and variances of |.|^2. All else reads the same, whatever the field: the dtype of w tells.
"""

import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from phaselect.equations.arrays import Array, is_complex, namespace
from phaselect.equations.bessel import mean_phase

Numbers = TypeVar("Numbers", float, NDArray[np.float64])


def phi_out(w: Numbers, y: float, c: float) -> Numbers:
    """Output log-likelihood of the pre-activation mean w, signs traced out."""
    u = c * y * w
    return cast(Numbers, np.logaddexp(u, -u) - 0.5 * c * (y * y + w * w))


def mean_sign(w: Array, rate: Array) -> tuple[Array, Array]:
    """The mean t of a sign or phase of weight `exp(rate beta Re(S^* w))`, and `1 - |t|^2`."""
    xp = namespace(w)
    if not is_complex(w):
        t = xp.tanh(rate * w)
        return t, 1.0 - t * t
    size = abs(w)
    length, rest = mean_phase(2 * rate * size)
    return length * (w / xp.where(size > 0, size, 1.0)), rest


def output_channel_with(mean_sign: Callable[..., Any]) -> Callable[..., Any]:
    """The output channel, for a given mean of a sign."""

    def output_channel(w, y, c):  # type: ignore[no-untyped-def]
        """`g = d phi_out/dw` and the curvature `-d^2 phi_out/dw^2`, of the two directions of a phase the mean."""
        t, rest = mean_sign(w, c * y)
        g = c * (y * t - w)
        curvature = c - (c * y) ** 2 * rest
        return g, curvature

    return output_channel


def local_update_with(channel: Callable[..., Any]) -> Callable[..., Any]:
    """The local part of an AMP iteration for a given output channel."""

    def local_update(z, y, w, g, V, c, psi):  # type: ignore[no-untyped-def]
        """From `z = A x` at a measurement to the new mean w, reaction term and damping included, g and curvature."""
        w = (1 - psi) * (z - V * g) + psi * w
        g, curvature = channel(w, y, c)
        return w, g, curvature

    return local_update


def measurement_posterior(p: Array, tau: Array, y: Array, nu: Array) -> tuple[Array, Array]:
    """Mean and variance of a measurement z of which `|z| = y` up to noise nu, and that was believed to be p to tau.

    The output channel at `w = p`, `c = 1/(tau + nu)`, from whose curvature the variance would be a small difference.
    """
    v = 1 / (1 / tau + 1 / nu)
    t, rest = mean_sign(p, y / (tau + nu))
    return v * (p / tau + y * t / nu), v + (v * y / nu) ** 2 * rest


def misfit(p: Array, tau: Array, y: Array, nu: Array) -> Array:
    """`E |S y - p|^2` over the sign of a measurement that was believed to be p to tau, before its y was seen."""
    t, rest = mean_sign(p, y / (tau + nu))
    return (y - abs(p)) ** 2 + 2 * y * abs(p) * rest / (1 + abs(t))


def phi_in(B: Numbers, precision: float, product: float) -> Numbers:
    """Input log-partition of a Gaussian prior of precision `product = mu*lam`."""
    total = precision + product
    return 0.5 * B * B / total - 0.5 * math.log(total / product)


def input_channel(B: Numbers, precision: float, product: float) -> tuple[Numbers, float]:
    """`x = d phi_in/dB` and its variance `d^2 phi_in/dB^2`."""
    variance = 1.0 / (precision + product)
    return B * variance, variance

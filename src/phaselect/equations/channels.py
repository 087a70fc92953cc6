r"""Input and output channels of Phase selection (eq:channels), collapsed onto one variance.

The Hessian of H in x does not depend on S, so the paper's two variances act only through their sum
`V = V0 + V1/mu`: with precision `c = 1 / (V + 1/(2 mu))`,

    phi_out(w; y, c) = log 2cosh(c y w) - c (y^2 + w^2)/2        (constants in w dropped)
    phi_in(B; K, Lam) = B^2 / (2 (K + Lam)) - log((K + Lam)/Lam)/2

where `Lam = mu*lam` (the paper prints lam; only mu*lam follows from its own rescaling). The functions that depend on
tanh are made for the tanh at hand: Python's in compiled loops over numbers, NumPy's or JAX's for arrays.
"""

import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from phaselect.equations.arrays import Array, namespace

Numbers = TypeVar("Numbers", float, NDArray[np.float64])


def phi_out(w: Numbers, y: float, c: float) -> Numbers:
    """Output log-likelihood of the pre-activation mean w, signs traced out."""
    u = c * y * w
    return cast(Numbers, np.logaddexp(u, -u) - 0.5 * c * (y * y + w * w))


def output_channel_with(tanh: Callable[[Any], Any]) -> Callable[..., Any]:
    """The output channel for a given tanh."""

    def output_channel(w, y, c):  # type: ignore[no-untyped-def]
        """`g = d phi_out/dw` and the curvature `-d^2 phi_out/dw^2`."""
        t = tanh(c * y * w)
        g = c * (y * t - w)
        curvature = c - (c * y) ** 2 * (1.0 - t * t)
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
    t = namespace(p).tanh(y * p / (tau + nu))
    return v * (p / tau + y * t / nu), v + (v * y / nu) ** 2 * (1 - t * t)


def misfit(p: Array, tau: Array, y: Array, nu: Array) -> Array:
    """`E (S y - p)^2` over the sign of a measurement that was believed to be p to tau, before its y was seen."""
    t = namespace(p).tanh(y * abs(p) / (tau + nu))
    return (y - abs(p)) ** 2 + 2 * y * abs(p) * (1 - t)


def phi_in(B: Numbers, precision: float, product: float) -> Numbers:
    """Input log-partition of a Gaussian prior of precision `product = mu*lam`."""
    total = precision + product
    return 0.5 * B * B / total - 0.5 * math.log(total / product)


def input_channel(B: Numbers, precision: float, product: float) -> tuple[Numbers, float]:
    """`x = d phi_in/dB` and its variance `d^2 phi_in/dB^2`."""
    variance = 1.0 / (precision + product)
    return B * variance, variance

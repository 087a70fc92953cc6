r"""What a magnitude tells of the number behind it, in the real and in the complex field.

`u0` is a measurement with `E|u0|^2 = 1`, `w = m u0 + sqrt(D) z` an estimate of it that is taken to have variance s2.
Given the magnitude `y = |u0|` the posterior mean of the sign, or phase, is `t`,

    real: t = tanh(y w/s2);      complex: t = R(2 y |w|/s2) w/|w|,  R = I1/I0,

and by parts everything that message passing needs follows from two averages:

    variance = E[y^2 (1 - |t|^2)],      miss = E[y^2] - E[y conj(u0) t].

In the complex field both are averages over `r = y |w|` alone, which has the density `(4r/D) I0(2 m r/D)
K0(2 sqrt(q) r/D)` with `q = m^2 + D`; given r, y^2 has mean `r K1/(sqrt(q) K0)` and the cosine of the angle between u0
and w has mean `R(2 m r/D)`. What is left is a smooth function of log r: the trapezoidal rule is exact to rounding.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import i0e, i1e, k0e, k1e

from phaselect.theory.averages import averages
from phaselect.theory.quadrature import Array

STEP = 0.3
NODES = np.exp(np.arange(-38.0, 3.9, STEP))
"""Of r, in units in which its density falls like exp(-r); the trapezoidal error is of order exp(-pi^2/STEP)."""

NOTHING = 1e-200
"""Stands for no spread at all."""

FAR = 200.0
FAR_SERIES = np.array([1 / 2, 1 / 8, 1 / 8, 25 / 128, 13 / 32, 1073 / 1024])
"""`1 - R(x) = sum_k FAR_SERIES[k] / x^(k+1)`, exact to rounding beyond x = FAR."""


class Doubt(NamedTuple):
    """What is left open by the magnitude and the estimate; numbers, or arrays for a batch."""

    variance: Array
    miss: Array


def doubt(s2: Array, spread: Array, m: Array, degrees: int) -> Doubt:
    """The two averages of the module, in the field of so many degrees of freedom."""
    if degrees == 1:
        out = averages(*map(np.asarray, (s2, spread, m, 0.0)))
        return Doubt(out.sech, out.late)
    r, wide, near, decay = _products(spread, m)
    weight = STEP * 2 * r**2 * decay / wide**2 * i0e(near) * k1e(decay) * np.exp(-NODES)
    short, short_of_truth = phase_deficit(2 * r / np.asarray(s2)[..., None]), phase_deficit(near)
    return Doubt(
        variance=(weight * short * (2 - short)).sum(-1),
        miss=(weight * (short + short_of_truth - short * short_of_truth)).sum(-1),
    )


def evidence(tau: Array, degrees: int) -> Array:
    """`E log p(y | w)`, y being exact and w the best estimate of u0 with variance tau: `m = 1 - tau`, `D = m tau`."""
    tau = np.asarray(tau)
    m, spread = 1 - tau, tau * (1 - tau)
    if degrees == 1:
        return np.asarray(averages(*map(np.asarray, (tau, spread, m, 0.0))).log_z - 0.5 * np.log(2 * np.pi * tau))
    r, wide, near, decay = _products(spread, m)
    weight = STEP * 2 * r * decay / wide * i0e(near) * k0e(decay) * np.exp(-NODES)
    x = 2 * r / tau[..., None]
    log_bessel = (weight * (x + np.log(i0e(x)))).sum(-1)
    return np.asarray(math.log(2) - 0.5 * np.euler_gamma - np.log(tau) - (2 - tau) / tau + log_bessel)


def phase_deficit(x: Array) -> Array:
    """`1 - I1(x)/I0(x)`, accurate where it is small."""
    far = np.maximum(x, FAR)
    series = np.polynomial.polynomial.polyval(1 / far, FAR_SERIES) / far
    return np.asarray(np.where(x < FAR, 1 - i1e(x) / i0e(x), series))


def _products(spread: Array, m: Array) -> tuple[Array, Array, Array, Array]:
    """Nodes r, sqrt(q), and the arguments of I0 and of K, whose exponentials leave exp(-NODES)."""
    spread, m = np.maximum(spread, NOTHING)[..., None], np.asarray(m)[..., None]
    wide = np.sqrt(m * m + spread)
    r = 0.5 * (wide + m) * NODES
    return r, wide, 2 * m * r / spread, 2 * wide * r / spread

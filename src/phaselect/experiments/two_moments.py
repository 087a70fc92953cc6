"""The replica symmetric saddle point with both second moments, V0 over the signs and V1 inside the regression.

Stationarity of the free entropy in its four overlaps and four conjugates, iterated. Averages over a measurement go by
the trapezoidal rule on a square: slow, and unlike the quadrature of the collapsed theory, which this is to be compared
with.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from phaselect.experiments.pseudo_code import Array, output_channel
from phaselect.theory.control import Control, Overlaps

REACH, NODES = 7.5, 801
"""Standard deviations on either side, and points along each."""


def saddle_iteration(order: Overlaps, control: Control) -> Overlaps:
    """One undamped iteration."""
    alpha, mu = control.alpha, control.mu
    V0, V1, q0, m = order
    u0, z, weight = _plane()
    w = m * u0 + np.sqrt(q0 - m * m) * z
    slope, curvature, by_V1 = output_channel(w, u0, V0, V1, mu)
    q0_hat = alpha * float(np.sum(weight * slope**2))
    m_hat = alpha * float(np.sum(weight * (slope * u0 - m * curvature)))
    q1_hat = 2 * mu * alpha * float(np.sum(weight * by_V1))
    bend = alpha * float(np.sum(weight * curvature))
    inner = q1_hat - q0_hat - bend + control.product  # dq_hat + mu lam
    outer = inner - (q1_hat - q0_hat)
    return Overlaps(1 / outer - 1 / inner, mu / inner, (q0_hat + m_hat**2) / outer**2, m_hat / outer)


@cache
def _plane() -> tuple[Array, Array, Array]:
    """Points and weights of two standard normal numbers; the mean is even in both together, so half is enough."""
    line = np.linspace(-REACH, REACH, NODES)
    u0, z = line[NODES // 2 :, None], line[None, :]
    weight = np.exp(-0.5 * (u0**2 + z**2)) * np.where(u0 == 0, 1.0, 2.0)
    return u0, z, weight / weight.sum()

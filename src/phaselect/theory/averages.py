r"""Averages over the output channel: everything the theory asks of a measurement.

`u0` is the signed measurement, `w = m u0 + sqrt(D) z` its estimate, `s2 = V + 1/(2 mu)`, and the sign is right (S =
+1 in the gauge of eq:gaugeTransform) with mean `T = tanh(phi + u0 w/s2)`. With the radius and angle of quadrature.py,
`u0 w/s2 = c t`; write `wrong = E_t[1 - T]`, `slope = E_t[t sech^2]`; then `E_t[t (1 - T)] = wrong - c slope` by
parts. Every field is a sum of terms that stay accurate as the signal is recovered, where 1 - m, D and s2 vanish
together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phaselect.base.kernels import kernel
from phaselect.theory.quadrature import Array, angles, radial, radial_fourth


class Averages(NamedTuple):
    """Averages at given (s2, spread, m, phi); numbers, or arrays for a batch of points."""

    O: Array  # E[T]
    gain: Array  # E[t T] = s2 dI/dm, the pull towards the signal
    sech: Array  # E[u0^2 sech^2]
    late: Array  # E[u0^2 (1 - T)]
    misfit: Array  # E<(S u0 - w)^2> over the posterior of S
    force: Array  # E[(u0 T - w)^2], s2^2 times the squared slope of phi_out
    log_z: Array  # E[log 2cosh(phi + u0 w/s2)] - (1 + q0)/(2 s2)


def averages(s2: Array, spread: Array, m: Array, phi: Array) -> Averages:
    """Integrates over the measurement; see the module for the notation."""
    s2, spread, m, phi = np.broadcast_arrays(s2, spread, m, phi)
    sign = np.where(m < 0, -1.0, 1.0)  # (m, phi) and (-m, -phi) are mirror images; m >= 0 is the accurate one
    m, phi = sign * m, sign * phi
    sums = _sums(s2.ravel(), spread.ravel(), m.ravel(), phi.ravel()).reshape(8, *s2.shape)
    tanh, gain, sech, late_square, gain_square, flat_square, rate_late, rate_wrong = sums
    distance = (1 - m) ** 2 + spread  # E[(u0 - w)^2]
    # E[u0^2 (T - m)^2], written for small and for large overlap: two forms of the same, each where it does not cancel
    weak = m * m + flat_square - 2 * m * gain_square
    strong = (1 - m) ** 2 + 2 * m * late_square - sech
    return Averages(
        O=sign * tanh,
        gain=sign * gain,
        sech=sech,
        late=np.where(sign < 0, 2 - late_square, late_square),
        misfit=distance + 2 * s2 * rate_late,
        force=np.where(m * m + spread < WEAK, weak, strong) + spread * (1 - 2 * sech / s2),
        log_z=np.logaddexp(phi, -phi) - 0.5 * distance / s2 - rate_wrong,
    )


WEAK = 0.01
"""q0 below which the overlaps count as small."""


@kernel()
def _sums(s2: Array, spread: Array, m: Array, phi: Array) -> Array:
    """Means over the angle, in the order of `averages`, for each point of a batch."""
    sums = np.zeros((8, s2.size))
    for i in range(s2.size):
        nodes = angles(spread[i], m[i])
        for k in range(nodes.rate.size):
            c, square, weight = nodes.rate[k] / s2[i], nodes.square[k], nodes.weight[k]
            tanh, wrong, slope, flat = radial(c, phi[i])
            late, gain = wrong - c * slope, tanh + c * slope  # E_t[t (1 - T)] and E_t[t T], by parts
            sums[0, i] += weight * tanh
            sums[1, i] += weight * gain
            sums[2, i] += weight * square * slope
            sums[3, i] += weight * square * late
            sums[4, i] += weight * square * gain
            sums[5, i] += weight * square * flat
            sums[6, i] += weight * c * late
            sums[7, i] += weight * c * wrong
    return sums


@kernel()
def squared_curvature(s2: float, spread: float, m: float, phi: float) -> float:
    """`E[(d^2 phi_out/dw^2)^2]` with `d^2 phi_out/dw^2 = -(1 - u0^2 sech^2(phi + u0 w/s2)/s2)/s2`."""
    nodes = angles(spread, m)
    second, fourth = 0.0, 0.0
    for k in range(nodes.rate.size):
        c = nodes.rate[k] / s2
        second += nodes.weight[k] * nodes.square[k] * radial(c, phi)[2]
        fourth += nodes.weight[k] * nodes.fourth[k] * radial_fourth(c, phi)
    return (1 - 2 * second / s2 + fourth / s2**2) / s2**2

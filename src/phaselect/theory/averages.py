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

from phaselect.theory.quadrature import Array, angles, average, radial, radial_fourth


class Averages(NamedTuple):
    """Averages at given (s2, spread, m, phi); numbers, or arrays for a batch of points."""

    O: Array  # E[T]
    gain: Array  # E[t T] = s2 dI/dm, the pull towards the signal
    sech: Array  # E[u0^2 sech^2]
    misfit: Array  # E<(S u0 - w)^2> over the posterior of S
    force: Array  # E[(u0 T - w)^2], s2^2 times the squared slope of phi_out
    log_z: Array  # E[log 2cosh(phi + u0 w/s2)] - (1 + q0)/(2 s2)


def averages(s2: Array, spread: Array, m: Array, phi: Array) -> Averages:
    """Integrates over the measurement; see the module for the notation."""
    nodes = angles(spread, m)
    c = nodes.rate / s2[..., None]
    wrong, slope = radial(c, phi[..., None])
    late = wrong - c * slope
    sech = average(nodes.square * slope, nodes)
    late_square = average(nodes.square * late, nodes)
    distance = (1 - m) ** 2 + spread  # E[(u0 - w)^2]
    return Averages(
        O=1 - average(wrong, nodes),
        gain=1 - average(late, nodes),
        sech=sech,
        misfit=distance + 2 * s2 * average(c * late, nodes),
        force=(1 - m) ** 2 + 2 * m * late_square - sech + spread * (1 - 2 * sech / s2),
        log_z=np.logaddexp(phi, -phi) - 0.5 * distance / s2 - average(c * wrong, nodes),
    )


def squared_curvature(s2: Array, spread: Array, m: Array, phi: Array) -> Array:
    """`E[(d^2 phi_out/dw^2)^2]` with `d^2 phi_out/dw^2 = -(1 - u0^2 sech^2(phi + u0 w/s2)/s2)/s2`."""
    nodes = angles(spread, m)
    c = nodes.rate / s2[..., None]
    second = average(nodes.square * radial(c, phi[..., None])[1], nodes)
    fourth = average(nodes.fourth * radial_fourth(c, phi[..., None]), nodes)
    return np.asarray((1 - 2 * second / s2 + fourth / s2**2) / s2**2)

r"""One iteration of approximate message passing (alg:AMP), collapsed onto one variance `V = V0 + V1/mu`.

With nu = 1/(2 mu), Lam = mu*lam and damping psi on (V, w), not on x:

    Vd <- (1-psi) V + psi Vd;      c = 1/(nu + Vd);      w <- (1-psi)(A x - V g) + psi w
    g, curvature = output channel;  chi = max(0, sum(curvature)/N)
    x <- (A^T g + chi x)/(Lam + chi);      V <- 1/(Lam + chi)

where rows have uneven norms, with rho_i times V and Vd at row i, and rho_i times its curvature, rho_i = |a_i|^2; where
x is real behind a complex A, with the real part of `A^H g`, and twice that and chi.

Everything between `A x` and `A^T g` is local to a row of A: a pass over A does it all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from phaselect.equations.arrays import Array, squared
from phaselect.equations.channels import input_channel, local_update_with, mean_sign, output_channel_with

Pass = Callable[..., tuple[Any, Any, Any, Any, Any]]
"""A pass over A: from (x, V, Vd, nu, psi, w, g) to `A x`, the new w and g, `A^T g` and the sum of the curvatures."""


class Beliefs(NamedTuple):
    """What an iteration changes: x and V as the next one will use them, the rest as the last one left it."""

    x: Array
    V: Array
    V_damped: Array
    w: Array
    g: Array
    z: Array  # measurements of the x that the last iteration started from


def iteration(old: Beliefs, mu: Array, lam: Array, psi: Array, pass_over: Pass, fold: float = 1.0) -> Beliefs:
    """One iteration; psi = 0 in the first, which has nothing to be damped with. fold: that of the field."""
    V_damped = (1 - psi) * old.V + psi * old.V_damped
    z, w, g, back, curvature = pass_over(old.x, old.V, V_damped, 1 / (2 * mu), psi, old.w, old.g)
    chi = fold * curvature / old.x.shape[-1]
    chi = chi * (chi > 0)
    x, V = input_channel(fold * back + chi * old.x, chi, mu * lam)
    return Beliefs(x, V, V_damped, w, g, z)


def diverged(x: Array) -> Array:
    """Has x grown beyond bounds? (Not-a-number counts.)"""
    return ~(squared(x).mean() < 1e6)


def pass_by_products(
    forward: Callable[[Any], Any], adjoint: Callable[[Any], Any], y: Array, powers: Array | float = 1.0
) -> Pass:
    """A pass over A as two products."""
    local_update = local_update_with(output_channel_with(mean_sign))

    def pass_over(x: Array, V: Array, Vd: Array, nu: Array, psi: Array, w: Array, g: Array) -> tuple[Any, ...]:
        z = forward(x)
        w, g, curvature = local_update(z, y, w, g, powers * V, 1 / (nu + powers * Vd), psi)
        return z, w, g, adjoint(g), (powers * curvature).sum()

    return pass_over

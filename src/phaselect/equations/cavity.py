r"""What a measurement is believed to be before its own y is seen, and what it tells then, with one precision for all.

Vector message passing gives every measurement one precision g, which is right where rows have even norms. Where they
have not, as with rows that are weighted by their noise, what all others make of `z_i = a_i x` is known to a variance in
proportion to the power of its row, `tau_i = rho_i kappa` with rho_i = |a_i|^2; kappa follows from the mean variance v
that the linear part knows, and g from the mean, over rows, of what is left of tau_i once y is seen:

    mean_i 1/(1/tau_i + g) = v,            mean_i 1/(1 + g tau_i) = mean_i variance_i/tau_i.

Both are harmonic means of straight lines, hence concave: from zero Newton climbs to the root and never beyond.
"""

from __future__ import annotations

from phaselect.equations.arrays import Array, namespace

LEAST = 1e-9
"""Precisions stay above this."""
STEPS = 12
"""Of Newton's method: a handful do where powers are within decades of each other."""


def before(v: Array, g: Array, powers: Array) -> tuple[Array, Array]:
    """tau, and the variance once the others and the belief g are put together; numbers where powers is the number 1."""
    xp = namespace(powers)
    if powers.ndim == 0:
        return 1 / xp.maximum(1 / v - g, LEAST), v
    tau = powers / xp.maximum(_root(g + 0 * powers, 1 / powers, 1 / v), LEAST)
    return tau, 1 / (1 / tau + g)


def told(share: Array, tau: Array) -> tuple[Array, Array]:
    """g, and the variance that it leaves of tau: from the mean share of tau that is left once every y is seen."""
    if tau.ndim == 0:
        V = share * tau
        return 1 / V - 1 / tau, V
    g = _root(0 * tau + 1, tau, 1 / share)
    return g, tau / (1 + g * tau)


def _root(constant: Array, slope: Array, target: Array) -> Array:
    """u from 0 on with `1/mean(1/(constant + slope u)) = target`."""
    xp, u = namespace(slope), 0.0
    for _ in range(STEPS):
        share = 1 / (constant + slope * u)
        mean = share.mean()
        u = xp.maximum(u + (target - 1 / mean) * mean**2 / (slope * share**2).mean(), 0.0)
    return u

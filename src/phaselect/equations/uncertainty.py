r"""How well a Bayes estimate of x is known: the precision g that the data have for each measurement, signs traced out.

An estimate z of the measurements is the posterior mean of each, given its y and what all others make of it, p to tau
(the output channel); and it is that of a Gaussian belief of precision g, and of the prior (the linear part). Where both
agree on the mean variance,

    v = (1/M) tr A (g A^T A + Lam)^-1 A^T,    tau = 1/(1/v - g),    g = 1/V - 1/tau,    V = mean variance of z

(cavity.py has it for uneven rows), a fixed point of vector message passing, `(g A^T A + Lam)^-1` is the covariance of
x. With all signs known g = 1/nu.
"""

from __future__ import annotations

from typing import Any

from phaselect.equations.arrays import Array, is_complex, namespace
from phaselect.equations.bessel import mean_phase
from phaselect.equations.cavity import LEAST, before, told
from phaselect.equations.channels import measurement_posterior
from phaselect.equations.lanczos import Eigenvalues

ITERATIONS, DAMPING, STEPS = 100, 0.5, 5
"""Of g, and of Newton's method for p in each, which goes on from the last."""


def belief_before(z: Array, tau: Array, y: Array, nu: Array, p: Array, loops: Any) -> Array:
    """The p at which the posterior mean of a measurement is z, for z and p from 0 on; by Newton from a first p.

    The mean is concave in p: from the left Newton never goes too far, and from the right he is to the left at once.
    """
    xp = namespace(z)

    def step(p: Array) -> Array:
        mean, variance = measurement_posterior(p, tau, y, nu)
        return xp.maximum(p.real + (z - mean).real / slope(p, tau, y, nu, variance), 0.0).astype(p.dtype)

    return loops.repeat(STEPS, step, p)


def slope(p: Array, tau: Array, y: Array, nu: Array, variance: Array) -> Array:
    """`d mean/dp` of the posterior mean along p; of a sign that is variance/tau.

    Along a phase `dR/du = 1 - R^2 - R/u`, the variance has both directions.
    """
    if not is_complex(p):
        return variance / tau
    u = 2 * y * abs(p) / (tau + nu)
    length, rest = mean_phase(u)
    bend = rest - namespace(u).where(u > 0, length / namespace(u).where(u > 0, u, 1.0), 0.5)
    return nu / (tau + nu) + 2 * tau * (y / (tau + nu)) ** 2 * bend.clip(0.0)


def precision_of_data(
    z: Array, y: Array, powers: Array, nu: Array, Lam: Array, eigenvalues: Eigenvalues, loops: Any
) -> Array:
    """g, from the measurements z of a Bayes estimate of x; powers of the rows as in cavity.py."""
    xp, m_rows, size = namespace(y), y.shape[-1], abs(z).astype(z.dtype)

    def step(now: tuple[Array, Array]) -> tuple[Array, Array]:
        g, p = now
        tau, _ = before(eigenvalues.mean_variance(g, Lam, m_rows), g, powers)
        p = belief_before(size, tau, y, nu, p, loops)
        new, _ = told((measurement_posterior(p, tau, y, nu)[1] / tau).mean(), tau)
        return xp.maximum((1 - DAMPING) * new + DAMPING * g, LEAST), p

    return loops.repeat(ITERATIONS, step, (1 / nu, size))[0]

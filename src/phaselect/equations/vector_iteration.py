r"""One iteration of vector message passing: approximate message passing on `z = A x`, for any A.

With nu = 1/(2 mu), Lam = mu*lam, and every belief a precision g and g times its mean, h, damped as such by psi:

    linear      z = A (g A^T A + Lam)^-1 A^T h,         v = (1/M) tr A (g A^T A + Lam)^-1 A^T
    to channel  tau = 1/(1/v - g),                      p = tau (z/v - h)
    channel     mean and variance of each measurement, given y, p, tau and nu
    to linear   g <- (1-psi)(1/V - 1/tau) + psi g,      h <- (1-psi)(mean/V - p/tau) + psi h,    V the mean variance

For iid matrices it agrees with alg:AMP; the paper has no other ones.
"""

from __future__ import annotations

from typing import NamedTuple

from phaselect.equations.arrays import Array, namespace
from phaselect.equations.cavity import LEAST, before, told
from phaselect.equations.channels import measurement_posterior, misfit
from phaselect.equations.gaussian_node import GaussianNode
from phaselect.equations.lanczos import Eigenvalues

ENOUGH = 0.1
"""What a gradient may be off, over what an uncertainty sqrt(v) of every measurement makes of it."""


class VectorBeliefs(NamedTuple):
    """What the channel tells of the measurements, h and g; and what the linear part last made of it, z, v and what it
    keeps of x."""

    h: Array
    g: Array
    z: Array
    v: Array
    kept: Array


def vector_iteration(
    old: VectorBeliefs,
    mu: Array,
    lam: Array,
    psi: Array,
    y: Array,
    powers: Array,
    eigenvalues: Eigenvalues,
    node: GaussianNode,
) -> VectorBeliefs:
    """One iteration; powers: of the rows where these are uneven, as in cavity.py, else the number 1."""
    xp, m_rows = namespace(y), y.shape[-1]
    v = eigenvalues.mean_variance(old.g, mu * lam, m_rows)
    z, kept = node.regress(old.h / old.g, mu * lam / old.g, old.kept, ENOUGH * xp.sqrt(v * m_rows))
    tau, own = before(v, old.g, powers)
    p = tau * (z / own - old.h)
    mean, variance = measurement_posterior(p, tau, y, 1 / (2 * mu))
    g, V = told(variance, tau)
    g = xp.maximum((1 - psi) * g + psi * old.g, LEAST)
    h = (1 - psi) * (mean / V - p / tau) + psi * old.h
    return VectorBeliefs(h, g, z, v, kept)


def noise_shown(old: VectorBeliefs, new: VectorBeliefs, y: Array, powers: Array, nu: Array) -> Array:
    """The variance of the noise on z that an iteration at nu shows: where it is nu, that maximises the evidence.

    Each measurement differs from what all others make of it, p to tau, by `tau + nu` on average.
    """
    tau, own = before(new.v, old.g, powers)
    weight = 1 / (tau + nu) ** 2
    return (weight * (misfit(tau * (new.z / own - old.h), tau, y, nu) - tau)).mean() / weight.mean()

r"""One iteration of vector message passing: approximate message passing on `z = A x`, for any A.

With nu = 1/(2 mu), Lam = mu*lam, and every belief a precision g and g times its mean, h, damped as such by psi:

    linear      z = A (f g A^T A + Lam)^-1 f A^T h,     v = (1/M) tr A (f g A^T A + Lam)^-1 A^T
    to channel  tau = 1/(1/v - g),                      p = tau (z/v - h)
    channel     mean and variance of each measurement, given y, p, tau and nu
    to linear   g <- (1-psi)(1/V - 1/tau) + psi g,      h <- (1-psi)(mean/V - p/tau) + psi h,    V the mean variance

f is the fold of the field: 1, or 2 for a real x behind a complex A. For iid matrices it agrees with alg:AMP; the paper
has no other ones. A prior of x that is not Gaussian is a third node, which exchanges beliefs about x with the linear
part just as the channel does about z, and takes the place of Lam there.
"""

from __future__ import annotations

from typing import NamedTuple

from phaselect.equations.arrays import Array, by_blocks, like, namespace
from phaselect.equations.cavity import LEAST, before, told
from phaselect.equations.channels import measurement_posterior, misfit
from phaselect.equations.gaussian_node import GaussianNode
from phaselect.equations.lanczos import Eigenvalues
from phaselect.equations.priors import Prior

ENOUGH = 0.1
"""What a gradient may be off, over what an uncertainty sqrt(v) of every measurement makes of it."""


class SignalBeliefs(NamedTuple):
    """What a prior tells of x, as a mean and a precision; and what it last made of what it was told."""

    mean: Array
    precision: Array
    x: Array
    nonzero: Array
    density: Array
    power: Array  # mean square of an entry, times mu*lam


class VectorBeliefs(NamedTuple):
    """What the channel tells of the measurements, h and g; what the linear part last made of it, their mean variance v
    and what it keeps of x; and what the prior tells of x, which is nothing if it is Gaussian."""

    h: Array
    g: Array
    v: Array
    kept: Array
    signal: SignalBeliefs | tuple[()]


def vector_iteration(
    old: VectorBeliefs,
    mu: Array,
    lam: Array,
    psi: Array,
    y: Array,
    powers: Array,
    eigenvalues: Eigenvalues,
    node: GaussianNode,
    prior: Prior,
) -> tuple[VectorBeliefs, Array]:
    """One iteration; and z, what the linear part made of the measurements on the way.

    powers: of the rows where these are uneven, as in cavity.py, else the number 1.
    """
    xp, m_rows, signal = namespace(y), y.shape[-1], old.signal
    precision, offset = (signal.precision, node.measure(signal.mean)) if signal else (mu * lam, 0.0)
    v = eigenvalues.mean_variance(old.g, precision, m_rows)
    enough = ENOUGH * xp.sqrt(v * m_rows)
    shift = precision / (eigenvalues.fold * old.g)
    known = like(y, old.g)
    z, kept = node.regress(old.h / known - offset if signal else old.h / known, shift, old.kept, enough)
    z = z + offset if signal else z
    tau, own = before(v, old.g, powers)
    nu, rate = like(y, 1 / (2 * mu)), like(y, psi)

    def channel(z: Array, own: Array, h: Array, tau: Array, y: Array) -> tuple[Array, Array]:
        mean, variance = measurement_posterior(tau * (z / own - h), tau, y, nu)
        return mean, (variance / tau).sum()

    def told_back(mean: Array, V: Array, z: Array, own: Array, h: Array) -> Array:
        return (1 - rate) * (mean / V - (z / own - h)) + rate * h

    mean, left = by_blocks(channel, z, like(y, own), old.h, like(y, tau), y)
    g, V = told(left / m_rows, tau)
    g = xp.maximum((1 - psi) * g + psi * old.g, LEAST)
    h = by_blocks(told_back, mean, like(y, V), z, like(y, own), old.h, spare=True)
    if signal:
        x = signal.mean + node.signal(kept)
        variance_of_x = eigenvalues.mean_variance_of_x(old.g, precision, x.shape[-1])
        signal = from_prior(signal, x, variance_of_x, mu * lam, psi, prior)
    return VectorBeliefs(h, g, v, kept, signal), z


def from_prior(old: SignalBeliefs, x: Array, v: Array, Lam: Array, psi: Array, prior: Prior) -> SignalBeliefs:
    """What the prior tells of x, when the linear part made it x, to a variance v."""
    xp = namespace(x)
    known = xp.maximum(1 / v - old.precision, LEAST)
    r = (x / v - old.precision * old.mean) / known
    found = prior.posterior(r, 1 / known, old.power / Lam, old.density)
    V = found.variance.mean()
    precision = xp.maximum((1 - psi) * (1 / V - known) + psi * old.precision, LEAST)
    mean = ((1 - psi) * (found.mean / V - known * r) + psi * old.precision * old.mean) / precision
    density = (1 - psi) * found.density + psi * old.density
    return SignalBeliefs(mean, precision, found.mean, found.nonzero, density, old.power)


def noise_shown(old: VectorBeliefs, z: Array, v: Array, y: Array, powers: Array, nu: Array) -> Array:
    """The variance of the noise on z that an iteration at nu, which made z to v, shows: where it is nu, that maximises
    the evidence.

    Each measurement differs from what all others make of it, p to tau, by `tau + nu` on average.
    """
    tau, own = (like(y, one) for one in before(v, old.g, powers))
    nu = like(y, nu)
    weight = 1 / (tau + nu) ** 2
    return (weight * (misfit(tau * (z / own - old.h), tau, y, nu) - tau)).mean() / weight.mean()


def noise_learned(noise: Array, old: VectorBeliefs, z: Array, v: Array, y: Array, powers: Array, nu: Array) -> Array:
    """From what was learned before towards the noise shown, not all the way.

    tau grows with nu, by N/(M - N) of it once signs are known, and what is shown falls by as much: where that is more
    than 1 whole steps would lead to and fro.
    """
    tau, _ = before(v, old.g, powers)
    return noise + nu / (nu + tau.mean()) * (noise_shown(old, z, v, y, powers, nu) - noise)

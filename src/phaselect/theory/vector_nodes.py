r"""The two nodes of vector message passing, as state evolution sees them.

Beliefs about `z = A x` are exchanged between the Gaussian node, which knows A and the prior of x, and the channel,
which knows the magnitudes. A message of precision g has the mean `h/g` with `h = overlap z0 + sqrt(noise) xi`, z0 being
the true z, and xi of unit variance and independent of it. With `nu = 1/(2 mu)` for the channel's noise, `prior = mu
lam`, `tau = 1/g1`, `s2 = tau + nu`, the averages of magnitudes.py and the pull of spectra.py,

    channel         rest = (nu + tau variance/s2)/s2,  the share of tau that it leaves
                    g2 = (1 - variance/s2)/(s2 rest),       overlap_2 = (1 - miss - m variance/s2)/(s2 rest),
                    noise_2 = [miss (2 - miss) - variance - D (variance/s2)^2]/(s2 rest)^2
    Gaussian node   g1 = prior + g2 pull,                   overlap_1 = overlap_2 pull,
                    noise_1 = noise_2 d(g2 pull)/dg2 - overlap_2^2 prior dpull/dg2.

These are `m_1 + m_2 = m/v` and `chi_1 + chi_2 = q/v^2 - (m/v)^2` of either node, v being the variance of z, after
integration by parts, in which nothing large is left to cancel. At the matched prior overlap and noise are g2 and g1 - 1
(Nishimori). At fixed points `V = 1/g1`, `m = overlap_1/g1` and `D = noise_1/g1^2` are, for independent real entries,
those of the saddle point.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phaselect.theory.magnitudes import doubt
from phaselect.theory.quadrature import Array
from phaselect.theory.spectra import Response, Spectrum


class Message(NamedTuple):
    """A belief about z: numbers, or arrays for a batch."""

    precision: Array
    overlap: Array
    noise: Array


class Ensemble(NamedTuple):
    """Matrices of one kind: M/N, spectrum, degrees of freedom of a number."""

    alpha: float
    spectrum: Spectrum
    degrees: int


def from_channel(message: Message, nu: float, degrees: int) -> Message:
    """What the magnitudes add to a message from the Gaussian node."""
    tau = 1 / message.precision
    s2, spread, m = tau + nu, message.noise * tau**2, message.overlap * tau
    variance, miss = doubt(s2, spread, m, degrees)
    scale = nu + tau * variance / s2  # s2 rest
    return Message(
        precision=(1 - variance / s2) / scale,
        overlap=(1 - miss - m * variance / s2) / scale,
        noise=(miss * (2 - miss) - variance - spread * (variance / s2) ** 2) / scale**2,
    )


def from_gaussian(message: Message, response: Response, prior: float) -> Message:
    """What matrix and prior add to a message from the channel, `response` being that of its precision."""
    g, overlap, noise = message
    slope = response.pull_slope
    return Message(
        precision=prior + g * response.pull,
        overlap=overlap * response.pull,
        noise=noise * (response.pull + g * slope) - overlap**2 * prior * slope,
    )


def vector_map(
    V: Array, spread: Array, m: Array, prior: float, nu: float, ensemble: Ensemble
) -> tuple[Array, Array, Array]:
    """One undamped iteration in the variables of the saddle point; nan where a message has no variance."""
    back = from_channel(Message(1 / V, m / V, spread / V**2), nu, ensemble.degrees)
    response = ensemble.spectrum.response(back.precision, np.asarray(prior), ensemble.alpha)
    g, overlap, noise = from_gaussian(back, response, prior)
    return 1 / g, noise / g**2, overlap / g

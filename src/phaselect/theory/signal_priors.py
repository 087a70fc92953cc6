r"""State evolution of vector message passing with a prior of x that is not Gaussian, which has a threshold.

Priors are those of equations/priors.py, of unit power, and the right ones: then each message is one number, its
precision (Nishimori). With g2 and gx what the channel and the prior tell the linear part of z and x,

    linear    vx = E[1/(gx + g2 s2)],    vz = E[s2/(gx + g2 s2)]/alpha,    averages over the spectrum
    channel   g1 = 1/vz - g2,            g2 <- what magnitudes add to g1 (vector_nodes.py)
    prior     gp = 1/vx - gx,            gx <- 1/mmse(gp) - gp

and mmse(gp) is the mean variance of an entry of x that is known to precision gp.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from phaselect.base.checks import is_number, shortened
from phaselect.base.errors import InputError
from phaselect.base.tables import Table
from phaselect.equations.priors import Prior, as_prior
from phaselect.theory.quadrature import Array, legendre
from phaselect.theory.spectra import Spectrum, SpectrumLike, as_spectrum
from phaselect.theory.vector_nodes import Message, from_channel

FIRST = 1e-4
"""What the channel tells before the first iteration: next to nothing."""
RECOVERED = 1e-7
"""An error below this goes on to zero."""
RESTING = 1e-9
"""Relative change of the error in an iteration that is its last."""
ITERATIONS, LOUDEST = 20_000, 1e9
PANELS, NODES = 0.25 * 2.0 ** np.arange(-1, 60), 16
"""Where the integral over what is seen of an entry is divided, in standard deviations, and nodes in each part."""
REACH = 12.0
"""Standard deviations of the widest part to which it goes."""


def evolution_with_prior(
    alpha: float, *, prior: Prior | str, spectrum: SpectrumLike = "gaussian", noise: float = 0.0
) -> Table:
    """Mean squared error of x, from iteration to iteration, until it rests or x is recovered.

    prior: "sparse:0.2" or `Sparse(0.2)`, of a density that is known; "nonnegative"; "gaussian". spectrum: of A, as in
    `critical_alpha`. noise: its variance, of measurements of unit power.

    >>> f"{evolution_with_prior(0.8, prior='sparse:0.2')['mse_x'][-1]:.0e}"
    '0e+00'
    """
    known, law = _of_known_density(prior), as_spectrum(spectrum)
    law.check(alpha)
    if not (is_number(noise) and 0 <= noise <= LOUDEST):
        raise InputError(f"noise = {shortened(noise)}: give a variance, 0 or more, {LOUDEST:g} at most")
    return _evolve(float(alpha), known, law, float(noise))


def recovers_with_prior(prior: Prior, spectrum: Spectrum, alpha: float) -> bool:
    """Does state evolution without noise go to the signal?"""
    return bool(_evolve(alpha, _of_known_density(prior), spectrum, 0.0)["mse_x"][-1] == 0)


def _of_known_density(prior: Any) -> Prior:
    known = as_prior(prior)
    if getattr(known, "density", None) == "auto":
        raise InputError("the theory needs the density of a sparse signal: sparse:0.2, or Sparse(0.2)")
    return known


def _evolve(alpha: float, prior: Prior, spectrum: Spectrum, noise: float) -> Table:
    density = prior.draw_density(np.random.default_rng(0), 0)
    gx, g2, before, errors = 1 / (1 - prior.along_ones), FIRST, np.inf, []
    for _ in range(ITERATIONS):
        response = spectrum.response(np.asarray(g2), np.asarray(gx), alpha)
        g1, gp = alpha / float(response.gain) - g2, 1 / float(response.V) - gx
        error = mmse(gp, prior, density)
        errors.append(error)
        if error < RECOVERED * (noise == 0):
            errors.append(0.0)
            break
        if abs(error - before) < RESTING * error:
            break
        before, gx = error, 1 / error - gp
        information = np.asarray(g1 - 1)
        g2 = float(from_channel(Message(np.asarray(g1), information, information), noise, 1).precision)
    return Table({"sweeps": np.arange(len(errors)), "mse_x": np.array(errors)}, shown=("sweeps", "mse_x"))


def mmse(precision: float, prior: Prior, density: float) -> float:
    """Mean variance of an entry of unit power that is known to a precision."""
    v = 1 / max(precision, 1e-12)
    r, weight = _places(v, REACH * np.sqrt(1 / density + v))
    found = prior.posterior(r, v, 1.0, density).variance * prior.likelihood(r, v, 1.0, density)
    return float(weight @ found)


def _places(v: float, reach: float) -> tuple[Array, Array]:
    """Nodes and weights on both sides of zero, in panels that begin at the width of the noise."""
    ends = np.sqrt(v) * PANELS
    ends = np.concatenate([[0.0], ends[ends < reach], [reach]])
    nodes, weights = legendre(NODES)
    length = np.diff(ends)[:, None]
    r, w = (ends[:-1, None] + length * nodes).ravel(), (length * weights).ravel()
    return np.concatenate([-r[::-1], r]), np.concatenate([w[::-1], w])

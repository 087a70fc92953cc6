r"""State evolution of vector message passing, iteration by iteration, along any schedule.

An iteration is the Gaussian node, the channel, and damping of what it sends back, in natural parameters:
`g2 <- (1-psi) g2_new + psi g2`, `h2 <- (1-psi) h2_new + psi h2`. Overlaps add up like h2; of the noise, that which the
iteration makes is taken as fully correlated in time, that of the start as independent of it, as in evolution.py.
Without damping nothing is approximated.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import hyp2f1

from phaselect.base.errors import InputError
from phaselect.base.tables import Table
from phaselect.problem.schedule import Schedule
from phaselect.theory.spectra import Response
from phaselect.theory.vector_nodes import Ensemble, Message, from_channel, from_gaussian

FIRST = 1e-2
"""Precision of the first message of a run, and root mean square of its h."""
SHOWN = ("sweeps", "m", "mse_x")
"""What the plot of a state evolution shows."""


def weak_message(cosine: float) -> Message:
    """What a run begins with, where its first message has this cosine with z0."""
    return Message(*map(np.asarray, (FIRST, FIRST * cosine, FIRST**2 * (1 - cosine**2))))


def evolve(ensemble: Ensemble, schedule: Schedule, *, first: Message, damping: float) -> Table:
    """One row per iteration, before it, of the Gaussian node's x, from the first message that it is given."""
    g = float(first.precision)
    h = np.array([first.overlap, 0.0, math.sqrt(first.noise)])  # along z0, along noise made since, along the start
    rows = []
    levels = [pair for pair in schedule for _ in range(schedule.iterations("state evolution"))]
    for count, (mu, lam) in enumerate(levels):
        message = Message(np.asarray(g), h[0], h[1:] @ h[1:])
        response = ensemble.spectrum.response(message.precision, np.asarray(mu * lam), ensemble.alpha)
        forth = from_gaussian(message, response, mu * lam)
        if not (response.gain > 0 and forth.precision > 0 and forth.noise > 0):
            raise InputError(f"vector message passing diverges at iteration {count}: raise the damping")
        of_z = float(response.gain) / ensemble.alpha
        rows.append((count, mu, lam, of_z, *_observables(message, forth, response, ensemble.degrees)))
        back = from_channel(forth, 0.5 / mu, ensemble.degrees)
        g = (1 - damping) * float(back.precision) + damping * g
        h = damping * h + (1 - damping) * np.array([back.overlap, math.sqrt(max(0.0, float(back.noise))), 0.0])
    names = ("sweeps", "mu", "lam", "v", "V", "m", "q1", "O", "mse_x")
    return Table(dict(zip(names, np.array(rows).T, strict=True)), shown=SHOWN)


def _observables(message: Message, forth: Message, response: Response, degrees: int) -> tuple[float, ...]:
    """V, m, q1, O, mse_x of `x = A^H h2` divided by `g2 A^H A + prior`."""
    m = float(message.overlap * response.gain)
    q1 = float(-(message.overlap**2) * response.gain_slope - message.noise * response.V_slope)
    return float(response.V), m, q1, _sign_overlap(forth, degrees), 1 - 2 * m + q1


def _sign_overlap(forth: Message, degrees: int) -> float:
    """Of the signs or phases that the channel infers, those of the message that it is given: a Gaussian field."""
    if degrees == 1:
        return 1 - 2 / math.pi * math.atan2(math.sqrt(forth.noise), forth.overlap)
    square = float(forth.overlap**2 / (forth.overlap**2 + forth.noise))  # of the cosine between field and z0
    return float(math.pi / 4 * math.copysign(math.sqrt(square), forth.overlap) * hyp2f1(0.5, 0.5, 2.0, square))

"""Sign vectors drawn at fixed overlap with the truth: Metropolis on pairs, one right and one wrong sign at a time.

The target is `exp(-mu E(S))` on the sign vectors of overlap O, what the theory describes at fixed O. A move exchanges
the roles of a right and a wrong sign, so the overlap is conserved exactly.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.host.flips import flip_energy
from phaselect.backends.host.random import proposal, random_chains
from phaselect.base.errors import InputError
from phaselect.base.kernels import kernel
from phaselect.base.threads import one_blas_thread
from phaselect.problem.instance import Instance
from phaselect.problem.streams import Purpose, check_seed, stream

LEVELS = 20
"""Temperatures of the anneal before the first sample, from a tenth of mu to mu."""


@kernel()
def exchange_kernel(G, v, h, right, wrong, mu, proposals, state):  # type: ignore[no-untyped-def]
    """Runs `proposals` proposals at fixed couplings; updates v, h, right, wrong and state, returns the acceptances.

    `h = G v` holds the local fields; right and wrong the numbers of the signs that agree with the truth and do not.
    """
    accepted = 0
    for _ in range(proposals):
        a, _ = proposal(state, right.size)
        b, u = proposal(state, wrong.size)
        i, j = right[a], wrong[b]
        alone = flip_energy(v[i], h[i], G[i, i]) + flip_energy(v[j], h[j], G[j, j])
        cost = mu * (alone - 8.0 * v[i] * v[j] * G[i, j])
        if cost <= 0.0 or u < math.exp(-cost):
            for k in range(h.size):
                h[k] -= 2.0 * (v[i] * G[i, k] + v[j] * G[j, k])
            v[i], v[j] = -v[i], -v[j]
            right[a], wrong[b] = j, i
            accepted += 1
    return accepted


@one_blas_thread()
def sample_signs(
    problem: Instance, mu: float, lam: float, overlap: float, *, samples: int, sweeps: int, seed: int
) -> NDArray[np.float64]:
    """Sign vectors of one chain at (mu, lam), a row each, `sweeps` sweeps (M proposed exchanges) apart.

    The chain starts from random signs of that overlap and is cooled to mu first, `sweeps` sweeps at each of 20 steps.
    The overlap is met to 1/M.
    """
    true, wrongs = _truth(problem, overlap)
    rng = stream(check_seed(seed), Purpose.CHAIN)
    order = rng.permutation(problem.m_rows)
    wrong, right = order[:wrongs].copy(), order[wrongs:].copy()
    own = problem.normalised
    v = true * own.y
    v[wrong] *= -1
    G, random = np.asarray(own.ridge.at(lam).couplings()), random_chains(rng, 1)[0]
    h = G @ v
    drawn = np.empty((samples, v.size))
    for count, level in enumerate([*np.geomspace(0.1 * mu, mu, LEVELS), *np.full(samples, mu)]):
        exchange_kernel(G, v, h, right, wrong, level, sweeps * v.size, random)
        if count >= LEVELS:
            drawn[count - LEVELS] = true
            drawn[count - LEVELS, wrong] *= -1
    return drawn


@one_blas_thread()
def predicted_measurements(problem: Instance, signs: NDArray[Any], lam: float) -> NDArray[np.float64]:
    """The gaps `A x_hat(S)` of a stack of sign vectors, in normalised units."""
    own = problem.normalised
    return np.asarray(own.ridge.at(lam).fitted(signs * own.y))


def _truth(problem: Instance, overlap: float) -> tuple[NDArray[np.float64], int]:
    """The true signs, and how many of them are wrong at this overlap."""
    if problem.signs is None:
        raise InputError("the overlap with the truth can be fixed only where x0 is known")
    wrongs = round(0.5 * problem.m_rows * (1 - overlap))
    if not 0 < wrongs < problem.m_rows:
        raise InputError(f"overlap = {overlap:g}: with {problem.m_rows} signs at least one must be right, one wrong")
    return problem.signs, wrongs

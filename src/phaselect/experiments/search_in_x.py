"""The same anneal without the signs: Metropolis on x itself, for the amplitude loss of phase retrieval.

The target at (mu, lam) is `exp(-mu L(x))`, `L = sum_i (|a_i x| - y_i)^2 + (lam/2)|x|^2`. A move changes x along one of
N directions at O(M), so that a sweep, N proposals, takes the M N multiplications of a sweep of simulated annealing over
the M signs. It ends as that does: the signs of A x, greedy flips, least squares.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.host.passes import REORDER
from phaselect.backends.host.random import proposal, random_chains
from phaselect.base.kernels import kernel
from phaselect.base.threads import one_blas_thread
from phaselect.experiments.trials import Reached, after_flips
from phaselect.problem.instance import Instance
from phaselect.problem.normalised import Normalised
from phaselect.problem.schedule import Schedule
from phaselect.problem.streams import Purpose, stream

REACH = 4.0
"""Largest step, over the standard deviation that the curvature of the loss would leave: half are accepted."""
LOOK = 1.25
"""Growth of mu from one look to the next; a look is greedy flips from the signs of A x, apart from the anneal."""
SOLVED = 1e-20
"""mse_y of a fit that is exact, at which the anneal may end."""


class Directions(NamedTuple):
    """Rows b_k, so that `A x = sum_k c_k b_k` and `|x|^2 = sum_k p_k c_k^2`."""

    b: NDArray[np.float64]  # (N, M)
    p: NDArray[np.float64]


Along = Callable[[Normalised], Directions]


def entries(problem: Normalised) -> Directions:
    """The entries of x themselves."""
    b = np.array([problem.forward(unit) for unit in np.eye(problem.n)])
    return Directions(b, np.ones(problem.n))


def singular_directions(problem: Normalised) -> Directions:
    """The singular vectors of A: all steps alike in A x, whatever the condition of A."""
    ridge: Any = problem.ridge
    return Directions(np.ascontiguousarray(ridge.U.T), 1 / ridge.s2)


@one_blas_thread()
def anneal_in_x(problem: Instance, seed: int, schedule: Schedule, along: Along = singular_directions) -> Reached:
    """Where the anneal ends, or the first look at which greedy flips solve the problem; x starts from N(0, 1)."""
    own, rng = problem.normalised, stream(seed, Purpose.RUN)
    directions = along(own)
    z = own.forward(rng.standard_normal(problem.n))
    c = np.linalg.lstsq(directions.b.T, z, rcond=None)[0]
    random, looked, reached = random_chains(rng, 1)[0], 1.0, None
    for mu, lam in schedule:
        step = REACH / np.sqrt(mu * (2 * np.sum(directions.b**2, axis=1) + lam * directions.p))
        _metropolis(*directions, own.y, c, z, step, mu, lam, schedule.steps, random)
        z = c @ directions.b
        if mu >= LOOK * looked or mu == schedule.mu[-1]:
            looked, reached = mu, after_flips(own, z)
            if reached.mse_y < SOLVED:
                break
    assert reached is not None
    return reached


@kernel(fastmath=REORDER)
def _loss_change(b, delta, y, z):  # type: ignore[no-untyped-def]
    """What `z + delta b` adds to `sum_i (|z_i| - y_i)^2`."""
    change = 0.0
    for i in range(y.size):
        moved = z[i] + delta * b[i]
        change += moved * moved - z[i] * z[i] - 2.0 * y[i] * (abs(moved) - abs(z[i]))
    return change


@kernel()
def _metropolis(b, p, y, c, z, step, mu, lam, sweeps, state):  # type: ignore[no-untyped-def]
    """Sweeps of N proposals at one temperature; updates c, z and state in place, returns the acceptances."""
    accepted = 0
    for _ in range(sweeps * c.size):
        k, place = proposal(state, c.size)
        _, u = proposal(state, c.size)
        delta = step[k] * (2.0 * place - 1.0)
        cost = mu * (_loss_change(b[k], delta, y, z) + 0.5 * lam * p[k] * delta * (2.0 * c[k] + delta))
        if cost <= 0.0 or u < math.exp(-cost):
            c[k] += delta
            z += delta * b[k]
            accepted += 1
    return accepted

"""Gradient descent from where Langevin dynamics starts: no noise, no anneal, no regulariser, until it has converged.

Langevin's start is theta, uniform in the cube, with the regression x of theta*y. From theta: the same
loss, `|(I - K) (theta*y)|^2`, within the same walls. From x: the amplitude loss of phase retrieval, `sum_i (|a_i x| -
y_i)^2`. What either converges to gets the end that Langevin dynamics has: signs, greedy flips, least squares.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import betaincinv

from phaselect.backends.interface import Vector
from phaselect.base.threads import one_blas_thread
from phaselect.equations.langevin_step import langevin_step, within_walls
from phaselect.equations.signs import signs_of
from phaselect.experiments.trials import Reached, after_flips
from phaselect.problem.instance import Instance
from phaselect.problem.normalised import Normalised
from phaselect.problem.streams import Purpose, stream
from phaselect.solvers.langevin import Langevin

CONVERGED = 1e-12
"""Square of a step, over that of the place, that counts as none."""
MOST_STEPS = 20_000


def start_of_langevin(problem: Instance, seed: int) -> Vector:
    """The theta from which a run of Langevin dynamics with this seed starts."""
    solver = Langevin()
    drawn = solver.draw(stream(seed, Purpose.RUN, 0), problem.m_rows, problem.n, solver.default_schedule(), 0)
    return np.asarray(within_walls(drawn.theta, problem.n))


def median_of_random_overlaps(n: int, runs: int, level: float) -> float:
    """What the median overlap of so many random directions, with any other one, stays below with probability `level`.

    The square of an overlap has the law Beta(1/2, (n-1)/2); the share of directions below the median of an odd number
    of them has Beta((runs+1)/2, (runs+1)/2), taken for an even number too.
    """
    share = betaincinv((runs + 1) / 2, (runs + 1) / 2, level)
    return float(np.sqrt(betaincinv(0.5, (n - 1) / 2, share)))


@one_blas_thread()
def descend_in_signs(problem: Instance, seed: int) -> Reached:
    """From Langevin's theta on Langevin's loss at lam = 0, each step 1/(2 max y^2) so that the loss never grows."""
    own = problem.normalised
    explained, none = own.ridge.at(0.0).explaining(), np.zeros(problem.m_rows)
    rate = 0.5 / float(np.max(own.y) ** 2)

    def step(theta: Vector) -> Vector:
        return np.asarray(langevin_step(theta, own.y, explained, none, rate, problem.n))

    theta, steps = _until_converged(step, start_of_langevin(problem, seed))
    return _reached(own, theta * own.y, steps)


@one_blas_thread()
def descend_in_x(problem: Instance, seed: int) -> Reached:
    """From the regression of Langevin's theta on the amplitude loss, each step 1/|A|^2 so that the loss never grows.

    In coordinates `c = U^T A x` the gradient is `s^2 (c - U^T (y sign(A x)))`.
    """
    own = problem.normalised
    ridge: Any = own.ridge
    rate = ridge.s2 / ridge.s2.max()

    def step(c: Vector) -> Vector:
        return np.asarray(c - rate * (c - ridge.coordinates(own.y * signs_of(ridge.U @ c))))

    c, steps = _until_converged(step, ridge.coordinates(start_of_langevin(problem, seed) * own.y))
    return _reached(own, ridge.U @ c, steps)


def _until_converged(step: Callable[[Vector], Vector], place: Vector) -> tuple[Vector, int]:
    steps, moved = 0, np.inf
    while steps < MOST_STEPS and moved > CONVERGED * np.sum(place**2):
        before, place, steps = place, step(place), steps + 1
        moved = np.sum((place - before) ** 2)
    return place, steps


def _reached(problem: Normalised, z: Vector, steps: int) -> Reached:
    x = problem.ridge.at(0.0).estimate(z)
    cosine = abs(problem.x0 @ x) / np.sqrt((problem.x0 @ problem.x0) * (x @ x))
    return after_flips(problem, z)._replace(sweeps=float(steps), converged_to=float(cosine))

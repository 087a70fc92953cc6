"""Least squares to full precision without an SVD: conjugate gradients, one pass over A a step, O(M + N) memory."""

from __future__ import annotations

import numpy as np

from phaselect.problem.instance import Instance, Vector
from phaselect.problem.matrix import Dense
from phaselect.solvers._passes import normal_pass


def least_squares(problem: Instance, v: Vector, x: Vector, precision: float = 1e-14) -> Vector:
    """`argmin_x |v - A x|` nearest to the given x, in normalised units; restarts from the true residual.

    precision: of the gradient, relative to v; by default what float64 can reach.
    """
    enough = precision * max(1.0, float(np.linalg.norm(v)))
    for _ in range(4):
        gradient = problem.adjoint(v - problem.forward(x))
        if np.linalg.norm(gradient) < enough:
            break
        x = x + _conjugate_gradient(problem, gradient, enough / 10)
    return x


def looks_full_rank(problem: Instance) -> bool:
    """Does least squares find a known random solution from another random point?

    What it misses lies in the null space of A, or is too weakly determined for conjugate gradients; an unlucky
    pair of points hides a null direction with probability 1e-5.
    """
    solution, start = np.random.default_rng(0).standard_normal((2, problem.n))
    found = least_squares(problem, problem.forward(solution), start, precision=1e-11)
    return bool(np.linalg.norm(found - solution) < 1e-5)


def _conjugate_gradient(problem: Instance, b: Vector, tolerance: float) -> Vector:
    """Solves `A^T A d = b`; gains at most nine digits before a restart."""
    d = np.zeros_like(b)
    residual = b.copy()
    direction = b.copy()
    power = float(residual @ residual)
    enough = max(tolerance**2, 1e-18 * power)
    for _ in range(2 * problem.n):
        image = _normal(problem, direction)
        step = power / float(direction @ image)
        d += step * direction
        residual -= step * image
        previous, power = power, float(residual @ residual)
        if power < enough:
            break
        direction = residual + (power / previous) * direction
    return d


def _normal(problem: Instance, p: Vector) -> Vector:
    """`A^T A p` in normalised units, from one read of A where A is an array."""
    if isinstance(problem.matrix, Dense):
        return problem.gain**2 * normal_pass(problem.matrix.A, p)
    return problem.adjoint(problem.forward(p))

"""Where every baseline starts: a direction that the data favour, the leading eigenvector of a matrix made of them."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from phaselect.backends.interface import Vector
from phaselect.equations.fields import Field
from phaselect.equations.signs import random_in
from phaselect.problem.normalised import Normalised

TOO_FEW = 2
"""Columns up to which ARPACK has nothing to iterate on."""


def preprocessed(y: Vector, alpha: float, field: Field) -> Vector:
    """`T(y) = (y^2 - 1) / (y^2 + sqrt(alpha/alpha_weak) - 1)`, which is optimal for weak recovery at large N.

    That is possible from `alpha_weak` on, 1 for complex x and 1/2 for real x (Mondelli and Montanari, Found. Comput.
    Math. 19, 703, 2019; a complex A with a real x is two real ones, and comes to the same 1/2).
    """
    alpha_weak = field.reals / 2
    return np.asarray((y**2 - 1) / (y**2 + np.sqrt(alpha / alpha_weak) - 1))


def spectral_initialisation(problem: Normalised, start: Vector) -> Vector:
    """The leading eigenvector for the optimal preprocessing; start: random numbers."""
    return leading_eigenvector(problem, preprocessed(problem.y, problem.m_rows / problem.n, problem.field), start)


def leading_eigenvector(problem: Normalised, weight: Vector, start: Vector) -> Vector:
    """Of `sum_i weight_i a_i a_i^T`, scaled to unit variance; the start where all directions are alike."""
    n, dtype = problem.n, problem.field.x

    def apply(x: Vector) -> Vector:
        return problem.adjoint(weight * problem.forward(x.ravel()))  # type: ignore[no-any-return]

    if n <= TOO_FEW:
        columns = np.stack([apply(unit) for unit in np.eye(n, dtype=dtype)], axis=1)
        return np.asarray(np.linalg.eigh(columns)[1][:, -1] * np.sqrt(n))
    operator, first = LinearOperator((n, n), matvec=apply, dtype=dtype), random_in(dtype, start)
    try:
        _, vectors = eigsh(operator, k=1, which="LA", v0=first, tol=1e-6)
    except ArpackError:  # as when all magnitudes are equal, and tell nothing
        return np.asarray(first)
    return np.asarray(vectors[:, 0] * np.sqrt(n))

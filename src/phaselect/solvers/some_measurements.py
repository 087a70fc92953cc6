"""A lattice of some of the measurements, where there are more than it needs: which ones, and what they say of the rest.

The time that a reduction takes grows with a high power of their number.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from phaselect.backends.interface import Vector
from phaselect.equations.signs import signs_of
from phaselect.problem.normalised import Normalised
from phaselect.solvers.finish import at_once


def some_measurements(problem: Normalised, count: int) -> NDArray[np.bool_]:
    """Which so many: those that fix x best, and of the others again those that do; copies of rows come late."""
    if count >= problem.m_rows:
        return np.ones(problem.m_rows, dtype=bool)
    A, chosen = problem.dense()[0], np.zeros(problem.m_rows, dtype=bool)
    while (missing := count - int(chosen.sum())) > 0:
        others = np.flatnonzero(~chosen)
        best = qr(A[others].T, mode="r", pivoting=True)[-1][: problem.n]
        chosen[others[best[:missing]]] = True
    return chosen


def signs_of_all(problem: Normalised, chosen: NDArray[np.bool_], signs: Vector) -> Vector:
    """What follows from each row of signs, of those chosen, for the signs of all; what fits best comes first."""
    if chosen.all():
        return signs
    A, y = problem.dense()
    z = at_once(A[chosen], signs * y[chosen]) @ A.T
    every = signs_of(z)
    every[:, chosen] = signs
    left: Vector = np.linalg.norm(every * y - z, axis=1)
    return np.asarray(every[np.argsort(left, kind="stable")])

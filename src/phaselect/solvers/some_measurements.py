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


def some_measurements(problem: Normalised, count: int, order: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which so many: those that fix x best, and then those that come first in this order."""
    chosen = np.ones(problem.m_rows, dtype=bool)
    if count < problem.m_rows:
        fixing = qr(problem.dense()[0].T, mode="r", pivoting=True)[-1][: problem.n]
        others = order[~np.isin(order, fixing)]
        chosen[others[count - problem.n :]] = False
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

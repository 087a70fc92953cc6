"""The nonzero entries of a matrix in memory, as a list."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from phaselect.backends.interface import Vector
from phaselect.equations.belief_iteration import Nonzeros


def nonzeros_of(A: Any, scale: Vector) -> Nonzeros:
    """Of the rows times scale of a sparse matrix of SciPy's, by rows."""
    rows, columns = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr)), A.indices

    def summed(place: Any, count: int, entries: Vector) -> Vector:
        return np.asarray(np.bincount(place, entries, count), dtype=np.float64)

    return Nonzeros(
        values=scale[rows] * A.data,
        in_rows=lambda of_rows: of_rows[rows],
        in_columns=lambda of_columns: of_columns[columns],
        over_rows=partial(summed, rows, A.shape[0]),
        over_columns=partial(summed, columns, A.shape[1]),
    )

"""A in memory through its products with vectors.

It is given as a `scipy.sparse.linalg.LinearOperator`, or as a pair of functions (x -> A x, z -> A^T z): only message
passing and least squares can work with it, since the other solvers begin with the SVD of the entries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.host.in_memory import ACCURACY, InMemory, Stack
from phaselect.backends.host.ridge import SpectralRidge
from phaselect.backends.interface import Vector
from phaselect.base.errors import InputError
from phaselect.equations.arrays import inner, squared
from phaselect.equations.fields import REAL, Field, field_of
from phaselect.equations.signs import random_in

ENTRIES_LIMIT = 2000
"""Up to so many columns the entries of an operator are computed, where they are needed, one column at a time."""


@dataclass(frozen=True, eq=False)
class Operator(InMemory):
    """A through its products with vectors."""

    forward: Callable[[Vector], Any]
    adjoint: Callable[[Vector], Any]
    shape: tuple[int, int]
    field: Field = REAL
    _kept: dict[str, SpectralRidge] = dataclass_field(default_factory=dict, repr=False)

    accuracy = ACCURACY._replace(handover=1e-6)  # products are dear, and least squares mends the last signs

    def measure(self, x: Stack) -> Stack:
        """`A x`, one product for each of a stack."""
        if x.ndim > 1:
            return np.stack([self.measure(one) for one in x])
        return _product(self.forward, x, self.shape[0], "A x", self.field.z)

    def backproject(self, z: Stack) -> Stack:
        """`A^T z`."""
        if z.ndim > 1:
            return np.stack([self.backproject(one) for one in z])
        return np.asarray(self.field.of_x(_product(self.adjoint, z, self.shape[1], "A^T z", self.field.z)))

    def apply_magnitudes(self, x: Vector) -> Vector:
        """An estimate, from the mean norm of the rows; of the order of `|A| |x|` where entries are even."""
        return np.asarray(np.sqrt(self._powers) * np.linalg.norm(x))

    @cached_property
    def _powers(self) -> Vector:
        return self.row_powers()

    def row_powers(self) -> Vector:
        """The mean squared norm in every place: exact for few columns, else from the images of random vectors.

        `E |A r|^2 = |A|^2` for entries of r of unit variance; with k vectors it is known to about `sqrt(2/(k N))`, 1 %
        at N = 256, of which there are 64, and better where N is larger, down to 4 of them.
        """
        rows, columns = self.shape
        count = int(np.clip(100_000 // columns, 4, 64))
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (count, columns)) / np.sqrt(count)
        probes = np.eye(columns) if columns <= 256 else signs
        with np.errstate(over="ignore"):  # an instance refuses what is infinite
            total = float(sum(np.sum(squared(self.measure(probe))) for probe in probes))
        return np.full(rows, total / rows)

    def density(self) -> float:
        """Not known: rows that are looked at must tell."""
        return 1.0

    def some_rows(self, which: NDArray[np.int64]) -> Vector:
        """Some of its rows, by products."""
        return np.stack([self.backproject(np.eye(1, self.shape[0], int(i))[0]) for i in which])

    def empty_column(self) -> int | None:
        """Not looked for."""
        return None

    @property
    def has_entries(self) -> bool:
        """If there are few columns."""
        return self.shape[1] <= ENTRIES_LIMIT

    def rows_kept(self, kept: NDArray[np.bool_]) -> Operator:
        """Rows of zeros are not looked for: never asked."""
        raise NotImplementedError

    def entries(self) -> NDArray[Any]:
        """The entries, column by column, if there are few."""
        if not self.has_entries:
            raise InputError(
                f"A is an operator with {self.shape[1]} columns, and this needs its entries: use AMP, or give an array"
            )
        return np.column_stack([self.measure(unit) for unit in np.eye(self.shape[1])])


def operator(A: Any, rows: int, real: bool = False) -> Operator:
    """The operator with its shape, once it has been seen that the two products belong to one matrix."""
    if isinstance(A, tuple | list):
        forward, adjoint = A
        shape = (rows, np.size(_tried(adjoint, np.zeros(rows), "A^T z")))
    else:
        forward, adjoint, shape = A.matvec, A.rmatvec, (int(A.shape[0]), int(A.shape[1]))
    rng = np.random.default_rng(0)
    x, z = rng.standard_normal(shape[1]), rng.standard_normal(shape[0])
    with np.errstate(over="ignore", invalid="ignore"):  # is told below, as not finite
        declared = getattr(A, "dtype", None)
        seen = np.asarray(_tried(forward, x, "A x")).dtype
        own = field_of(declared if declared is not None and np.dtype(declared).kind == "c" else seen, real)
        found, x, z = Operator(forward, adjoint, shape, own), random_in(own.x, x), random_in(own.z, z)
        image, back = found.measure(x), found.backproject(z)
    unit = np.abs(image).max() or 1.0  # squares of the products may not fit into float64
    image, back = image / unit, back / unit
    if abs(inner(z, image) - inner(back, x)) > 1e-4 * np.linalg.norm(image) * np.linalg.norm(z):
        name = "A^T" if own == REAL else "A^H"
        raise InputError(f"A: the two products are not of one matrix: (A x) . z differs from x . ({name} z)")
    return found


def _product(function: Callable[[Vector], Any], vector: Vector, length: int, name: str, dtype: str) -> Vector:
    result = np.asarray(_tried(function, vector, name))
    if result.dtype.kind == "c" and dtype == "float64":
        raise InputError(f"{name} is complex for a real vector, and was real for another one")
    if result.dtype.kind not in "fiubc":
        raise InputError(f"{name} has dtype {result.dtype}: the function must return numbers")
    result = np.asarray(result, dtype=dtype).reshape(-1)
    if result.size != length:
        raise InputError(f"{name} has {result.size} entries: it must have {length}")
    if not np.isfinite(result).all():
        raise InputError(f"{name} is not finite for a finite vector")
    return result


def _tried(function: Callable[[Vector], Any], vector: Vector, name: str) -> Any:
    """What the function returns; what goes wrong in it, in one line."""
    try:
        return function(vector)
    except InputError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{name} failed for a vector of {vector.size}: {type(error).__name__}: {reason}") from error

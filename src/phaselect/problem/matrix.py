"""What A may be: an array in memory, a linear operator, an array on a device. Solvers see one interface.

An operator is a `scipy.sparse.linalg.LinearOperator`, a sparse matrix, or a pair of functions (x -> A x, z -> A^T z):
only message passing and least squares can work with it, since the other solvers begin with the SVD of the entries. An
array of JAX stays on its device, or devices: see phaselect.devices.matrix.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from phaselect.base.errors import InputError

Vector = NDArray[np.float64]

BLOCK_ROWS = 4096
ENTRIES_LIMIT = 2000
"""Up to so many columns the entries of an operator are computed, where they are needed, one column at a time."""


class Matrix(Protocol):
    """A as the solvers use it; vectors are NumPy's, in float64."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    @property
    def on_device(self) -> bool:
        """Do passes over A run on a device, as JAX programs?"""

    @property
    def on_gpu(self) -> bool:
        """Is that device a GPU?"""

    @property
    def processes(self) -> int:
        """How many processes share A."""

    def measure(self, x: Vector) -> Vector:
        """`A x`."""

    def backproject(self, z: Vector) -> Vector:
        """`A^T z`."""

    def squared_norm(self) -> float:
        """Sum of the squared entries."""

    def empty_column(self) -> int | None:
        """The first column of zeros, if there is one and it can be told."""

    def entries(self) -> NDArray[Any]:
        """The entries, as an array in memory."""

    @property
    def has_entries(self) -> bool:
        """Can they be had?"""


@dataclass(frozen=True, eq=False)
class Dense:
    """An array in memory, float32 or float64."""

    A: NDArray[Any]
    on_device = on_gpu = False
    has_entries = True
    processes = 1

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.A.shape[0], self.A.shape[1]

    def measure(self, x: Vector) -> Vector:
        """`A x` in float64."""
        return np.concatenate([block @ x for block in self._float64_blocks()])

    def backproject(self, z: Vector) -> Vector:
        """`A^T z` in float64."""
        edges = np.arange(BLOCK_ROWS, self.shape[0], BLOCK_ROWS)
        parts = zip(self._float64_blocks(), np.split(z, edges), strict=True)
        return np.asarray(sum(block.T @ part for block, part in parts))

    def _float64_blocks(self) -> Iterator[NDArray[np.float64]]:
        """A by blocks of rows, so that a float32 matrix is never copied whole."""
        for start in range(0, self.shape[0], BLOCK_ROWS):
            yield self.A[start : start + BLOCK_ROWS].astype(np.float64, copy=False)

    def squared_norm(self) -> float:
        """Sum of the squared entries."""
        flat = self.A.reshape(-1)
        return float(np.einsum("i,i->", flat, flat, dtype=np.float64))

    def empty_column(self) -> int | None:
        """The first column of zeros."""
        empty = ~self.A.any(axis=0)
        return int(np.argmax(empty)) if empty.any() else None

    def entries(self) -> NDArray[Any]:
        """The array itself."""
        return self.A


@dataclass(frozen=True, eq=False)
class Operator:
    """A through its products with vectors."""

    forward: Callable[[Vector], Any]
    adjoint: Callable[[Vector], Any]
    shape: tuple[int, int]
    on_device = on_gpu = False
    processes = 1

    def measure(self, x: Vector) -> Vector:
        """`A x`."""
        return _product(self.forward, x, self.shape[0], "A x")

    def backproject(self, z: Vector) -> Vector:
        """`A^T z`."""
        return _product(self.adjoint, z, self.shape[1], "A^T z")

    def squared_norm(self) -> float:
        """Sum of the squared entries: exact for few columns, else from the images of random vectors.

        `E |A r|^2 = |A|^2` for entries of r of unit variance; 64 vectors know it to about `sqrt(2/(64 N))`, 1 % at N
        = 256.
        """
        columns = self.shape[1]
        if columns <= 256:
            return float(sum(np.sum(self.measure(unit) ** 2) for unit in np.eye(columns)))
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (64, columns))
        return float(np.mean([np.sum(self.measure(r) ** 2) for r in signs]))

    def empty_column(self) -> int | None:
        """Not looked for."""
        return None

    @property
    def has_entries(self) -> bool:
        """If there are few columns."""
        return self.shape[1] <= ENTRIES_LIMIT

    def entries(self) -> NDArray[np.float64]:
        """The entries, column by column, if there are few."""
        if not self.has_entries:
            raise InputError(
                f"A is an operator with {self.shape[1]} columns, and this needs its entries: use AMP, or give an array"
            )
        return np.column_stack([self.measure(unit) for unit in np.eye(self.shape[1])])


def restricted(matrix: Matrix, rows: NDArray[np.bool_], columns: NDArray[np.bool_]) -> Operator:
    """Some rows and columns of a matrix, through its products."""

    def forward(x: Vector) -> Vector:
        whole = np.zeros(columns.size)
        whole[columns] = x
        return matrix.measure(whole)[rows]

    def adjoint(z: Vector) -> Vector:
        whole = np.zeros(rows.size)
        whole[rows] = z
        return matrix.backproject(whole)[columns]

    return Operator(forward, adjoint, (int(rows.sum()), int(columns.sum())))


def is_operator(A: Any) -> bool:
    """Is A given through its products: a LinearOperator, a sparse matrix or a pair of functions?"""
    pair = isinstance(A, tuple | list) and len(A) == 2 and all(callable(product) for product in A)
    return pair or hasattr(A, "tocsr") or (hasattr(A, "matvec") and hasattr(A, "rmatvec"))


def is_device_array(A: Any) -> bool:
    """Is A an array of JAX? (Asked without importing JAX.)"""
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(A, jax.Array)


def operator(A: Any, rows: int) -> Operator:
    """The operator with its shape, once it has been seen that the two products belong to one matrix."""
    if isinstance(A, tuple | list):
        forward, adjoint = A
        shape = (rows, np.size(_tried(adjoint, np.zeros(rows), "A^T z")))
    elif hasattr(A, "tocsr"):
        forward, adjoint, shape = A.__matmul__, A.T.__matmul__, (int(A.shape[0]), int(A.shape[1]))
    else:
        forward, adjoint, shape = A.matvec, A.rmatvec, (int(A.shape[0]), int(A.shape[1]))
    found = Operator(forward, adjoint, shape)
    rng = np.random.default_rng(0)
    x, z = rng.standard_normal(shape[1]), rng.standard_normal(shape[0])
    image, back = found.measure(x), found.backproject(z)
    if abs(image @ z - x @ back) > 1e-4 * np.linalg.norm(image) * np.linalg.norm(z):
        raise InputError("A: the two products are not of one matrix: (A x) . z differs from x . (A^T z)")
    return found


def _product(function: Callable[[Vector], Any], vector: Vector, length: int, name: str) -> Vector:
    result = np.asarray(_tried(function, vector, name))
    if result.dtype.kind == "c":
        raise InputError(f"{name} is complex: real phase retrieval only")
    if result.dtype.kind not in "fiub":
        raise InputError(f"{name} has dtype {result.dtype}: the function must return real numbers")
    result = np.asarray(result, dtype=np.float64).reshape(-1)
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

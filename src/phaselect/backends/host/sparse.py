"""A in memory, most of its entries zero: products skip those, whether A is a sparse matrix of SciPy's or an array."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.host.by_products import Operator
from phaselect.backends.host.dense import CompiledDense, Dense
from phaselect.backends.host.in_memory import ACCURACY, Stack
from phaselect.backends.host.nonzeros import nonzeros_of
from phaselect.backends.interface import Vector
from phaselect.base.errors import InputError
from phaselect.equations.amp_iteration import Pass
from phaselect.equations.belief_iteration import Nonzeros
from phaselect.equations.fields import REAL_SIGNAL, field_of

FEW = 0.1
"""Share of entries that are not zero below which products that skip zeros are faster."""
MOST_ENTRIES = 1 << 27
"""Up to so many entries, a gigabyte, zeros are written out where that is needed."""
ALL_DIGITS = ACCURACY._replace(exact=1e-17)
"""Least squares goes on until it gains nothing: rows see few unknowns, so that each of these has to be right by itself,
and products are cheap."""


@dataclass(frozen=True, eq=False)
class Sparse(Operator):
    """A sparse matrix of SciPy's: its products, and what its entries tell at no cost."""

    A: Any = None

    accuracy = ALL_DIGITS

    def measure(self, x: Stack) -> Stack:
        """`A x`."""
        return np.asarray(self.forward(x.T).T)

    def backproject(self, z: Stack) -> Stack:
        """`A^T z`."""
        return np.asarray(self.field.of_x(self.adjoint(z.T).T))

    def density(self) -> float:
        """Share of the entries that are stored, and not as zeros."""
        return float(np.count_nonzero(self.A.data) / (self.shape[0] * self.shape[1]))

    def apply_magnitudes(self, x: Vector) -> Vector:
        """`|A| |x|`."""
        return np.asarray(abs(self.A) @ np.abs(x))

    def row_powers(self) -> Vector:
        """Squared norm of each row."""
        return np.asarray(abs(self.A).power(2).sum(axis=1), dtype=np.float64).reshape(-1)

    def empty_column(self) -> int | None:
        """The first column of zeros."""
        empty = np.asarray(abs(self.A).sum(axis=0)).reshape(-1) == 0
        return int(np.argmax(empty)) if empty.any() else None

    def some_rows(self, which: NDArray[np.int64]) -> Vector:
        """Some of its rows."""
        return np.asarray(self.A[which].toarray())

    @property
    def has_entries(self) -> bool:
        """If there are not too many."""
        return self.shape[0] * self.shape[1] <= MOST_ENTRIES

    def entries(self) -> NDArray[Any]:
        """The entries, zeros and all."""
        if not self.has_entries:
            raise InputError(
                f"A is a sparse matrix of {self.shape[0]} x {self.shape[1]}, and this needs its zeros written out, "
                "which would take gigabytes: use BeliefPropagation, or another kind of message passing"
            )
        return np.asarray(self.A.toarray())

    def nonzeros(self, scale: Vector) -> Nonzeros:
        """As they are stored."""
        return nonzeros_of(self.A, scale)

    def __reduce__(self) -> Any:
        """Pickled without its SVD."""
        return sparse, (self.A, self.field == REAL_SIGNAL)

    def rows_kept(self, kept: NDArray[np.bool_]) -> Sparse:
        """Some of the rows."""
        return sparse(self.A[kept], self.field == REAL_SIGNAL)


@dataclass(frozen=True, eq=False)
class MostlyZeros(Dense):
    """An array in memory whose products are those of a sparse copy."""

    accuracy = ALL_DIGITS

    @cached_property
    def _copy(self) -> Sparse:
        from scipy.sparse import csr_array

        return sparse(csr_array(self.A))

    def measure(self, x: Stack) -> Stack:
        """`A x` in float64."""
        return self._copy.measure(x)

    def backproject(self, z: Stack) -> Stack:
        """`A^T z` in float64."""
        return self._copy.backproject(z)

    def apply_magnitudes(self, x: Vector) -> Vector:
        """`|A| |x|`."""
        return self._copy.apply_magnitudes(x)

    def nonzeros(self, scale: Vector) -> Nonzeros:
        """Those of the copy."""
        return self._copy.nonzeros(scale)

    def with_message_pass(
        self, scale: Vector, powers: Vector, y: Vector, close: Any, use: Callable[[Pass], Any]
    ) -> Any:
        """Two products."""
        return self._copy.with_message_pass(scale, powers, y, close, use)

    def rows_kept(self, kept: NDArray[np.bool_]) -> Dense:
        """Some of the rows."""
        return dense(np.ascontiguousarray(self.A[kept]))


def sparse(A: Any, real: bool = False) -> Sparse:
    """A sparse matrix, by rows and in float64; real: is x real, whatever A is?"""
    if A.dtype.kind not in "fiubc":
        raise InputError(f"A has dtype {A.dtype}: give a sparse matrix of numbers")
    own = field_of(A.dtype, real)
    rows = A.tocsr().astype(own.z)
    rows.sum_duplicates()
    if not np.isfinite(rows.data).all():
        raise InputError("A has an entry that is not finite")
    return Sparse(rows.__matmul__, rows.conj().T.tocsr().__matmul__, (int(A.shape[0]), int(A.shape[1])), own, A=rows)


def dense(A: NDArray[Any], real: bool = False) -> Dense:
    """An array in memory, whichever products are faster; real: is x real, whatever A is?"""
    if A.dtype.kind == "c":
        return Dense(A, real)
    return MostlyZeros(A) if np.count_nonzero(A) < FEW * A.size else CompiledDense(A)

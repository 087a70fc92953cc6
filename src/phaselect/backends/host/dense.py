"""A in memory as an array."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.host import loops
from phaselect.backends.host.in_memory import InMemory, Stack
from phaselect.backends.host.passes import amp_pass, residual_pass, row_blocks
from phaselect.backends.host.ridge import SpectralRidge
from phaselect.backends.interface import Vector
from phaselect.base.memory import free_bytes
from phaselect.base.threads import run_parallel
from phaselect.equations.amp_iteration import Pass
from phaselect.equations.arrays import squared
from phaselect.equations.fields import Field, field_of
from phaselect.equations.least_squares import CG_STEPS, GAIN, ConjugateGradients

BLOCK_ROWS, FEW_ROWS = 4096, 64
LARGE = 1 << 21
"""Entries of an A from which least squares goes faster in float32; that takes a copy of a float64 A for its time."""
ROOM = 0.5
"""The part of the free memory that the copy may take."""


@dataclass(frozen=True, eq=False)
class Dense(InMemory):
    """An array in memory, real or complex, in single or double precision; real: is x real, whatever A is?"""

    A: NDArray[Any]
    real: bool = False
    _kept: dict[str, SpectralRidge] = dataclass_field(default_factory=dict, repr=False)

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Rows and columns."""
        return self.A.shape[0], self.A.shape[1]

    @property
    def field(self) -> Field:  # type: ignore[override]
        """Of its entries, and of x."""
        return field_of(self.A.dtype, self.real)

    def measure(self, x: Stack) -> Stack:
        """`A x` in float64."""
        return np.concatenate([x @ block.T for block in self._float64_blocks()], axis=-1)

    def backproject(self, z: Stack) -> Stack:
        """`A^T z` in float64, without a conjugate copy of A."""
        edges = np.arange(BLOCK_ROWS, self.shape[0], BLOCK_ROWS)
        parts = zip(np.split(z.conj(), edges, axis=-1), self._float64_blocks(), strict=True)
        return np.asarray(self.field.of_x(sum(part @ block for part, block in parts).conj()))

    def _float64_blocks(self, rows: int | None = None) -> Iterator[NDArray[Any]]:
        """A by blocks of rows, so that a float32 matrix is never copied whole."""
        rows = rows or BLOCK_ROWS
        for start in range(0, self.shape[0], rows):
            yield self.A[start : start + rows].astype(self.field.z, copy=False)

    @property
    def rounding(self) -> float:  # type: ignore[override]
        """That of its dtype."""
        return float(np.finfo(self.A.dtype).eps)

    def apply_magnitudes(self, x: Vector) -> Vector:
        """`|A| |x|`."""
        return np.concatenate([np.abs(block) @ np.abs(x) for block in self._float64_blocks(FEW_ROWS)])

    def row_powers(self) -> Vector:
        """Squared norm of each row, in float64."""
        return np.concatenate([squared(block).sum(axis=1) for block in self._float64_blocks(FEW_ROWS)])

    def density(self) -> float:
        """Share of the entries that are not zero."""
        return float(np.count_nonzero(self.A) / self.A.size)

    def some_rows(self, which: NDArray[np.int64]) -> Vector:
        """Some of its rows."""
        return np.asarray(self.A[which], dtype=self.field.z)

    def empty_column(self) -> int | None:
        """The first column of zeros."""
        empty = ~self.A.any(axis=0)
        return int(np.argmax(empty)) if empty.any() else None

    def entries(self) -> NDArray[Any]:
        """The array itself."""
        return self.A

    def __reduce__(self) -> Any:
        """Pickled without its SVD."""
        return type(self), (self.A, self.real)

    def rows_kept(self, kept: NDArray[np.bool_]) -> Dense:
        """Some of the rows."""
        return type(self)(np.ascontiguousarray(self.A[kept]), self.real)


@dataclass(frozen=True, eq=False)
class CompiledDense(Dense):
    """An array of real numbers, of which one compiled read does what two products do."""

    def row_powers(self) -> Vector:
        """Squared norm of each row, in float64."""
        return np.asarray(np.einsum("ij,ij->i", self.A, self.A, dtype=np.float64))

    def with_message_pass(
        self, scale: Vector, powers: Vector, y: Vector, close: Any, use: Callable[[Pass], Any]
    ) -> Any:
        """One compiled read of A."""
        return use(partial(amp_pass, self.A, scale, powers * np.ones_like(scale), y))

    def _look(self, scale: Vector, x: Stack, target: Stack) -> tuple[Stack, Stack]:
        """One compiled read of A."""
        return residual_pass(self.A, scale, x, target)

    def _corrections(self, scale: Vector) -> tuple[Any, ...]:
        """In float32 first, if A is large: half the bytes of float64, and iterative refinement keeps the digits."""
        fine = super()._corrections(scale)
        copied = self.A.dtype == np.float64
        if self.A.size < LARGE or (copied and self.A.nbytes / 2 > ROOM * free_bytes()):
            return fine
        copy = cache(lambda: (_float32_rows(self.A, scale), np.ones_like(scale)) if copied else (self.A, scale))

        def look(x: Stack, target: Stack) -> tuple[Stack, Stack]:
            return residual_pass(*copy(), x, target)  # type: ignore[call-arg]

        return ConjugateGradients(self._normal(look), "float32", GAIN["float32"], CG_STEPS, loops), *fine


def _float32_rows(A: NDArray[Any], scale: Vector) -> NDArray[np.float32]:
    """A copy of the rows of A times scale."""
    copy = np.empty(A.shape, np.float32)

    def fill(rows: slice) -> None:
        for start in range(rows.start, rows.stop, FEW_ROWS):
            some = slice(start, min(start + FEW_ROWS, rows.stop))
            np.multiply(A[some], scale[some, None], out=copy[some], casting="same_kind")

    run_parallel(fill, row_blocks(A))
    return copy

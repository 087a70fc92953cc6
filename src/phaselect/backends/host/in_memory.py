"""A in memory: an array, or its products with vectors.

An operator is a `scipy.sparse.linalg.LinearOperator`, or a pair of functions (x -> A x, z -> A^T z):
only message passing and least squares can work with it, since the other solvers begin with the SVD of the entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.host import loops, random
from phaselect.backends.host.nonzeros import nonzeros_of
from phaselect.backends.host.passes import amp_pass, residual_pass, row_blocks
from phaselect.backends.host.ridge import NodeBySpectrum, SpectralRidge, decompose
from phaselect.backends.interface import Accuracy, Vector
from phaselect.base.errors import InputError
from phaselect.base.memory import free_bytes
from phaselect.base.threads import run_parallel
from phaselect.equations.amp_iteration import Pass, pass_by_products
from phaselect.equations.arrays import inner, squared
from phaselect.equations.belief_iteration import Nonzeros
from phaselect.equations.fields import REAL, Field, field_of
from phaselect.equations.gaussian_node import GaussianNode, NodeByGradients
from phaselect.equations.least_squares import GAIN, ConjugateGradients, Linear
from phaselect.equations.signs import random_in

BLOCK_ROWS, FEW_ROWS = 4096, 64
ENTRIES_LIMIT = 2000
"""Up to so many columns the entries of an operator are computed, where they are needed, one column at a time."""
ACCURACY = Accuracy(exact=1e-15, ties=1e-8, null=1e-5, handover=1e-10)
"""In float64. An unlucky pair of points hides a null direction with probability 1e-5."""
LARGE = 1 << 21
"""Entries of an A from which least squares goes faster in float32; that takes a copy of a float64 A for its time."""
ROOM = 0.5
"""The part of the free memory that the copy may take."""
WORTH_AN_SVD = 5e10
"""M N min(M, N) up to which an SVD takes seconds."""
CG_STEPS = 1000
"""In float32: what takes more is not for float32."""


Stack = NDArray[Any]
"""A vector, or several, one per row."""


class InMemory:
    """What both kinds share."""

    field = REAL
    loops = loops
    random = random
    on_device = on_gpu = False
    processes = 1
    solves_directly = False
    accuracy = ACCURACY
    rounding = float(np.finfo(np.float64).eps)

    shape: tuple[int, int]

    @property
    def has_entries(self) -> bool:
        """Can they be had?"""
        return True

    measure: Callable[[Stack], Stack]
    backproject: Callable[[Stack], Stack]
    entries: Callable[[], NDArray[Any]]
    _kept: dict[str, SpectralRidge]

    @property
    def ready(self) -> InMemory:
        """Itself."""
        return self

    rough = ready

    @property
    def in_memory(self) -> InMemory:
        """Itself."""
        return self

    def prepared(self, scale: Vector) -> tuple[InMemory, Vector]:
        """Itself; kernels are compiled for vectors that take memory."""
        return self, np.ascontiguousarray(scale)

    def placed(self, vector: Vector) -> Vector:
        """Itself."""
        return vector

    def apply(self, x: Stack) -> Stack:
        """`A x` in float64."""
        return self.measure(x)

    def apply_transposed(self, z: Stack, spare: bool = False) -> Stack:
        """`A^T z` in float64."""
        return self.backproject(z)

    @property
    def decomposed(self) -> bool:
        """Has the SVD been computed?"""
        return "ridge" in self._kept

    @property
    def known_condition(self) -> float | None:
        """By the SVD, if it has been computed."""
        return self._kept["ridge"].condition if self.decomposed else None

    def ridge(self, scale: Vector, y: Vector, x0: Vector) -> SpectralRidge:
        """By an SVD, computed once and kept, as long as it is asked for with the same weights and data."""
        kept = self._kept.get("ridge")
        if kept is None or not (np.array_equal(kept.scale, scale) and np.array_equal(kept.y, y)):
            adjoint = lambda z: self.backproject(scale * z)  # noqa: E731
            kept = decompose(self.entries(), scale, y, x0, lambda x: scale * self.measure(x), adjoint, self.field)
            self._kept["ridge"] = kept
        return kept

    def linear(self, scale: Vector) -> Linear:
        """Corrected by the SVD, if there is one, and by conjugate gradients."""
        correct, kept = self._corrections(scale), self._kept.get("ridge")
        if kept is not None and np.array_equal(kept.scale, scale):
            regression = kept.at(0.0)
            correct = (lambda residual, slope, enough, spectrum: (regression.estimate(residual), spectrum), *correct)
        return self._linear(scale, correct)

    def _linear(self, scale: Vector, correct: tuple[Any, ...]) -> Linear:
        look, forward = partial(self._look, scale), lambda x: scale * self.measure(x)
        return Linear(look, forward, lambda z: self.backproject(scale * z), correct, loops)

    def gaussian_node(self, scale: Vector, y: Vector, x0: Vector) -> GaussianNode:
        """By the SVD, if there is one or if it can be had within seconds; else by conjugate gradients."""
        rows, columns = self.shape
        if self.decomposed or (self.has_entries and rows * columns * min(rows, columns) <= WORTH_AN_SVD):
            return NodeBySpectrum(self.ridge(scale, y, x0))
        return NodeByGradients(self._linear(scale, self._corrections(scale)), self.field)

    def with_message_pass(
        self, scale: Vector, powers: Vector, y: Vector, close: Any, use: Callable[[Pass], Any]
    ) -> Any:
        """Two products."""
        forward, adjoint = lambda x: scale * self.measure(x), lambda z: self.backproject(scale * z)
        return use(pass_by_products(forward, adjoint, y, powers))

    def nonzeros(self, scale: Vector) -> Nonzeros:
        """Found among all entries."""
        from scipy.sparse import csr_array

        return nonzeros_of(csr_array(self.entries()), scale)

    def _look(self, scale: Vector, x: Stack, target: Stack) -> tuple[Stack, Stack]:
        """`A x` and `A^T (target - A x)`: two products."""
        z = scale * self.measure(x)
        return z, self.backproject(scale * (target - z))

    def _corrections(self, scale: Vector) -> tuple[Any, ...]:
        """In float64."""
        normal = self._normal(partial(self._look, scale))
        return (ConjugateGradients(normal, self.field.x, GAIN["float64"], 2 * self.shape[1], loops),)

    def _normal(self, look: Callable[[Stack, Stack], tuple[Stack, Stack]]) -> Callable[[Stack, Any], Stack]:
        """`A^T A p` of some of a stack."""

        def normal(p: Stack, on: NDArray[np.bool_]) -> Stack:
            image = np.zeros_like(p)
            image[on] = -look(p[on], np.zeros((on.sum(), self.shape[0]), p.dtype))[1]
            return image

        return normal

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """As it is."""
        return function


@dataclass(frozen=True, eq=False)
class Dense(InMemory):
    """An array in memory, float32 or float64."""

    A: NDArray[Any]
    _kept: dict[str, SpectralRidge] = dataclass_field(default_factory=dict, repr=False)

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Rows and columns."""
        return self.A.shape[0], self.A.shape[1]

    def measure(self, x: Stack) -> Stack:
        """`A x` in float64."""
        return np.concatenate([x @ block.T for block in self._float64_blocks()], axis=-1)

    def backproject(self, z: Stack) -> Stack:
        """`A^T z` in float64."""
        edges = np.arange(BLOCK_ROWS, self.shape[0], BLOCK_ROWS)
        parts = zip(np.split(z, edges, axis=-1), self._float64_blocks(), strict=True)
        return np.asarray(sum(part @ block for part, block in parts))

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
        return np.asarray(np.einsum("ij,ij->i", self.A, self.A, dtype=np.float64))

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
        return Dense, (self.A,)

    def rows_kept(self, kept: NDArray[np.bool_]) -> Dense:
        """Some of the rows."""
        return Dense(np.ascontiguousarray(self.A[kept]))

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


@dataclass(frozen=True, eq=False)
class ComplexDense(Dense):
    """An array of complex numbers in memory; real: is x real?"""

    real: bool = False

    @property
    def field(self) -> Field:  # type: ignore[override]
        """Of its entries, and of x."""
        return field_of(self.A.dtype, self.real)

    def backproject(self, z: Stack) -> Stack:
        """`A^T z`, without a conjugate copy of A."""
        return np.asarray(self.field.of_x(super().backproject(z.conj()).conj()))

    def row_powers(self) -> Vector:
        """Squared norm of each row, in float64."""
        return np.concatenate([squared(block).sum(axis=1) for block in self._float64_blocks(FEW_ROWS)])

    with_message_pass = InMemory.with_message_pass
    _look = InMemory._look
    _corrections = InMemory._corrections

    def __reduce__(self) -> Any:
        """Pickled without its SVD."""
        return partial(ComplexDense, real=self.real), (self.A,)

    def rows_kept(self, kept: NDArray[np.bool_]) -> ComplexDense:
        """Some of the rows."""
        return ComplexDense(np.ascontiguousarray(self.A[kept]), real=self.real)


def _float32_rows(A: NDArray[Any], scale: Vector) -> NDArray[np.float32]:
    """A copy of the rows of A times scale."""
    copy = np.empty(A.shape, np.float32)

    def fill(rows: slice) -> None:
        for start in range(rows.start, rows.stop, FEW_ROWS):
            some = slice(start, min(start + FEW_ROWS, rows.stop))
            np.multiply(A[some], scale[some, None], out=copy[some], casting="same_kind")

    run_parallel(fill, row_blocks(A))
    return copy


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

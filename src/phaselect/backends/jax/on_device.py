"""A on a device, or by rows on several: the products, and a half-precision copy.

The half-precision copy takes half a read where A takes a whole one, and message passing cannot tell the difference
until the last digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from phaselect.backends.host.dense import Dense
from phaselect.backends.host.sparse import dense
from phaselect.backends.interface import Accuracy, Vector
from phaselect.backends.jax import loops, random
from phaselect.backends.jax.devices import MARGIN, NO_TUNING, free_bytes, on, out_of_memory, too_large
from phaselect.backends.jax.products import Copy, adjoint, forward, precision_like, product
from phaselect.backends.jax.ridge import CholeskyRidge
from phaselect.base.errors import InputError
from phaselect.equations.amp_iteration import Pass, pass_by_products
from phaselect.equations.arrays import Array, is_complex, squared
from phaselect.equations.belief_iteration import Nonzeros
from phaselect.equations.fields import Field, field_of
from phaselect.equations.gaussian_node import NodeByGradients
from phaselect.equations.least_squares import CG_STEPS, GAIN, ConjugateGradients, Linear

WORTH_A_COPY = {"gpu": 64 << 20}
"""Bytes of a float32 A from which reading a half-precision copy instead saves time; on a CPU it never does."""
SMALL = 1e4
"""Largest entry over the root mean square up to which half precision has room for all."""
EVEN = 64
"""Rows of the copy come in multiples of this: matrix units take others several times as long."""


@partial(jax.tree_util.register_dataclass, data_fields=["A", "half"], meta_fields=["rows", "real"])
@dataclass(frozen=True, eq=False)
class DeviceMatrix:
    """An array of JAX; `rows` of it count, what follows is padding that makes it divide among devices.

    half: a copy in half precision, where there is one. In a program A may be an array that is being traced.
    """

    A: Any
    rows: int
    half: Copy | None = None
    real: bool = False  # is x real, whatever A is?
    loops = loops
    random = random
    on_device = has_entries = True
    decomposed = solves_directly = False
    known_condition = None

    @property
    def field(self) -> Field:
        """Of its entries, and of x."""
        return field_of(self.A.dtype, self.real)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.rows, int(self.A.shape[-1])

    @property
    def on_gpu(self) -> bool:
        """Is it on GPUs?"""
        return bool(self.device.platform == "gpu")

    @property
    def processes(self) -> int:
        """How many processes share A."""
        return len({device.process_index for device in self.A.sharding.device_set})

    @property
    def device(self) -> Any:
        """The first device of this process that holds a part."""
        return self.A.addressable_shards[0].device

    @property
    def accuracy(self) -> Accuracy:
        """Tolerances that least squares reaches in this dtype.

        An unlucky pair of points hides a null direction with probability 6e-4. With a half-precision copy least squares
        takes over early, and mends many signs at once.
        """
        exact = 1e-15 if self.A.dtype in ("float64", "complex128") else 1e-11
        return Accuracy(exact, ties=1e-8, null=1e-3, handover=1e-10 if self.half is None else 1e-6)

    @property
    def rounding(self) -> float:
        """That of its dtype."""
        return float(jnp.finfo(self.A.dtype).eps)

    # In a program

    def apply(self, x: Array) -> Array:
        """`A x` in float64."""
        return forward(self.A, x, self.field.z)[..., : self.rows]

    def apply_transposed(self, z: Array, spare: bool = False) -> Array:
        """`A^T z` in float64."""
        return self.field.of_x(adjoint(self.A, self._padded(z, self.A), self.field.z))

    def density(self) -> Array:
        """Share of the entries that are not zero."""
        return (self.A[: self.rows] != 0).mean(dtype="float64")

    def some_rows(self, which: Array) -> Array:
        """Some of its rows."""
        return self.A[which].astype(self.field.z)

    def apply_magnitudes(self, x: Array) -> Array:
        """`|A| |x|` in float64."""
        return forward(abs(self.A), abs(x), "float64")[: self.rows]

    def with_message_pass(self, scale: Array, powers: Array, y: Array, close: Array, use: Callable[[Pass], Any]) -> Any:
        """Two products; with the copy, if there is one, as long as its digits are good enough."""
        exact = self._pass(Copy(self.A), scale, powers, y)
        if self.half is None:
            return use(exact)
        rough = self._pass(self.half, scale, powers, y)
        return loops.branch(close, lambda: use(exact), lambda: use(rough))

    def _pass(self, copy: Copy, scale: Array, powers: Array, y: Array) -> Pass:
        own = scale * copy.scale
        return pass_by_products(
            lambda x: own * forward(copy.A, x)[: self.rows].astype(self.field.z),
            lambda z: self.field.of_x(adjoint(copy.A, self._padded(own * z, copy.A)).astype(self.field.z)),
            y,
            powers,
        )

    def linear(self, scale: Array) -> Linear:
        """Corrected by conjugate gradients: on the copy, if there is one, and then on A itself."""

        def look(x: Array, target: Array) -> tuple[Array, Array]:
            z = scale * self.apply(x)
            return z, self.apply_transposed(scale * (target - z))

        copies = [Copy(self.A)] if self.half is None else [self.half, Copy(self.A)]
        correct: Any = tuple(self._gradients(copy, scale) for copy in copies)
        return Linear(look, lambda x: scale * self.apply(x), lambda z: self.apply_transposed(scale * z), correct, loops)

    def _gradients(self, copy: Copy, scale: Array) -> ConjugateGradients:
        """In single precision at least."""
        dtype = precision_like(copy.A, self.field.x)
        weights = self._padded((scale * copy.scale) ** 2, copy.A).astype(precision_like(copy.A, "float64"))

        def normal(p: Array, on: Array) -> Array:
            return self.field.of_x(adjoint(copy.A, weights * forward(copy.A, p)))

        return ConjugateGradients(normal, dtype, GAIN[str(copy.A.dtype)], CG_STEPS, loops)

    def gaussian_node(self, scale: Array, y: Array, x0: Array) -> NodeByGradients:
        """By conjugate gradients."""
        return NodeByGradients(self.linear(scale), self.field)

    def nonzeros(self, scale: Array) -> Nonzeros:
        """All entries, in their places."""
        return Nonzeros(
            values=scale[:, None] * self.A[: self.rows],
            in_rows=lambda of_rows: of_rows[:, None],
            in_columns=lambda of_columns: of_columns,
            over_rows=lambda entries: entries.sum(axis=1),
            over_columns=lambda entries: entries.sum(axis=0),
        )

    def ridge(self, scale: Array, y: Array, x0: Array) -> CholeskyRidge:
        """By Cholesky factors."""
        B = scale[:, None] * self.A[: self.rows].astype("float64")
        return CholeskyRidge(B, product(B.T, B), y, x0, self.A.dtype)

    def _padded(self, z: Array, A: Array) -> Array:
        """Vectors with an entry per row, continued with zeros to the rows of A or of its copy."""
        return jnp.pad(z, [(0, 0)] * (z.ndim - 1) + [(0, A.shape[0] - self.rows)])

    # By itself

    def measure(self, x: Vector) -> Vector:
        """`A x` in float64."""
        return np.array(self.compiled(DeviceMatrix.apply)(self, x))

    def backproject(self, z: Vector) -> Vector:
        """`A^T z` in float64."""
        return np.array(self.compiled(DeviceMatrix.apply_transposed)(self, z))

    def row_powers(self) -> Vector:
        """Squared norm of each row."""
        return self._powers[0][: self.rows]

    def empty_column(self) -> int | None:
        """The first column of zeros."""
        empty = self._powers[1] == 0
        return int(np.argmax(empty)) if empty.any() else None

    def padding_is_empty(self) -> bool:
        """Are the rows that do not count all zeros?"""
        return not self._powers[0][self.rows :].any()

    def entries(self) -> NDArray[Any]:
        """A copy in memory."""
        return np.array(self.A)[: self.rows]

    def rows_kept(self, kept: NDArray[np.bool_]) -> DeviceMatrix:
        """Some of the rows, on the first device."""
        if len(self.A.sharding.device_set) > 1:
            raise InputError("A has rows of zeros, and is shared by several devices: drop them first")
        with on(None):
            return DeviceMatrix(self.A[: self.rows][kept], int(kept.sum()), real=self.real)

    def prepared(self, scale: Vector) -> tuple[DeviceMatrix, Vector]:
        """Itself."""
        return self, scale

    def placed(self, vector: Vector) -> Vector:
        """Itself: it is short beside A, and devices may share A."""
        return vector

    @cached_property
    def in_memory(self) -> Dense:
        """A copy in memory."""
        return dense(self.entries(), self.real)

    @cached_property
    def _powers(self) -> list[Vector]:
        """Squared norms of rows and columns, and the largest entry."""
        return [np.asarray(one) for one in self.compiled(_powers)(self.A)]

    @property
    def rough(self) -> DeviceMatrix:
        """Itself: vectors are short beside A, and have all digits."""
        return self

    @cached_property
    def ready(self) -> DeviceMatrix:
        """With a copy in half precision, if that pays and fits."""
        rms = np.sqrt(self._powers[0].sum() / (self.rows * self.A.shape[1]))
        large = self.A.nbytes >= WORTH_A_COPY.get(self.device.platform, np.inf)
        worth = large and self.A.dtype == "float32" and float(self._powers[2]) < SMALL * rms
        each = self.A.nbytes / 2 / len(self.A.sharding.device_set)
        if not worth or self.processes > 1 or each > MARGIN * free_bytes(self.device):  # processes must decide alike
            return self
        padding = -self.A.shape[0] % EVEN if len(self.A.sharding.device_set) == 1 else 0  # else rows would move

        def shrink(A: Array) -> Array:
            return jnp.pad((A * np.float32(1 / rms)).astype("float16"), ((0, padding), (0, 0)))

        with on(None):
            return replace(self, half=Copy(jax.jit(shrink, compiler_options=NO_TUNING)(self.A), np.float32(rms)))

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A program with A among its arguments, whose results are whole on every device."""
        return compiled(function, self._everywhere, self.A.nbytes, self.device)

    @cached_property
    def _everywhere(self) -> Any:
        sharding = self.A.sharding
        return jax.NamedSharding(sharding.mesh, jax.P()) if isinstance(sharding, jax.NamedSharding) else None


def compiled(function: Callable[..., Any], everywhere: Any, nbytes: int, device: Any) -> Callable[..., Any]:
    """A program, compiled once, that tells in one line if there is no room for working with A."""
    program = _compiled(function, everywhere)

    def run(*arguments: Any) -> Any:
        try:
            with on(None):
                return jax.block_until_ready(program(*arguments))
        except RuntimeError as error:
            if not out_of_memory(error):
                raise
            raise too_large("working with A", nbytes, device) from None

    return run


@cache
def _compiled(function: Callable[..., Any], everywhere: Any) -> Callable[..., Any]:
    return jax.jit(function, out_shardings=everywhere, compiler_options=NO_TUNING)  # type: ignore[no-any-return]


def _powers(A: Array) -> Any:
    squares = squared(A.astype("complex128" if is_complex(A) else "float64"))
    return squares.sum(axis=1), squares.sum(axis=0), abs(A).max()

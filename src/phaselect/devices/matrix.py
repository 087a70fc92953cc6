"""A on a device, or by rows on several: the products, a half-precision copy, and the way there.

Vectors go to the device and come back as NumPy's, the same on every process: A is what is large. The half-precision
copy takes half a read where A takes a whole one, and message passing cannot tell the difference until the last
digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from phaselect.base.errors import InputError
from phaselect.devices.backend import (
    MARGIN,
    NO_TUNING,
    checked_dtype,
    devices,
    free_bytes,
    on,
    out_of_memory,
    too_large,
)
from phaselect.devices.products import Copy, adjoint, forward
from phaselect.problem.matrix import Vector

WORTH_A_COPY = {"gpu": 64 << 20}
"""Bytes of a float32 A from which reading a half-precision copy instead saves time; on a CPU it never does."""
SMALL = 1e4
"""Largest entry over the root mean square up to which half precision has room for all."""


@dataclass(frozen=True, eq=False)
class DeviceMatrix:
    """An array of JAX; `rows` of it count, what follows is padding that makes it divide among devices."""

    A: Any
    rows: int
    on_device = True
    has_entries = True

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.rows, int(self.A.shape[1])

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

    def measure(self, x: Vector) -> Vector:
        """`A x` in float64."""
        with on(None):
            return np.array(self.compiled(_measure)(self.A, x))[: self.rows]

    def backproject(self, z: Vector) -> Vector:
        """`A^T z` in float64."""
        with on(None):
            return np.array(self.compiled(_backproject)(self.A, self.padded(z)))

    def squared_norm(self) -> float:
        """Sum of the squared entries."""
        return float(self._sums[0])

    def empty_column(self) -> int | None:
        """The first column of zeros."""
        empty = np.asarray(self._sums[1]) == 0
        return int(np.argmax(empty)) if empty.any() else None

    def entries(self) -> NDArray[Any]:
        """A copy in memory."""
        return np.array(self.A)[: self.rows]

    @cached_property
    def copy(self) -> Copy:
        """What to iterate with: a copy in half precision, if that pays and fits; else A itself."""
        rms = np.sqrt(self.squared_norm() / (self.rows * self.A.shape[1]))
        large = self.A.nbytes >= WORTH_A_COPY.get(self.device.platform, np.inf)
        worth = large and self.A.dtype == "float32" and float(self._sums[2]) < SMALL * rms
        each = self.A.nbytes / 2 / len(self.A.sharding.device_set)
        if not worth or self.processes > 1 or each > MARGIN * free_bytes(self.device):  # processes must decide alike
            return Copy(self.A)
        with on(None):
            shrink = jax.jit(lambda A: (A * np.float32(1 / rms)).astype("float16"), compiler_options=NO_TUNING)
            return Copy(shrink(self.A), float(rms))

    def padding_is_empty(self) -> bool:
        """Are the rows that do not count all zeros?"""
        outside = np.arange(self.A.shape[0]) >= self.rows
        with on(None):
            return float(self.compiled(_squares_in)(self.A, outside)) == 0

    def padded(self, z: Vector) -> Vector:
        """A vector with an entry a row, continued with zeros."""
        return np.concatenate([z, np.zeros(self.A.shape[0] - self.rows)])

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A program with A among its arguments, whose results are whole on every device."""
        program = _compiled(function, self._everywhere)

        def run(*arguments: Any) -> Any:
            try:
                return jax.block_until_ready(program(*arguments))
            except RuntimeError as error:
                if not out_of_memory(error):
                    raise
                raise too_large("working with A", self.A.nbytes, self.device) from None

        return run

    @cached_property
    def _everywhere(self) -> Any:
        sharding = self.A.sharding
        return jax.NamedSharding(sharding.mesh, jax.P()) if isinstance(sharding, jax.NamedSharding) else None

    @cached_property
    def _sums(self) -> Any:
        with on(None):
            return [np.asarray(one) for one in self.compiled(_sums)(self.A)]


@cache
def _compiled(function: Callable[..., Any], everywhere: Any) -> Callable[..., Any]:
    return jax.jit(function, out_shardings=everywhere, compiler_options=NO_TUNING)  # type: ignore[no-any-return]


def on_device(A: Any, rows: int) -> DeviceMatrix:
    """An array of JAX with so many measurements, checked; padding with rows of zeros is allowed on several devices."""
    if A.ndim != 2 or 0 in A.shape:
        raise InputError(f"A has shape {A.shape}: give a 2-D array, one row a measurement")
    if str(A.dtype) not in ("float32", "float64"):
        raise InputError(f"A has dtype {A.dtype} on the device: give float32 or float64")
    if not 0 <= A.shape[0] - rows < len(A.sharding.device_set):
        raise InputError(f"A has {A.shape[0]} rows but y has {rows} entries")
    found = DeviceMatrix(_left_to_the_compiler(A), rows)
    if not np.isfinite(found.squared_norm()):
        raise InputError("A has an entry that is not finite, or one too large to square")
    if not found.padding_is_empty():
        raise InputError(f"A has {A.shape[0]} rows but y has {rows} entries, and the other rows are not all zeros")
    return found


def _left_to_the_compiler(A: Any) -> Any:
    """The same shards of A, on a mesh that lets the compiler place what is computed from them."""
    if not isinstance(A.sharding, jax.NamedSharding):
        return A
    mesh = A.sharding.mesh
    auto = (jax.sharding.AxisType.Auto,) * len(mesh.axis_names)
    if mesh.axis_types == auto:
        return A
    return jax.device_put(A, jax.NamedSharding(jax.sharding.Mesh(mesh.devices, mesh.axis_names, auto), A.sharding.spec))


def put(A: NDArray[Any], kind: str, dtype: str) -> Any:
    """An array in memory sent to all devices of a kind, by rows; padded with zeros if their number does not divide."""
    dtype = checked_dtype(dtype)
    targets = devices(kind)
    rows, columns = A.shape
    share = -(-rows // len(targets))

    def part(index: tuple[slice, ...]) -> NDArray[Any]:
        start, stop, _ = index[0].indices(share * len(targets))
        block = A[start:stop].astype(dtype, copy=False)
        return np.concatenate([block, np.zeros((stop - start - len(block), columns), dtype)])

    with on(targets[0]):
        if len(targets) == 1:
            place: Any = jax.sharding.SingleDeviceSharding(targets[0])
        else:
            place = jax.NamedSharding(row_mesh(targets), jax.P("rows", None))
        try:
            sent = jax.make_array_from_callback((share * len(targets), columns), place, part)
            return sent.block_until_ready()
        except (RuntimeError, ValueError) as error:
            if not out_of_memory(error):
                raise
            raise too_large("A", share * columns * np.dtype(dtype).itemsize, targets[0]) from None


def row_mesh(targets: list[Any]) -> Any:
    """Devices in a row, each for a share of the rows of A."""
    return jax.make_mesh((len(targets),), ("rows",), (jax.sharding.AxisType.Auto,), devices=targets)


def _measure(A: Any, x: Any) -> Any:
    return forward(A, x, "float64")


def _backproject(A: Any, z: Any) -> Any:
    return adjoint(A, z, "float64")


def _squares_in(A: Any, rows: Any) -> Any:
    return ((A * rows[:, None]) ** 2).sum()


def _sums(A: Any) -> Any:
    squares = A.astype("float64") ** 2
    return squares.sum(), squares.sum(axis=0), abs(A).max()

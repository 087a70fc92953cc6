"""The way of a matrix to a device, or by rows to several."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from phaselect.backends.jax.devices import checked_dtype, devices, field_dtype, on, out_of_memory, too_large
from phaselect.backends.jax.on_device import DeviceMatrix
from phaselect.base.errors import InputError

FLOAT32 = 1e-15, 1e15
"""Between these is the size of entries that can be worked with in float32."""


def on_device(A: Any, rows: int, real: bool = False) -> DeviceMatrix:
    """An array of JAX with so many measurements, checked; padding with rows of zeros is allowed on several devices.

    real: is x real, whatever A is?
    """
    if A.ndim != 2 or 0 in A.shape:
        raise InputError(f"A has shape {A.shape}: give a 2-D array, one row per measurement")
    if str(A.dtype) not in ("float32", "float64", "complex64", "complex128"):
        raise InputError(f"A has dtype {A.dtype} on the device: give float32 or float64, complex64 or complex128")
    if not 0 <= A.shape[0] - rows < len(A.sharding.device_set):
        raise InputError(f"A has {A.shape[0]} rows but y has {rows} entries")
    found = DeviceMatrix(_left_to_the_compiler(A), rows, real=real)
    power = found.row_powers().sum()
    if not np.isfinite(power):
        raise InputError("A has an entry that is not finite, or one too large to square")
    if power and str(A.dtype) in ("float32", "complex64") and not FLOAT32[0] < np.sqrt(power / A.size) < FLOAT32[1]:
        raise InputError("A has entries too large or too small for float32 squares: rescale it, or use float64")
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
    dtype = field_dtype(checked_dtype(dtype), A.dtype)
    targets = devices(kind)
    rows, columns = A.shape
    share = -(-rows // len(targets))

    def part(index: tuple[slice, ...]) -> NDArray[Any]:
        start, stop, _ = index[0].indices(share * len(targets))
        with np.errstate(over="ignore"):  # what becomes infinite is refused there
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

"""Many instances of one shape at once: stacked or drawn on a device, and functions of one mapped over all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from phaselect.backends.interface import Matrix, Vector
from phaselect.backends.jax.devices import NO_TUNING, choose, field_dtype, on, out_of_memory, too_large
from phaselect.backends.jax.drawing import Drawn, drawing
from phaselect.backends.jax.on_device import DeviceMatrix
from phaselect.equations.arrays import Array
from phaselect.equations.fields import REAL_SIGNAL


def stack(
    matrices: Sequence[Matrix], vectors: Sequence[Vector], device: Any, dtype: str
) -> tuple[DeviceMatrix, list[Array]]:
    """Matrices of one shape as one array on the device, with the vectors that belong to them."""
    rows = matrices[0].shape[0]
    with on(device):
        own, real = field_dtype(dtype, matrices[0].field.z), matrices[0].field == REAL_SIGNAL
        A = jnp.stack([jax.device_put(_entries(matrix, own), device) for matrix in matrices])
        return DeviceMatrix(A, rows, real=real), [jnp.asarray(vector) for vector in vectors]


def _entries(matrix: Matrix, dtype: str) -> Array:
    """A, on a device or in memory, without padding."""
    if isinstance(matrix, DeviceMatrix):
        return matrix.A[: matrix.rows].astype(dtype)
    return matrix.entries().astype(dtype)


def draw_many(
    seeds: Any, rows: int, columns: int, dtype: str, streams: tuple[int, int], device: Any, normalise: Any
) -> tuple[DeviceMatrix, tuple[Array, ...], Vector]:
    """Random instances, one per seed, in normalised units; the last is what takes x back."""
    with on(device):
        drawn: Drawn = drawing(rows, columns, dtype, streams, True)(jnp.asarray(seeds))
        powers = _row_powers(drawn.A)
        *arrays, scale = mapped(normalise)(powers, drawn.x0, drawn.z)
    return DeviceMatrix(drawn.A, rows), tuple(arrays), np.asarray(scale)


@jax.jit
def _row_powers(A: Array) -> Array:
    return (A.astype("float64") ** 2).sum(axis=-1)


def draw_one(seed: int, rows: int, columns: int, dtype: str, streams: tuple[int, int], device: Any) -> Drawn:
    """A random instance, however large."""
    where = choose(device)
    try:
        with on(where):
            drawn: Drawn = drawing(rows, columns, dtype, streams, False)(seed)
            return jax.block_until_ready(drawn)  # type: ignore[no-any-return]
    except RuntimeError as error:
        if not out_of_memory(error):
            raise
        raise too_large("A", rows * columns * np.dtype(dtype).itemsize, where) from None


@cache
def mapped(function: Callable[..., Any], axes: Any = 0) -> Callable[..., Any]:
    """A function of one member as a program for all; kept for all batches of a process."""
    return jax.jit(jax.vmap(function, axes), compiler_options=NO_TUNING)  # type: ignore[no-any-return]


def take(tree: Any, chosen: Sequence[int]) -> Any:
    """Some members of a batch."""
    where = np.asarray(chosen)
    return jax.tree.map(lambda array: array[where], tree)


def one(tree: Any, k: int) -> Any:
    """One member of a batch, by itself."""
    return jax.tree.map(lambda array: array[k], tree)

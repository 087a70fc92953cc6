"""The two products with A that every program is made of, for one vector or for a stack of them, one per row.

On a GPU a half-precision A is multiplied on the matrix units, in one read for all vectors; otherwise by sums, which the
compiler fuses with what is around them. Neither copies any of A. On a CPU the matrix library is faster.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from phaselect.equations.arrays import Array, is_complex

FINER = 2048.0
"""What rounding to half precision leaves of a number, at least so many times smaller."""


class Copy(NamedTuple):
    """`scale * A`, up to the precision of the copy: A itself, or A in half precision."""

    A: Array
    scale: Array | float = 1.0


def forward(A: Array, x: Array, dtype: Any = None) -> Array:
    """`A x`, computed in `dtype` (that of A if None; float32 for a half-precision A)."""
    return _product(A, x, dtype, lambda A, x: jnp.matmul(A, x.T).T, axis=1)


def adjoint(A: Array, z: Array, dtype: Any = None) -> Array:
    """`A^T z`, without a conjugate copy of A."""
    return _product(A, z.conj(), dtype, lambda A, z: jnp.matmul(z, A), axis=0).conj()


def precision_like(A: Array, dtype: str) -> str:
    """float64 or complex128 in double or in single precision, as A is; half counts as single."""
    double = A.dtype in ("float64", "complex128")
    return dtype if double else {"float64": "float32", "complex128": "complex64"}[dtype]


def _product(A: Array, vectors: Array, dtype: Any, by_library: Any, axis: int) -> Array:
    dtype = dtype or precision_like(A, "complex128" if is_complex(A) else "float64")

    def on_cpu(A: Array, vectors: Array) -> Array:
        return by_library(A.astype(dtype), vectors.astype(dtype))

    def on_gpu(A: Array, vectors: Array) -> Array:
        stack = jnp.atleast_2d(vectors).astype(dtype)
        halves = A.dtype == "float16" and dtype == "float32"
        found = by_halves(A, stack, axis) if halves else by_sums(A.astype(dtype), stack, axis)
        return found.reshape(*vectors.shape[:-1], -1)

    return jax.lax.platform_dependent(A, vectors, cpu=on_cpu, default=on_gpu)


def by_sums(A: Array, vectors: Array, axis: int) -> Array:
    """Sums over an axis of A times vectors of its dtype, a stack of them."""
    return jnp.stack([(A * (one if axis else one[:, None])).sum(axis=axis) for one in vectors])


def by_halves(A: Array, vectors: Array, axis: int) -> Array:
    """Sums over an axis of a half-precision A times float32 vectors, a stack of them, split into two halves each.

    Vectors are brought to unit size, and low halves nearer to it, so that half precision has room for both.
    """
    unit = jnp.maximum(abs(vectors).max(axis=1, keepdims=True), jnp.finfo("float32").tiny)
    high = jax.lax.reduce_precision(vectors / unit, exponent_bits=5, mantissa_bits=10)
    low = (vectors / unit - high) * FINER
    halves = jnp.concatenate([high, low]).astype("float16")
    found = jax.lax.dot_general(A, halves, (((axis,), (1,)), ((), ())), preferred_element_type="float32").T
    count = vectors.shape[0]
    return unit * (found[:count] + found[count:] / FINER)


def product(left: Array, right: Array) -> Array:
    """A matrix product that uses all digits of its arguments, which float32 products on a GPU do not by default."""
    return jnp.matmul(left, right, precision=jax.lax.Precision.HIGHEST)

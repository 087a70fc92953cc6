"""The two products with A that every program is made of, each from one read of A for all its vectors.

On a GPU they are sums over products, which the compiler fuses with what is around them and which move A at the speed of
memory; with a half-precision A and several vectors the matrix units are faster, and on a CPU the matrix library.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from phaselect.devices.member import Array

LOW = np.float32(2048)
"""By so much the second half of a number is smaller than the first."""


class Copies(NamedTuple):
    """`scale * A` up to the precision of the copy; and transposed, which is faster to go through, if there is room."""

    A: Array
    transposed: Array | None = None
    scale: Array | float = 1.0


def forward(A: Array, X: Array, dtype: Any = None) -> Array:
    """`A x` for each row x of X, computed in `dtype` (that of A if None; float32 for a half-precision A)."""
    return _each(A, X, dtype, axis=1)


def adjoint(A: Array, Z: Array, dtype: Any = None) -> Array:
    """`A^T z` for each row z of Z."""
    return _each(A, Z, dtype, axis=0)


def backward(copies: Copies, Z: Array) -> Array:
    """`A^T z` for each row z of Z, from the copy that is faster for it."""
    return adjoint(copies.A, Z) if copies.transposed is None else forward(copies.transposed, Z)


def _each(A: Array, vectors: Array, dtype: Any, axis: int) -> Array:
    dtype = dtype or ("float64" if A.dtype == "float64" else "float32")
    vectors = vectors.astype(dtype)

    def by_sums(A: Array, vectors: Array) -> Array:
        A = A.astype(dtype)
        return jnp.stack([(A * (vector if axis else vector[:, None])).sum(axis=axis) for vector in vectors])

    def by_library(A: Array, vectors: Array) -> Array:
        return jnp.matmul(vectors, (A.T if axis else A).astype(dtype), precision=jax.lax.Precision.HIGHEST)

    if A.dtype == "float16" and dtype == "float32" and len(vectors) > 1:
        return by_halves(A if axis else A.T, vectors)
    return jax.lax.platform_dependent(A, vectors, cpu=by_library, default=by_sums)


def by_halves(A: Array, vectors: Array) -> Array:
    """`A x` for a half-precision A and several float32 vectors, each as a sum of two in half precision.

    So the matrix units can do them all in one read of A, summing in float32.
    """
    size = abs(vectors).max(axis=1, keepdims=True) + np.float32(1e-30)
    scaled = vectors / size
    high = jax.lax.reduce_precision(scaled, exponent_bits=5, mantissa_bits=10)
    both = jnp.concatenate([high, (scaled - high) * LOW]).astype("float16")
    sums = jnp.matmul(A, both.T, preferred_element_type=jnp.float32).T
    return size * (sums[: len(vectors)] + sums[len(vectors) :] / LOW)

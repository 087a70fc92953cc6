"""The two products with A that every program is made of.

On a GPU they are sums over products, which the compiler fuses with what is around them and which move A at the speed of
memory; on a CPU the matrix library is faster.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from phaselect.equations.arrays import Array


class Copy(NamedTuple):
    """`scale * A`, up to the precision of the copy: A itself, or A in half precision."""

    A: Array
    scale: Array | float = 1.0


def forward(A: Array, x: Array, dtype: Any = None) -> Array:
    """`A x`, computed in `dtype` (that of A if None; float32 for a half-precision A)."""
    return _product(A, x, dtype, lambda A, x: (A * x).sum(axis=1), jnp.matmul)


def adjoint(A: Array, z: Array, dtype: Any = None) -> Array:
    """`A^T z`."""
    return _product(A, z, dtype, lambda A, z: (A * z[:, None]).sum(axis=0), lambda A, z: jnp.matmul(z, A))


def _product(A: Array, vector: Array, dtype: Any, by_sums: Any, by_library: Any) -> Array:
    dtype = dtype or ("float64" if A.dtype == "float64" else "float32")
    arguments = A.astype(dtype), vector.astype(dtype)
    return jax.lax.platform_dependent(*arguments, cpu=by_library, default=by_sums)


def product(left: Array, right: Array) -> Array:
    """A matrix product that uses all digits of its arguments, which float32 products on a GPU do not by default."""
    return jnp.matmul(left, right, precision=jax.lax.Precision.HIGHEST)

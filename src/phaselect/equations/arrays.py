"""Whose array is it? Equations are written once and run on arrays of NumPy and of JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = Any
"""An array of NumPy, or of JAX, of which mypy is not asked to know."""


BLOCK = 1 << 12
"""Entries that stay in cache, with what is made of them in between."""
LARGE = 1 << 20
"""Bytes of an array for which a GPU is given memory to write to."""


def namespace(array: Array) -> Any:
    """The library of an array, `numpy` or `jax.numpy`; NumPy's for a plain number."""
    return array.__array_namespace__() if hasattr(array, "__array_namespace__") else np


def is_complex(array: Array) -> bool:
    """Is it complex?"""
    return bool(np.iscomplexobj(array))


def squared(array: Array) -> Array:
    """`|a|^2`, entry by entry."""
    return array.real**2 + array.imag**2 if is_complex(array) else array**2


def inner(one: Array, other: Array) -> Array:
    """`Re(a^H b)`, of two vectors, or of each row of stacks: the product in which complex numbers are pairs."""
    if namespace(one) is np and np.ndim(one) and np.ndim(other):
        return np.vecdot(one, other).real  # takes no memory
    return (one.conj() * other).real.sum(axis=-1)


def like(array: Array, numbers: Array) -> Array:
    """Numbers, one or many, in the precision of an array, so that what is made of both has it."""
    return namespace(array).asarray(numbers, dtype=array.real.dtype)


def by_blocks(function: Callable[..., Any], first: Array, *others: Array, spare: bool = False) -> Any:
    """`function(first, *others)`, which takes vectors entry by entry; numbers are taken as they are.

    Of long vectors of NumPy in blocks that stay in cache, so that nothing in between takes memory. What it returns are
    vectors, and numbers that add up from block to block. spare: the first may be overwritten by what is returned.
    """
    if namespace(first) is not np or np.ndim(first) != 1 or np.size(first) <= 2 * BLOCK:
        return function(first, *others)
    found: list[Any] = []
    for start in range(0, first.size, BLOCK):
        part = slice(start, start + BLOCK)
        own = function(first[part], *(other[part] if np.ndim(other) else other for other in others))
        parts = own if isinstance(own, tuple) else (own,)
        if not found:
            found = [(first if spare else np.empty(first.size, one.dtype)) if np.ndim(one) else 0.0 for one in parts]
        for k, one in enumerate(parts):
            if np.ndim(one):
                found[k][part] = one
            else:
                found[k] = found[k] + one
    return tuple(found) if isinstance(own, tuple) else found[0]


def special(array: Array) -> Any:
    """The special functions of that library."""
    if namespace(array) is np:
        import scipy.special

        return scipy.special
    import jax.scipy.special

    return jax.scipy.special


def in_memory(arrays: list[Array]) -> list[NDArray[Any]]:
    """As arrays of NumPy; those on a device leave it all at once, which saves a wait for each."""
    arrays = list(map(_within_reach, arrays))
    for array in arrays:
        if hasattr(array, "copy_to_host_async"):
            array.copy_to_host_async()
    return [np.asarray(array) for array in arrays]


def _within_reach(array: Array) -> Array:
    """A large array of a GPU in memory that the GPU writes to by itself, many times as fast as through a copy.

    JAX keeps that memory, once nobody needs the array, for the next one: taking it takes as long as a copy.
    """
    if namespace(array) is np or array.nbytes < LARGE:
        return array
    places = list(array.devices())
    if len(places) > 1 or places[0].platform != "gpu":
        return array
    import jax

    return jax.device_put(array, array.sharding.with_memory_kind("pinned_host"))

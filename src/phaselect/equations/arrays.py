"""Whose array is it? Equations are written once and run on arrays of NumPy and of JAX."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = Any
"""An array of NumPy, or of JAX, of which mypy is not asked to know."""


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
    return (one.conj() * other).real.sum(axis=-1)


def special(array: Array) -> Any:
    """The special functions of that library."""
    if namespace(array) is np:
        import scipy.special

        return scipy.special
    import jax.scipy.special

    return jax.scipy.special


def in_memory(arrays: list[Array]) -> list[NDArray[Any]]:
    """As arrays of NumPy; those on a device leave it all at once, which saves a wait for each."""
    for array in arrays:
        if hasattr(array, "copy_to_host_async"):
            array.copy_to_host_async()
    return [np.asarray(array) for array in arrays]

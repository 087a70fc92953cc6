"""Whose array is it? Equations are written once and run on arrays of NumPy and of JAX."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any
"""An array of NumPy, or of JAX, of which mypy is not asked to know."""


def namespace(array: Array) -> Any:
    """The library of an array, `numpy` or `jax.numpy`; NumPy's for a plain number."""
    return array.__array_namespace__() if hasattr(array, "__array_namespace__") else np

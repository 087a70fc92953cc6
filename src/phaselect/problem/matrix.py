"""What A may be: an array in memory, a linear operator, an array on a device. Whatever it is, it names its backend."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.host.by_products import Operator, operator
from phaselect.backends.host.dense import Dense
from phaselect.backends.host.fourier import fourier
from phaselect.backends.host.sparse import dense, sparse
from phaselect.backends.interface import Matrix, Vector
from phaselect.base.errors import InputError
from phaselect.equations.fields import COMPLEX
from phaselect.problem.operators import Fourier


def as_matrix(A: Any, rows: int, name: str = "A", real: bool = False) -> Matrix:
    """A as the solvers use it; `rows` is the number of measurements; real: is x real, whatever A is?"""
    if isinstance(A, Dense | Operator) or is_device_operator(A):
        found: Matrix = A
        if real and found.field == COMPLEX:
            raise InputError("real=True is said when an Instance is made: make another one from A and y")
    elif hasattr(A, "tocsr"):
        found = sparse(A, real)
    elif isinstance(A, Fourier):
        found = fourier(A.masks, A.pattern_shape, real)
    elif is_operator(A):
        found = operator(A, rows, real)
    elif is_device_array(A):
        from phaselect.backends.jax.sharding import on_device

        found = on_device(A, rows, real)
    else:
        found = dense(entries(A, name), real)
    if found.shape[0] != rows:
        hint = f": is it the transpose of {name}?" if found.shape[1] == rows else ""
        raise InputError(f"{name} has {found.shape[0]} rows but y has {rows} entries{hint}")
    return found


def is_operator(A: Any) -> bool:
    """Is A given through its products: a LinearOperator or a pair of functions?"""
    pair = isinstance(A, tuple | list) and len(A) == 2 and all(callable(product) for product in A)
    return pair or (hasattr(A, "matvec") and hasattr(A, "rmatvec"))


def is_device_array(A: Any) -> bool:
    """Is A an array of JAX? (Asked without importing JAX.)"""
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(A, jax.Array)


def is_device_operator(A: Any) -> bool:
    """Is A an operator that is on a device already? (Asked without importing JAX.)"""
    module = sys.modules.get("phaselect.backends.jax.fourier")
    return module is not None and isinstance(A, module.DeviceFourier)


def entries(A: Any, name: str) -> NDArray[Any]:
    """A 2-D array of finite numbers in C order; single precision is kept."""
    array = np.ascontiguousarray(numbers(A, name, "fiubc", keep_single=True))
    if array.ndim != 2:
        raise InputError(f"{name} has {array.ndim} dimensions: give a 2-D array, one row per measurement")
    if array.size == 0:
        raise InputError(f"{name} is empty: give at least one measurement")
    return array


def magnitudes(values: Any, name: str) -> Vector:
    """Numbers from 0 on, at least one; in a column, (M, 1), or a row, (1, M), if not in a plain array."""
    y: Vector = flat(numbers(values, name))
    if y.ndim != 1:
        raise InputError(f"{name} has shape {y.shape}: give a 1-D array, one number per measurement")
    if y.size == 0:
        raise InputError(f"{name} is empty: give at least one measurement")
    if y.min() < 0:
        where = int(np.argmax(y < 0))
        raise InputError(f"{name}[{where}] = {y[where]:g} is negative: {name} holds magnitudes, |A x|")
    return y


def flat(values: NDArray[Any]) -> NDArray[Any]:
    """A column or a row as the vector that it is; all else as it is."""
    return values.ravel() if values.ndim == 2 and 1 in values.shape else values


def precision_of(values: Any) -> float:
    """Relative precision of numbers as they are given; whole numbers are as good as float64."""
    dtype = getattr(values, "dtype", np.dtype(np.float64))
    dtype = getattr(dtype, "numpy_dtype", dtype)  # of a column of pandas
    least = np.finfo(np.float64).eps
    return float(max(least, np.finfo(dtype).eps) if getattr(dtype, "kind", "") in "fc" else least)


def numbers(values: Any, name: str, kinds: str = "fiub", keep_single: bool = False) -> NDArray[Any]:
    """The values as a finite array in double precision; single precision is kept where the kernels can use it."""
    array = _nothing_missing(values, name)
    if array.dtype.kind == "c" and "c" not in kinds:
        raise InputError(f"{name} is complex: give real numbers")
    if array.dtype.kind not in kinds:
        raise InputError(f"{name} is not numeric (dtype {array.dtype}): give an array of numbers")
    kept = keep_single and array.dtype in (np.float32, np.complex64)
    with np.errstate(over="ignore"):  # a long double beyond float64 becomes inf and is reported below
        array = array if kept else array.astype("complex128" if array.dtype.kind == "c" else "float64", copy=False)
    parts = (array.real, array.imag) if array.dtype.kind == "c" else (array,)
    if array.size and not all(np.isfinite(part.min()) and np.isfinite(part.max()) for part in parts):
        where, position = _first(~np.isfinite(array))
        raise InputError(f"{name}[{position}] is {array[where]}: every entry must be finite")
    return array


def _nothing_missing(values: Any, name: str) -> NDArray[Any]:
    """The values as an array of NumPy; columns of pandas that could have gaps, and have none, are numbers."""
    if np.ma.is_masked(values):
        _, position = _first(np.ma.getmaskarray(values))
        raise InputError(f"{name} has masked entries, as {name}[{position}]: drop those measurements, or fill them in")
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(f"{name} is ragged: give a rectangular array of numbers") from None
    if array.dtype != object:
        return array
    missing = np.asarray(np.frompyfunc(_is_missing, 1, 1)(array), dtype=bool)
    if missing.any():
        where, position = _first(missing)
        raise InputError(f"{name}[{position}] is missing ({array[where]}): drop that measurement, or fill it in")
    nullable = hasattr(values, "to_numpy") and all(isinstance(value, float | int | np.number) for value in array.flat)
    return array.astype(np.float64) if nullable else array


def _is_missing(value: Any) -> bool:
    """None, not-a-number, and what pandas has for them."""
    unknown = value is None or type(value).__name__ in ("NAType", "NaTType")
    return unknown or (isinstance(value, float) and value != value)


def _first(marked: NDArray[np.bool_]) -> tuple[tuple[Any, ...], str]:
    """Where the first entry is that is marked, as an index and in words."""
    where = np.unravel_index(int(np.argmax(marked)), marked.shape)
    return where, ", ".join(str(int(i)) for i in where)

"""What is given of an instance, checked: y, noise, rounding, rows and columns of zeros; one line says what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.host.dense import Dense
from phaselect.backends.interface import Matrix, Vector
from phaselect.base.checks import shortened
from phaselect.base.errors import InputError
from phaselect.problem.matrix import flat, magnitudes

TINY = 1e-290
"""Squares below this are not known to float64: a row of such a squared norm counts as a row of zeros."""
HUGE = 1e300
"""Larger variances cannot be summed."""
NEGLIGIBLE = 1e-8
"""What counts as zero in y, and in x, over the root mean square."""
AUTO = "auto"
"""Noise that is to be learned from the data."""


def given_y(A: Any, y: Any) -> Vector:
    """The magnitudes; but for y to be the matrix is a mistake with a name."""
    if isinstance(A, np.ndarray) and isinstance(y, np.ndarray) and flat(y).ndim == 2:
        columns = A.shape[1] if A.ndim == 2 else 1
        if y.shape[1] > columns:
            raise InputError(f"A has shape {A.shape} and y {y.shape}: they are exchanged; the matrix, A, comes first")
    return magnitudes(y, "y")


def checked_noise(noise: Any, y: Vector) -> Any:
    """None for exact data, a positive variance, one per measurement, or AUTO. Less than the rounding of y is none."""
    if noise is None:
        return None
    if isinstance(noise, str | np.ndarray) and str(noise) == AUTO:  # as an array where it was in a file
        return AUTO
    if np.ma.is_masked(noise):
        raise InputError("noise has masked entries: drop those measurements, or fill them in")
    try:
        variance = np.asarray(noise, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f'noise = {shortened(noise)}: give a variance, 0 or more, one per measurement, or "auto"'
        ) from None
    variance = flat(variance)
    rounding = np.finfo(np.float64).eps ** 2 * float(np.mean(y**2))
    if variance.ndim == 0:
        if not 0 <= variance <= HUGE or isinstance(noise, bool | str):
            raise InputError(f'noise = {shortened(noise)}: give a variance, 0 or more, or "auto"')
        return float(variance) if variance > rounding else None
    if variance.shape != y.shape:
        raise InputError(f"noise has shape {variance.shape}: give one variance, or {y.size}, one per measurement")
    if not ((variance > 0) & (variance <= HUGE)).all():
        raise InputError("noise: every variance must be positive and finite where one per measurement is given")
    return np.maximum(variance, rounding) if (variance > rounding).any() else None


def yes_or_no(real: Any) -> bool:
    """Is x real though A is complex?"""
    value = np.asarray(real)
    if value.dtype != bool or value.ndim:
        raise InputError(f"real = {shortened(real)}: say True if x is real though A is complex, else leave it out")
    return bool(value)


def checked_rounding(given: Any) -> float:
    """A relative precision, checked."""
    value = np.asarray(given)
    if value.ndim or value.dtype.kind not in "fiu" or not 0 <= value < 1:
        raise InputError(
            f"rounding = {shortened(given)}: give the relative precision of the data, from 0 to 1, as 1e-6"
        )
    return float(value)


def checked_powers(matrix: Matrix, y: Vector) -> Vector:
    """Squared norms of the rows, once A and y are known to hold something to work with."""
    powers = matrix.row_powers()
    for name, total in (("A", float(powers.sum())), ("y", float(np.einsum("i,i->", y, y)))):
        zero = not y.any() if name == "y" else isinstance(matrix, Dense) and not matrix.A.any()
        if zero or (total == 0 and name == "A" and not isinstance(matrix, Dense)):
            raise InputError(
                f"{name} is all zeros{'' if zero else ', or as good as zeros'}: there is nothing to recover"
            )
        if not np.isfinite(total) or total < TINY:
            raise InputError(f"{name} has entries too large or too small for float64 squares: rescale it")
    if (where := matrix.empty_column()) is not None:
        raise InputError(f"column {where} of A is all zeros: x[{where}] cannot be determined; drop it")
    return powers


def kept_rows(powers: Vector, y: Vector, exact: bool) -> NDArray[np.bool_] | None:
    """The rows that are not all zeros; None if there are no others. Exact data must be zero there."""
    kept = powers > TINY
    if kept.all():
        return None
    wrong = ~kept & (y > NEGLIGIBLE * np.sqrt(np.mean(y**2)))
    if exact and wrong.any():
        where = int(np.argmax(wrong))
        raise InputError(f"row {where} of A is all zeros, but y[{where}] = {y[where]:g}: drop that measurement")
    return kept


def check_length(array: NDArray[Any], length: int, name: str) -> NDArray[Any]:
    """The array, if it has one entry per column of A."""
    if array.shape != (length,):
        raise InputError(f"{name} has shape {array.shape}: it must be ({length},), one entry per column of A")
    return array

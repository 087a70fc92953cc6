"""All digits of an answer: what rounding leaves of each measurement, and least squares that goes down to that."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from phaselect.backends.interface import Vector
from phaselect.equations.signs import signs_of

NOTHING = 1e-14
"""What rounding leaves of x where there is nothing, over its largest part."""
LEAST = 1e-3, 1e-8, 1e-14
"""Sizes of measurements, over what they could see of x, below which they are no longer told apart: coarse to fine."""


def sizes(A: Vector, y: Vector, x: Vector) -> Vector:
    """What is added up in each measurement: `|A| |x| + y`."""
    return np.asarray(np.abs(A) @ np.abs(x) + y)


def unit_of(A: Vector, y: Vector, x: Vector, rounding: float, least: float = LEAST[0]) -> Vector:
    """What rounding leaves of each measurement; of one that sees nothing of x, a little of what it could see."""
    could_see = np.linalg.norm(A, axis=1) * np.sqrt(np.mean(x**2))
    return np.asarray(rounding * np.maximum(sizes(A, y, x), least * could_see))


def lengths_of(A: Vector) -> Vector:
    """Of the columns; 1 for columns of zeros."""
    lengths = np.linalg.norm(A, axis=0)
    return np.where(lengths > 0, lengths, 1.0)


def anything_like(A: Vector, x: Vector) -> Vector:
    """An x whose every part is as large, as far as measurements see, as the largest of this one."""
    lengths = lengths_of(A)
    return np.asarray(np.max(np.abs(x) * lengths) / lengths)


def refined(A: Vector, y: Vector, x: Vector, least: float) -> Vector:
    """A step of least squares with the signs of x, each measurement weighted by its own rounding."""
    unit = unit_of(A, y, x, 1.0, least)
    weighted = A / unit[:, None]
    lengths = lengths_of(weighted)
    left = (signs_of(A @ x) * y - A @ x) / unit
    return np.asarray(x + np.linalg.lstsq(weighted / lengths, left, rcond=None)[0] / lengths)


def cleaned(A: Vector, x: Vector) -> Vector:
    """With what is nothing but rounding set to zero: where all else is zero, no measurement would forgive it."""
    parts = np.abs(x) * lengths_of(A)
    return np.where(parts > NOTHING * parts.max(), x, 0.0)


def versions(A: Vector, y: Vector, x: Vector) -> Iterator[Vector]:
    """x, and x computed better: in one of these ways an answer that fits is seen to do so."""
    yield x
    yield cleaned(A, x)
    for least in LEAST:
        x = refined(A, y, x, least)
        yield x
        yield cleaned(A, x)
    yield cleaned(A, refined(A, y, cleaned(A, x), least))

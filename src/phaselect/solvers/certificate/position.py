"""What speaks against taking A and x to be in general position: coincidences that no count of impostors foresees."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.interface import Vector
from phaselect.equations.coincidences import EQUAL, MANY, share_repeated
from phaselect.problem.given_data import NEGLIGIBLE


def doubts(y: Vector, x: Vector, distinct: NDArray[np.bool_], structured: bool, rounding: float) -> Iterator[str]:
    """What speaks against it, in words.

    distinct: rows that are not multiples of others. structured: do rows of A have many zeros or repeated magnitudes?
    """
    if tiny := int(np.sum(y <= NEGLIGIBLE)):
        yield f"{_count(tiny, 'measurement')} of zero, or nearly; without them, if enough are left, it may be shown"
    if share_repeated(y[distinct], max(EQUAL, rounding)) > MANY + y.size * rounding:  # of which few by chance
        yield "y has few distinct values, so that sums may agree by coincidence; rows of random numbers would settle it"
    if (zeros := int(np.sum(np.abs(x) <= NEGLIGIBLE * np.sqrt(np.mean(x**2))))) and structured:
        what = "A repeats magnitudes, or has zeros; rows of random numbers would settle it"
        yield f"x has {_count(zeros, 'exact zero')}, and {what}"


def distinct_rows(images: Vector, rounding: float) -> NDArray[np.bool_]:
    """Which rows are not multiples of a row that counts already? images: two random points, measured.

    Multiples see both points under the same angle.
    """
    angles = np.arctan2(images[0], images[1]) % np.pi
    order = np.argsort(angles)
    first = np.ones(angles.size, dtype=bool)
    first[order[1:]] = np.diff(angles[order]) > max(1e-10, 4 * rounding)
    return first


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"

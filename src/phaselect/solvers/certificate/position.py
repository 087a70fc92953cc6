"""What speaks against taking A and x to be in general position: coincidences that no count of impostors foresees."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.interface import Vector
from phaselect.problem.normalised import Normalised
from phaselect.problem.streams import Purpose, stream

NEGLIGIBLE = 1e-8
"""What counts as zero: entries of x and y over their root mean square."""
EQUAL = 1e-12
"""Relative difference up to which two magnitudes are the same."""
MANY = 0.05
"""Share of zeros or of repeated magnitudes that is no accident."""
ROWS_LOOKED_AT = 8


def doubts(problem: Normalised, x: Vector, distinct: NDArray[np.bool_], uncommon: bool) -> Iterator[str]:
    """What speaks against it, in words. distinct: rows that are not multiples of others. uncommon: see `special`."""
    y = np.asarray(problem.y)
    if tiny := int(np.sum(y <= NEGLIGIBLE)):
        yield f"{_count(tiny, 'measurement')} of zero, or nearly, {'leaves' if tiny == 1 else 'leave'} signs open"
    if repeated(y[distinct], max(EQUAL, float(problem.rounding))) > MANY:
        yield "y has few distinct values, so that sums may agree by coincidence"
    if (zeros := int(np.sum(np.abs(x) <= NEGLIGIBLE * np.sqrt(np.mean(x**2))))) and uncommon:
        yield f"x has {_count(zeros, 'exact zero')}, and A is special there: magnitudes repeat, or are zero"


def special(problem: Normalised, seed: int) -> bool:
    """Do some of the rows of A have many zeros or repeated magnitudes?"""
    rows = stream(seed, Purpose.ROWS).choice(problem.m_rows, min(ROWS_LOOKED_AT, problem.m_rows), replace=False)
    return any(_is_special(problem.matrix.row(int(i))) for i in rows)


def _is_special(row: Vector) -> bool:
    return float(np.mean(row == 0)) > MANY or repeated(np.abs(row[row != 0]), EQUAL) > MANY


def repeated(magnitudes: Vector, equal: float) -> float:
    """The share of magnitudes that are there more than once."""
    ordered = np.sort(magnitudes)
    same = np.diff(ordered) <= equal * ordered[1:]
    again = np.zeros(ordered.size, dtype=bool)
    again[1:] |= same
    again[:-1] |= same
    return float(np.mean(again)) if again.size else 0.0


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

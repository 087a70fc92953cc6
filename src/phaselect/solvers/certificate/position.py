"""What speaks against taking A and x to be in general position: coincidences that no count of impostors foresees."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.interface import Vector
from phaselect.equations.coincidences import EQUAL, MANY, share_repeated

NEGLIGIBLE = 1e-8
"""What counts as zero: entries of x and y over their root mean square."""


def doubts(y: Vector, x: Vector, distinct: NDArray[np.bool_], uncommon: bool, rounding: float) -> Iterator[str]:
    """What speaks against it, in words.

    distinct: rows that are not multiples of others. uncommon: do rows of A have many zeros or repeated magnitudes?
    """
    if tiny := int(np.sum(y <= NEGLIGIBLE)):
        yield f"{_count(tiny, 'measurement')} of zero, or nearly, {'leaves' if tiny == 1 else 'leave'} signs open"
    if share_repeated(y[distinct], max(EQUAL, rounding)) > MANY:
        yield "y has few distinct values, so that sums may agree by coincidence"
    if (zeros := int(np.sum(np.abs(x) <= NEGLIGIBLE * np.sqrt(np.mean(x**2))))) and uncommon:
        yield f"x has {_count(zeros, 'exact zero')}, and A is special there: magnitudes repeat, or are zero"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"

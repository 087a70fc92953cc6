"""Lists of numbers as people write them: FIRST:LAST:STEP, or A,B,C."""

from __future__ import annotations

import math

from phaselect.base.errors import InputError

MOST = 1000
ROUNDING = 1e-6
"""Of a step: 0.1 * 3 is more than 0.3."""


def number_range(text: str, name: str) -> list[float]:
    """FIRST:LAST:STEP, none above LAST, or a list; in increasing order, each number once.

    >>> number_range("1.1:1.2:0.05", "alpha"), number_range("1.1:1.2:0.06", "alpha")
    ([1.1, 1.15, 1.2], [1.1, 1.16])
    """
    try:
        parts = [float(part) for part in text.split(":" if ":" in text else ",")]
        if ":" not in text:
            return sorted(set(parts))
        first, last, step = parts
        count = math.floor((last - first) / step + ROUNDING) + 1 if step > 0 and last >= first else 0
    except (ValueError, OverflowError):
        count = 0
    if not 0 < count <= MOST:
        raise InputError(
            f"{name} {text}: write FIRST:LAST:STEP, as 1.1:1.7:0.05 (up to {MOST} values), or a list, 1.2,1.3"
        )
    return [round(first + step * i, 10) for i in range(count)]

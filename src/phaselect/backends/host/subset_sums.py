"""All signs at once, by meeting in the middle: which signed sums of numbers are zero, up to a width?

The numbers are cut into two halves. The sums of each half come out sorted, by merging; pairs that cancel are then found
in one walk over both. 2^(m/2) time and memory for m numbers, instead of 2^m time (Horowitz and Sahni).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from phaselect.base.kernels import kernel

MOST_PAIRS = 100_000
"""Pairs beyond which the search gives up: the numbers have too many coincidences."""


@kernel()
def sorted_sums(numbers):  # type: ignore[no-untyped-def]
    """`sum_i s_i numbers_i` of all sign vectors, ascending, and the signs as bits: bit i is set where s_i = -1."""
    sums, codes = np.zeros(1), np.zeros(1, np.int32)
    for i in range(numbers.size):
        up, bit, every = abs(numbers[i]), np.int32(1 << i), np.int32((2 << i) - 1)
        low_bit, high_bit = (bit, np.int32(0)) if numbers[i] >= 0 else (np.int32(0), bit)
        old = sums.size
        merged, merged_codes = np.empty(2 * old), np.empty(2 * old, np.int32)
        low = high = 0
        for k in range(old):  # without branches, which no processor could foresee
            down, raised = sums[low] - up, sums[high] + up
            first = down <= raised
            merged[k] = down if first else raised
            merged_codes[k] = codes[low] | low_bit if first else codes[high] | high_bit
            low += first
            high += not first
        for k in range(old):  # opposite signs have opposite sums
            merged[2 * old - 1 - k], merged_codes[2 * old - 1 - k] = -merged[k], merged_codes[k] ^ every
        sums, codes = merged, merged_codes
    return sums, codes


@kernel()
def _cancelling(left, right, width, most):  # type: ignore[no-untyped-def]
    """Pairs of places whose sums cancel up to the width; one more than `most` if there are more."""
    first, second = np.empty(most + 1, np.int64), np.empty(most + 1, np.int64)
    found, top = 0, right.size - 1
    for i in range(left.size):
        while top >= 0 and left[i] + right[top] > width:
            top -= 1
        k = top
        while k >= 0 and left[i] + right[k] >= -width:
            first[found], second[found] = i, k
            found += 1
            k -= 1
            if found > most:
                return first, second
    return first[:found], second[:found]


def signs_that_cancel(numbers: NDArray[np.float64], width: float) -> NDArray[np.float64] | None:
    """Every sign vector, one per row, for which `|sum_i s_i numbers_i| <= width`; None if there are too many.

    The first sign is +1: sign vectors come in pairs.
    """
    half = numbers.size // 2
    halves = numbers[1 : half + 1], numbers[half + 1 :]
    (left, left_codes), (right, right_codes) = map(sorted_sums, halves)
    i, k = _cancelling(left + numbers[0], right, width, MOST_PAIRS)
    if i.size > MOST_PAIRS:
        return None
    parts = [
        1.0 - 2.0 * (codes[where][:, None] >> np.arange(own.size) & 1)
        for own, codes, where in zip(halves, (left_codes, right_codes), (i, k), strict=True)
    ]
    return np.hstack([np.ones((i.size, 1)), *parts])

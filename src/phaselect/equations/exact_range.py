"""Is a vector of fractions in the range of a matrix of fractions, exactly? Asked modulo primes, in whole numbers.

What is so of fractions is so modulo a prime, unless it divides one of few numbers; what is not is so by chance, once in
as many cases as the prime. Two of three primes decide.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

PRIMES = 2147483647, 2147483629, 2147483587
"""Products of two numbers below fit into 64 bits."""


def in_range(A: NDArray[np.object_], v: NDArray[np.object_]) -> bool:
    """Is there an x with `A x = v`?"""
    both = np.hstack([A, v[:, None]])
    return sum(_solvable(_modulo(both, prime), prime) for prime in PRIMES) >= 2


def _modulo(values: NDArray[np.object_], prime: int) -> NDArray[np.int64]:
    def one(value: Any) -> int:
        number = Fraction(value)
        return number.numerator * pow(number.denominator % prime or 1, -1, prime) % prime

    return np.asarray(np.frompyfunc(one, 1, 1)(values), dtype=np.int64)


def rank_of_whole(A: NDArray[np.int64]) -> int:
    """Of a matrix of whole numbers; it is not less than this, and more by chance alone."""
    return _eliminate(A % PRIMES[0], A.shape[1], PRIMES[0])


def _solvable(rows: NDArray[np.int64], prime: int) -> bool:
    """Is nothing left of the last column in the end?"""
    place = _eliminate(rows, rows.shape[1] - 1, prime)
    return not rows[place:, -1].any()


def _eliminate(rows: NDArray[np.int64], columns: int, prime: int) -> int:
    """The first columns, one by one, in place; how many rows that took."""
    place = 0
    for column in range(columns):
        with_it = np.flatnonzero(rows[place:, column]) + place
        if with_it.size == 0:
            continue
        rows[[place, with_it[0]]] = rows[[with_it[0], place]]
        pivot = rows[place, column:] * pow(int(rows[place, column]), -1, prime) % prime
        others = rows[place + 1 :, column:]
        others -= others[:, :1] * pivot % prime
        others %= prime
        place += 1
    return place

"""Compiled reduction of a lattice: LLL, and blocks of it searched for their shortest vector, as in BKZ.

The lattice is spanned by the rows of an array of floats. Steps take rows from others a whole number of times, so that
rows which begin as whole numbers, or multiples of one, stay so exactly. The rows' orthogonal parts (`parts`), their
squared lengths (`r`) and the coefficients of rows on them (`mu`) are computed anew for each row that changes, one part
after the other: from the products of rows, at half the cost, float64 would not do beyond 200 of them.

Schnorr and Euchner, Math. Programming 66, 181 (1994); bounds of the search: Gama, Nguyen and Regev, Eurocrypt 2010.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from phaselect.backends.host.passes import REORDER
from phaselect.backends.interface import Vector
from phaselect.base.kernels import kernel

DELTA, ETA = 0.99, 0.51
"""How much shorter an orthogonal part must get for rows to change places, and what is left of a coefficient."""
ROW_STEPS = 20_000
"""Rows looked at in one call, at most: a second or so, after which Ctrl-C gets through."""
FLOOR = 1e-28
"""The squared length of an orthogonal part is at least this part of that of its row: less is rounding."""
BASE, SLOPE = 0.1, 0.95
"""Of the bound on a part of a vector, in units of that on the whole: a straight line, of the share of its entries."""


@kernel(fastmath=REORDER)
def _product(a, b):  # type: ignore[no-untyped-def]
    """Of two rows."""
    total = 0.0
    for c in range(a.size):
        total += a[c] * b[c]
    return total


@kernel(fastmath=REORDER)
def _orthogonalised(B, mu, r, parts, i):  # type: ignore[no-untyped-def]
    """Coefficients of row i on the rows before it, and its orthogonal part: what is left as each is taken away."""
    part = parts[i]
    part[:] = B[i]
    least = FLOOR * _product(part, part)
    for j in range(i):
        other = parts[j]
        times = _product(part, other) / r[j]
        for c in range(part.size):
            part[c] -= times * other[c]
        mu[i, j] = times
    r[i] = max(_product(part, part), least)


@kernel(fastmath=REORDER)
def _shortened(B, mu, r, parts, i):  # type: ignore[no-untyped-def]
    """Take the rows before it from row i, until no coefficient exceeds a half, or those that do are rounding."""
    before = np.inf
    while True:
        _orthogonalised(B, mu, r, parts, i)
        largest = 0.0
        for j in range(i):
            largest = max(largest, abs(mu[i, j]))
        if largest <= ETA or largest >= before:
            return
        before = largest
        for j in range(i - 1, -1, -1):
            if abs(mu[i, j]) > ETA:
                times = np.rint(mu[i, j])
                for c in range(B.shape[1]):
                    B[i, c] -= times * B[j, c]
                for k in range(j):
                    mu[i, k] -= times * mu[j, k]


@kernel()
def _moved(B, i, k):  # type: ignore[no-untyped-def]
    """Row i put before row k, which comes before it."""
    row = B[i].copy()
    for j in range(i, k, -1):
        B[j] = B[j - 1]
    B[k] = row


@kernel()
def lll(B, mu, r, parts, start, end, most):  # type: ignore[no-untyped-def]
    """Reduce rows up to `end`, of which those before `start` are; returns how many are after so many steps."""
    i = start
    for _ in range(most):
        if i >= end:
            break
        _shortened(B, mu, r, parts, i)
        k, left = i, r[i]
        while k > 0 and left + mu[i, k - 1] ** 2 * r[k - 1] < DELTA * r[k - 1]:
            k -= 1
            left += mu[i, k] ** 2 * r[k]
        if k < i:
            _moved(B, i, k)
        i = k if k < i else i + 1
    return i


@kernel(fastmath=REORDER)
def shortest(mu, r, first, bound, most):  # type: ignore[no-untyped-def]
    """Whole numbers of a short combination of rows from `first` on, and its squared length, -1 if there is none.

    bound[k]: of the squared length of the part orthogonal to the first k rows of the block; it shrinks as vectors are
    found. most: partial combinations to look at. Also returned: how many were.
    """
    n = bound.size
    sums, top = np.zeros((n + 2, n + 1)), np.arange(n + 2)  # of levels 1 to n
    length, centre, value, step = np.zeros(n + 2), np.zeros(n + 2), np.zeros(n + 2), np.zeros(n + 2)
    best, least, allowed = np.zeros(n), -1.0, bound.copy()
    value[1], last, k, looked = 1.0, 1, 1, 0
    while True:
        off = value[k] - centre[k]
        so_far = length[k + 1] + off * off * r[first + k - 1]
        looked += 1
        if so_far <= allowed[k - 1] and k > 1:
            length[k] = so_far
            k -= 1
            top[k - 1] = max(top[k - 1], top[k])
            for i in range(top[k], k, -1):
                sums[i, k] = sums[i + 1, k] + value[i] * mu[first + i - 1, first + k - 1]
            centre[k] = -sums[k + 1, k]
            value[k], step[k] = np.rint(centre[k]), 1.0
            continue
        if so_far <= allowed[k - 1]:
            least = so_far
            for i in range(n):
                best[i] = value[i + 1]
                allowed[i] = 0.999 * bound[i] * least / bound[0]
        k += 1
        if k > n or looked >= most:
            return best, least, looked
        top[k - 1] = k
        if k >= last:  # its negative is not looked at
            last = k
            value[k] += 1.0
        else:
            value[k] += step[k] if value[k] <= centre[k] else -step[k]
            step[k] += 1.0


@kernel()
def insert(B, first, numbers):  # type: ignore[no-untyped-def]
    """Make this combination of rows the first of its block; over the greatest divisor of the numbers, if they have one.

    `v_p b_p + v_i b_i = v_p (b_p + q b_i) + (v_i - q v_p) b_i`, until one number is left.
    """
    v = numbers.copy()
    while True:
        p = -1
        for i in range(v.size):
            if v[i] != 0.0 and (p < 0 or abs(v[i]) <= abs(v[p])):
                p = i
        alone = True
        for i in range(v.size):
            if i != p and v[i] != 0.0:
                alone, times = False, np.rint(v[i] / v[p])
                B[first + p] += times * B[first + i]
                v[i] -= times * v[p]
        if alone:
            _moved(B, first + p, first)
            return


@dataclass
class Basis:
    """A basis on its way; rows from `reduced` on have not been looked at since others changed."""

    rows: Vector
    reduced: int = 0
    mu: Vector = field(init=False)
    r: Vector = field(init=False)
    parts: Vector = field(init=False)

    def __post_init__(self) -> None:
        self.mu, self.r = np.zeros((len(self.rows), len(self.rows))), np.zeros(len(self.rows))
        self.parts = np.zeros_like(self.rows)

    def reduce(self, end: int | None = None) -> None:
        """LLL, up to a row."""
        end = len(self.rows) if end is None else end
        while self.reduced < end:
            self.reduced = lll(self.rows, self.mu, self.r, self.parts, self.reduced, end, ROW_STEPS)

    def improve(self, first: int, block: int, most: int) -> int:
        """Search the block of rows from `first` on for a vector shorter than that one, and put it there.

        Returns the number of partial combinations that were looked at.
        """
        size = min(block, len(self.rows) - first)
        self.reduce(first + size)
        share = np.arange(size, 0, -1) / size
        bound = DELTA * self.r[first] * np.minimum(1.0, BASE + SLOPE * share)
        numbers, length, looked = shortest(self.mu, self.r, first, bound, most)
        if length > 0:
            insert(self.rows, first, numbers)
            self.reduced = first
            self.reduce(min(first + size + 1, len(self.rows)))
        return int(looked)

    @property
    def lengths(self) -> Any:
        """Of the rows' orthogonal parts."""
        return np.sqrt(self.r)

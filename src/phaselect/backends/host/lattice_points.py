"""Compiled search for all points of a lattice that lie in a box, `|v_i| <= c_i`: none is missed.

Of a point `v = sum_i u_i b_i` the numbers u are chosen from the last on. Those chosen fix its part w orthogonal to the
other rows, and `|w|^2 = w . v <= sum_i c_i |w_i|`: a part that is longer is left, and so are those further out on the
same side, for which w is the witness too. (Ritter; Wassermann, J. Combin. Optim. 6, 5, 2002.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.host.passes import REORDER
from phaselect.backends.interface import Vector
from phaselect.base.kernels import kernel

PIECE = 2_000_000
"""Parts looked at in one call: less than half a second, after which Ctrl-C gets through."""
SLACK, ROUNDING = 1e-9, 1e-6
"""Of lengths, relative, and of a point that is found."""


def points_in_box(rows: Vector, box: Vector) -> Iterator[Vector]:
    """All points but zero of the lattice of these rows, one of each pair v, -v; the shorter the rows, the sooner."""
    n, columns = rows.shape
    Q, R = np.linalg.qr(rows.T)
    lengths = np.diagonal(R)
    orthogonal, coefficients = np.ascontiguousarray((Q * lengths).T), R / lengths[:, None]
    walk = Walk(
        *(np.zeros(n), np.zeros(n), np.full(n, -np.inf), np.zeros(n)),
        *(np.zeros((n + 1, columns)), np.zeros(n + 1), np.array([n - 1])),
    )
    while walk.level[0] < n:
        if next_point(orthogonal, coefficients, lengths**2, box, walk, PIECE):
            yield walk.u @ rows


class Walk(NamedTuple):
    """Where the search is; it goes on from there. Level k is the choice of u_k, and n is the top."""

    u: Vector
    centre: Vector
    below: Vector  # the next number to try on either side, infinite where that side is done
    above: Vector
    parts: Vector  # (n + 1, columns): w, the numbers from level k on chosen
    lengths: Vector  # of these, squared
    level: NDArray[np.int64]  # one number; n when all is done


@kernel(fastmath=REORDER)
def next_point(rows, coefficients, squares, box, walk, most):  # type: ignore[no-untyped-def]
    """Go on until a point is found, all is done, or so many parts have been looked at; is it the first?

    rows, squares: orthogonal parts and their squared lengths. coefficients: of row i on row k before it, at [k, i].
    """
    u, centre, below, above, parts, lengths, level = walk
    n, columns = rows.shape
    longest = 0.0
    for c in range(columns):
        longest += box[c] * box[c]
    k, looked = level[0], 0
    while k < n and looked < most:
        down = centre[k] - below[k] < above[k] - centre[k]
        value = below[k] if down else above[k]
        off = value - centre[k]
        length = lengths[k + 1] + off * off * squares[k]
        looked += 1
        fits = length <= longest * (1 + SLACK)
        if fits:
            reach = 0.0
            for c in range(columns):
                w = parts[k + 1, c] + off * rows[k, c]
                parts[k, c] = w
                reach += box[c] * abs(w)
            fits = length <= reach * (1 + SLACK) + SLACK
        if not fits:
            if down:
                below[k] = -np.inf
            else:
                above[k] = np.inf
            while k < n and below[k] == -np.inf and above[k] == np.inf:
                k += 1
            continue
        if down:
            below[k] -= 1.0
        else:
            above[k] += 1.0
        u[k], lengths[k] = value, length
        if k > 0:
            k -= 1
            total = 0.0
            for i in range(k + 1, n):
                total += u[i] * coefficients[k, i]
            centre[k] = -total
            above[k] = np.ceil(centre[k])
            below[k] = above[k] - 1.0 if lengths[k + 1] > 0.0 else -np.inf  # the negative of a point is not looked for
            continue
        inside = length > 0.0
        for c in range(columns):
            inside = inside and abs(parts[0, c]) <= box[c] + ROUNDING
        if inside:
            level[0] = 0
            return True
    level[0] = k
    return False

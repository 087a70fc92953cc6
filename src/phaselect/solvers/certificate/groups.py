"""Groups of measurements that can be flipped without harm: where A falls into parts, or nearly so.

Measurements influence each other through `K = A (A^T A)^-1 A^T`. Candidates are the groups of a hierarchy made of the
strongest influences first, and those that the slowest modes of a walk along the influences tell apart. Whether one can
be flipped is not inferred from K but tried: the flipped measurements must be in the range of A.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from scipy.sparse.linalg import ArpackError, eigsh

from phaselect.backends.interface import Vector
from phaselect.solvers.certificate.close_look import MOST_ROWS, CloseLook

MODES = 6
SMALL = 1e3
"""Units of rounding up to which what a group leaves may be nothing; whether it is, is seen when x is computed."""


class Flips(NamedTuple):
    """Groups of measurements, each a sum of others, or of others and one: what they leave is summed up, not multiplied.

    left: what the members of each group leave, as columns. members: of the group of that number.
    """

    left: Vector
    members: Callable[[int], NDArray[np.bool_]]


def rivals(look: CloseLook) -> Iterator[Vector]:
    """Another x for each group that can be flipped."""
    if not 1 < len(look.v) <= MOST_ROWS:
        return
    for left, members in _flips(look):
        for k in np.flatnonzero(np.abs(left).max(axis=0) <= SMALL).tolist():
            yield look.from_signed(np.where(members(k), -look.v, look.v))


def better(look: CloseLook) -> Vector | None:
    """The x of the group whose flip lowers the residual most; None if none does. For an answer that does not fit."""
    if not 1 < len(look.v) <= MOST_ROWS:
        return None
    whole = _left_alone(look, _couplings(look)).sum(axis=1)
    least, best = 0.5 * np.linalg.norm(whole), None
    for left, members in _flips(look):
        residuals = np.linalg.norm(whole[:, None] - 2 * left, axis=0)
        if residuals.min() < least:
            least, best = residuals.min(), members(int(np.argmin(residuals)))
    return None if best is None else look.from_signed(np.where(best, -look.v, look.v))


def _couplings(look: CloseLook) -> Vector:
    """K."""
    return np.asarray(look.Q @ look.Q.T)


def _left_alone(look: CloseLook, K: Vector) -> Vector:
    """`(I - K) v_i e_i` as columns: what each measurement alone leaves."""
    return np.asarray(np.diag(look.v) - K * look.v)


def _flips(look: CloseLook) -> Iterator[Flips]:
    """Of a hierarchy, then of one order after the other."""
    K = _couplings(look)
    alone = _left_alone(look, K)
    return chain([_hierarchy(K, alone)], (_firsts(order, alone) for order in _orders(K)))


def _hierarchy(K: Vector, alone: Vector) -> Flips:
    """Groups that form as ever weaker influences are taken for ties, single measurements first."""
    size = len(K)
    distance = -np.log(np.maximum(np.abs(K[np.triu_indices(size, 1)]), 1e-300))
    pairs = linkage(distance, method="single")[:-1, :2].astype(int)
    left = np.empty((2 * size - 2, size))
    left[:size] = alone.T
    for k, (one, other) in enumerate(pairs, start=size):
        left[k] = left[one] + left[other]

    def members(k: int) -> NDArray[np.bool_]:
        found, waiting = np.zeros(size, dtype=bool), [k]
        while waiting:
            group = waiting.pop()
            if group < size:
                found[group] = True
            else:
                waiting.extend(pairs[group - size])
        return found

    return Flips(left.T, members)


def _orders(K: Vector) -> Iterator[NDArray[np.int64]]:
    """The measurements in the order of each of the slowest modes."""
    if len(K) <= MODES + 1:
        return
    leverage = np.sqrt(np.maximum(np.diag(K), 1e-12))
    try:
        modes = eigsh(K**2 / np.outer(leverage, leverage), k=MODES, v0=leverage)[1]
    except ArpackError:
        return
    for mode in modes.T[::-1]:
        yield np.argsort(mode / leverage)


def _firsts(order: NDArray[np.int64], alone: Vector) -> Flips:
    """Groups of the first few in the order."""
    place = np.argsort(order)
    return Flips(np.cumsum(alone[:, order[:-1]], axis=1), lambda k: place <= k)

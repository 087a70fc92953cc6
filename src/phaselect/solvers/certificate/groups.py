"""Groups of measurements that can be flipped without harm: where A falls into parts, or nearly so.

Measurements influence each other through `K = A (A^T A)^-1 A^T`. Candidates are the groups of a hierarchy made of the
strongest influences first, and those that the slowest modes of a walk along the influences tell apart. Whether one can
be flipped is not inferred from K but tried: the flipped measurements must be in the range of A.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from scipy.sparse.linalg import ArpackError, eigsh

from phaselect.backends.interface import Vector
from phaselect.solvers.certificate.close_look import MOST_ROWS, CloseLook

MODES = 6
SMALL = 1e3
"""Units of rounding up to which what a group leaves may be nothing; whether it is, is seen when x is computed."""


def rivals(look: CloseLook) -> Iterator[Vector]:
    """Another x for each group that can be flipped."""
    if not 1 < len(look.v) <= MOST_ROWS:
        return
    left = _left_alone(look)
    for groups in _groups(look):
        for group in groups[_small(left @ groups.T)]:
            yield look.from_signed(np.where(group, -look.v, look.v))


def better(look: CloseLook) -> Vector | None:
    """The x of the group whose flip lowers the residual most; None if none does. For an answer that does not fit."""
    if not 1 < len(look.v) <= MOST_ROWS:
        return None
    left, groups = _left_alone(look), np.vstack(list(_groups(look)))
    residuals = np.linalg.norm(left.sum(axis=1)[:, None] - 2 * left @ groups.T, axis=0)
    best = int(np.argmin(residuals))
    if residuals[best] >= 0.5 * np.linalg.norm(left.sum(axis=1)):
        return None
    return look.from_signed(np.where(groups[best], -look.v, look.v))


def _left_alone(look: CloseLook) -> Vector:
    """`(I - K) v_i e_i` as columns: what each measurement alone leaves."""
    return np.asarray(np.diag(look.v) - look.Q @ look.Q.T * look.v)


def _groups(look: CloseLook) -> Iterator[NDArray[np.bool_]]:
    """Stacks of groups, one per row."""
    K = look.Q @ look.Q.T
    return chain([_hierarchy(K)], map(_firsts, _orders(K)))


def _small(left: Vector) -> NDArray[np.bool_]:
    """Which columns are residuals of rounding alone?"""
    return np.asarray(np.abs(left).max(axis=0) <= SMALL)


def _hierarchy(K: Vector) -> NDArray[np.bool_]:
    """Groups, one per row, that form as ever weaker influences are taken for ties."""
    size = len(K)
    distance = -np.log(np.maximum(np.abs(K[np.triu_indices(size, 1)]), 1e-300))
    members = np.zeros((2 * size - 1, size), dtype=bool)
    members[:size] = np.eye(size, dtype=bool)
    for k, (one, other, *_) in enumerate(linkage(distance, method="single")):
        members[size + k] = members[int(one)] | members[int(other)]
    return members[:-1]


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


def _firsts(order: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Groups, one per row, of the first few in the order."""
    place = np.argsort(order)
    return place < np.arange(1, len(order))[:, None]

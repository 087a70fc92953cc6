"""Columns of A that depend on each other: then A determines x for no y. Told only where that is certain.

Columns that are multiples of each other are found by a few products, whatever A is; the rank of an array, or of a
sparse matrix, where that does not take long. Ill-conditioned is not dependent: the smallest singular value, of rows
and columns of even size, has to be what rounding leaves of zero. Whole numbers, which are not rounded, are eliminated
modulo a prime.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.host.dense import Dense
from phaselect.backends.host.sparse import Sparse
from phaselect.backends.interface import Matrix, Vector
from phaselect.equations.exact_range import rank_of_whole
from phaselect.equations.fields import REAL, REAL_SIGNAL
from phaselect.problem.instance import Instance
from phaselect.problem.streams import Purpose, stream

EPS = float(np.finfo(np.float64).eps)
ALIKE, SAME = 1e-9, 4 * EPS
"""Relative difference of what random vectors say of columns worth a look, and of columns that are multiples."""
NAMED, LOOKED_AT = 3, 20
"""Pairs of columns that are told, and that are looked at."""
WORTH_IT, ENTRIES, WORTH_ELIMINATION = 1e9, 2e6, 1e8
"""M N^2, and M N, up to which the rank is found, in tenths of a second; M N^2 up to which elimination takes one."""
CLEARLY = 1e-10
"""Smallest eigenvalue of `A^T A`, over their sum, that rounding does not hide."""
ROUNDED = 3 * EPS
"""Smallest singular value, over the largest, that is what rounding leaves of zero: up to 2 EPS."""
WHOLE = 2.0**53
"""Up to here whole numbers are exact."""


def dependent_columns(problem: Instance) -> tuple[str, ...]:
    """What to know if no y could tell x, in a line; of data with more digits than float64 has nothing is said."""
    matrix = problem.normalised.matrix
    rows, n = matrix.shape
    small = rows * n <= ENTRIES and rows * n**2 <= WORTH_IT
    if rows <= n or problem.all_digits is not None or matrix.solves_directly:
        return ()
    how = ""
    if pairs := _multiples(matrix):
        how = f"{'; '.join(pairs)}; leave out one of each such pair"
    elif small and isinstance(matrix, Dense | Sparse) and (rank := _rank(problem)) < n:
        how = f"to the digits of float64 its {n} columns have rank {rank}; leave out the {n - rank} that others make up"
    return (f"A does not determine x, whatever y is: {how}, or add measurements that tell them apart",) if how else ()


def _multiples(matrix: Matrix) -> list[str]:
    """Pairs of columns of which one is a multiple of the other, in words: two random numbers for each tell which."""
    rng, (rows, n) = stream(0, Purpose.RANK_PROBE, *matrix.shape), matrix.shape
    probes = rng.standard_normal((2, rows)).astype(matrix.field.z)
    if matrix.field != REAL:
        probes = probes + 1j * rng.standard_normal((2, rows))
    first, second = (matrix.backproject(probe) for probe in probes)
    with np.errstate(all="ignore"):
        ratios = first / second
        order = np.argsort(ratios, kind="stable")
        near = np.abs(np.diff(ratios[order])) <= ALIKE * np.abs(ratios[order][1:])
    found = []
    for k in np.flatnonzero(near)[:LOOKED_AT]:
        i, j = sorted((int(order[k]), int(order[k + 1])))
        one, other = (matrix.measure(np.eye(1, n, place)[0].astype(matrix.field.x)) for place in (i, j))
        largest = int(np.argmax(np.abs(one)))
        if not one[largest]:
            continue
        factor = other[largest] / one[largest]
        if np.all(np.abs(other - factor * one) <= SAME * np.abs(other)):
            found.append(f"columns {i} and {j} are {'equal' if abs(factor - 1) <= SAME else 'multiples of each other'}")
    return found[:NAMED]


def _rank(problem: Instance) -> int:
    """Of A; N unless it is certainly less."""
    own = problem.normalised
    A = own.matrix.entries().astype(own.field.z, copy=False)
    if own.field == REAL_SIGNAL:
        A = np.concatenate([A.real, A.imag])
    even = _evened(A)
    gram = even.conj().T @ even
    total = float(np.trace(gram).real)
    try:
        np.linalg.cholesky(gram - CLEARLY * total * np.eye(problem.n))
    except np.linalg.LinAlgError:
        values = np.linalg.svd(even, compute_uv=False)
        rank = int(np.sum(values > ROUNDED * values[0]))
        return rank if rank == problem.n or (whole := _in_whole_numbers(A)) is None else _rank_of(whole)
    return problem.n


def _in_whole_numbers(A: Vector) -> NDArray[np.int64] | None:
    """A as multiples of its smallest entry, or of one, if these are whole."""
    if A.dtype.kind == "c":
        return None
    for unit in (1.0, np.min(np.abs(A[A != 0]))):
        multiples = A / unit
        whole = np.rint(multiples)
        if np.abs(whole).max() < WHOLE and (np.abs(multiples - whole) <= SAME * np.abs(whole)).all():
            return whole.astype(np.int64)
    return None


def _rank_of(whole: NDArray[np.int64]) -> int:
    """By elimination; of too many numbers it stays open, and is taken for full."""
    rows, n = whole.shape
    return rank_of_whole(whole) if rows * n**2 <= WORTH_ELIMINATION else n


def _evened(A: Vector) -> Vector:
    """Rows and columns times powers of two, so that none is weak: that rounds nothing, and changes no rank."""
    for axis in (1, 0, 1, 0):
        largest = np.abs(A).max(axis=axis, keepdims=True)
        A = A * np.exp2(-np.frexp(np.where(largest > 0, largest, 1.0))[1])
    return A

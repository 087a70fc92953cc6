"""Matrices that leave something open, or only look as if they did, with a signal each; of the shape that is shared."""

import numpy as np

from phaselect import Instance, Status
from tests.backends.shapes import ROWS, N

HALF, ROWS_OF_HALF = N // 2, ROWS // 2 + 1


def gauss(rng, rows=ROWS, columns=N):
    return rng.standard_normal((rows, columns))


def any_matrix(rng):
    return gauss(rng)


def twins(rng):
    A = gauss(rng)
    A[:, 4] = A[:, 17]
    return A


def nearly_twins(rng):
    A = gauss(rng)
    A[:, 4] = A[:, 17] + 1e-13 * A[:, 3]
    return A


def few_independent_columns(rng):
    return gauss(rng, ROWS, N - 10) @ gauss(rng, N - 10, N)


def blocks(rng):
    A = np.zeros((ROWS, N))
    A[:ROWS_OF_HALF, :HALF] = gauss(rng, ROWS_OF_HALF, HALF)
    A[ROWS_OF_HALF:, HALF:] = gauss(rng, ROWS - ROWS_OF_HALF, HALF)
    return A


def rotated_blocks(rng):
    return blocks(rng) @ np.linalg.qr(gauss(rng, N, N))[0]


def inner_block(rng):
    """The first and the last measurement hang together; some between them do not."""
    return blocks(rng)[np.argsort(np.r_[:14, ROWS - 14 : ROWS, 14 : ROWS - 14], kind="stable")]


def lonely_measurement(rng):
    """One unknown that is seen by one measurement alone."""
    A = gauss(rng)
    A[:, 7] = 0
    A[30] = 5 * np.eye(N)[7]
    return A


def ring(rng, seen):
    """Each measurement sees a few unknowns in a ring: all hang together, but far ones only through those between."""
    A = np.zeros((ROWS, N))
    for i in range(ROWS):
        A[i, (i * N // ROWS + np.arange(seen)) % N] = rng.standard_normal(seen) + 2 * (np.arange(seen) == 1)
    return A


def neighbours(rng):
    return ring(rng, 2)


def uneven_neighbours(rng):
    """Measurements weigh very unequally in their own fit."""
    return ring(rng, 3)


def sparse_signal(rng):
    return gauss(rng), rng.standard_normal(N) * (rng.random(N) < 0.5)


def vanishing_measurements(rng):
    A, x0 = gauss(rng), rng.standard_normal(N)
    A[:3] -= np.outer(A[:3] @ x0, x0) / (x0 @ x0)
    return A, x0


def bridge_of_zero(rng):
    """Two blocks tied together by a column where the signal is zero."""
    A, x0 = blocks(rng), rng.standard_normal(N)
    A[:, 0], x0[0] = gauss(rng, 1, ROWS), 0
    return A, x0


def bridge(rng):
    """The same with a signal that crosses it."""
    A, x0 = bridge_of_zero(rng)
    x0[0] = 1
    return A, x0


def repeated(rng):
    square = gauss(rng, N, N)
    return np.vstack([square, square[: ROWS - N]]), rng.standard_normal(N)


RECOVERED = [any_matrix, sparse_signal, vanishing_measurements, bridge, neighbours, uneven_neighbours]
AMBIGUOUS = [
    twins,
    nearly_twins,
    blocks,
    rotated_blocks,
    inner_block,
    lonely_measurement,
    bridge_of_zero,
    repeated,
]
CASES = dict.fromkeys(RECOVERED, Status.RECOVERED) | dict.fromkeys(AMBIGUOUS, Status.AMBIGUOUS)


def instance(make, seed=2):
    """With the measurements of a signal."""
    rng = np.random.default_rng(seed)
    made = make(rng)
    A, x0 = made if isinstance(made, tuple) else (made, rng.standard_normal(N))
    return Instance(A, np.abs(A @ x0), x0)

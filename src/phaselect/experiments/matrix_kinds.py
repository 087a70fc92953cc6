"""Kinds of measurement matrices beyond the paper's: iid with other entries, and with structure."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from phaselect.problem.instance import Instance
from phaselect.problem.streams import Purpose, stream

Array = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int, int], Array]


def gaussian(rng: np.random.Generator, m_rows: int, n: int) -> Array:
    """The paper's."""
    return rng.standard_normal((m_rows, n))


def sparse(rng: np.random.Generator, m_rows: int, n: int) -> Array:
    """Ten entries a row on average, Gaussian."""
    return gaussian(rng, m_rows, n) * (rng.random((m_rows, n)) < 10 / n)


def correlated_columns(rng: np.random.Generator, m_rows: int, n: int) -> Array:
    """Neighbouring columns have correlation 0.9, and so on along the row."""
    places = np.arange(n)
    covariance = 0.9 ** np.abs(places[:, None] - places)
    return gaussian(rng, m_rows, n) @ np.linalg.cholesky(covariance).T


def column_orthogonal(rng: np.random.Generator, m_rows: int, n: int) -> Array:
    """Orthonormal columns, in random directions."""
    return np.asarray(np.linalg.qr(gaussian(rng, m_rows, n)).Q)


def ill_conditioned(rng: np.random.Generator, m_rows: int, n: int) -> Array:
    """Singular values in geometric progression, condition number 30."""
    return column_orthogonal(rng, m_rows, n) * np.geomspace(1, 1 / 30, n) @ column_orthogonal(rng, n, n).T


def masked_cosines(rng: np.random.Generator, m_rows: int, n: int) -> Array:
    """Random rows of cosine transforms, each of the signal behind a mask of random signs."""
    times = np.pi * (np.arange(n) + 0.5) / n
    cosines = np.cos(np.arange(n)[:, None] * times)
    return _some_rows(rng, [cosines * rng.choice([-1.0, 1.0], n) for _ in range(-(-m_rows // n))], m_rows)


def circulant(rng: np.random.Generator, m_rows: int, n: int) -> Array:
    """Random rows of convolutions with Gaussian filters."""
    shifts = (np.arange(n) - np.arange(n)[:, None]) % n
    return _some_rows(rng, [rng.standard_normal(n)[shifts] for _ in range(-(-m_rows // n))], m_rows)


def _some_rows(rng: np.random.Generator, blocks: list[Array], m_rows: int) -> Array:
    rows = np.concatenate(blocks)
    return rows[rng.permutation(len(rows))[:m_rows]]


IID: dict[str, Draw] = {
    "Gaussian": gaussian,
    "random signs": lambda rng, m_rows, n: rng.choice([-1.0, 1.0], (m_rows, n)),
    "Student t, 2.5": lambda rng, m_rows, n: rng.standard_t(2.5, (m_rows, n)),
    "Student t, 1.5": lambda rng, m_rows, n: rng.standard_t(1.5, (m_rows, n)),
    "10 entries a row": sparse,
    "Gaussian, mean 0.1": lambda rng, m_rows, n: 0.1 + gaussian(rng, m_rows, n),
    "Gaussian, mean 1": lambda rng, m_rows, n: 1.0 + gaussian(rng, m_rows, n),
    "0 or 1": lambda rng, m_rows, n: rng.integers(0, 2, (m_rows, n)).astype(float),
}
"""Independent entries of one law."""

STRUCTURED: dict[str, Draw] = {
    "uneven rows": lambda rng, m_rows, n: gaussian(rng, m_rows, n) * np.exp(rng.standard_normal((m_rows, 1))),
    "uneven columns": lambda rng, m_rows, n: gaussian(rng, m_rows, n) * np.exp(rng.standard_normal(n)),
    "circulant": circulant,
    "correlated columns": correlated_columns,
    "condition number 30": ill_conditioned,
    "orthogonal columns": column_orthogonal,
    "masked cosines": masked_cosines,
}
"""Entries that depend on each other, or are of several laws."""


def instance_of(draw: Draw, n: int, alpha: float, seed: int) -> Instance:
    """A Gaussian signal measured by a matrix of this kind."""
    shape = round(alpha * n), n
    A = draw(stream(seed, Purpose.MATRIX, *shape), *shape)
    x0 = stream(seed, Purpose.SIGNAL, *shape).standard_normal(n)
    return Instance(A, np.abs(A @ x0), x0)

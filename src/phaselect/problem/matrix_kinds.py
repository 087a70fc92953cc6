"""Kinds of random matrices, one function each: M x N from a generator of random numbers, and what the kind can be told.

The squared norm of a row is 1 on average whatever the kind (where its entries have a variance, and unless singular
values are given), so that variances of signal and noise mean the same for all. Kinds that can be complex take a field:
a complex number is two Gaussian ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from inspect import signature
from itertools import pairwise
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phaselect.base.checks import is_count, is_number, shortened
from phaselect.base.errors import InputError
from phaselect.equations.fields import COMPLEX, REAL, Field
from phaselect.equations.signs import signs_of

Array = NDArray[Any]
Kind = Callable[..., Any]
FIELDS = {"real": REAL, "complex": COMPLEX}
"""Of A and of the signal."""

# ------------------------------------------------------------------ independent entries of one law


def gaussian(rng: np.random.Generator, m_rows: int, n: int, *, field: Field = REAL) -> Array:
    """iid Gaussian entries of variance 1/N: the paper's."""
    A = normal(rng, (m_rows, n), field)
    A /= sqrt(field.reals * n)
    return A


def signs(rng: np.random.Generator, m_rows: int, n: int) -> Array:
    """iid entries of +-1, over sqrt(N)."""
    return rng.choice([-1.0, 1.0], (m_rows, n)) / sqrt(n)


def student_t(rng: np.random.Generator, m_rows: int, n: int, degrees: float = 2.5) -> Array:
    """iid entries of Student's law, over sqrt(N): heavy tails, without a variance for 2 degrees of freedom or fewer."""
    _check(is_number(degrees) and degrees >= 1, "degrees", degrees, "a number of degrees of freedom, 1 or more")
    return rng.standard_t(degrees, (m_rows, n)) / sqrt(n)


def biased(rng: np.random.Generator, m_rows: int, n: int, mean: float = 1.0) -> Array:
    """iid Gaussian entries whose mean, over their standard deviation, is not zero."""
    _check(is_number(mean) and abs(mean) <= 1e9, "mean", mean, "a number, mean over standard deviation, 1e9 at most")
    return (mean + rng.standard_normal((m_rows, n))) / sqrt(n * (1 + mean**2))


def uniform(rng: np.random.Generator, m_rows: int, n: int) -> Array:
    """iid entries, uniform between 0 and sqrt(3/N)."""
    return rng.random((m_rows, n)) * sqrt(3 / n)


def binary(rng: np.random.Generator, m_rows: int, n: int) -> Array:
    """iid entries, 0 or sqrt(2/N): masks."""
    return rng.integers(0, 2, (m_rows, n)).astype(np.float64) * sqrt(2 / n)


# ------------------------------------------------------------------ entries that depend on each other, or differ


def sparse(rng: np.random.Generator, m_rows: int, n: int, nonzeros: int = 10) -> Any:
    """Gaussian entries in ten random places of each row, as a sparse matrix of SciPy's; no column is left empty."""
    from scipy.sparse import csr_array

    _check(is_count(nonzeros, 1) and nonzeros <= n, "nonzeros", nonzeros, f"a whole number, 1 to n = {n}")
    _check(nonzeros * m_rows >= 2 * n, "nonzeros", nonzeros, f"{-(-2 * n // m_rows)} or more, or columns stay empty")
    places = np.stack([rng.choice(n, nonzeros, replace=False) for _ in range(m_rows)])
    while (empty := np.setdiff1d(np.arange(n), places)).size:
        rows = rng.permutation(m_rows)[: empty.size]
        places[rows, rng.integers(nonzeros, size=rows.size)] = empty[: rows.size]
    entries = rng.standard_normal(places.size) / sqrt(nonzeros)
    return csr_array((entries, places.ravel(), nonzeros * np.arange(m_rows + 1)), shape=(m_rows, n))


def toeplitz(rng: np.random.Generator, m_rows: int, n: int, rho: float = 0.9, *, field: Field = REAL) -> Array:
    """Gaussian rows whose entries j and k have the correlation rho^|j - k|: neighbouring columns are alike."""
    _check(is_number(rho) and -1 < rho < 1, "rho", rho, "a correlation, between -1 and 1")
    columns = np.ascontiguousarray(gaussian(rng, m_rows, n, field=field).T)
    for before, column in pairwise(columns):
        column *= sqrt(1 - rho**2)
        column += rho * before
    return np.ascontiguousarray(columns.T)


def uneven_rows(rng: np.random.Generator, m_rows: int, n: int, spread: float = 1.0, *, field: Field = REAL) -> Array:
    """Gaussian rows of log-normal norms, whose logarithms have this standard deviation."""
    A = gaussian(rng, m_rows, n, field=field)
    return A * _log_normal(rng, m_rows, spread)[:, None]


def uneven_columns(rng: np.random.Generator, m_rows: int, n: int, spread: float = 1.0, *, field: Field = REAL) -> Array:
    """Gaussian columns of log-normal norms, whose logarithms have this standard deviation."""
    A = gaussian(rng, m_rows, n, field=field)
    return A * _log_normal(rng, n, spread)


def orthogonal(rng: np.random.Generator, m_rows: int, n: int, *, field: Field = REAL) -> Array:
    """Orthogonal columns in uniformly random directions (Haar), A^T A = M/N; for M < N orthonormal rows."""
    return _isometry(rng, m_rows, n, field) * sqrt(m_rows / min(m_rows, n))


def spectrum(
    rng: np.random.Generator,
    m_rows: int,
    n: int,
    values: Any = None,
    condition: float = 30.0,
    *,
    field: Field = REAL,
) -> Array:
    """Singular values as given, or in geometric progression to this condition number; Haar singular vectors."""
    few = min(m_rows, n)
    if values is None:
        _check(is_number(condition) and 1 <= condition <= 1e15, "condition", condition, "a condition number, 1 to 1e15")
        geometric = np.geomspace(1, 1 / condition, few)
        values = geometric * np.sqrt(m_rows / np.sum(geometric**2))
    return _isometry(rng, m_rows, few, field) * _singular_values(values, few) @ _isometry(rng, n, few, field).T


def circulant(rng: np.random.Generator, m_rows: int, n: int, *, field: Field = REAL) -> Array:
    """Random rows of convolutions with Gaussian filters, as many filters as it takes."""
    shifts = (np.arange(n) - np.arange(n)[:, None]) % n
    rows = np.concatenate([normal(rng, (n,), field)[shifts] for _ in range(-(-m_rows // n))])
    return rows[rng.permutation(len(rows))[:m_rows]] / sqrt(field.reals * n)


def dct(rng: np.random.Generator, m_rows: int, n: int) -> Any:
    """Random rows of cosine transforms behind masks of random signs, M/N masks rounded up, as a LinearOperator."""
    from scipy.sparse.linalg import LinearOperator

    masks = np.stack([rng.choice([-1.0, 1.0], n) for _ in range(-(-m_rows // n))])
    rows = rng.permutation(masks.size)[:m_rows]
    forward, adjoint = partial(_cosines, masks, rows), partial(_cosines_transposed, masks, rows)
    return LinearOperator(
        (m_rows, n), matvec=forward, rmatvec=adjoint, matmat=forward, rmatmat=adjoint, dtype=np.float64
    )


KINDS: dict[str, Kind] = {
    kind.__name__: kind
    for kind in (
        gaussian,
        signs,
        orthogonal,
        dct,
        toeplitz,
        uneven_rows,
        uneven_columns,
        biased,
        uniform,
        sparse,
        spectrum,
        student_t,
        binary,
        circulant,
    )
}
"""Every kind by its name."""


def is_kind(kind: Any) -> bool:
    """Is there such a kind?"""
    return isinstance(kind, str) and kind in KINDS


def check_kind(kind: Any) -> None:
    """The name of a kind, or one line that lists them."""
    if not is_kind(kind):
        raise InputError(f"ensemble {shortened(kind)}: use one of {', '.join(KINDS)}")


def check_parameters(kind: str, parameters: Mapping[str, Any]) -> None:
    """Can this kind be told these?"""
    known = [name for name in list(signature(KINDS[kind]).parameters)[3:] if name != "field"]
    if unknown := sorted(set(parameters) - set(known)):
        raise InputError(f"{', '.join(unknown)}: no such parameter; ensemble {kind} has {', '.join(known) or 'none'}")


def can_be_complex(kind: str) -> bool:
    """Has this kind a complex version?"""
    return "field" in signature(KINDS[kind]).parameters


def check_field(field: Any, kind: str = "gaussian") -> Field:
    """The field of that name, if this kind of matrix can be had in it."""
    if not isinstance(field, str) or field not in FIELDS:
        raise InputError(f"field {shortened(field)}: use one of {', '.join(FIELDS)}")
    if FIELDS[field] == COMPLEX and not can_be_complex(kind):
        able = ", ".join(filter(can_be_complex, KINDS))
        raise InputError(f"ensemble {kind} is real: of the kinds of matrices {able} can be complex")
    return FIELDS[field]


def normal(rng: np.random.Generator, shape: tuple[int, ...], field: Field) -> Array:
    """Standard normal numbers, or pairs of them as complex ones."""
    return rng.standard_normal((*shape[:-1], field.reals * shape[-1])).view(field.x)


def _check(good: bool, name: str, value: Any, wanted: str) -> None:
    if not good:
        raise InputError(f"{name} = {shortened(value)}: give {wanted}")


def _log_normal(rng: np.random.Generator, count: int, spread: float) -> Array:
    """exp(spread * g) of unit mean square."""
    _check(is_number(spread) and 0 <= spread <= 10, "spread", spread, "a standard deviation of logarithms, 0 to 10")
    return np.exp(spread * rng.standard_normal(count) - spread**2)


def _isometry(rng: np.random.Generator, m_rows: int, n: int, field: Field) -> Array:
    """Orthonormal columns, or rows, by the Haar measure: signs as LAPACK chooses them are not random."""
    if m_rows < n:
        return _isometry(rng, n, m_rows, field).T
    Q, R = np.linalg.qr(normal(rng, (m_rows, n), field))
    return np.asarray(Q * signs_of(np.diag(R)))


def _singular_values(values: Any, count: int) -> Array:
    try:
        checked = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        checked = np.array(np.nan)
    good = checked.shape == (count,) and bool(np.isfinite(checked).all()) and checked.min() >= 0 and checked.any()
    _check(bool(good), "values", values, f"{count} singular values, numbers from 0 on, not all of them 0")
    return checked


def _cosines(masks: Array, rows: NDArray[np.int64], x: Array) -> Array:
    """Some rows of the orthonormal cosine transforms of x, or of each column of x, behind each mask."""
    from scipy import fft

    behind = masks.reshape(*masks.shape, *[1] * (x.ndim - 1)) * x
    images = fft.dct(behind, axis=1, norm="ortho")
    return np.asarray(images.reshape(masks.size, *x.shape[1:])[rows])


def _cosines_transposed(masks: Array, rows: NDArray[np.int64], z: Array) -> Array:
    """The transpose of `_cosines`."""
    from scipy import fft

    images = np.zeros((masks.size, *z.shape[1:]))
    images[rows] = z
    behind = fft.idct(images.reshape(*masks.shape, *z.shape[1:]), axis=1, norm="ortho")
    return np.asarray(np.sum(masks.reshape(*masks.shape, *[1] * (z.ndim - 1)) * behind, axis=0))

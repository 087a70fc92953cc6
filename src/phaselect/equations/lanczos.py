r"""The eigenvalues of `A^T A` as a quadrature, by Lanczos' method from random vectors: sums over all from few products.

`tr f(A^T A) = E[r . f(A^T A) r]` for entries of r that are +-1, and k steps from r integrate polynomials of degree
2k - 1 exactly. One vector knows such a sum to a relative error of about `sqrt(2/N)` times the spread of f.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from phaselect.equations.arrays import Array, inner, namespace, squared

PROBES = 2400
"""Random numbers, about, that eigenvalues are found with."""
STEPS = 60
ENDED = 1e-10
"""Of the first, a step that tells that all eigenvalues in sight have been found."""


class Eigenvalues(NamedTuple):
    """Sums over the eigenvalues of `A^T A` are sums over these values, with these weights, which add up to N.

    fold: that of the field, for a belief of precision g about measurements is one of fold * g where x is concerned.
    """

    values: Array
    weights: Array
    fold: Array | float = 1.0

    def mean_variance(self, g: Array, Lam: Array, m_rows: int) -> Array:
        """Of a measurement, on average: `(1/M) tr A (fold g A^T A + Lam)^-1 A^T`."""
        return (self.weights * self.values / (self.fold * g * self.values + Lam)).sum() / m_rows

    def mean_variance_of_x(self, g: Array, Lam: Array, n: int) -> Array:
        """Of an entry of x, on average: `(1/N) tr (fold g A^T A + Lam)^-1`, what A does not see included."""
        seen = (self.weights / (self.fold * g * self.values + Lam)).sum()
        return (seen + (n - self.weights.sum()) / Lam) / n


class _Lanczos(NamedTuple):
    old: Array
    new: Array
    diagonal: Array
    beside: Array
    length: Array  # of the step that led to `new`
    steps: Array


def quadrature(normal: Callable[[Any], Any], probes: Array, loops: Any, fold: float = 1.0) -> Eigenvalues:
    """From a stack of random signs, of the dtype of x, and the function `p -> A^T A p` of stacks."""
    xp = namespace(probes)
    count, n = probes.shape
    steps = min(STEPS, n)
    place = xp.arange(steps)

    def going(now: _Lanczos) -> Array:
        return (now.steps < steps) & (now.length > 0).any()

    def step(now: _Lanczos) -> _Lanczos:
        image = normal(now.new)
        along = inner(image, now.new)
        rest = image - along[:, None] * now.new - now.length[:, None] * now.old
        rest = rest - inner(rest, now.new)[:, None] * now.new
        length = xp.sqrt(squared(rest).sum(axis=1))
        length = xp.where((length > ENDED * along) & (now.length > 0), length, 0.0)
        here = place == now.steps
        return _Lanczos(
            old=now.new,
            new=xp.where(length[:, None] > 0, rest / xp.where(length > 0, length, 1.0)[:, None], 0.0),
            diagonal=xp.where(here, along[:, None], now.diagonal),
            beside=xp.where(here, length[:, None], now.beside),
            length=length,
            steps=now.steps + 1,
        )

    zeros, unit = xp.zeros((count, steps)), probes / n**0.5
    start = _Lanczos(0 * unit, unit, zeros, zeros, xp.ones(count), xp.asarray(0))
    end: _Lanczos = loops.until(going, step, start)
    across = end.beside[:, :-1, None] * xp.eye(steps)[None, 1:]
    band = end.diagonal[:, :, None] * xp.eye(steps) + _lowered(xp, across) + _lowered(xp, across).transpose(0, 2, 1)
    values, vectors = xp.linalg.eigh(band)
    weights = n / count * vectors[:, 0] ** 2
    return Eigenvalues(values.clip(0.0).reshape(-1), weights.reshape(-1), xp.asarray(fold))


def _lowered(xp: Any, rows: Array) -> Array:
    """With a row of zeros at the end."""
    return xp.concatenate([rows, 0 * rows[:, :1]], axis=1)

r"""Least squares by conjugate gradients inside iterative refinement, and signs mended on the way.

Residuals are computed in float64 from A itself; corrections come from conjugate gradients in whatever precision the
matrix offers, as far as that precision is good for. O(M + N) memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from phaselect.equations.arrays import Array, namespace

SETTLED = 1e-2
"""Part of the residual that the fit can still explain, below which what is left shows wrong signs."""
ROUNDS = 30


class Linear(NamedTuple):
    """A least-squares problem: the products with A, and how its solution is corrected.

    correct: from the residual, `A^T` times it and the size to bring that down to, to what brings x nearer.
    loops: how loops are run, see backends.
    """

    forward: Callable[[Any], Any]
    adjoint: Callable[[Any], Any]
    correct: Callable[[Any, Any, Any], Any]
    loops: Any


class Fit(NamedTuple):
    """Least squares as far as it has come: x, its measurements, what they should be, and `A^T (target - A x)`."""

    x: Array
    z: Array
    target: Array
    slope: Array


def least_squares(linear: Linear, target: Array, x: Array, tolerance: float, mend: bool = False) -> Fit:
    """`argmin_x |target - A x|` nearest to the given x.

    tolerance: of the gradient, relative to that of x = 0. mend: flip signs of the target that are seen to be wrong.
    """
    xp = namespace(x)
    first = _norm(linear.adjoint(target))

    def look(x: Array, target: Array) -> Fit:
        z = linear.forward(x)
        slope = linear.adjoint(target - z)
        if not mend:
            return Fit(x, z, target, slope)
        settled = _norm(slope) < SETTLED * _norm(target - z)
        better = xp.where(settled, mended(target, z, x.shape[0]), target)
        changed = (better != target).any()
        slope = linear.loops.branch(changed, lambda: linear.adjoint(better - z), lambda: slope)
        return Fit(x, z, better, slope)

    def unfinished(carry: tuple[Any, ...]) -> Any:
        fit, before, rounds = carry
        size = _norm(fit.slope)
        stuck = ~(fit.target != before.target).any() & (size > 0.5 * _norm(before.slope)) & (rounds > 0)
        return (rounds < ROUNDS) & (size > tolerance * first) & ~stuck

    def improve(carry: tuple[Any, ...]) -> tuple[Any, ...]:
        fit, _, rounds = carry
        step = linear.correct(fit.target - fit.z, fit.slope, 0.1 * tolerance * first)
        return look(fit.x + step, fit.target), fit, rounds + 1

    begin = look(x, target)
    found: Fit = linear.loops.until(unfinished, improve, (begin, begin, 0))[0]
    return found


class ConjugateGradients(NamedTuple):
    """Corrections by conjugate gradients, in a precision that may be lower than that of x.

    normal: `p -> A^T A p`, in `dtype`. gain: how far the residual is brought down; steps: how many at most.
    """

    normal: Callable[[Any], Any]
    dtype: str
    gain: float
    steps: int
    loops: Any

    def __call__(self, residual: Array, slope: Array, enough: Array) -> Array:
        """`(A^T A)^-1 slope`; b is brought to unit length, so that low precision has room for it."""
        size = _norm(slope) + 1e-300
        b = (slope / size).astype(self.dtype)
        least = namespace(slope).maximum(self.gain, enough / size).astype(self.dtype) ** 2

        def unfinished(carry: tuple[Any, ...]) -> Any:
            *_, power, steps = carry
            return (steps < self.steps) & (power > least)

        return size * self.loops.until(unfinished, self._step, (0 * b, b, b, b @ b, 0))[0].astype("float64")

    def _step(self, carry: tuple[Any, ...]) -> tuple[Any, ...]:
        d, residual, direction, power, steps = carry
        tiny = float(namespace(d).finfo(d.dtype).tiny)  # nothing is divided by zero, whatever A is
        image = self.normal(direction)
        length = power / (direction @ image + tiny)
        residual = residual - length * image
        left = residual @ residual
        return d + length * direction, residual, residual + left / (power + tiny) * direction, left, steps + 1


def mended(v: Array, z: Array, n: int) -> Array:
    """Signed measurements v after all flips that, each by itself, would lower the energy; z is at its least squares.

    `dE = 4 v_i (v_i (1 - K_ii) - r_i)` with K_ii at its mean N/M. The sign of z does not tell a wrong sign: where
    K_ii > 1/2, z has followed it.
    """
    leverage = n / v.shape[0]
    return namespace(v).where(v * z < leverage * v**2, -v, v)


def _norm(vector: Array) -> Array:
    return namespace(vector).sqrt((vector**2).sum())

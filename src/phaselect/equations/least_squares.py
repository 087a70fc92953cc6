r"""Least squares for several targets at once, by conjugate gradients inside iterative refinement.

All systems go in lockstep, so that one read of A serves them all; each has coefficients of its own, and is held where
it is once it is done. Residuals are computed in float64 from A itself; corrections come from conjugate gradients in
whatever precision the matrix offers, as far as that is good for. Signs are mended on the way. O(M + N) memory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from phaselect.equations.arrays import Array, inner, namespace, squared

UNSURE = 10.0
"""What an unfinished fit may still change of a measurement, over what is left of the gradient for each."""
ROUNDS = 30
GAIN = {"float16": 1e-2, "float32": 1e-5, "float64": 1e-9, "complex64": 1e-5, "complex128": 1e-9}
"""What a round of conjugate gradients gains, by the precision of A, before the residual is computed anew."""
CG_STEPS = 1000
"""Steps of such a round, at most, on a device, and in float32: what takes more is not for float32."""
WORTHWHILE, STUCK = 0.1, 0.5
"""What a round must gain, or corrections become finer; and where they are the finest, or it was the last."""
ENOUGH = 0.5
"""Where the last round may end, over the tolerance."""
EIGENVALUES = 2.0 ** (-0.5 * np.arange(96))
"""Where conjugate gradients are watched: below the largest eigenvalue of `A^T A`, which is 1 at least for unit rows."""
HUGE = 1e150
"""A tolerance that everything meets; and a bound, as what is left at an eigenvalue that A does not have may grow."""


class Linear(NamedTuple):
    """Least squares on one A; vectors come in stacks, one per row.

    look: from x and targets to `A x` and `A^T (target - A x)`, in float64. forward, adjoint: `A x` and `A^T z`.
    correct: ways to bring x nearer, from rough to fine (see `ConjugateGradients.__call__`). loops: how loops are run,
    see backends.
    """

    look: Callable[[Any, Any], tuple[Any, Any]]
    forward: Callable[[Any], Any]
    adjoint: Callable[[Any], Any]
    correct: tuple[Callable[..., Any], ...]
    loops: Any

    def restricted(self, chosen: Array) -> Linear:
        """On some of the columns: x is zero in all others."""
        finest: Any = self.correct[-1]  # conjugate gradients, whatever else there is

        def look(x: Array, target: Array) -> tuple[Array, Array]:
            z, slope = self.look(chosen * x, target)
            return z, chosen * slope

        own = finest._replace(normal=lambda p, on: chosen.astype(p.dtype) * finest.normal(p, on))
        forward, adjoint = (lambda x: self.forward(chosen * x)), (lambda z: chosen * self.adjoint(z))
        return Linear(look, forward, adjoint, (own,), self.loops)


class Systems(NamedTuple):
    """`argmin_x |target - A x|`, nearest to the x given, for each row.

    tolerance: of the gradient, relative to that of x = 0; HUGE for what need not be solved. enough: tells of a
    stack of x which part of their gradients may be left, 1 if they are near enough as they are; where that is known.
    """

    target: Array
    x: Array
    tolerance: Array
    enough: Callable[[Any], Any] = lambda x: 0.0 * abs(x[:, 0])


class Fit(NamedTuple):
    """Least squares as far as it has come: x, its measurements, what they should be, and `A^T (target - A x)`."""

    x: Array
    z: Array
    target: Array
    slope: Array


class Spectrum(NamedTuple):
    """What conjugate gradients have seen of the eigenvalues of `A^T A`, in each system.

    left: of a component of the error along an eigenvector, for each of EIGENVALUES. largest: eigenvalue, as a column.
    steps: so far, of all systems together.
    """

    left: Array
    largest: Array
    steps: Array

    def condition(self, missing: Array) -> Array:
        """Of A, or a little more, as seen by each system, which misses its solution by so much.

        What is left of a component falls, from all of it at eigenvalue 0 to nothing at the smallest that A has. Where a
        part sqrt(missing) or more would be left, A has no eigenvalue: any component but a tiny one would be missed.
        """
        xp = namespace(self.left)
        level = xp.sqrt(missing)[:, None]
        below = xp.concatenate([self.left[:, 1:], self.left[:, -1:]], axis=1)
        passed = (self.left <= level) | (self.left > below + level)
        smallest = xp.where(passed, EIGENVALUES, 1.0).min(axis=1)
        return xp.sqrt(self.largest[:, 0] / (EIGENVALUES[1] * smallest))


def nothing_seen(x: Array) -> Spectrum:
    """Before the first step, of a stack of x."""
    xp = namespace(x)
    return Spectrum(xp.ones((x.shape[0], len(EIGENVALUES))), xp.zeros((x.shape[0], 1)), xp.asarray(0))


class _Rounds(NamedTuple):
    fit: Fit
    spectrum: Spectrum
    level: Array  # of the corrections
    held: Array  # systems that get no further
    rounds: Array


def least_squares(linear: Linear, systems: Systems, mend: bool = False) -> tuple[Fit, Spectrum]:
    """Solve all systems; mend: flip signs of the last target that are seen to be wrong."""
    xp, loops, finest = namespace(systems.x), linear.loops, len(linear.correct) - 1
    goal = systems.tolerance * norms(linear.adjoint(systems.target))

    def look(x: Array, target: Array, mending: Array) -> Fit:
        z, slope = linear.look(x, target)
        if not mend:
            return Fit(x, z, target, slope)
        unsure = UNSURE * xp.sqrt((slope[-1] ** 2).sum() / target.shape[1])
        last = xp.where(mending, mended(target[-1], z[-1], x.shape[1], unsure), target[-1])[None]
        changed = (last != target[-1:]).any()
        back = loops.branch(changed, lambda: linear.adjoint(last - z[-1:]), lambda: slope[-1:])
        return Fit(x, z, xp.concatenate([target[:-1], last]), xp.concatenate([slope[:-1], back]))

    def enough(fit: Fit) -> Array:
        return xp.maximum(goal, systems.enough(fit.x) * norms(fit.slope))

    def going(now: _Rounds) -> Array:
        return (norms(now.fit.slope) > enough(now.fit)) & ~now.held

    def unfinished(now: _Rounds) -> Array:
        return (now.rounds < ROUNDS) & going(now).any()

    def improve(now: _Rounds) -> _Rounds:
        old, on = now.fit, going(now)
        given = old.target - old.z, old.slope, xp.where(on, ENOUGH * enough(old), xp.inf), now.spectrum
        step, spectrum = correction(linear, now.level, *given)
        new = look(old.x + xp.where(on[:, None], step, 0.0), old.target, on[-1])
        before, after = norms(old.slope), norms(new.slope)
        behind = on & (new.target == old.target).all(axis=1) & ~(after <= enough(new))
        in_vain = (behind & ~(after < before))[:, None]
        pairs = zip((*old, *now.spectrum[:2]), (*new, *spectrum[:2]), strict=True)
        *fit, left, largest = (xp.where(in_vain, one, other) for one, other in pairs)
        at_last = now.level == finest
        level = now.level + ((behind & ~(after <= WORTHWHILE * before)).any() & ~at_last)
        held = now.held | (behind & ~(after <= STUCK * before) & at_last)
        return _Rounds(Fit(*fit), Spectrum(left, largest, spectrum.steps), level, held, now.rounds + 1)

    begin = look(systems.x, systems.target, systems.tolerance[-1] < HUGE)
    start = _Rounds(begin, nothing_seen(systems.x), xp.asarray(0), systems.tolerance < 0, xp.asarray(0))
    found: _Rounds = loops.until(unfinished, improve, start)
    return found.fit, found.spectrum


def correction(linear: Linear, level: Array, *given: Any) -> tuple[Array, Spectrum]:
    """By the way of that level, given what that is (see `ConjugateGradients.__call__`)."""
    *rough, finest = (partial(correct, *given) for correct in linear.correct)
    choice = finest
    for k in reversed(range(len(rough))):
        choice = partial(linear.loops.branch, level == k, rough[k], choice)
    step, spectrum = choice()
    return step, spectrum


class _Descent(NamedTuple):
    d: Array
    residual: Array
    direction: Array
    power: Array  # of the residual
    spectrum: Spectrum
    ahead: Array  # of the direction, what `spectrum.left` is of the residual
    steps: Array


class ConjugateGradients(NamedTuple):
    """Corrections by conjugate gradients, in a precision that may be lower than that of x.

    Products of vectors are real: complex numbers count as pairs, so that maps that are linear in pairs alone, such as
    the derivative of `|A x|`, are as good as matrices.

    normal: of a stack of p, and of which of them count, `A^T A p` in `dtype`. gain: how far gradients are brought down;
    steps: how many at most.
    """

    normal: Callable[[Any, Any], Any]
    dtype: str
    gain: float
    steps: int
    loops: Any

    def __call__(self, residual: Array, slope: Array, enough: Array, spectrum: Spectrum) -> tuple[Array, Spectrum]:
        """`(A^T A)^-1 slope`, to what is enough for each; slopes are brought to unit length, for low precision."""
        xp, dtype = namespace(slope), slope.dtype
        size = norms(slope) + float(xp.finfo(dtype).tiny)
        slope = (slope / size[:, None]).astype(self.dtype)
        power = inner(slope, slope)
        least = (xp.clip(enough / size, self.gain, 2.0) ** 2).astype(power.dtype)

        def unfinished(now: _Descent) -> Array:
            return (now.steps < self.steps) & (now.power > least).any()

        def step(now: _Descent) -> _Descent:
            return self._step(now, now.power > least)

        start = _Descent(0 * slope, slope, 1 * slope, power, spectrum, spectrum.left, xp.asarray(0))
        with np.errstate(over="ignore", invalid="ignore"):  # where float32 has no room, float64 comes next
            end: _Descent = self.loops.until(unfinished, step, start)
        seen = end.spectrum._replace(steps=spectrum.steps + end.steps)
        return size[:, None] * end.d.astype(dtype), seen

    def _step(self, now: _Descent, on: Array) -> _Descent:
        """What is off takes steps of length zero. Vectors of NumPy are overwritten."""
        xp, (d, residual, direction) = namespace(now.d), now[:3]
        tiny = float(xp.finfo(now.d.dtype).tiny)  # nothing is divided by zero, whatever A is
        image = self.normal(direction, on)
        length = xp.where(on, now.power / (inner(direction, image) + tiny), 0)[:, None]
        image *= length
        residual -= image
        power = inner(residual, residual)
        turn = xp.where(on, power / (now.power + tiny), 0)[:, None]
        d += length * direction
        direction *= turn
        direction += residual
        left = xp.clip(now.spectrum.left - length * now.ahead * EIGENVALUES, -HUGE, HUGE)
        ahead = xp.clip(left + turn * now.ahead, -HUGE, HUGE)
        # `A^T A` seen along the directions is `B^T B`, and B has two entries per row: this is their sum, squared
        largest = xp.where(on[:, None], (1 + xp.sqrt(turn)) ** 2 / (length + tiny), 0)
        spectrum = Spectrum(left, xp.maximum(now.spectrum.largest, largest), now.spectrum.steps)
        return _Descent(d, residual, direction, power, spectrum, ahead, now.steps + 1)


def mended(v: Array, z: Array, n: int, unsure: Array) -> Array:
    """Signed measurements v after all flips that, each by itself, would lower the energy; z is at its least squares,
    but for what is unsure.

    `dE = 4 v_i (v_i (1 - K_ii) - r_i)` with K_ii at its mean N/M. The sign of z does not tell a wrong sign: where
    K_ii > 1/2, z has followed it.
    """
    leverage = n / v.shape[0]
    return namespace(v).where((v * z < leverage * v**2) & (abs(v - z) > unsure), -v, v)


def norms(vectors: Array) -> Array:
    """The length of each row of a stack."""
    return namespace(vectors).sqrt(squared(vectors).sum(axis=1))

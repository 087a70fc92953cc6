r"""Complex measurements: from an estimate to all digits, and is it the only answer near by?

Phases are not signs: none of them is right before all of x is. So least squares on given phases gains little, and what
is solved instead are the equations `|A x| = y` themselves, by the method of Gauss and Newton: with `S = A x/|A x|`

    Re(S^* A d) = y - |A x|,    x <- x + d,

in the least-squares sense, by conjugate gradients; or by half of d, where that fits better. A measurement about as
small as the error has no phase to go by, and would hold up the others: equations have weights
`1/sqrt(1 + (u/|A x|)^2)`, with a u that falls as x improves. Where a device has fast products of few digits d is made
with those, as long as that gains something, and what is left of y in double precision.

The left-hand side is the derivative of the magnitudes. It does not see `d = i x`, the turn of all phases; where it sees
everything else, no x close by fits as well. That is asked of a random point, which must be found again from its image.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from phaselect.equations.arrays import Array, by_blocks, inner, is_complex, namespace
from phaselect.equations.least_squares import (
    ENOUGH,
    GAIN,
    ConjugateGradients,
    Linear,
    correction,
    norms,
    nothing_seen,
)
from phaselect.equations.signs import mse_y, random_in, signs_of
from phaselect.problem.normalised import Normalised

ROUNDS = 20
ROUGHEST = 1e-2
"""Of the least squares in a round: about as near as it is, which is what a round gains, or as far as rounding is."""
UNSURE = 30.0
"""Size of a measurement, over the root mean square of the misfits, below which its phase is not relied upon."""
ALL_DIGITS = 2.0
"""What is left where there are no more digits, root mean square, over the rounding of the data."""
STUCK = 0.5
"""A round that leaves more than this, of the mean squared misfit, or of a gradient, was the last of its precision."""
STEPS = 2000
"""Of conjugate gradients in a round."""
INVISIBLE = 1e-6
"""What the derivative makes of a direction, over what it makes of a random one, if it does not see it."""


class Locality(NamedTuple):
    """Is an answer the only one near by?

    unique: is a random point found again, but for the turn of all phases? unseen: was what is missing of it seen to be
    a direction that no magnitude notices? If neither, it was not found out. asked: was it worth it?
    """

    unique: Array
    unseen: Array
    asked: Array
    steps: Array


class _Round(NamedTuple):
    x: Array
    misfit: Array
    level: Array  # of the precision, from rough to fine, and beyond when there is nothing to gain
    rounds: Array


class _Missing(NamedTuple):
    point: Array  # what is missing of it
    slope: Array
    goal: Array  # for the length of the slope
    typical: Array  # what the derivative makes of a random direction
    level: Array
    rounds: Array
    steps: Array


def tangent(problem: Normalised, x: Array, unsure: Array | float = 0.0) -> tuple[Linear, Array]:
    """The derivative of `|A x|`, from x, complex numbers as pairs, to real measurements; and `y - |A x|`.

    Both weighted: a measurement that is smaller than what is unsure hardly counts.
    """
    xp, z, matrix = namespace(problem.y), problem.forward(x), problem.matrix

    def weight(z: Array) -> Array:
        return 1 / xp.sqrt(1 + (unsure / xp.maximum(abs(z), 1e-100)) ** 2)

    left = by_blocks(lambda z, y: weight(z) * (y - abs(z)), z, problem.y)
    signs = by_blocks(lambda z, scale: scale * weight(z) * signs_of(z), z, problem.scale, spare=True)

    def products(matrix: Any) -> tuple[Callable[[Any], Any], ...]:
        own = signs.astype(matrix.field.z, copy=False)

        def forward(d: Array) -> Array:
            return by_blocks(lambda z, own: (own.conj() * z).real, matrix.apply(d), own)

        def adjoint(r: Array) -> Array:
            return matrix.apply_transposed(own * r, spare=True)

        def normal(d: Array) -> Array:
            return matrix.apply_transposed(
                by_blocks(lambda z, own: (own.conj() * z).real * own, matrix.apply(d), own, spare=True), spare=True
            )

        return tuple(partial(_rows, one) for one in (forward, adjoint, normal))

    def gradients(matrix: Any) -> Any:
        normal, dtype = products(matrix)[2], matrix.field.x
        return ConjugateGradients(lambda p, on: normal(p), dtype, GAIN[dtype], STEPS, problem.loops)

    forward, adjoint, _ = products(matrix)

    def look(d: Array, target: Array) -> tuple[Array, Array]:
        image = forward(d)
        return image, adjoint(target - image)

    levels: Any = (matrix,) if matrix.rough is matrix else (matrix.rough, matrix)
    return Linear(look, forward, adjoint, tuple(map(gradients, levels)), problem.loops), left


def _rows(function: Callable[[Any], Any], stack: Array) -> Array:
    """The function of a vector, or of each row of a stack."""
    if stack.ndim == 1 or len(stack) == 1:
        return function(stack) if stack.ndim == 1 else function(stack[0])[None]
    return namespace(stack).stack([function(row) for row in stack])


def refined(problem: Normalised, x: Array, poor: float) -> tuple[Array, Array]:
    """x to all digits that the data have, unless its mse_y is poor; and was it worth it?"""
    xp = namespace(problem.y)

    def misfit(x: Array) -> Array:
        return mse_y(problem.y, problem.forward(x))

    def unfinished(now: _Round) -> Array:
        left = now.misfit > (ALL_DIGITS * problem.rounding) ** 2
        return worth & left & (now.rounds < ROUNDS) & (now.level < _levels(problem))

    def improve(now: _Round) -> _Round:
        error = xp.sqrt(now.misfit)
        tolerance = xp.maximum(error, problem.rounding / error).clip(0.0, ROUGHEST)
        linear, left = tangent(problem, now.x, UNSURE * error)
        left = linear.adjoint(left)[None]
        given = None, left, ENOUGH * tolerance * norms(left), nothing_seen(left)
        step = correction(linear, now.level, *given)[0][0]
        whole, half = misfit(now.x + step), misfit(now.x + step / 2)
        best = xp.minimum(whole, half)
        x = now.x + xp.where(best < now.misfit, xp.where(whole <= half, 1.0, 0.5), 0.0) * step
        level = now.level + ~(best < STUCK * now.misfit)
        return _Round(x, xp.minimum(best, now.misfit), level, now.rounds + 1)

    first = misfit(x)
    worth = first < poor
    end: _Round = problem.loops.until(unfinished, improve, _Round(x, first, xp.asarray(0), xp.asarray(0)))
    return end.x, worth


def _levels(problem: Normalised) -> int:
    """In how many precisions a step can be made."""
    return 1 if problem.matrix.rough is problem.matrix else 2


def locality(problem: Normalised, x: Array, point: Array, worth: Array) -> Locality:
    """Asked with a random point; where it is not worth it, nothing is."""
    xp, accuracy, linear = namespace(problem.y), problem.matrix.accuracy, tangent(problem, x)[0]
    finest: Any = linear.correct[-1]

    def but_for_the_turn(d: Array) -> Array:
        if not is_complex(x):
            return d
        return d - 1j * x * (inner(1j * x, d) / xp.maximum(inner(x, x), 1e-300))

    def slope(d: Array) -> Array:
        return finest.normal(d[None], None)[0]

    def length(d: Array) -> Array:
        return xp.sqrt(inner(d, d))

    def unfinished(now: _Missing) -> Array:
        left = (length(now.point) > accuracy.null) & (length(now.slope) > now.goal)
        return worth & left & (now.rounds < ROUNDS) & (now.level < _levels(problem))

    def improve(now: _Missing) -> _Missing:
        before = length(now.slope)
        enough = ENOUGH * xp.maximum(now.goal, accuracy.null / length(now.point) * before)
        given = None, now.slope[None], enough[None], nothing_seen(now.slope[None])
        step, spectrum = correction(linear, now.level, *given)
        missing = but_for_the_turn(now.point - step[0])
        left = slope(missing)
        after = length(left)
        missing, left = (xp.where(after < before, new, old) for new, old in ((missing, now.point), (left, now.slope)))
        level = now.level + ~(after <= STUCK * before)
        return _Missing(missing, left, *now[2:4], level, now.rounds + 1, now.steps + spectrum.steps)

    def all_missing(point: Array) -> _Missing:
        left, zero = slope(point), xp.asarray(0)
        typical = xp.sqrt(inner(point, left) / xp.maximum(inner(point, point), 1e-300))
        return _Missing(point, left, accuracy.exact * length(left), typical, zero, zero, zero)

    drawn = xp.asarray(point, dtype="float64")
    end: _Missing = problem.loops.until(
        unfinished, improve, all_missing(but_for_the_turn(random_in(problem.field.x, drawn)))
    )
    distance = length(end.point)
    unique = distance < accuracy.null  # a direction that is not seen has a share of about one in the point
    blind = length(linear.forward(end.point)) < INVISIBLE * distance * end.typical
    return Locality(unique, blind & ~unique, xp.asarray(worth), end.steps)


def in_words(found: Any, m_rows: int, n: int, complex_x: bool) -> str:
    """What was asked, and what the number of measurements tells."""
    least, enough = (2 * n, max(4 * n - 4, 1)) if complex_x else (n + 1, 2 * n - 1)
    names = ("2N", "4N - 4") if complex_x else ("N + 1", "2N - 1")
    counts = f"M = {m_rows}, where {names[0]} = {least} are needed and generic {names[1]} = {enough} are enough"
    if found.unique:
        return counts
    if found.unseen:
        return f"x can be changed with hardly any magnitude noticing; {counts}"
    return f"whether another x near by fits was not found out; {counts}"

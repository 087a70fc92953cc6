r"""Complex measurements: from an estimate to all digits, and is it the only answer near by?

Phases are not signs: none of them is right before all of x is. So least squares on given phases gains little, and what
is solved instead are the equations `|A x| = y` themselves, by the method of Gauss and Newton: with `S = A x/|A x|`

    Re(S^* A d) = y - |A x|,    x <- x + d,

in the least-squares sense, by conjugate gradients; or by half of d, where that fits better. A measurement about as
small as the error has no phase to go by, and would hold up the others: equations have weights
`1/sqrt(1 + (u/|A x|)^2)`, with a u that falls as x improves. Where a device has fast products of few digits d is made
with those, and what is left of y in double precision.

The left-hand side is the derivative of the magnitudes. It does not see `d = i x`, the turn of all phases; where it sees
everything else, no x close by fits as well. That is asked of a random point, which must be found again from its image.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from phaselect.equations.arrays import Array, by_blocks, inner, is_complex, namespace
from phaselect.equations.least_squares import GAIN, HUGE, ConjugateGradients, Linear, Systems, least_squares
from phaselect.equations.signs import random_in, signs_of
from phaselect.problem.normalised import Normalised

ROUNDS = 20
ROUGHEST = 1e-2
"""Of the least squares in a round: about as near as it is, which is what a round gains, or as far as rounding is."""
UNSURE = 30.0
"""Size of a measurement, over the root mean square of the misfits, below which its phase is not relied upon."""
ALL_DIGITS = 2.0
"""What is left where there are no more digits, root mean square, over the rounding of the data."""
STUCK = 0.5
"""A round that leaves more than this of the mean squared misfit was the last."""
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
    before: Array
    rounds: Array


def tangent(problem: Normalised, x: Array, unsure: Array | float = 0.0) -> tuple[Linear, Array]:
    """The derivative of `|A x|`, from x, complex numbers as pairs, to real measurements; and `y - |A x|`.

    Both weighted: a measurement that is smaller than what is unsure hardly counts.
    """
    xp, z, matrix = namespace(problem.y), problem.forward(x), problem.matrix

    def weight(z: Array) -> Array:
        return 1 / xp.sqrt(1 + (unsure / xp.maximum(abs(z), 1e-100)) ** 2)

    left = by_blocks(lambda z, y: weight(z) * (y - abs(z)), z, problem.y)
    signs = by_blocks(lambda z, scale: scale * weight(z) * signs_of(z), z, problem.scale, spare=True)

    def products(matrix: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
        own = signs.astype(matrix.field.z, copy=False)

        def forward(d: Array) -> Array:
            return _rows(lambda z: by_blocks(lambda z, own: (own.conj() * z).real, z, own), matrix.apply(d))

        def adjoint(r: Array) -> Array:
            return matrix.apply_transposed(own * r)

        return forward, adjoint

    def gradients(matrix: Any) -> Any:
        forward, adjoint = products(matrix)
        dtype = matrix.field.x
        return ConjugateGradients(lambda p, on: adjoint(forward(p)), dtype, GAIN[dtype], STEPS, problem.loops)

    forward, adjoint = products(matrix)

    def look(d: Array, target: Array) -> tuple[Array, Array]:
        image = forward(d)
        return image, adjoint(target - image)

    levels: Any = (matrix,) if matrix.rough is matrix else (matrix.rough, matrix)
    return Linear(look, forward, adjoint, tuple(map(gradients, levels)), problem.loops), left


def _rows(function: Callable[[Any], Any], stack: Array) -> Array:
    """The function of a vector, or of each row of a stack."""
    return function(stack) if stack.ndim == 1 else namespace(stack).stack([function(row) for row in stack])


def refined(problem: Normalised, x: Array, poor: float) -> tuple[Array, Array]:
    """x to all digits that the data have, unless its mse_y is poor; and was it worth it?"""
    xp = namespace(problem.y)

    def misfit(z: Array) -> Array:
        return by_blocks(lambda z, y: (y - abs(z)) ** 2, z, problem.y).mean()

    def unfinished(now: _Round) -> Array:
        left = now.misfit > (ALL_DIGITS * problem.rounding) ** 2
        return worth & (now.rounds < ROUNDS) & (now.misfit < STUCK * now.before) & left

    def improve(now: _Round) -> _Round:
        error = xp.sqrt(now.misfit)
        tolerance = xp.maximum(error, problem.rounding / error).clip(0.0, ROUGHEST)
        linear, left = tangent(problem, now.x, UNSURE * error)
        step = least_squares(linear, Systems(left[None], 0 * now.x[None], tolerance[None]))[0].x[0]
        whole, half = misfit(problem.forward(now.x + step)), misfit(problem.forward(now.x + step / 2))
        best = xp.minimum(whole, half)
        x = now.x + xp.where(best < now.misfit, xp.where(whole <= half, 1.0, 0.5), 0.0) * step
        return _Round(x, xp.minimum(best, now.misfit), now.misfit, now.rounds + 1)

    first = misfit(problem.forward(x))
    worth = first < poor
    start = _Round(x, first, xp.asarray(xp.inf), xp.asarray(0))
    end: _Round = problem.loops.until(unfinished, improve, start)
    return end.x, worth


def locality(problem: Normalised, x: Array, point: Array, worth: Array) -> Locality:
    """Asked with a random point; where it is not worth it, nothing is."""
    xp, accuracy = namespace(problem.y), problem.matrix.accuracy
    linear = tangent(problem, x)[0]

    def but_for_the_turn(d: Array) -> Array:
        if not is_complex(x):
            return d
        return d - 1j * x * (inner(1j * x, d) / xp.maximum(inner(x, x), 1e-300))

    def missed(d: Array) -> Array:
        missing = but_for_the_turn(d - point)
        return xp.sqrt(inner(missing, missing))

    def enough(d: Array) -> Array:
        return accuracy.null / (missed(d) + 1e-300)

    point = but_for_the_turn(random_in(problem.field.x, xp.asarray(point, dtype="float64")))
    image = linear.forward(point[None])
    tolerance = xp.where(worth, accuracy.exact, HUGE)[None]
    fit, spectrum = least_squares(linear, Systems(image, 0 * point[None], tolerance, enough))
    distance, seen = missed(fit.x[0]), xp.sqrt(inner(fit.z[0] - image[0], fit.z[0] - image[0]))
    typical = xp.sqrt(inner(image[0], image[0]) / xp.maximum(inner(point, point), 1e-300))
    blind = seen < INVISIBLE * distance * typical
    unique = distance < accuracy.null  # a direction that is not seen has a share of about one in the point
    return Locality(unique, blind & ~unique, xp.asarray(worth), spectrum.steps)


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

"""From where message passing stopped to a certified answer in float64, without a factorisation and in O(M + N) memory.

Iterative refinement: residuals in float64, corrections by conjugate gradients in the precision of A, or of a
half-precision copy. The few signs that were still open, at tiny y, are mended on the way. Two or three other systems
are solved for the certificate: one with a known solution, which is missed if A has a null space, and one or two
columns of `K = A (A^T A)^-1 A^T`, which tell whether the measurements hang together.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from phaselect.devices.member import Array, Member
from phaselect.devices.products import Copy, adjoint, forward
from phaselect.solvers.certificate import WEAK

GAIN = 1e-2
"""What a round of conjugate gradients gains before the residual is computed anew; half precision gives no more."""
ROUNDS, STEPS = 30, 1000
SETTLED = 1e-2
"""Part of the residual that the fit can still explain, below which what is left shows wrong signs."""
EXACT, CLOSE = 1e-10, 1e-7
"""Gradient, relative to that of x = 0, down to which x itself, and the systems for the certificate, are solved."""
NULL = 1e-3
"""A known solution missed by more shows a null space; an unlucky pair of points hides one with probability 6e-4."""


class Answer(NamedTuple):
    """An estimate in normalised units with all that the certificate asks of A."""

    x: Array
    signs: Array
    fit: Array  # mean squared residual, float64
    missed: Array  # is a single measurement off by more than a percent?
    full_rank: Array
    linked: Array  # does every measurement hang together with the first, through the last at most?


class Part(NamedTuple):
    """The part of A that counts, as ones among zeros: not the padding, nor what a sparse x or zeros of y leave out."""

    rows: Array
    columns: Array


def refine(member: Member, copy: Copy, part: Part, x: Array, signs: Array | None = None) -> Answer:
    """The least-squares answer for the signs given; else for those of the estimate x, mended as it improves.

    copy: what conjugate gradients go through.
    """
    own = signs_of(_forward(member, part, x)) if signs is None else signs
    x, z, target = least_squares(member, copy, part, x, own * member.y, EXACT, mend=signs is None)
    own = jnp.where(member.y > 0, signs_of(target), own)
    residual = target - z  # zero in the padding
    fit = (residual**2).sum() / part.rows.sum()
    missed = ((abs(residual) > 0.01 * member.y) & (member.y > jnp.sqrt(fit))).any()

    solution, start = jnp.asarray(np.random.default_rng(0).standard_normal((2, x.size))) * part.columns
    image = _forward(member, part, solution)
    found, *_ = least_squares(member, copy, part, start, image, CLOSE, mend=False)
    full_rank = jnp.linalg.norm(found - solution) < NULL

    first, last = jnp.argmax(part.rows), part.rows.size - 1 - jnp.argmax(part.rows[::-1])
    linked = _linked(lambda i: influence(member, copy, part, i), first, last, part.rows)
    return Answer(x, own, fit, missed, full_rank, linked)


def least_squares(
    member: Member, copy: Copy, part: Part, x: Array, target: Array, tolerance: float, mend: bool
) -> tuple[Array, Array, Array]:
    """Minimises `|target - A x|`; returns x, its measurements and the target, in float64.

    mend: where the residual is left outside the range of A, flip the signs of the target that are seen to be wrong.
    """

    def look(x: Array, target: Array) -> tuple[Array, Array, Array]:
        z = _forward(member, part, x)
        slope = _adjoint(member, part, target - z)
        if not mend:
            return z, target, slope
        settled = jnp.linalg.norm(slope) < SETTLED * jnp.linalg.norm(part.rows * (target - z))
        better = jnp.where(settled, mended(target, z, part), target)
        again = (better != target).any()
        return z, better, jax.lax.cond(again, lambda t: _adjoint(member, part, t - z), lambda _: slope, better)

    def go_on(carry: Any) -> Array:
        *_, slope, round_ = carry
        return (round_ < ROUNDS) & (jnp.linalg.norm(slope) > tolerance * first)

    def improve(carry: Any) -> Any:
        x, _, target, slope, round_ = carry
        size = jnp.linalg.norm(slope) + 1e-300
        x = x + size * _conjugate_gradients(member.gain, copy, part, slope / size)
        return x, *look(x, target), round_ + 1

    first = jnp.linalg.norm(_adjoint(member, part, target))
    x, z, target, *_ = jax.lax.while_loop(go_on, improve, (x, *look(x, target), 0))
    return x, z, target


def influence(member: Member, copy: Copy, part: Part, i: Array) -> Array:
    """The column of K that belongs to measurement i."""
    unit = jnp.zeros(part.rows.size).at[i].set(1.0)
    return least_squares(member, copy, part, jnp.zeros(part.columns.size), unit, CLOSE, mend=False)[1]


def mended(v: Array, z: Array, part: Part) -> Array:
    """Signed measurements v after all flips that, each by itself, would lower the energy; z is at its least squares.

    `dE = 4 v_i (v_i (1 - K_ii) - r_i)` with K_ii at its mean N/M, as in `finish._repair`. The sign of z does not tell a
    wrong sign: where K_ii > 1/2, z has followed it.
    """
    leverage = part.columns.sum() / part.rows.sum()
    return jnp.where(v * z < leverage * v**2, -v, v)


def _forward(member: Member, part: Part, x: Array) -> Array:
    return part.rows * member.gain * forward(member.A, part.columns * x, "float64")


def _adjoint(member: Member, part: Part, z: Array) -> Array:
    return part.columns * member.gain * adjoint(member.A, part.rows * z, "float64")


def _conjugate_gradients(gain: Array, copy: Copy, part: Part, b: Array) -> Array:
    """`(A^T A) d = b` to a relative residual of `GAIN`, in single precision at least."""

    def go_on(carry: Any) -> Array:
        _, _, _, power, step = carry
        return (step < STEPS) & (power > GAIN**2)

    def improve(carry: Any) -> Any:
        d, residual, direction, power, step = carry
        image = rows * forward(copy.A, scale * direction)
        length = power / jnp.maximum(image @ image, 1e-30)
        d = d + length * direction
        residual = residual - length * scale * columns * adjoint(copy.A, image)
        previous, power = power, residual @ residual
        return d, residual, residual + power / jnp.maximum(previous, 1e-30) * direction, power, step + 1

    dtype = "float64" if copy.A.dtype == "float64" else "float32"
    b, scale, rows, columns = (array.astype(dtype) for array in (b, gain * copy.scale, *part))
    return jax.lax.while_loop(go_on, improve, (jnp.zeros_like(b), b, b, b @ b, 0))[0].astype("float64")


def _linked(column: Any, first: Array, last: Array, rows: Array) -> Array:
    """Is every measurement influenced by the first, or by the last if that is itself influenced by the first?

    Mostly that settles it; where it does not, they may still hang together through others.
    """
    weak = WEAK / jnp.sqrt(rows.sum())
    by_first = (abs(column(first)) > weak) | (rows == 0)

    def ask_the_last(_: Array) -> Array:
        return by_first[last] & (by_first | (abs(column(last)) > weak)).all()

    return jax.lax.cond(by_first.all(), lambda _: jnp.bool_(True), ask_the_last, 0)


def signs_of(z: Array) -> Array:
    """Signs in {-1, +1}; zero counts as +1."""
    return 1.0 - 2.0 * (z < 0)

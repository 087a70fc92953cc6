"""From where message passing stopped to a certified answer in float64, without a factorisation and in O(M + N) memory.

Iterative refinement: residuals in float64, corrections by conjugate gradients in the precision of A, or of a
half-precision copy. The signs follow the estimate: the few that were still open at tiny y settle within two rounds.
Three other systems ride along on the same reads of A, for the certificate: one with a known solution, which is missed
if A has a null space, and two columns of `K = A (A^T A)^-1 A^T`, which tell whether the measurements hang together.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from phaselect.devices.member import Array, Member
from phaselect.devices.products import Copies, adjoint, backward, forward
from phaselect.solvers.certificate import NEGLIGIBLE

GAIN = 1e-2
"""What a round of conjugate gradients gains before the residual is computed anew; half precision gives no more."""
ROUNDS, STEPS = 12, 1000
TOLERANCE = (1e-10, 1e-7, 1e-7, 1e-7)
"""Gradient, relative to that of x = 0, at which each of the four systems is solved."""
NULL = 1e-3
"""A known solution missed by more shows a null space; an unlucky pair of points hides one with probability 6e-4."""


class Answer(NamedTuple):
    """An estimate in normalised units with all that the certificate asks of A."""

    x: Array
    signs: Array
    fit: Array  # mean squared residual, float64
    missed: Array  # is a single measurement off by more than a percent?
    full_rank: Array
    linked: Array  # does every measurement hang together with the first?


class Part(NamedTuple):
    """The part of A that counts, as ones among zeros: not the padding, nor what a sparse x or zeros of y leave out."""

    rows: Array
    columns: Array


def refine(member: Member, copies: Copies, part: Part, x: Array, signs: Array | None = None) -> Answer:
    """The least-squares answer for the signs given; else for those of the estimate x, mended as it improves.

    copies: what conjugate gradients go through: A itself, or A in half precision.
    """
    solution, start = jnp.asarray(np.random.default_rng(0).standard_normal((2, x.size))) * part.columns
    ends = jnp.argmax(part.rows), part.rows.size - 1 - jnp.argmax(part.rows[::-1])
    units = jnp.zeros((2, part.rows.size)).at[jnp.arange(2), jnp.stack(ends)].set(1.0)
    X = jnp.stack([x, start, jnp.zeros_like(x), jnp.zeros_like(x)])
    images = _forward(member, part, jnp.stack([x, solution]))
    own = signs_of(images[0]) if signs is None else signs
    known = jnp.concatenate([images[1:], units])
    X, Z, own = least_squares(member, copies, part, X, own, known, signs is None)
    residual = part.rows * (own * member.y - Z[0])
    fit = (residual**2).sum() / part.rows.sum()
    missed = ((abs(residual) > 0.01 * member.y) & (member.y > jnp.sqrt(fit))).any()
    full_rank = jnp.linalg.norm(X[1] - solution) < NULL
    return Answer(X[0], own, fit, missed, full_rank, linked(Z[2:], part.rows, ends[1]))


def least_squares(
    member: Member, copies: Copies, part: Part, X: Array, own: Array, known: Array, mend: bool
) -> tuple[Array, Array, Array]:
    """Minimises `|target - A x|` for each row x of X; the targets are own*y and the rows of `known`.

    mend: flip the signs `own` that are seen to be wrong. Returns X, its measurements and the signs, in float64.
    """
    tolerance = jnp.asarray(TOLERANCE)

    def look(X: Array, own: Array) -> tuple[Array, Array, Array]:
        Z = _forward(member, part, X)
        own = mended(own, Z[0], member.y, part) if mend else own
        targets = jnp.concatenate([(own * member.y)[None], known])
        return Z, own, _adjoint(member, part, targets - Z)

    def go_on(carry: Any) -> Array:
        *_, slope, round_ = carry
        return (round_ < ROUNDS) & (jnp.linalg.norm(slope, axis=1) > tolerance * first).any()

    def improve(carry: Any) -> Any:
        X, _, own, slope, round_ = carry
        size = jnp.linalg.norm(slope, axis=1, keepdims=True) + 1e-300
        X = X + size * _conjugate_gradients(member.gain, copies, part, slope / size)
        return X, *look(X, own), round_ + 1

    start = (X, *look(X, own), 0)
    first = jnp.linalg.norm(_adjoint(member, part, jnp.concatenate([(own * member.y)[None], known])), axis=1)
    X, Z, own, *_ = jax.lax.while_loop(go_on, improve, start)
    return X, Z, own


def mended(own: Array, z: Array, y: Array, part: Part) -> Array:
    """Signs after all flips that would lower the energy, each by itself, at the least-squares measurements z.

    `dE = 4 v_i (v_i (1 - K_ii) - r_i)` with K_ii at its mean N/M: as in `finish._repair`. A wrong sign cannot be told
    from the sign of z: where K_ii > 1/2, z has followed it.
    """
    leverage = part.columns.sum() / part.rows.sum()
    return jnp.where(own * z < leverage * y, -own, own)


def _forward(member: Member, part: Part, X: Array) -> Array:
    return part.rows * member.gain * forward(member.A, part.columns * X, "float64")


def _adjoint(member: Member, part: Part, Z: Array) -> Array:
    return part.columns * member.gain * adjoint(member.A, part.rows * Z, "float64")


def _conjugate_gradients(gain: Array, copies: Copies, part: Part, b: Array) -> Array:
    """`(A^T A) d = b` for each row of b, to a relative residual of `GAIN`, in single precision at least."""

    def inner(p: Array, q: Array) -> Array:
        return (p * q).sum(axis=1, keepdims=True)

    def go_on(carry: Any) -> Array:
        _, _, _, power, step = carry
        return (step < STEPS) & (power > GAIN**2).any()

    def improve(carry: Any) -> Any:
        d, residual, direction, power, step = carry
        image = rows * forward(copies.A, scale * direction)
        length = power / jnp.maximum(inner(image, image), 1e-30)
        d = d + length * direction
        residual = residual - length * scale * columns * backward(copies, image)
        previous, power = power, inner(residual, residual)
        return d, residual, residual + power / jnp.maximum(previous, 1e-30) * direction, power, step + 1

    dtype = "float64" if copies.A.dtype == "float64" else "float32"
    b, scale, rows, columns = (array.astype(dtype) for array in (b, gain * copies.scale, *part))
    start = (jnp.zeros_like(b), b, b, inner(b, b), 0)
    return jax.lax.while_loop(go_on, improve, start)[0].astype("float64")


def linked(columns: Array, rows: Array, last: Array) -> Array:
    """Is every measurement influenced by the first, or by the last if that is itself influenced by the first?"""
    by_first, by_last = (abs(columns) > NEGLIGIBLE) | (rows == 0)
    return by_first.all() | (by_first[last] & (by_first | by_last).all())


def signs_of(z: Array) -> Array:
    """Signs in {-1, +1}; zero counts as +1."""
    return 1.0 - 2.0 * (z < 0)

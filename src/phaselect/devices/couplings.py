r"""The ridge problem of one member on a device: couplings of the signs, observables and greedy flips.

Conventions of `spectrum.py`: `K = B (B^T B + (lam/2) I)^-1 B^T` with `B = gain * A`; `E(S) = v . (I - K) v`, `v = S*y`.
By a Cholesky factorisation instead of an SVD, which is slow on GPUs in batches; always in float64, since the Gram
matrix squares the condition number of A. Signed measurements v and their fields `h = K v` are (M, R), a copy in each
column.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax

from phaselect.devices.member import Array, Member
from phaselect.devices.refine import signs_of as signs_of
from phaselect.solvers._metropolis import flip_energy

energy_of_flip: Callable[[Array, Array, Array], Array] = flip_energy.py_func
"""`dE = 4 v_i (h_i - v_i G_ii)`, as in the compiled kernels: plain arithmetic, for arrays as well."""

SINGULAR = 1e-6
"""A pivot below this fraction of the largest may be rounding: that of the Gram matrix leaves about 1e-8."""


def product(left: Array, right: Array) -> Array:
    """A matrix product that uses all digits of its arguments, which float32 products on a GPU do not by default."""
    return jnp.matmul(left, right, precision=lax.Precision.HIGHEST)


def couplings(member: Member, lam: Array, dtype: str | None = None) -> Array:
    """K at lam (M x M) in the dtype of A, or another; nan at lam = 0 if A is rank deficient."""
    _, half = _factors(member, lam)
    half = half.astype(dtype or member.A.dtype)
    return product(half.T, half)


def ridge_map(member: Member, lam: Array) -> Array:
    """`(B^T B + (lam/2) I)^-1 B^T` (N x M) in the dtype of A: takes v to the ridge estimate of x."""
    root, half = _factors(member, lam)
    return lax.linalg.triangular_solve(root, half, left_side=True, lower=True, transpose_a=True).astype(member.A.dtype)


def _factors(member: Member, lam: Array) -> tuple[Array, Array]:
    """L with `L L^T = B^T B + (lam/2) I`, and `L^-1 B^T` (N x M), whose Gram matrix is K; nan if nearly singular."""
    B = member.gain * member.A.astype("float64")
    root = jnp.linalg.cholesky(product(B.T, B) + lam / 2 * jnp.eye(B.shape[1]))
    pivots = jnp.diag(root)
    root = jnp.where(pivots.min() > SINGULAR * pivots.max(), root, jnp.nan)
    return root, lax.linalg.triangular_solve(root, B.T, left_side=True, lower=True)


def energies(v: Array, h: Array) -> Array:
    """`E = |y|^2 - v . K v` of each copy, in float64; `|y|^2 = M` in normalised units."""
    return v.shape[0] - jnp.sum(v.astype("float64") * h.astype("float64"), axis=0)


def of_copies(member: Member, v: Array, h: Array, lam: Array) -> dict[str, Array]:
    """Trace columns of each copy and its ridge estimate at lam, as `observables.of_signs`; nan where x0 is unknown."""
    rows, columns = member.A.shape  # sums, not products below: they take no float64 copy of a population
    x = product(ridge_map(member, lam), v).astype("float64")
    residual = (v - h).astype("float64")
    return {
        "mse_y": jnp.mean(residual**2, axis=0),
        "m": jnp.abs(jnp.sum(member.x0[:, None] * x, axis=0)) / jnp.sum(member.x0**2),
        "O": jnp.abs(jnp.sum(member.signs[:, None] * signs_of(v), axis=0)) / rows,
        "energy": energies(v, h) / columns,
        "q1": jnp.mean(x**2, axis=0),
    }


def residual(K0: Array, v: Array) -> Array:
    """`E(lam = 0)/M`, the share of the measured power that no x explains, from the couplings at lam = 0."""
    return jnp.mean((v - product(K0, v)) ** 2)


def greedy(K0: Array, y: Array, signs: Array) -> Array:
    """Flip the sign that lowers E(lam = 0) most, until none does; as `finish.greedy`, with K0 in float64."""

    def lowest(v: Array, h: Array) -> tuple[Array, Array]:
        change = energy_of_flip(v, h, jnp.diag(K0))
        return jnp.argmin(change), jnp.min(change)

    def falls(state: tuple[Array, Array, Array]) -> Array:
        v, h, flips = state
        return (flips < 10 * y.size) & (lowest(v, h)[1] <= -1e-13)

    def flip(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        v, h, flips = state
        best, _ = lowest(v, h)
        return v.at[best].multiply(-1), h - 2 * v[best] * K0[best], flips + 1

    v = signs * y
    v, _, _ = lax.while_loop(falls, flip, (v, product(K0, v), 0))
    return jnp.where(y > 0, signs_of(v), signs)


def quench(member: Member, signs: Array) -> tuple[Array, Array]:
    """The signs that greedy flips reach, and their E(lam = 0)/M."""
    K0 = couplings(member, 0.0, "float64")
    reached = greedy(K0, member.y, signs)
    return reached, residual(K0, reached * member.y)


def fresh_key(key: Array) -> tuple[Array, Array]:
    """From key data (plain numbers, so that a state is one of arrays): the data to keep, and a key to use now."""
    kept, used = jax.random.split(jax.random.wrap_key_data(key))
    return jax.random.key_data(kept), used

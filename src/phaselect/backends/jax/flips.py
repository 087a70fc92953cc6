"""Metropolis sweeps of many copies at once, spins in blocks; v and its fields `h = G v` are (M, R), a copy a column.

Inside a block the spins are updated one after the other through the couplings of the block; then one matrix product
brings the fields of all spins up to date. The chain is the exact sequential one: spins in order, each seeing all
earlier flips. A flip is accepted when `mu dE` is below an exponential random number: the Metropolis rule.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from phaselect.backends.jax.products import product
from phaselect.equations.arrays import Array
from phaselect.equations.signs import flip_energy

BLOCK = 32
"""Spins in a block; a power of two."""
TILE = 128
"""Copies that one program of the GPU kernel takes; a power of two. With one warp a thread holds whole columns."""


def sweep(v: Array, h: Array, G: Array, mu: Array, key: Array, sweeps: Any) -> tuple[Array, Array, Array]:
    """`sweeps` Metropolis sweeps at mu through all spins in order; returns the new v and h, and the flips made."""
    rows, copies = v.shape
    spare = -rows % BLOCK  # spins with v = 0 and no couplings, which change nothing
    G = jnp.pad(G, ((0, spare), (0, spare)))
    blocks = (rows + spare) // BLOCK

    def step(t: Array, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        v, h, flips = state
        first = t % blocks * BLOCK
        threshold = jax.random.exponential(jax.random.fold_in(key, t), (BLOCK, copies), "float32")
        before, field = (lax.dynamic_slice_in_dim(array, first, BLOCK) for array in (v, h))
        columns = lax.dynamic_slice_in_dim(G, first, BLOCK, axis=1)
        inside = lax.dynamic_slice_in_dim(columns, first, BLOCK)
        after = update_block(before, field, threshold, inside, mu.astype(v.dtype))
        flips = flips + (after != before).sum()  # a spin is proposed once per visit of its block
        return lax.dynamic_update_slice_in_dim(v, after, first, axis=0), h + product(columns, after - before), flips

    v, h = (jnp.pad(array, ((0, spare), (0, 0))) for array in (v, h))
    v, h, flips = lax.fori_loop(0, blocks * sweeps, step, (v, h, jnp.int64(0)))
    return v[:rows], h[:rows], flips


def update_block(v: Array, h: Array, threshold: Array, G: Array, mu: Array) -> Array:
    """New v of one block; by the kernel where there is a GPU and the copies are float32, which is what it is for."""
    if v.dtype != jnp.float32:
        return block_by_loop(v, h, threshold, G, mu)
    return lax.platform_dependent(v, h, threshold, G, mu, cuda=block_by_kernel, default=block_by_loop)


def block_by_loop(v: Array, h: Array, threshold: Array, G: Array, mu: Array) -> Array:
    """The block in plain JAX: a loop over its spins, each step on all copies."""

    def spin(i: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        v, h = state
        change = _change(v[i], h[i], threshold[i], G[i, i], mu)
        return v.at[i].add(change), h + G[i][:, None] * change

    return lax.fori_loop(0, v.shape[0], spin, (v, h))[0]


def block_by_kernel(v: Array, h: Array, threshold: Array, G: Array, mu: Array, interpret: bool = False) -> Array:
    """The block in one Triton kernel: each program holds the fields of a tile of copies in registers."""
    spins, copies = v.shape
    spare = -copies % TILE
    v, h, threshold = (jnp.pad(array, ((0, 0), (0, spare))) for array in (v, h, threshold))

    def whole(*shape: int) -> Any:
        return pl.BlockSpec(shape, lambda _: (0,) * len(shape))

    tile = pl.BlockSpec((spins, TILE), lambda program: (0, program))
    call = pl.pallas_call(
        _block_kernel,
        grid=((copies + spare) // TILE,),
        in_specs=[tile, tile, tile, whole(spins, spins), whole(1)],
        out_specs=tile,
        out_shape=v,
        compiler_params=triton.CompilerParams(num_warps=1, num_stages=1),
        interpret=interpret,
    )
    return call(v, h, threshold, G, mu[None])[:, :copies]


def _block_kernel(v_ref: Any, h_ref: Any, threshold_ref: Any, G_ref: Any, mu_ref: Any, out_ref: Any) -> None:
    """A row of a tile in registers cannot be indexed: it is picked by a mask. v needs none, each row is used once."""
    mu, fields = mu_ref[0], h_ref[...]
    row_of = lax.broadcasted_iota(jnp.int32, fields.shape, 0)

    def spin(i: Array, h: Array) -> Array:
        v = v_ref[i, :]
        field = jnp.sum(jnp.where(row_of == i, h, 0.0), axis=0)
        change = _change(v, field, threshold_ref[i, :], G_ref[i, i], mu)
        out_ref[i, :] = v + change
        return h + G_ref[i, :][:, None] * change[None, :]

    lax.fori_loop(np.int32(0), np.int32(len(fields)), spin, fields)


def _change(v: Array, h: Array, threshold: Array, coupling: Array, mu: Array) -> Array:
    """What the Metropolis rule adds to one spin of many copies: `-2 v`, or nothing."""
    return jnp.where(mu * flip_energy(v, h, coupling) < threshold, -2 * v, jnp.zeros_like(v))

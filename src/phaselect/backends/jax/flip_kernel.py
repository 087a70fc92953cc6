"""The chain of flips.py in one kernel for GPUs, written for JAX's Mosaic: a program per copy, its spins in registers.

Between two flips nothing changes, so all spins of a copy are asked at once which would flip, and the first of them
does: a rejected proposal costs nothing, an accepted one a read of its row of G.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental.pallas import mosaic_gpu as mosaic

from phaselect.backends.jax.random import thresholds
from phaselect.equations.arrays import Array

LANES = 128
"""Threads of a program."""


def by_kernel(
    v: Array, h: Array, G: Array, mu: Array, key: Array, sweeps: Array, interpret: Any = None
) -> tuple[Array, Array, Array]:
    """See `sweep`; v is float32. `mu dE < t` is `v h < v^2 G_ii + t/(4 mu)`, whose right side a sweep settles once.

    interpret: how the kernel is run where there is no GPU.
    """
    copies, rows = v.shape
    spare = -rows % LANES
    v, h = (jnp.pad(array, ((0, 0), (0, spare))) for array in (v, h))
    itself = jnp.pad(jnp.diagonal(G), (0, spare))
    G = jnp.pad(G, ((0, spare), (0, spare)))
    spins = jnp.arange(rows + spare, dtype="int32")
    like = jax.ShapeDtypeStruct(v.shape, v.dtype)
    run = mosaic.kernel(
        _one_copy,
        out_type=(like, like, jax.ShapeDtypeStruct((copies,), "int32")),
        grid=(copies,),
        grid_names=("copy",),
        interpret=interpret,
    )
    v, h, flips = run(v, h, G, itself, spins, mu[None], key, sweeps[None])
    return v[:, :rows], h[:, :rows], flips


def _one_copy(
    v_in: Any,
    h_in: Any,
    G: Any,
    itself: Any,
    spins: Any,
    mu: Any,
    key: Any,
    sweeps: Any,
    v_out: Any,
    h_out: Any,
    flips_out: Any,
) -> None:
    copy = lax.axis_index("copy")
    v, h, spin = v_in[copy], h_in[copy], spins[...]
    last = np.int32(spins.shape[0])
    never = jnp.full_like(v, -np.inf)
    itself_energy = jnp.where(v == jnp.zeros_like(v), never, v * v * itself[...])  # padding, and y = 0, never flip
    quarter = np.float32(0.25) / mu[0]
    word, other = key[0], key[1]

    def first_after(done: Any, v: Any, h: Any, bar: Any) -> Any:
        """Twice the place, from the end, of the next spin to flip, plus one if it points up; 0 if there is none."""
        place = (last - spin) * np.int32(2) + (v > np.float32(0)).astype("int32")
        return jnp.max(jnp.where((v * h < bar) & (spin > done), place, jnp.zeros_like(place)))

    def one_sweep(t: Any, state: Any) -> Any:
        v, h, flips = state
        counter = jnp.full_like(spin, copy).astype("uint32"), spin.astype("uint32")
        bar = itself_energy + quarter * thresholds((word, other), t.astype("uint32"), *counter)

        def flip(state: Any) -> Any:
            v, h, flips, found = state
            i = last - found // np.int32(2)
            size = np.float32(2) * jnp.abs(v_in[copy, i])
            change = jnp.where(found % np.int32(2) == 1, -size, size)
            h = h + change * G[i]
            v = jnp.where(spin == i, -v, v)
            return v, h, flips + np.int32(1), first_after(i, v, h, bar)

        start = v, h, flips, first_after(np.int32(-1), v, h, bar)
        return lax.while_loop(lambda state: state[3] > np.int32(0), flip, start)[:3]

    v, h, flips = lax.fori_loop(np.int32(0), sweeps[0], one_sweep, (v, h, np.int32(0)))
    v_out[copy], h_out[copy], flips_out[copy] = v, h, flips

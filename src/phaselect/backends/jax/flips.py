"""Metropolis sweeps of many copies at once: v and its fields `h = v G` are (R, M), one copy per row.

Spins go in order, each seeing all earlier flips. A flip is accepted when `mu dE` is below an exponential random number:
the Metropolis rule. These numbers depend on key, sweep, copy and spin alone, so that the chain is the same whichever
way it is run: in blocks of spins, for any platform, or by the kernels of flip_kernels.py, for a GPU.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from phaselect.backends.jax.products import product
from phaselect.equations.arrays import Array
from phaselect.equations.signs import flip_energy

BLOCK = 32
"""Spins after which the fields of all are brought up to date."""
MANY = 2048
"""Copies from which on a GPU does better by blocks, whose products all copies share, than by a program per copy."""
ROTATIONS = (13, 15, 26, 6), (17, 29, 16, 24)
UNIT = np.float32(2.0**-24)


def sweep(v: Array, h: Array, G: Array, mu: Array, key: Array, sweeps: Any) -> tuple[Array, Array, Array]:
    """`sweeps` Metropolis sweeps at mu through all spins in order; returns the new v and h, and the flips of each copy.

    key: two 32-bit numbers.
    """
    arguments = v, h, G, jnp.asarray(mu, v.dtype), key, jnp.asarray(sweeps, "int32")
    if v.dtype != jnp.float32 or not _kernels_run():
        return by_blocks(*arguments)
    from phaselect.backends.jax import flip_kernels

    by_kernel = partial(by_blocks, block=flip_kernels.block) if len(v) >= MANY else flip_kernels.by_chains
    return lax.platform_dependent(*arguments, cuda=by_kernel, default=by_blocks)  # type: ignore[no-any-return]


@cache
def _kernels_run() -> bool:
    """Is there a GPU that the kernels are for, Hopper or later, and what JAX needs to compile them?"""
    found = [device for device in jax.devices() if device.platform == "gpu"]
    if not found or float(getattr(found[0], "compute_capability", 0)) < 9:
        return False
    try:
        importlib.import_module("phaselect.backends.jax.flip_kernels")
    except ImportError:
        return False
    return True


def plain_block(v: Array, h: Array, G: Array, mu: Array, threshold: Array) -> Array:
    """New v of one block, spins by copies: a loop over its spins, each step on all copies."""

    def spin(i: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        v, h = state
        change = change_of(v[i], h[i], G[i, i], mu, threshold[i])
        return v.at[i].add(change), h + G[i][:, None] * change

    return lax.fori_loop(0, BLOCK, spin, (v, h))[0]


def change_of(v: Array, h: Array, coupling: Array, mu: Array, threshold: Array) -> Array:
    """What the Metropolis rule adds to one spin of many copies: `-2 v`, or nothing."""
    return jnp.where(mu * flip_energy(v, h, coupling) < threshold, -2 * v, jnp.zeros_like(v))


def by_blocks(
    v: Array, h: Array, G: Array, mu: Array, key: Array, sweeps: Array, block: Callable[..., Array] = plain_block
) -> tuple[Array, Array, Array]:
    """Inside a block spins see each other through its own couplings; then one product brings all fields up to date."""
    copies, rows = v.shape
    spare = -rows % BLOCK  # spins with v = 0 and no couplings, which change nothing
    G = jnp.pad(G, ((0, spare), (0, spare)))
    blocks = (rows + spare) // BLOCK
    copy, spin = jnp.arange(copies, dtype="uint32"), jnp.arange(BLOCK, dtype="uint32")[:, None]

    def step(t: Array, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        v, h, flips = state
        first = t % blocks * BLOCK
        threshold = thresholds(key, (t // blocks).astype("uint32"), copy, first.astype("uint32") + spin)
        before, field = (lax.dynamic_slice_in_dim(array, first, BLOCK) for array in (v, h))
        couplings = lax.dynamic_slice_in_dim(G, first, BLOCK, axis=1)
        after = block(before, field, lax.dynamic_slice_in_dim(couplings, first, BLOCK), mu, threshold)
        flips = flips + (after != before).sum(axis=0, dtype="int32")  # a spin is proposed once per visit of its block
        return lax.dynamic_update_slice_in_dim(v, after, first, axis=0), h + product(couplings, after - before), flips

    v, h = (jnp.pad(array.T, ((0, spare), (0, 0))) for array in (v, h))
    v, h, flips = lax.fori_loop(0, blocks * sweeps, step, (v, h, jnp.zeros(copies, "int32")))
    return v[:rows].T, h[:rows].T, flips


def thresholds(key: Any, sweep: Array, copy: Array, spin: Array) -> Array:
    """Exponential random numbers in float32, a number for each sweep, copy and spin."""
    bits, _ = threefry((key[0], key[1] ^ sweep), (copy, spin))
    uniform = (lax.shift_right_logical(bits, _like(bits, 8)).astype("int32").astype("float32") + np.float32(1)) * UNIT
    return -jnp.log(uniform)


def threefry(key: tuple[Any, Any], counter: tuple[Any, Any]) -> tuple[Array, Array]:
    """Two words of 32 random bits from a key and a counter: Threefry-2x32 with 20 rounds (Salmon et al., 2011)."""
    keys = (*key, key[0] ^ key[1] ^ np.uint32(0x1BD11BDA))
    left, right = counter[0] + keys[0], counter[1] + keys[1]
    for block in range(5):
        for distance in ROTATIONS[block % 2]:
            left = left + right
            high = lax.shift_left(right, _like(right, distance))
            right = left ^ (high | lax.shift_right_logical(right, _like(right, 32 - distance)))
        left = left + keys[(block + 1) % 3]
        right = right + keys[(block + 2) % 3] + np.uint32(block + 1)
    return left, right


def _like(array: Array, value: int) -> Array:
    return jnp.full_like(array, np.uint32(value))

"""Metropolis sweeps of many copies at once: v and its fields `h = v G` are (R, M), one copy per row.

Spins go in order, each seeing all earlier flips. A flip is accepted when `mu dE` is below an exponential random number:
the Metropolis rule. These numbers depend on key, sweep, copy and spin alone, so that the chain is the same whichever
way it is run: in blocks of spins, for any platform, or by the kernel of flip_kernel.py, for a GPU.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from phaselect.backends.jax.products import product
from phaselect.backends.jax.random import thresholds
from phaselect.equations.arrays import Array
from phaselect.equations.signs import flip_energy

BLOCK = 32
"""Spins after which the fields of all are brought up to date."""


def sweep(v: Array, h: Array, G: Array, mu: Array, key: Array, sweeps: Any) -> tuple[Array, Array, Array]:
    """`sweeps` Metropolis sweeps at mu through all spins in order; returns the new v and h, and the flips of each copy.

    key: two 32-bit numbers.
    """
    arguments = v, h, G, jnp.asarray(mu, v.dtype), key, jnp.asarray(sweeps, "int32")
    if v.dtype != jnp.float32 or not _kernel_runs():
        return by_blocks(*arguments)
    from phaselect.backends.jax.flip_kernel import by_kernel

    return lax.platform_dependent(*arguments, cuda=by_kernel, default=by_blocks)  # type: ignore[no-any-return]


@cache
def _kernel_runs() -> bool:
    """Is there a GPU that the kernel is for, Hopper or later, and what JAX needs to compile it?"""
    found = [device for device in jax.devices() if device.platform == "gpu"]
    if not found or float(getattr(found[0], "compute_capability", 0)) < 9:
        return False
    try:
        importlib.import_module("phaselect.backends.jax.flip_kernel")
    except ImportError:
        return False
    return True


def by_blocks(v: Array, h: Array, G: Array, mu: Array, key: Array, sweeps: Array) -> tuple[Array, Array, Array]:
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
        after = _block(before, field, lax.dynamic_slice_in_dim(couplings, first, BLOCK), mu, threshold)
        flips = flips + (after != before).sum(axis=0, dtype="int32")  # a spin is proposed once per visit of its block
        return lax.dynamic_update_slice_in_dim(v, after, first, axis=0), h + product(couplings, after - before), flips

    v, h = (jnp.pad(array.T, ((0, spare), (0, 0))) for array in (v, h))
    v, h, flips = lax.fori_loop(0, blocks * sweeps, step, (v, h, jnp.zeros(copies, "int32")))
    return v[:rows].T, h[:rows].T, flips


def _block(v: Array, h: Array, G: Array, mu: Array, threshold: Array) -> Array:
    """New v of one block, spins by copies: a loop over its spins, each step on all copies."""

    def spin(i: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        v, h = state
        accepted = mu * flip_energy(v[i], h[i], G[i, i]) < threshold[i]
        change = jnp.where(accepted, -2 * v[i], jnp.zeros_like(v[i]))
        return v.at[i].add(change), h + G[i][:, None] * change

    return lax.fori_loop(0, BLOCK, spin, (v, h))[0]

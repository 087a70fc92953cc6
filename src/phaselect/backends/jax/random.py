"""Random numbers of a run on a device: a key as plain numbers, so that a state is one of arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from phaselect.equations.arrays import Array

ROTATIONS = (13, 15, 26, 6), (17, 29, 16, 24)
UNIT = np.float32(2.0**-24)


class Randomness(NamedTuple):
    """The data of a key."""

    key: Array

    def copied(self) -> Randomness:
        """Itself: it is never changed."""
        return self

    def next(self) -> tuple[Randomness, Array]:
        """What to keep, and a key to use now."""
        kept, used = jax.random.split(jax.random.wrap_key_data(self.key))
        return Randomness(jax.random.key_data(kept)), used

    def words(self) -> tuple[Randomness, Array]:
        """What to keep, and two 32-bit numbers to use now."""
        random, used = self.next()
        return random, jax.random.key_data(used)


def seeded(words: Any, chains: int = 0) -> Randomness:
    """From the words that a run has drawn for this purpose; any number of chains share a key."""
    return Randomness(jnp.asarray(words, "uint32"))


def normal(random: Randomness, size: int) -> tuple[Randomness, Array]:
    """Standard normal numbers in float64, drawn in float32: their tails do not matter."""
    random, used = random.next()
    return random, jax.random.normal(used, (size,), "float32").astype("float64")


def uniform(random: Randomness) -> tuple[Randomness, Array]:
    """A number in [0, 1)."""
    random, used = random.next()
    return random, jax.random.uniform(used, (), "float64")


def thresholds(key: Any, sweep: Array, copy: Array, spin: Array) -> Array:
    """Exponential random numbers in float32, a number for each sweep, copy and spin; in a kernel, too."""
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

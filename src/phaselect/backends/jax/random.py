"""Random numbers of a run on a device: a key as plain numbers, so that a state is one of arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from phaselect.equations.arrays import Array


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

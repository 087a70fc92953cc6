"""Random numbers of a run in memory: a generator of NumPy's, and for kernels a xoshiro256++ state per chain."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phaselect.base.kernels import kernel, numba

Chains = NDArray[np.uint64]


class Randomness(NamedTuple):
    """What a state holds of it."""

    generator: np.random.Generator
    chains: Chains  # (R, 4), one stream per copy

    def copied(self) -> Randomness:
        """Independent of this one, with the same future."""
        return Randomness(copy.deepcopy(self.generator), self.chains.copy())


def seeded(words: Any, chains: int = 0) -> Randomness:
    """From the words that a run has drawn for this purpose."""
    generator = np.random.default_rng(np.asarray(words).tolist())
    return Randomness(generator, random_chains(generator, chains))


def random_chains(generator: np.random.Generator, chains: int) -> Chains:
    """Independent xoshiro256++ states."""
    return generator.integers(1, 2**64, size=(chains, 4), dtype=np.uint64)


def normal(random: Randomness, size: int) -> tuple[Randomness, NDArray[np.float64]]:
    """Standard normal numbers; what is returned first goes on from there (and is the one given, advanced)."""
    return random, random.generator.standard_normal(size)


def uniform(random: Randomness) -> tuple[Randomness, float]:
    """A number in [0, 1)."""
    return random, random.generator.random()


@kernel(inline="always")
def _rotate(x, k):  # type: ignore[no-untyped-def]
    return (x << numba.uint64(k)) | (x >> numba.uint64(64 - k))


@kernel()
def next_random(state):  # type: ignore[no-untyped-def]
    """xoshiro256++ (Blackman and Vigna): 64 random bits; advances the state in place."""
    bits = _rotate(state[0] + state[3], 23) + state[0]
    shifted = state[1] << numba.uint64(17)
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= shifted
    state[3] = _rotate(state[3], 45)
    return bits


@kernel()
def proposal(state, m_rows):  # type: ignore[no-untyped-def]
    """A sign to flip, uniform in 0..M-1, and a uniform number in (0, 1), from one 64-bit random number."""
    bits = next_random(state)
    index = numba.int64(((bits >> numba.uint64(32)) * numba.uint64(m_rows)) >> numba.uint64(32))
    return index, (numba.float64(numba.uint32(bits)) + 0.5) * 2.0**-32

"""Random streams: one per purpose, so that what is drawn for one can never be what is drawn for another."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phaselect.base.checks import is_count, shortened
from phaselect.base.errors import InputError
from phaselect.equations.lanczos import PROBES

MANY, PIECE = 1_000_000, 1 << 18
"""Random numbers from which on the time that they take counts; and how many a thread then draws at a time."""


class Purpose(IntEnum):
    """What random numbers are for. The numbers are part of what a seed means: never change or reuse one."""

    MATRIX = 1
    SIGNAL = 2
    NOISE = 3
    TEST_SET = 4
    RUN = 5
    CHAIN = 6
    RANK_PROBE = 7
    ENUMERATION = 8
    ROWS = 9
    LIKENESS = 10
    TRACE = 11


def stream(seed: int, purpose: Purpose, *more: int) -> np.random.Generator:
    """The generator for a purpose; `more` tells apart several of one: shapes of instances, attempts of a run."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(int(purpose), *more)))


def check_seed(seed: Any) -> int:
    """A seed as a plain number: a whole number from 0 on, or one drawn from the generator given."""
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**63))
    if not is_count(seed):
        raise InputError(f"seed = {shortened(seed)}: give a whole number, 0 or more, or a numpy.random.Generator")
    return int(seed)


def random_numbers(rng: np.random.Generator, size: int) -> NDArray[Any]:
    """Standard normal numbers; very many are uniform ones of the same mean and variance, in single precision, by
    pieces with a stream each."""
    if size <= MANY:
        return rng.standard_normal(size)
    from phaselect.base.threads import run_parallel

    numbers = np.empty(size, np.float32)

    def draw(piece: tuple[int, np.random.Generator]) -> None:
        own = numbers[piece[0] : piece[0] + PIECE]
        piece[1].random(dtype=np.float32, out=own)
        own -= np.float32(0.5)
        own *= np.float32(12**0.5)

    starts = range(0, size, PIECE)
    run_parallel(draw, zip(starts, rng.spawn(len(starts)), strict=True))
    return numbers


def random_signs(rng: np.random.Generator, n: int, about: int) -> NDArray[Any]:
    """Rows of n random signs, about so many in all and one row at least: to ask a matrix with. Very many are bytes."""
    shape = -(-about // n), n
    if n <= MANY:
        return np.asarray(2.0 * rng.integers(2, size=shape) - 1.0)
    return (np.frombuffer(rng.bytes(shape[0] * n), np.int8).reshape(shape) & 2) - 1


def trace_probes(n: int) -> NDArray[Any]:
    """Random signs that the eigenvalues of a matrix with n columns are found with, the same for all."""
    return random_signs(stream(0, Purpose.TRACE, n), n, PROBES)

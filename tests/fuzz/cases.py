"""One instance of the fuzzer: A, y and the x that made y, from the names of a matrix and of a signal and a seed."""

from typing import NamedTuple
from zlib import crc32

import numpy as np

from tests.fuzz.kinds import AGAINST, GENERAL, NAMES, PARTNERED, matrix
from tests.fuzz.signals import EVERYWHERE_SEEN, SIGNALS, thinned

SNAPPED = 16
"""Magnitudes below so many roundings are zero in half of the instances."""


class Case(NamedTuple):
    kind: str
    signal: str
    seed: int

    def __str__(self):
        return f"{self.kind}:{self.signal}:{self.seed}"

    @property
    def general(self):
        """Is nothing about it special?"""
        return self.kind in GENERAL and self.signal in EVERYWHERE_SEEN


class Data(NamedTuple):
    A: np.ndarray
    y: np.ndarray
    x: np.ndarray


def case_of(text):
    kind, signal, seed = text.split(":")
    if kind not in NAMES or signal not in SIGNALS:
        raise ValueError(f"{text}: no such kind or signal")
    return Case(kind, signal, int(seed))


def all_cases(count, kinds, signals, seed):
    """Kinds and signals in every combination, shuffled, over and over with other seeds."""
    pairs = [(kind, signal) for kind in kinds for signal in signals]
    for i in range(count):
        turn, place = divmod(i, len(pairs))
        if place == 0:
            np.random.default_rng([seed, turn]).shuffle(pairs)
        yield Case(*pairs[place], seed + turn)


def size(rng, kind):
    """A third too large to try all signs. A planted rival is found by trying all signs only."""
    large = kind != "planted" and rng.random() < 1 / 3
    if large:
        n = int(rng.integers(42, 101) if rng.random() < 0.5 else rng.integers(42, 61))
        return int(n + 1 + 3 * n * rng.random() ** 1.5), n
    n = int(rng.integers(17, 42) if rng.random() < 0.1 else rng.integers(4 if kind in AGAINST else 2, 15))
    ratio = rng.choice([1.0, 1.2, 1.6, 2.0, 2.5, 4.0], p=[0.2, 0.2, 0.2, 0.2, 0.1, 0.1])
    m = n + int(rng.integers(1, 4)) + int((ratio - 1) * n)
    return (min(m, 32), min(n, 31)) if kind == "planted" else (m, n)


def data_of(case):
    rng = np.random.default_rng([case.seed, crc32(case.kind.encode()), crc32(case.signal.encode())])
    A = matrix(case.kind, rng, *size(rng, case.kind))
    x = SIGNALS[case.signal](rng, A)
    if case.kind in PARTNERED:
        x = thinned(rng, x)
    if case.kind in AGAINST:
        A = AGAINST[case.kind](rng, A, x)
    z = A @ x
    if rng.random() < 0.5:
        z[np.abs(z) <= SNAPPED * np.finfo(np.float64).eps * (np.abs(A) @ np.abs(x))] = 0
    if not z.any():
        x, z = np.eye(x.size)[0], A[:, 0]
    return Data(A, np.abs(z).astype(np.float32 if case.kind == "rounded-data" else np.float64), x)

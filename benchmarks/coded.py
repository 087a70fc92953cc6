"""Coded diffraction of random pictures: the same masks, kept measurements and signals for every contender."""

from __future__ import annotations

from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.internals import relative_error
from phaselect import Instance, operators


class Coded(NamedTuple):
    """Fourier transforms behind masks of random phases, the measurements that are kept, and a Gaussian picture."""

    whole: Any
    kept: NDArray[np.int64]
    x0: NDArray[Any]

    @property
    def complete(self) -> bool:
        """Is nothing left out?"""
        return bool(self.kept.size == self.whole.shape[0])

    @property
    def y(self) -> NDArray[np.float64]:
        """What is measured."""
        return np.abs(self.whole.forward(self.x0))[self.kept]

    @property
    def problem(self) -> Instance:
        """Of which solvers are shown A and y alone."""
        A = self.whole if self.complete else operators.keep_rows(self.whole, self.kept)
        return Instance(A, self.y, real=not np.iscomplexobj(self.x0))

    def error(self, x: NDArray[Any]) -> float:
        """Relative, up to a global phase or sign."""
        return relative_error(self.x0, x)


def coded(side: int, per_unknown: float, seed: int, real: bool = False) -> Coded:
    """Of side x side pixels; where the measurements per unknown are no whole number, some of a pattern are left out."""
    whole = operators.coded_diffraction((side, side), ceil(per_unknown), seed)
    rng = np.random.default_rng([seed, side])
    parts = rng.standard_normal((2, side**2))
    rows, count = whole.shape[0], round(per_unknown * side**2)
    kept = np.arange(rows) if count == rows else np.sort(rng.permutation(rows)[:count])
    return Coded(whole, kept, parts[0] if real else parts[0] + 1j * parts[1])

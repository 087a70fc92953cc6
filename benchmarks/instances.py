"""The instances that are solved and the couplings that kernels flip; ours and the rivals get the same."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from benchmarks.internals import Couplings, couplings
from phaselect import Instance, gaussian_instance

MU = 10.0
"""Where the kernels are timed: amid the anneal, matched, mu * lam = 1."""


@lru_cache(maxsize=1)
def couplings_at(n: int) -> Couplings:
    """Couplings of an instance at `MU` and alpha = 1.25."""
    return couplings(gaussian_instance(n, 1.25, seed=0), 1 / MU)


@lru_cache(maxsize=6)
def instance(n: int, alpha: float, seed: int) -> Instance:
    """A random instance, of which solvers are shown A and y alone."""
    return blind(gaussian_instance(n, alpha, seed=seed))


def blind(problem: Instance) -> Instance:
    """A and y as a new instance, with nothing computed yet: no solver profits from the SVD of another."""
    return Instance(problem.A, problem.y)


def retyped(problem: Instance, dtype: Any) -> Instance:
    """The same with the entries of A in another precision."""
    return Instance(problem.A.astype(dtype, copy=False), problem.y)

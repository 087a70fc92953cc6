"""The instances that the bench solves and the couplings that its kernels flip; ours and the rivals get the same."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phaselect.problem.instance import Instance, gaussian_instance
from phaselect.problem.spectrum import spectrum

MU = 10.0
"""Where the kernels are timed: amid the anneal, matched, mu * lam = 1."""


class Couplings(NamedTuple):
    """The interaction of the signs and the magnitudes, in float32."""

    G: NDArray[np.float32]
    y: NDArray[np.float32]


@lru_cache(maxsize=1)
def couplings(n: int) -> Couplings:
    """Couplings of an instance at `MU` and alpha = 1.25."""
    problem = gaussian_instance(n, 1.25, seed=0)
    return Couplings(spectrum(problem).couplings(1 / MU), problem.target.astype(np.float32))


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

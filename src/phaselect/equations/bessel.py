r"""The mean of a phase: `R(u) = I1(u)/I0(u)`, the length of the mean of `exp(i phi)` with weight `exp(u cos phi)`.

It is what tanh is for signs. In `R = u/(1/2 + sqrt(u^2 + c))` c falls slowly with u, from 9/4 to 3/4, and a ratio of
polynomials has it: R to 1e-8 of itself, and `1 - R^2`, of which nothing cancels, to 2e-6, at any u and in a fraction of
the time of Bessel functions. At large u, where an anneal ends, the error of R falls like 1/u^2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from phaselect.equations.arrays import Array, namespace

ABOVE = 2.249999959281, -0.5352904823298, 0.2211188968805, -2.647556096941e-2, 9.908604041429e-3, -9.462156551222e-4
BELOW = 1.0, -0.2379080363843, 0.2093984193759, -3.825115378262e-2, 1.388352313895e-2, -1.482182890126e-3
LAST = 1.743268357562e-4, 2.323200502587e-4
LARGE = 1000.0
"""From here on c is taken to be constant; powers of u would not fit into float32."""


def mean_phase_with(sqrt: Callable[[Any], Any], minimum: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """R and `1 - R^2` with the functions at hand, as in channels.py."""

    def mean_phase(u):  # type: ignore[no-untyped-def]
        k = minimum(u, LARGE)
        above, below = LAST
        above = ((above * k + ABOVE[5]) * k + ABOVE[4]) * k + ABOVE[3]
        above = ((above * k + ABOVE[2]) * k + ABOVE[1]) * k + ABOVE[0]
        below = ((below * k + BELOW[5]) * k + BELOW[4]) * k + BELOW[3]
        below = ((below * k + BELOW[2]) * k + BELOW[1]) * k + BELOW[0]
        c = above / below
        root = sqrt(u * u + c)
        ratio = u / (0.5 + root)
        return ratio, (0.5 + c / (root + u)) / (0.5 + root) * (1.0 + ratio)

    return mean_phase


@cache
def _compiled() -> Any:
    """The same in one pass over arrays of NumPy; made when it is first needed."""
    from phaselect.base.kernels import kernel

    of_number = kernel(inline="always")(mean_phase_with(math.sqrt, min))

    @kernel(error_model="numpy")
    def of_numbers(u, ratio, rest):  # type: ignore[no-untyped-def]
        for i in range(u.size):
            ratio[i], rest[i] = of_number(u[i])

    return of_numbers


def mean_phase(u: Array) -> tuple[Array, Array]:
    """R and `1 - R^2` of arrays, u from 0 on; those of NumPy in one compiled pass."""
    xp = namespace(u)
    if xp is not np or np.ndim(u) != 1:
        found: tuple[Array, Array] = mean_phase_with(xp.sqrt, xp.minimum)(u)
        return found
    ratio, rest = np.empty_like(u), np.empty_like(u)
    _compiled()(u, ratio, rest)
    return ratio, rest

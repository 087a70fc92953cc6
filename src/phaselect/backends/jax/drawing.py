"""The paper's random instance drawn on a device from a seed: A never crosses the bus."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import jax
import numpy as np

from phaselect.equations.arrays import Array
from phaselect.equations.units import gaussian_signal


class Drawn(NamedTuple):
    """A of variance 1/N, a signal of norm sqrt(N), and its measurements `A x0` in float64."""

    A: Array
    x0: Array
    z: Array


@cache
def drawing(rows: int, columns: int, dtype: str, streams: tuple[int, int], many: bool) -> Any:
    """The program that draws one instance from its seed, or many; streams: the purposes of A and of x0.

    The same A in any dtype.
    """

    def draw(seed: Array) -> Drawn:
        own = jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), rows), columns)
        for_A, for_x = (jax.random.fold_in(own, purpose) for purpose in streams)
        A = (jax.random.normal(for_A, (rows, columns), "float32") / np.float32(np.sqrt(columns))).astype(dtype)
        x0 = gaussian_signal(jax.random.normal(for_x, (columns,), "float64"))
        return Drawn(A, x0, (A.astype("float64") * x0).sum(axis=1))

    return jax.jit(jax.vmap(draw) if many else draw)

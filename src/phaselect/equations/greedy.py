"""Greedy flips at lam = 0: the zero-temperature end of every search over signs."""

from __future__ import annotations

from typing import Any

from phaselect.equations.arrays import Array, namespace
from phaselect.equations.signs import flip_energy, signs_of

GAIN = 1e-13
"""A flip must lower the energy by more than rounding."""


def greedy_flips(K: Array, y: Array, signs: Array, loops: Any) -> tuple[Array, Array]:
    """Flip the sign that lowers `E(lam = 0)` most, until none does; the signs reached, and E/M.

    K is that of lam = 0 in float64. Signs at y = 0 stay as they are.
    """
    xp = namespace(K)
    diagonal = xp.diagonal(K)

    def falls(state: tuple[Any, ...]) -> Any:
        v, h, flips = state
        return (flips < 10 * y.shape[0]) & (flip_energy(v, h, diagonal).min() <= -GAIN)

    def flip(state: tuple[Any, ...]) -> tuple[Any, ...]:
        v, h, flips = state
        best = xp.argmin(flip_energy(v, h, diagonal))
        here = xp.arange(y.shape[0]) == best
        return xp.where(here, -v, v), h - 2 * v[best] * K[best], flips + 1

    v = signs * y
    v, _, _ = loops.until(falls, flip, (v, K @ v, 0))
    reached = xp.where(y > 0, signs_of(v), signs)
    return reached, ((v - K @ v) ** 2).mean()

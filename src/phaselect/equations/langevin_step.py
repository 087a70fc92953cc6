r"""One step of Langevin dynamics on relaxed signs (alg:GD): theta in the cube.

`theta <- clip(theta - eta (grad L + sqrt(2/(mu eta)) z) (1 - theta^2))` on the loss `L = |(I - K) v|^2`,
`v = theta*y`, whose gradient is `2 y ((I - K)^2 v)`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from phaselect.equations.arrays import Array, namespace


def langevin_step(theta: Array, y: Array, explained: Callable[[Any], Any], kick: Array, eta: float, n: int) -> Array:
    """One step within the walls, 1 - 1/N from the origin; `explained` is `v -> (I - (I - K)^2) v`, `kick` the noise."""
    v = theta * y
    force = 2 * y * (v - explained(v))
    return within_walls(theta - eta * (force + kick) * (1 - theta**2), n)


def kick_size(mu: Array, eta: float) -> Array:
    """`sqrt(2/(mu eta))`, the standard deviation of the noise."""
    return namespace(mu).sqrt(2 / (mu * eta))


def within_walls(theta: Array, n: int) -> Array:
    """theta stays within 1 - 1/N of zero."""
    return theta.clip(-(1 - 1 / n), 1 - 1 / n)

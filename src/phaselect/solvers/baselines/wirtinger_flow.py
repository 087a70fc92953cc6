"""Wirtinger flow (Candes, Li and Soltanolkotabi, IEEE Trans. Inf. Theory 61, 1985, 2015)."""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1

import numpy as np

from phaselect.backends.interface import Vector
from phaselect.equations.arrays import squared
from phaselect.problem.normalised import Normalised
from phaselect.problem.schedule import Schedule
from phaselect.solvers.baselines.baseline import zero_temperature
from phaselect.solvers.baselines.gradient_flow import Flow

LONGEST, WARM_UP = 0.2, 330.0
"""The longest step, and iterations over which steps grow, as published."""


@dataclass(frozen=True)
class WirtingerFlow(Flow):
    """Gradient descent on the intensity loss, `(1/2) sum_i (|a_i x|^2 - y_i^2)^2`, in steps that grow to a fifth.

    The gradient is Wirtinger's, with respect to the conjugate of x, for real x too: half of the real one.
    """

    name = "wf"

    def default_schedule(self, noise: float = 0.0) -> Schedule:
        """2500 iterations, as published."""
        return zero_temperature(2500)

    def rate(self, problem: Normalised, iteration: int) -> float:
        """`min(1 - exp(-t/330), 0.2)`, over the power of the signal, which is 1."""
        return min(-expm1(-iteration / WARM_UP), LONGEST)

    def pull(self, z: Vector, y: Vector) -> Vector:
        """`(|z|^2 - y^2) z`."""
        return np.asarray((squared(z) - y**2) * z)

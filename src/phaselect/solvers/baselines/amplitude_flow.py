"""Reweighted amplitude flow (Wang, Giannakis, Saad and Chen, IEEE Trans. Signal Process. 66, 2818, 2018)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phaselect.backends.interface import Vector
from phaselect.base.checks import is_number, shortened
from phaselect.base.errors import InputError
from phaselect.equations.signs import signs_of
from phaselect.problem.normalised import Normalised
from phaselect.problem.schedule import Schedule
from phaselect.solvers.baselines.baseline import zero_temperature
from phaselect.solvers.baselines.gradient_flow import Flow

COMPLEX_STEP = 2.5
"""Steps for complex data over those for real ones, as published: 5 and 2. No loss is felt along a phase."""


@dataclass(frozen=True)
class ReweightedAmplitudeFlow(Flow):
    """Gradient descent on the amplitude loss, `(1/2) sum_i w_i (|a_i x| - y_i)^2`, with weights that trust measurements
    whose fit is large: `w_i = r_i / (r_i + beta)`, `r_i = |a_i x| / y_i`.

    step_size: for real data; two and a half times that for complex ones.
    """

    step_size: float = 2.0
    beta: float = 10.0

    def __post_init__(self) -> None:
        for name, value in (("step_size", self.step_size), ("beta", self.beta)):
            if not (is_number(value) and value > 0):
                raise InputError(f"ReweightedAmplitudeFlow: {name} = {shortened(value)} must be positive")

    name = "raf"

    def default_schedule(self, noise: float = 0.0) -> Schedule:
        """2000 iterations."""
        return zero_temperature(2000)

    def rate(self, problem: Normalised, iteration: int) -> float:
        """Constant."""
        return self.step_size * (COMPLEX_STEP if problem.field.beta == 2 else 1.0)

    def pull(self, z: Vector, y: Vector) -> Vector:
        """`w (z - y z/|z|)`."""
        return np.asarray(self.weights(z, y) * (z - y * signs_of(z)))

    def weights(self, z: Vector, y: Vector) -> Vector:
        """`|z| / (|z| + beta y)`."""
        magnitude = np.abs(z)
        return magnitude / (magnitude + self.beta * y + 1e-300)

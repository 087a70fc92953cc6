"""Alternating projections, the oldest of all (Gerchberg and Saxton, Optik 35, 237, 1972)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phaselect.equations.arrays import squared
from phaselect.equations.signs import signs_of
from phaselect.problem.normalised import Normalised
from phaselect.problem.schedule import Schedule, Stretch
from phaselect.solvers.baselines.baseline import Baseline, EstimateState, zero_temperature


@dataclass(frozen=True)
class AlternatingMinimisation(Baseline):
    """Signs, or phases, from x, x from them by least squares, until nothing changes: the zero-temperature limit.

    Uses the lam of the schedule in the regression (0 by default) and ignores mu. The regression is that of vector
    message passing: by an SVD where A is small, at once where `A^T A` is diagonal, else by conjugate gradients.
    """

    name = "altmin"
    needs_entries = True  # of small A, whose SVD it shares

    def default_schedule(self, noise: float = 0.0) -> Schedule:
        """At most 1000 iterations at lam = 0."""
        return zero_temperature(1000)

    def advance(self, problem: Normalised, state: EstimateState, stretch: Stretch) -> EstimateState:
        """Runs a segment of schedule."""
        node, all_digits = problem.gaussian_node, np.float64(0)

        def temperature(state: EstimateState, mu: float, lam: float) -> EstimateState:
            def step(state: EstimateState) -> EstimateState:
                z, kept = node.regress(signs_of(state.z) * problem.y, lam / 2, state.x, all_digits)
                x = node.signal(kept)
                change = float(squared(x - state.x).mean())
                return EstimateState(x, z, state.sweeps + 1, mu, lam, change)

            return problem.loops.repeat(stretch.sweeps, step, state)  # type: ignore[no-any-return]

        return problem.loops.scan(temperature, state, stretch.mu, stretch.lam)  # type: ignore[no-any-return]

"""Gradient descent from the spectral start: what a flow adds is the gradient and the length of a step."""

from __future__ import annotations

import numpy as np

from phaselect.backends.interface import Vector
from phaselect.equations.arrays import squared
from phaselect.problem.normalised import Normalised
from phaselect.problem.schedule import Stretch
from phaselect.solvers.baselines.baseline import DIVERGED, Baseline, EstimateState


class Flow(Baseline):
    """`x <- x - (rate/M) sum_i pull_i a_i` for rows of unit variance per entry; the schedule counts iterations only."""

    def rate(self, problem: Normalised, iteration: int) -> float:
        """The length of a step; iterations count from 1."""
        raise NotImplementedError

    def pull(self, z: Vector, y: Vector) -> Vector:
        """The gradient of the loss in each measurement z."""
        raise NotImplementedError

    def advance(self, problem: Normalised, state: EstimateState, stretch: Stretch) -> EstimateState:
        """Runs a segment of schedule; once it diverges, the last estimate stays."""
        per_row = problem.n / problem.m_rows

        def step(state: EstimateState) -> EstimateState:
            now = int(state.sweeps) + 1
            move = self.rate(problem, now) * per_row * problem.adjoint(self.pull(state.z, problem.y))
            change = float(squared(move).mean())
            if not change <= DIVERGED:  # and again in the next step, as nothing has moved
                return state._replace(change=np.inf, sweeps=now)
            x = state.x - move
            return EstimateState(x, problem.forward(x), now, state.mu, state.lam, change)

        with np.errstate(over="ignore", invalid="ignore"):  # on its way to infinity, which is noticed
            state = problem.loops.repeat(stretch.total, step, state)
        return state._replace(mu=stretch.mu[-1], lam=stretch.lam[-1])

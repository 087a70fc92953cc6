r"""What the field uses otherwise, for comparison: spectral initialisation, alternating minimisation, and
reweighted amplitude flow (Wang, Giannakis, Saad and Chen, IEEE Trans. Signal Process. 66, 2818, 2018).

Short and honest: the published updates and constants from the same spectral start, without annealing.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import NamedTuple

import numpy as np
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from phaselect.base.errors import InputError
from phaselect.problem.instance import Instance, Vector, signs_of
from phaselect.problem.observables import of_estimate
from phaselect.problem.schedule import Schedule
from phaselect.problem.spectrum import spectrum
from phaselect.solvers.base import Estimate, Solver, Start, drive
from phaselect.solvers.certificate import EXACT_FIT
from phaselect.solvers.finish import finish_x
from phaselect.solvers.result import Status

DIVERGED = 1e6
"""Mean squared change of x in one iteration, in units of the signal, that nothing comes back from."""


class EstimateState(NamedTuple):
    """An estimate of x with its measurements, and how much the last iteration changed it."""

    x: Vector
    z: Vector
    iteration: int
    mu: float
    lam: float
    change: float


def spectral_initialisation(problem: Instance, rng: np.random.Generator) -> Vector:
    """Leading eigenvector of `sum_i T(y_i) a_i a_i^T`, scaled to unit variance.

    The preprocessing `T(y) = (y^2 - 1)/(y^2 + sqrt(2 alpha) - 1)` is the one that is optimal for weak recovery
    in the proportional limit (Mondelli and Montanari, Found. Comput. Math. 19, 703, 2019).
    """
    y2 = problem.target**2
    weight = (y2 - 1) / (y2 + np.sqrt(2 * problem.alpha) - 1)
    n = problem.n

    def apply(x: Vector) -> Vector:
        return problem.backproject(weight * problem.measure(x.ravel()))

    if n == 1:
        return np.ones(1)
    operator = LinearOperator((n, n), matvec=apply, dtype=np.float64)
    start = rng.standard_normal(n)
    try:
        _, vectors = eigsh(operator, k=1, which="LA", v0=start, tol=1e-6)
    except ArpackError:  # as when all magnitudes are equal, and tell nothing
        return start
    return np.asarray(vectors[:, 0] * np.sqrt(n))


def zero_temperature(iterations: int) -> Schedule:
    """A schedule that only counts iterations: lam = 0, mu at its largest throughout."""
    return Schedule.fixed_lambda(0.0, mu0=1e12, mu_max=1e12, steps=1, unit="iterations", hold=iterations - 1)


# What the two solvers below have in common; `solver` is the self of either.


def _start(
    solver: Solver, problem: Instance, schedule: Schedule, rng: np.random.Generator, init: Start | None
) -> EstimateState:
    """The spectral estimate, or the estimate given."""
    schedule.iterations(solver.name)
    x = init.x if init else spectral_initialisation(problem, rng)
    return EstimateState(x, problem.forward(x), 0, *schedule[0], np.inf)


def _segment(solver: Solver, problem: Instance, schedule: Schedule) -> int:
    """Ten iterations."""
    return max(1, 10 // schedule.steps)


def _measure(solver: Solver, problem: Instance, state: EstimateState) -> dict[str, float]:
    """Observables of the estimate."""
    row = of_estimate(problem, state.x, state.z, state.lam)
    return {**row, "change": state.change, "steps": state.iteration}


def _stop(solver: Solver, row: dict[str, float], final: bool, noiseless: bool) -> Status | None:
    """Converged, to a solution or to a spurious minimum; or diverged."""
    if row["change"] > DIVERGED:
        return Status.DIVERGED
    return Status.NOT_RECOVERED if row["mse_y"] < EXACT_FIT or (final and row["change"] < 1e-24) else None


def _finish(solver: Solver, problem: Instance, state: EstimateState, noiseless: bool) -> Estimate:
    """Least squares on the signs of x."""
    return finish_x(problem, state.x, noiseless)


@dataclass(frozen=True)
class AlternatingMinimisation:
    """Signs from x, x from signs by least squares, until nothing changes: the zero-temperature limit.

    Uses the lam of the schedule in the regression (0 by default) and ignores mu.
    """

    state_type = EstimateState

    @property
    def name(self) -> str:
        """As in `phaselect solve --solver altmin`."""
        return "altmin"

    def default_schedule(self, problem: Instance) -> Schedule:
        """At most 1000 iterations at lam = 0."""
        return zero_temperature(1000)

    def advance(self, problem: Instance, state: EstimateState, schedule: Schedule) -> EstimateState:
        """Runs a segment of schedule."""
        spectral = spectrum(problem)
        x, z, change = state.x, state.z, state.change
        for _, lam in schedule:
            for _ in range(schedule.steps):
                signs = signs_of(z)
                fitted = spectral.ridge(spectral.coordinates(signs * problem.target), lam)
                change = float(np.mean((fitted - x) ** 2))
                x, z = fitted, problem.forward(fitted)
        return EstimateState(x, z, state.iteration + len(schedule) * schedule.steps, *schedule[-1], change)

    start, segment, measure, stop, finish = _start, _segment, _measure, _stop, _finish
    run = drive


@dataclass(frozen=True)
class ReweightedAmplitudeFlow:
    """Gradient descent on the amplitude loss, with weights that trust measurements whose fit is large.

    `x <- x - (step/M) sum_i w_i (a_i x - y_i sign(a_i x)) a_i`, `w_i = r_i / (r_i + beta)`, `r_i = |a_i x| / y_i`,
    for rows of unit variance an entry; the schedule counts iterations only.
    """

    step: float = 2.0
    beta: float = 10.0

    def __post_init__(self) -> None:
        for name in ("step", "beta"):
            value = getattr(self, name)
            if not (isinstance(value, Real) and 0 < float(value) < np.inf):
                raise InputError(f"ReweightedAmplitudeFlow: {name} = {value!r} must be positive")

    state_type = EstimateState

    @property
    def name(self) -> str:
        """As in `phaselect solve --solver raf`."""
        return "raf"

    def default_schedule(self, problem: Instance) -> Schedule:
        """2000 iterations."""
        return zero_temperature(2000)

    def advance(self, problem: Instance, state: EstimateState, schedule: Schedule) -> EstimateState:
        """Runs a segment of schedule."""
        x, z, change = state.x, state.z, state.change
        rate = self.step * problem.gain * problem.n / problem.m_rows
        y = problem.target
        for _ in range(len(schedule) * schedule.steps):
            magnitude = np.abs(z)
            pull = magnitude / (magnitude + self.beta * y + 1e-300) * (z - y * signs_of(z))
            move = rate * problem.backproject(pull)
            change = float(np.mean(move**2))
            if change > DIVERGED:
                break
            x = x - move
            z = problem.forward(x)
        return EstimateState(x, z, state.iteration + len(schedule) * schedule.steps, *schedule[-1], change)

    start, segment, measure, stop, finish = _start, _segment, _measure, _stop, _finish
    run = drive

r"""What the field uses otherwise, for comparison: spectral initialisation, alternating minimisation, and
reweighted amplitude flow (Wang, Giannakis, Saad and Chen, IEEE Trans. Signal Process. 66, 2818, 2018).

Short and honest: the published updates and constants from the same spectral start, without annealing. In memory only:
the spectral start is SciPy's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from phaselect.backends.interface import Vector
from phaselect.base.checks import is_number, shortened
from phaselect.base.errors import InputError
from phaselect.equations.signs import estimate_columns, signs_of
from phaselect.problem.normalised import Normalised
from phaselect.problem.schedule import Schedule, Stretch
from phaselect.solvers.finish import EXACT_FIT, settle_estimate
from phaselect.solvers.protocol import Solver, Start, Work
from phaselect.solvers.run import run, run_batch
from phaselect.solvers.verdict import Ended

DIVERGED = 1e6
"""Mean squared change of x in one iteration, in units of the signal, that nothing comes back from."""


class EstimateState(NamedTuple):
    """An estimate of x with its measurements, and how much the last iteration changed it."""

    x: Vector
    z: Vector
    sweeps: int
    mu: float
    lam: float
    change: float


def spectral_initialisation(problem: Normalised, start: Vector) -> Vector:
    """Leading eigenvector of `sum_i T(y_i) a_i a_i^T`, scaled to unit variance.

    The preprocessing `T(y) = (y^2 - 1)/(y^2 + sqrt(2 alpha) - 1)` is the one that is optimal for weak recovery
    in the proportional limit (Mondelli and Montanari, Found. Comput. Math. 19, 703, 2019).
    """
    n, y2 = problem.n, problem.y**2
    weight = (y2 - 1) / (y2 + np.sqrt(2 * problem.m_rows / n) - 1)

    def apply(x: Vector) -> Vector:
        return problem.adjoint(weight * problem.forward(x.ravel()))  # type: ignore[no-any-return]

    if n == 1:
        return np.ones(1)
    operator = LinearOperator((n, n), matvec=apply, dtype=np.float64)
    try:
        _, vectors = eigsh(operator, k=1, which="LA", v0=start, tol=1e-6)
    except ArpackError:  # as when all magnitudes are equal, and tell nothing
        return start
    return np.asarray(vectors[:, 0] * np.sqrt(n))


def zero_temperature(iterations: int) -> Schedule:
    """A schedule that only counts iterations: lam = 0, mu at its largest throughout."""
    return Schedule.fixed_lambda(0.0, mu0=1e12, mu_max=1e12, steps=1, unit="iterations", hold=iterations - 1)


# What the two solvers below have in common; `solver` is the self of either.


def _draw(solver: Solver, rng: np.random.Generator, m_rows: int, n: int, schedule: Schedule, attempt: int) -> Vector:
    """Where the search for the leading eigenvector starts."""
    return rng.standard_normal(n)


def _start(
    solver: Solver, problem: Normalised, drawn: Vector, mu: float, lam: float, init: Start | None
) -> EstimateState:
    """The spectral estimate, or the estimate given."""
    x = init.x if init else spectral_initialisation(problem, drawn)
    return EstimateState(x, problem.forward(x), 0, mu, lam, np.inf)


def _work(solver: Solver, m_rows: int, n: int, schedule: Schedule) -> Work:
    """Two products with A, or with U, per iteration."""
    return Work(move=schedule.steps * (0.5 * m_rows * n + 2e4), look=20.0 * (m_rows + n))


def _memory(solver: Solver, m_rows: int, n: int, itemsize: int) -> int:
    """Nothing: it does not run there."""
    return 0


def _measure(solver: Solver, problem: Normalised, state: EstimateState) -> dict[str, Any]:
    """Observables of the estimate."""
    row = estimate_columns(problem.y, problem.x0, problem.signs, state.x, state.z, state.lam)
    return {**row, "change": state.change, "sweeps": state.sweeps}


def _stop(solver: Solver, problem: Normalised, row: dict[str, float], final: bool, exact: bool) -> Ended | None:
    """Converged, to a solution or to a spurious minimum; or diverged."""
    if row["change"] > DIVERGED:
        return Ended.DIVERGED
    return Ended.SETTLED if row["mse_y"] < EXACT_FIT or (final and row["change"] < 1e-24) else None


def _candidate(solver: Solver, problem: Normalised, state: EstimateState) -> tuple[Vector, float]:
    """The estimate."""
    return state.x, np.nan


def _average(solver: Solver, problem: Normalised, state: EstimateState) -> Vector:
    """The estimate."""
    return state.x


@dataclass(frozen=True)
class AlternatingMinimisation:
    """Signs from x, x from signs by least squares, until nothing changes: the zero-temperature limit.

    Uses the lam of the schedule in the regression (0 by default) and ignores mu.
    """

    name = "altmin"
    state_type = EstimateState
    restarts = 0
    eager = single_flips = in_batches = takes_few = False
    needs_entries = takes_phases = True

    def default_schedule(self, noise: float = 0.0) -> Schedule:
        """At most 1000 iterations at lam = 0."""
        return zero_temperature(1000)

    def advance(self, problem: Normalised, state: EstimateState, stretch: Stretch) -> EstimateState:
        """Runs a segment of schedule."""

        def temperature(state: EstimateState, mu: float, lam: float) -> EstimateState:
            ridge = problem.ridge.at(lam)

            def step(state: EstimateState) -> EstimateState:
                x = ridge.estimate(signs_of(state.z) * problem.y)
                change = float(np.mean((x - state.x) ** 2))
                return EstimateState(x, problem.forward(x), state.sweeps + 1, mu, lam, change)

            return problem.loops.repeat(stretch.sweeps, step, state)  # type: ignore[no-any-return]

        return problem.loops.scan(temperature, state, stretch.mu, stretch.lam)  # type: ignore[no-any-return]

    draw, start, work, memory, measure = _draw, _start, _work, _memory, _measure
    stop, candidate, settle, average = _stop, _candidate, staticmethod(settle_estimate), _average
    run = run
    run_batch = run_batch


@dataclass(frozen=True)
class ReweightedAmplitudeFlow:
    """Gradient descent on the amplitude loss, with weights that trust measurements whose fit is large.

    `x <- x - (step_size/M) sum_i w_i (a_i x - y_i sign(a_i x)) a_i`, `w_i = r_i / (r_i + beta)`, `r_i = |a_i x| / y_i`,
    for rows of unit variance per entry; the schedule counts iterations only.
    """

    step_size: float = 2.0
    beta: float = 10.0

    def __post_init__(self) -> None:
        for name, value in (("step_size", self.step_size), ("beta", self.beta)):
            if not (is_number(value) and value > 0):
                raise InputError(f"ReweightedAmplitudeFlow: {name} = {shortened(value)} must be positive")

    name = "raf"
    state_type = EstimateState
    restarts = 0
    eager = single_flips = in_batches = needs_entries = takes_few = False
    takes_phases = True

    def default_schedule(self, noise: float = 0.0) -> Schedule:
        """2000 iterations."""
        return zero_temperature(2000)

    def advance(self, problem: Normalised, state: EstimateState, stretch: Stretch) -> EstimateState:
        """Runs a segment of schedule; once it diverges, the last estimate stays."""
        rate = self.step_size * problem.n / problem.m_rows
        y = problem.y

        def step(state: EstimateState) -> EstimateState:
            magnitude = np.abs(state.z)
            pull = magnitude / (magnitude + self.beta * y + 1e-300) * (state.z - y * signs_of(state.z))
            move = rate * problem.adjoint(pull)
            change = float(np.mean(move**2))
            if change > DIVERGED:  # and again in the next step, as nothing has moved
                return state._replace(change=change, sweeps=state.sweeps + 1)
            x = state.x - move
            return EstimateState(x, problem.forward(x), state.sweeps + 1, state.mu, state.lam, change)

        state = problem.loops.repeat(stretch.total, step, state)
        return state._replace(mu=stretch.mu[-1], lam=stretch.lam[-1])

    draw, start, work, memory, measure = _draw, _start, _work, _memory, _measure
    stop, candidate, settle, average = _stop, _candidate, staticmethod(settle_estimate), _average
    run = run
    run_batch = run_batch

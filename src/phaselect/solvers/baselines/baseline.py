"""What all baselines have in common: an estimate of x, from the spectral start on, that is improved until it rests.

In memory only: the spectral start is SciPy's.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from phaselect.backends.interface import Vector
from phaselect.equations.signs import estimate_columns
from phaselect.problem.normalised import Normalised
from phaselect.problem.schedule import Schedule
from phaselect.solvers.baselines.spectral import spectral_initialisation
from phaselect.solvers.finish import EXACT_FIT, settle_estimate
from phaselect.solvers.protocol import Start, Work
from phaselect.solvers.run import run, run_batch
from phaselect.solvers.verdict import Ended

DIVERGED = 1e6
"""Mean squared change of x in one iteration, in units of the signal, that nothing comes back from."""
AT_REST = 1e-24
"""And that nothing will come of."""


class EstimateState(NamedTuple):
    """An estimate of x with its measurements, and how much the last iteration changed it."""

    x: Vector
    z: Vector
    sweeps: int
    mu: float
    lam: float
    change: float


def zero_temperature(iterations: int) -> Schedule:
    """A schedule that only counts iterations: lam = 0, mu at its largest throughout."""
    return Schedule.fixed_lambda(0.0, mu0=1e12, mu_max=1e12, steps=1, unit="iterations", hold=iterations - 1)


class Baseline:
    """A baseline adds `name`, `default_schedule` and `advance`."""

    state_type = EstimateState
    restarts = 0
    eager = single_flips = in_batches = needs_entries = takes_few = False
    takes_phases = True

    def draw(self, rng: np.random.Generator, m_rows: int, n: int, schedule: Schedule, attempt: int) -> Vector:
        """Where the search for the leading eigenvector starts."""
        return rng.standard_normal(n)

    def start(self, problem: Normalised, drawn: Vector, mu: float, lam: float, init: Start | None) -> EstimateState:
        """The spectral estimate, or the estimate given."""
        x = init.x.astype(problem.field.x) if init else spectral_initialisation(problem, drawn)
        return EstimateState(x, problem.forward(x), 0, mu, lam, np.inf)

    def work(self, m_rows: int, n: int, schedule: Schedule) -> Work:
        """Two products with A, or with U, per iteration."""
        return Work(move=schedule.steps * (0.5 * m_rows * n + 2e4), look=20.0 * (m_rows + n))

    def memory(self, m_rows: int, n: int, itemsize: int) -> int:
        """Nothing: it does not run on a device."""
        return 0

    def measure(self, problem: Normalised, state: EstimateState) -> dict[str, Any]:
        """Observables of the estimate."""
        row = estimate_columns(problem.y, problem.x0, problem.signs, state.x, state.z, state.lam)
        return {**row, "change": state.change, "sweeps": state.sweeps}

    def stop(self, problem: Normalised, row: dict[str, float], final: bool, exact: bool) -> Ended | None:
        """Converged, to a solution or to a spurious minimum; or diverged."""
        if row["change"] > DIVERGED:
            return Ended.DIVERGED
        return Ended.SETTLED if row["mse_y"] < EXACT_FIT or (final and row["change"] < AT_REST) else None

    def candidate(self, problem: Normalised, state: EstimateState) -> tuple[Vector, float]:
        """The estimate."""
        return state.x, np.nan

    def average(self, problem: Normalised, state: EstimateState) -> Vector:
        """The estimate."""
        return state.x

    settle = staticmethod(settle_estimate)
    run = run
    run_batch = run_batch

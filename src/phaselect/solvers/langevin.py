r"""Langevin dynamics on relaxed signs (alg:GD): theta in the cube, noise and regulariser annealed.

`theta <- clip(theta - eta (grad L + sqrt(2/(mu eta)) z) (1 - theta^2))` on the loss
`L = |(I - K) v|^2`, `v = theta*y`, whose gradient is `2 y ((I - K)^2 v)`. As lam -> 0 every v = A x with
|A x| <= y has zero loss, so theta ends inside the cube: the unrounded loss proves nothing, and the signs come
from rounding followed by greedy flips.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from phaselect.base.errors import InputError
from phaselect.problem.instance import Instance, Vector, signs_of
from phaselect.problem.observables import of_signs, to_floats
from phaselect.problem.schedule import Schedule
from phaselect.problem.spectrum import Spectrum, spectrum
from phaselect.solvers.base import Estimate, Start
from phaselect.solvers.batch import run_anywhere, run_batch
from phaselect.solvers.certificate import EXACT_FIT
from phaselect.solvers.finish import finish_signs, quenched
from phaselect.solvers.result import Status


class LangevinState(NamedTuple):
    """Relaxed signs and the random generator."""

    theta: Vector
    rng: np.random.Generator
    iteration: int
    mu: float
    lam: float
    quenched: float


@dataclass(frozen=True)
class Langevin:
    """Langevin dynamics. The weakest of the paper's solvers, kept for comparison.

    eta: step size.
    eager: stop as soon as rounding and greedy flips solve the problem; False to follow the anneal to its end.

    In the trace `mse_y`, `m` and `O` are those of the rounded signs; `loss_relaxed` and `m_relaxed` of theta itself.
    """

    eta: float = 1.0
    eager: bool = True

    def __post_init__(self) -> None:
        if not (isinstance(self.eta, Real) and np.isfinite(self.eta) and self.eta > 0):
            raise InputError(f"Langevin: eta = {self.eta!r} must be positive")

    state_type = LangevinState

    @property
    def name(self) -> str:
        """As in `phaselect solve --solver langevin`."""
        return "langevin"

    def default_schedule(self, problem: Instance | None) -> Schedule:
        """The paper's product 0.75, mu from 1 to 1000, 100 iterations for each 2 %."""
        return Schedule.fixed_product(0.75, mu0=1.0, mu_max=1e3, eps=0.02, steps=100, unit="iterations")

    def start(
        self, problem: Instance, schedule: Schedule, rng: np.random.Generator, init: Start | None
    ) -> LangevinState:
        """theta uniform in the cube, or at the corner given."""
        schedule.iterations("Langevin")
        theta = rng.uniform(-1, 1, problem.m_rows) if init is None else init.signs
        mu, lam = schedule[0]
        return LangevinState(np.clip(theta, -wall(problem), wall(problem)), rng, 0, mu, lam, np.nan)

    def segment(self, problem: Instance, schedule: Schedule) -> int:
        """One temperature, or as many as make 20 iterations."""
        return max(1, 20 // schedule.steps)

    def advance(self, problem: Instance, state: LangevinState, schedule: Schedule) -> LangevinState:
        """Runs a segment of schedule."""
        spectral, y, bound = spectrum(problem), problem.target, wall(problem)
        theta, rng = state.theta, copy.deepcopy(state.rng)
        for mu, lam in schedule:
            explained = explained_part(spectral, lam)
            kick = np.sqrt(2 / (mu * self.eta))
            for _ in range(schedule.steps):
                noise = kick * rng.standard_normal(theta.size)
                theta = langevin_step(theta, y, explained, noise, self.eta, bound)
        iteration = state.iteration + len(schedule) * schedule.steps
        mu, lam = schedule[-1]
        floor = quenched(problem, signs_of(theta), state.mu, mu) if self.eager else np.nan
        return LangevinState(theta, rng, iteration, mu, lam, floor)

    def measure(self, problem: Instance, state: LangevinState) -> dict[str, float]:
        """Observables of the rounded signs, then of theta."""
        spectral = spectrum(problem)
        signs = signs_of(state.theta)
        row = of_signs(spectral, signs, spectral.coordinates(signs * problem.target), state.lam)
        v = state.theta * problem.target
        c = spectral.coordinates(v)
        loss = v @ v - c**2 @ spectral.weights(state.lam, "residual")
        relaxed = {"loss_relaxed": loss / problem.m_rows, "m_relaxed": spectral.overlap(c, state.lam)}
        return to_floats(row | relaxed) | {"quenched": state.quenched, "steps": state.iteration}

    def stop(self, row: dict[str, float], final: bool, noiseless: bool) -> Status | None:
        """Rounding and greedy flips lead to a solution; nothing in theta itself tells."""
        return Status.NOT_RECOVERED if noiseless and row["quenched"] < EXACT_FIT else None

    def finish(self, problem: Instance, state: LangevinState, noiseless: bool) -> Estimate:
        """Round, greedy flips, least squares."""
        return finish_signs(problem, signs_of(state.theta), state.lam, noiseless)

    def program(self) -> Any:
        """Langevin dynamics as a JAX program, for `run_batch`."""
        from phaselect.devices.programs import LangevinProgram

        return LangevinProgram(self.eta)

    run = run_anywhere
    run_batch = run_batch


def langevin_step(theta: Any, y: Any, explained: Callable[[Any], Any], noise: Any, eta: float, bound: float) -> Any:
    """One step within the walls; `explained` is `v -> (I - (I - K)^2) v`. For arrays of NumPy and of JAX."""
    v = theta * y
    force = 2 * y * (v - explained(v))
    return (theta - eta * (force + noise) * (1 - theta**2)).clip(-bound, bound)


def explained_part(spectral: Spectrum, lam: float) -> Callable[[Vector], Vector]:
    """`v -> (I - (I - K)^2) v = U (w (2 - w) U^T v)`."""
    weights = spectral.weights(lam, "residual")
    return lambda v: spectral.U @ (weights * spectral.coordinates(v))


def wall(problem: Instance) -> float:
    """theta stays within 1 - 1/N of zero."""
    return 1 - 1 / problem.n

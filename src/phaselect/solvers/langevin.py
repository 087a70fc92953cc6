"""Langevin dynamics on relaxed signs (alg:GD): theta in the cube, noise and regulariser annealed.

As lam -> 0 every v = A x with |A x| <= y has zero loss, so theta ends inside the cube: the unrounded loss proves
nothing, and the signs come from rounding followed by greedy flips. The step is in equations/langevin_step.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from phaselect.base.checks import is_number, shortened
from phaselect.base.errors import InputError
from phaselect.equations.arrays import Array, namespace
from phaselect.equations.greedy import greedy_flips
from phaselect.equations.langevin_step import kick_size, langevin_step, within_walls
from phaselect.equations.regression import sign_columns
from phaselect.equations.signs import sign_overlap, signs_of
from phaselect.problem.normalised import Normalised
from phaselect.problem.schedule import Schedule, Stretch
from phaselect.solvers.finish import EXACT_FIT, settle_signs
from phaselect.solvers.protocol import Start, Work
from phaselect.solvers.run import run, run_batch
from phaselect.solvers.simulated_annealing import greedy_work
from phaselect.solvers.verdict import Ended


class LangevinDraw(NamedTuple):
    """What a run starts from: theta, and the seed of the noise."""

    theta: Array
    words: Array


class LangevinState(NamedTuple):
    """Relaxed signs and the random numbers of the noise."""

    theta: Array
    random: Any
    sweeps: Array
    mu: Array
    lam: Array


@dataclass(frozen=True)
class Langevin:
    """Langevin dynamics. The weakest of the paper's solvers, kept for comparison.

    step_size: the paper's eta.
    eager: stop as soon as rounding and greedy flips solve the problem; False to follow the anneal to its end.

    In the trace `mse_y`, `m` and `O` are those of the rounded signs; `loss_relaxed` and `m_relaxed` of theta itself.
    """

    step_size: float = 1.0
    eager: bool = True

    def __post_init__(self) -> None:
        if not (is_number(self.step_size) and self.step_size > 0):
            raise InputError(f"Langevin: step_size = {shortened(self.step_size)} must be positive")

    name = "langevin"
    state_type = LangevinState
    restarts = 0
    single_flips = takes_few = takes_phases = False
    in_batches = needs_entries = True

    def default_schedule(self, noise: float = 0.0) -> Schedule:
        """The paper's product 0.75, mu from 1 to 1000, 100 iterations for each 2 %."""
        mu = 1 / (2 * noise) if noise else 1e3
        return Schedule.fixed_product(0.75, mu0=min(1.0, mu), mu_max=mu, eps=0.02, steps=100, unit="iterations")

    def draw(self, rng: np.random.Generator, m_rows: int, n: int, schedule: Schedule, attempt: int) -> LangevinDraw:
        """theta uniform in the cube."""
        return LangevinDraw(rng.uniform(-1, 1, m_rows), rng.integers(2**32, size=2, dtype=np.uint32))

    def start(
        self, problem: Normalised, drawn: LangevinDraw, mu: Array, lam: Array, init: Start | None
    ) -> LangevinState:
        """The theta drawn, or the corner given, within the walls."""
        xp = namespace(problem.y)
        theta = xp.asarray(drawn.theta if init is None else init.signs)
        return LangevinState(
            theta=within_walls(theta, problem.n),
            random=problem.random.seeded(drawn.words),
            sweeps=xp.asarray(0),
            mu=xp.asarray(mu, dtype="float64"),
            lam=xp.asarray(lam, dtype="float64"),
        )

    def work(self, m_rows: int, n: int, schedule: Schedule) -> Work:
        """Two products with U per step."""
        product = 0.25 * m_rows * n
        move = schedule.steps * (2 * product + 1.2e4)
        return Work(move, 4 * product, greedy_work(m_rows), launches=8 * schedule.steps, regresses=True)

    def memory(self, m_rows: int, n: int, itemsize: int) -> int:
        """The couplings, their square and their factors."""
        return 8 * (4 * m_rows * n + 5 * m_rows**2 + 2 * n**2)

    def advance(self, problem: Normalised, state: LangevinState, stretch: Stretch) -> LangevinState:
        """Runs a segment of schedule."""

        def temperature(state: LangevinState, mu: Array, lam: Array) -> LangevinState:
            explained = problem.ridge.at(lam).explaining()
            size = kick_size(mu, self.step_size)

            def step(state: LangevinState) -> LangevinState:
                random, noise = problem.random.normal(state.random, problem.m_rows)
                theta = langevin_step(state.theta, problem.y, explained, size * noise, self.step_size, problem.n)
                return state._replace(theta=theta, random=random, sweeps=state.sweeps + 1)

            return problem.loops.repeat(stretch.sweeps, step, state._replace(mu=mu, lam=lam))  # type: ignore[no-any-return]

        own = state._replace(random=state.random.copied())
        return problem.loops.scan(temperature, own, stretch.mu, stretch.lam)  # type: ignore[no-any-return]

    def measure(self, problem: Normalised, state: LangevinState) -> dict[str, Array]:
        """Observables of the rounded signs, then of theta."""
        rounded = signs_of(state.theta)
        v = namespace(rounded).stack([rounded, state.theta]) * problem.y
        found = problem.ridge.at(state.lam).regress(v)
        columns = sign_columns(found, sign_overlap(problem.signs, rounded), problem.m_rows, problem.n)
        row = {name: column if name == "O" else column[0] for name, column in columns.items()}
        relaxed = {"loss_relaxed": columns["mse_y"][1], "m_relaxed": columns["m"][1]}
        return row | relaxed | {"sweeps": state.sweeps}

    def stop(self, problem: Normalised, row: dict[str, float], final: bool, exact: bool) -> Ended | None:
        """Rounding and greedy flips lead to a solution; nothing in theta itself tells."""
        return Ended.SETTLED if exact and self.eager and row["quenched"] < EXACT_FIT else None

    def candidate(self, problem: Normalised, state: LangevinState) -> tuple[Array, Array]:
        """Round, then greedy flips."""
        return greedy_flips(problem.ridge.exact_couplings(), problem.y, signs_of(state.theta), problem.loops)

    def average(self, problem: Normalised, state: LangevinState) -> Array:
        """The ridge estimate of the rounded signs."""
        return problem.ridge.at(state.lam).estimate(signs_of(state.theta) * problem.y)

    settle = staticmethod(settle_signs)
    run = run
    run_batch = run_batch

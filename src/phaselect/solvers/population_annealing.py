r"""Population annealing of the signs: R copies annealed together, resampled by their weights.

From one temperature to the next each copy is weighted by `exp(-(mu' E_{lam'}(S) - mu E_lam(S)))`; resampling in
proportion keeps the population at equilibrium, and the mean weight gives the change of `log Z`. Goes beyond
the paper with the same Metropolis kernel: R copies share the couplings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from phaselect.base.checks import is_count, shortened
from phaselect.base.errors import InputError
from phaselect.equations.arrays import Array, namespace
from phaselect.equations.greedy import greedy_flips
from phaselect.equations.resampling import systematic_resampling
from phaselect.equations.signs import signs_of
from phaselect.problem.normalised import Normalised
from phaselect.problem.schedule import Schedule, Stretch
from phaselect.solvers.finish import EXACT_FIT, settle_signs
from phaselect.solvers.protocol import Start, Work
from phaselect.solvers.run import run, run_batch
from phaselect.solvers.simulated_annealing import (
    SignsDraw,
    columns_of_copies,
    draw_signs,
    greedy_work,
    launches_per_sweep,
)
from phaselect.solvers.verdict import Ended

QUENCH_SWEEPS, COLD = 10, 1e9
"""Sweeps at zero temperature that take nearly every copy into its minimum, and what stands for 1/0."""


class PopulationState(NamedTuple):
    """The copies as the backend keeps them, their energies at (mu, lam), and the random numbers of their chains."""

    copies: Any
    energies: Array  # (R,)
    random: Any
    families: Array  # (R,), which copy of the first population each one descends from
    log_Z: Array
    sweeps: Array
    mu: Array
    lam: Array


@dataclass(frozen=True)
class PopulationAnnealing:
    """Population annealing, threads over the copies.

    replicas: R; success grows with it where one anneal gets stuck.
    eager: stop as soon as greedy flips from one of the copies solve the problem; False to follow the anneal to its end.

    The trace holds averages over the population, `free_entropy` = log(Z)/N with `Z = sum_S exp(-mu E(S))`,
    `families`, the number of surviving ones, and `best_energy`.
    """

    replicas: int = 64
    eager: bool = True

    def __post_init__(self) -> None:
        if not is_count(self.replicas, 2):
            raise InputError(
                f"PopulationAnnealing: replicas = {shortened(self.replicas)} must be a whole number, 2 or more"
            )

    name = "pa"
    state_type = PopulationState
    restarts = 0
    single_flips = in_batches = needs_entries = True
    takes_few = takes_phases = False

    def default_schedule(self, noise: float = 0.0) -> Schedule:
        """Matched, 8 sweeps per temperature: coarse where chains decorrelate at once, fine from mu = 2 on.

        Starts so hot that random signs are nearly at equilibrium, and ends where greedy flips can do the rest.
        """
        if noise:
            return Schedule.noisy(noise, mu0=0.1, eps=0.05, steps=8)
        hot = Schedule.matched(mu0=0.1, mu_max=2.0, eps=0.2).mu[:-1]
        mu = np.concatenate([hot, Schedule.matched(mu0=2.0, mu_max=1000.0, eps=0.05).mu])
        return Schedule(mu, 1 / mu, steps=8)

    def draw(self, rng: np.random.Generator, m_rows: int, n: int, schedule: Schedule, attempt: int) -> SignsDraw:
        """Random signs of every copy."""
        return draw_signs(rng, self.replicas, m_rows)

    def start(
        self, problem: Normalised, drawn: SignsDraw, mu: Array, lam: Array, init: Start | None
    ) -> PopulationState:
        """Random signs: equilibrium at mu = 0, where `Z = 2^M`."""
        xp = namespace(problem.y)
        signs = xp.asarray(drawn.signs)
        if init is not None:
            signs = signs * 0 + xp.asarray(init.signs)
        return PopulationState(
            copies=problem.ridge.at(lam).copies(signs),
            energies=xp.zeros(self.replicas),
            random=problem.random.seeded(drawn.words, self.replicas),
            families=xp.arange(self.replicas),
            log_Z=xp.asarray(problem.m_rows * np.log(2) if init is None else np.nan),
            sweeps=xp.asarray(0.0),
            mu=xp.asarray(0.0),
            lam=xp.asarray(lam, dtype="float64"),
        )

    def work(self, m_rows: int, n: int, schedule: Schedule) -> Work:
        """Proposals of every copy; the copies that greedy flips start from have been swept cold first."""
        sweeps = schedule.stretch(m_rows).sweeps
        return Work(
            move=sweeps * self.replicas * m_rows * (10 + 0.05 * m_rows),
            look=self.replicas * (4.0 * n + m_rows),
            quench=QUENCH_SWEEPS * self.replicas * m_rows * 10 + greedy_work(m_rows),
            launches=sweeps * launches_per_sweep(m_rows),
            regresses=True,
        )

    def memory(self, m_rows: int, n: int, itemsize: int) -> int:
        """v and h, what a resampling and an average take besides; the couplings and their factors."""
        copies = self.replicas * (8 * m_rows * itemsize + 24 * n + 24 * m_rows)
        return copies + 8 * (4 * m_rows * n + 3 * m_rows**2 + 2 * n**2)

    def advance(self, problem: Normalised, state: PopulationState, stretch: Stretch) -> PopulationState:
        """Reweight and resample, then sweep, at each temperature."""
        ridge = problem.ridge

        def temperature(state: PopulationState, mu: Array, lam: Array) -> PopulationState:
            here = ridge.at(lam)
            state = resample(problem, state._replace(copies=here.turn(state.copies)), here, mu, lam)
            copies, random = here.sweep(state.copies, mu, state.random, stretch.sweeps)
            sweeps = state.sweeps + stretch.sweeps * self.replicas
            return state._replace(copies=copies, energies=here.energies(copies), random=random, sweeps=sweeps)

        own = state._replace(random=state.random.copied())
        return problem.loops.scan(temperature, own, stretch.mu, stretch.lam)  # type: ignore[no-any-return]

    def measure(self, problem: Normalised, state: PopulationState) -> dict[str, Array]:
        """Averages over the population; `best_energy` is the lowest."""
        xp = namespace(problem.y)
        ridge = problem.ridge.at(state.lam)
        columns = columns_of_copies(problem, ridge.turn(state.copies), ridge)
        lines = xp.sort(state.families)
        return {
            **{name: column.mean() for name, column in columns.items()},
            "best_energy": columns["energy"].min(),
            "free_entropy": state.log_Z / problem.n,
            "families": 1 + (lines[1:] != lines[:-1]).sum(),
            "sweeps": state.sweeps,
        }

    def stop(self, problem: Normalised, row: dict[str, float], final: bool, exact: bool) -> Ended | None:
        """Greedy flips from one of the copies lead to a solution."""
        return Ended.SETTLED if exact and self.eager and row["quenched"] < EXACT_FIT else None

    def candidate(self, problem: Normalised, state: PopulationState) -> tuple[Array, Array]:
        """The signs of lowest E(lam = 0) that cold sweeps of all copies, then greedy flips, lead to.

        Each copy falls into a minimum of its own; where impostors are many, the lowest copy is rarely the right one.
        """
        xp = namespace(problem.y)
        ridge = problem.ridge.at(xp.asarray(0.0))
        cold, _ = ridge.sweep(ridge.turn(state.copies), xp.asarray(COLD), state.random.copied(), QUENCH_SWEEPS)
        lowest = 1.0 * cold.signs[xp.argmin(ridge.energies(cold))]
        return greedy_flips(problem.ridge.exact_couplings(), problem.y, lowest, problem.loops)

    def average(self, problem: Normalised, state: PopulationState) -> Array:
        """The ridge estimate of the mean over the copies, each turned to the side of the lowest."""
        return problem.ridge.at(state.lam).estimate(mean_signs(state) * problem.y)

    settle = staticmethod(settle_signs)
    run = run
    run_batch = run_batch


def mean_signs(state: PopulationState) -> Array:
    """Over the copies, each turned to the side of the lowest."""
    signs = 1.0 * state.copies.signs
    sides = signs_of(signs @ signs[namespace(signs).argmin(state.energies)])
    return sides @ signs / signs.shape[0]


def resample(problem: Normalised, state: PopulationState, ridge: Any, mu: Array, lam: Array) -> PopulationState:
    """Copies in proportion to `exp(-(mu' E_{lam'} - mu E_lam))`; adds the log mean weight to log Z.

    ridge: that of lam', to which the copies have been turned.
    """
    log_weights = state.mu * state.energies - mu * ridge.energies(state.copies)
    random, offset = problem.random.uniform(state.random)
    heirs, log_mean = systematic_resampling(log_weights, offset)
    return state._replace(
        copies=ridge.take(state.copies, heirs),
        random=random,
        families=state.families[heirs],
        log_Z=state.log_Z + log_mean,
        mu=mu,
        lam=lam,
    )

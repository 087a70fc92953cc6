r"""Population annealing of the signs: R copies annealed together, resampled by their weights.

From one temperature to the next each copy is weighted by `exp(-(mu' E_{lam'}(S) - mu E_lam(S)))`; resampling in
proportion keeps the population at equilibrium, and the mean weight gives the change of `log Z`. Goes beyond
the paper with the same Metropolis kernel: R copies share the couplings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phaselect.base.errors import InputError
from phaselect.base.threads import run_parallel
from phaselect.problem.instance import Instance, Vector, is_count, signs_of
from phaselect.problem.observables import of_signs, to_floats
from phaselect.problem.schedule import Schedule
from phaselect.problem.spectrum import spectrum
from phaselect.solvers._metropolis import RandomState, next_random, population_kernel, random_state
from phaselect.solvers.base import Estimate, Start
from phaselect.solvers.batch import run_anywhere, run_batch
from phaselect.solvers.certificate import EXACT_FIT
from phaselect.solvers.finish import finish_signs, greedy, time_to_quench
from phaselect.solvers.result import Status

COPIES_A_TASK = 16
"""What a thread takes at a time: enough for an efficient matrix product, fixed so that rounding is too."""


QUENCH_SWEEPS, COLD = 10, 1e9
"""Sweeps at zero temperature that take nearly every copy into its minimum, and what stands for 1/0."""


class PopulationState(NamedTuple):
    """Signs of the copies (R x M), their coordinates (R x N), and one random stream a copy."""

    signs: NDArray[np.int8]
    c: NDArray[np.float64]
    random: RandomState
    resampling: RandomState
    families: NDArray[np.int64]  # which copy of the first population each one descends from
    log_Z: float
    proposals: int
    mu: float
    lam: float
    quenched: float


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
            raise InputError(f"PopulationAnnealing: replicas = {self.replicas!r} must be a whole number, 2 or more")

    state_type = PopulationState

    @property
    def name(self) -> str:
        """As in `phaselect solve --solver pa`."""
        return "pa"

    def default_schedule(self, problem: Instance | None) -> Schedule:
        """Matched, 8 sweeps a temperature: coarse where chains decorrelate at once, fine from mu = 2 on.

        Starts so hot that random signs are nearly at equilibrium, and ends where greedy flips can do the rest.
        """
        hot = Schedule.matched(mu0=0.1, mu_max=2.0, eps=0.2).mu[:-1]
        mu = np.concatenate([hot, Schedule.matched(mu0=2.0, mu_max=1000.0, eps=0.05).mu])
        return Schedule(mu, 1 / mu, steps=8)

    def start(
        self, problem: Instance, schedule: Schedule, rng: np.random.Generator, init: Start | None
    ) -> PopulationState:
        """Random signs: equilibrium at mu = 0, where `Z = 2^M`."""
        schedule.proposals(problem.m_rows)
        signs = signs_of(rng.standard_normal((self.replicas, problem.m_rows))).astype(np.int8)
        if init is not None:
            signs[:] = init.signs
        return PopulationState(
            signs=signs,
            c=spectrum(problem).coordinates(signs * problem.target),
            random=random_state(rng, self.replicas),
            resampling=random_state(rng),
            families=np.arange(self.replicas),
            log_Z=problem.m_rows * np.log(2) if init is None else np.nan,
            proposals=0,
            mu=0.0,
            lam=float(schedule.lam[0]),
            quenched=np.nan,
        )

    def segment(self, problem: Instance, schedule: Schedule) -> int:
        """One temperature, or as many as make a sweep."""
        return max(1, problem.m_rows // schedule.proposals(problem.m_rows))

    def advance(self, problem: Instance, state: PopulationState, schedule: Schedule) -> PopulationState:
        """Reweight and resample, then sweep, at each temperature."""
        mu_before = state.mu
        for mu, lam in schedule:
            state = resample(problem, state, mu, lam)
            state = _sweep(problem, state._replace(mu=mu, lam=lam), schedule.proposals(problem.m_rows))
        look = self.eager and time_to_quench(mu_before, state.mu)
        return state._replace(quenched=quench(problem, state)[1] if look else np.nan)

    def measure(self, problem: Instance, state: PopulationState) -> dict[str, float]:
        """Averages over the population; `best_energy` is the lowest."""
        columns = of_signs(spectrum(problem), state.signs, state.c, state.lam)
        return {
            **to_floats(columns),
            "best_energy": float(np.min(columns["energy"])),
            "free_entropy": state.log_Z / problem.n,
            "quenched": state.quenched,
            "families": len(np.unique(state.families)),
            "steps": state.proposals,
        }

    def stop(self, row: dict[str, float], final: bool, noiseless: bool) -> Status | None:
        """Greedy flips from one of the copies lead to a solution."""
        return Status.NOT_RECOVERED if noiseless and row["quenched"] < EXACT_FIT else None

    def finish(self, problem: Instance, state: PopulationState, noiseless: bool) -> Estimate:
        """The best that greedy flips from any copy reach; for noisy data the mean over all copies."""
        if noiseless:
            return finish_signs(problem, quench(problem, state)[0], state.lam, noiseless)
        spectral = spectrum(problem)
        lowest = np.asarray(state.signs[np.argmin(spectral.energy(state.c, state.lam))], dtype=np.float64)
        aligned = signs_of(state.signs @ lowest)
        x = spectral.ridge(aligned @ state.c / aligned.size, state.lam)
        return Estimate(x, signs_of(problem.measure(x)), spectral.rank)

    def program(self) -> Any:
        """Population annealing as a JAX program, for `run_batch`."""
        from phaselect.devices.programs import PopulationProgram

        return PopulationProgram(self.replicas)

    run = run_anywhere
    run_batch = run_batch


def resample(problem: Instance, state: PopulationState, mu: float, lam: float) -> PopulationState:
    """Systematic resampling with weights `exp(-(mu' E_{lam'} - mu E_lam))`; adds their log mean to log Z."""
    spectral = spectrum(problem)
    gain = mu * spectral.weights(lam) - state.mu * spectral.weights(state.lam)
    log_weights = state.c**2 @ gain - (mu - state.mu) * problem.m_rows  # E = M - sum_k w_k c_k^2
    count, highest = log_weights.size, log_weights.max()
    weights = np.exp(log_weights - highest)
    total = weights.sum()
    resampling = state.resampling.copy()
    offset = (float(next_random(resampling)) + 0.5) * 2.0**-64
    ticks = (np.arange(count) + offset) / count
    heirs = np.searchsorted(np.cumsum(weights / total), ticks).clip(max=count - 1)
    return state._replace(
        signs=state.signs[heirs],
        c=state.c[heirs],
        families=state.families[heirs],
        resampling=resampling,
        log_Z=state.log_Z + float(highest + np.log(total / count)),
    )


def quench(problem: Instance, state: PopulationState) -> tuple[Vector, float]:
    """The signs of lowest E(lam = 0) that cold sweeps of all copies, then greedy flips, lead to; and E/M.

    Each copy falls into a minimum of its own. Where impostors are many, the lowest copy is hardly ever the right one.
    """
    spectral = spectrum(problem)
    cold = _sweep(problem, state._replace(mu=COLD, lam=0.0), QUENCH_SWEEPS * problem.m_rows)
    best = int(np.argmin(spectral.energy(cold.c, 0.0)))
    signs = greedy(spectral, np.asarray(cold.signs[best], dtype=np.float64))
    return signs, float(spectral.energy(spectral.coordinates(signs * problem.target), 0.0)) / problem.m_rows


def _sweep(problem: Instance, state: PopulationState, proposals: int) -> PopulationState:
    """Metropolis on every copy at the state's own (mu, lam); copies do not interact."""
    spectral = spectrum(problem)
    G = spectral.couplings(state.lam)
    y = problem.target.astype(np.float32)
    self_energy = y**2 * np.diag(G)
    signs, c, random = np.empty_like(state.signs), np.empty_like(state.c), state.random.copy()

    def sweep(start: int) -> None:
        rows = slice(start, start + COPIES_A_TASK)
        v = state.signs[rows] * y
        population_kernel(G, self_energy, v, v @ G, state.mu, proposals, random[rows])
        signs[rows] = np.where(v < 0, -1, 1)
        np.matmul(signs[rows] * problem.target, spectral.U, out=c[rows])

    run_parallel(sweep, range(0, len(signs), COPIES_A_TASK))
    return state._replace(signs=signs, c=c, random=random, proposals=state.proposals + proposals * len(signs))

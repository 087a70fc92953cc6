r"""Population annealing of the signs: R copies annealed together, resampled by their weights.

From one temperature to the next each copy is weighted by `exp(-(mu' E_{lam'}(S) - mu E_lam(S)))`; resampling in
proportion keeps the population at equilibrium, and the mean weight gives the change of `log Z`. Goes beyond
the paper with the same Metropolis kernel: R copies share the couplings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from phaselect.errors import InputError
from phaselect.instance import Instance, signs_of
from phaselect.observables import of_signs, to_floats
from phaselect.schedule import Schedule
from phaselect.solvers._metropolis import RandomState, field_kernel, next_random, random_state
from phaselect.solvers._parallel import run_parallel
from phaselect.solvers.base import Estimate, Start, drive
from phaselect.solvers.finish import finish_signs
from phaselect.solvers.result import Status
from phaselect.solvers.simulated_annealing import FROZEN
from phaselect.spectrum import spectrum


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


@dataclass(frozen=True)
class PopulationAnnealing:
    """Population annealing, threads over the copies.

    replicas: R; success grows with it where one anneal gets stuck.
    quench_mu: beyond this mu everything is decided: the `keep` lowest copies are quenched without resampling.

    The trace holds averages over the population, `free_entropy` = log(Z)/N with `Z = sum_S exp(-mu E(S))`
    (no longer updated in the quench), `families`, the number of surviving ones, and `best_energy`.
    """

    replicas: int = 64
    quench_mu: float = 40.0
    keep: int = 8

    def __post_init__(self) -> None:
        for name, least in (("replicas", 2), ("keep", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InputError(f"PopulationAnnealing: {name} = {value!r} must be a whole number, {least} or more")
        if not self.quench_mu > 0:
            raise InputError(f"PopulationAnnealing: quench_mu = {self.quench_mu!r} must be positive")

    @property
    def name(self) -> str:
        """As in `phaselect solve --solver pa`."""
        return "pa"

    def default_schedule(self, problem: Instance) -> Schedule:
        """Matched, 4 sweeps for each 5 % of mu, from so hot that random signs are at equilibrium."""
        return Schedule.matched(mu0=0.1, mu_max=3e4, eps=0.05, steps=4)

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
        )

    def segment(self, problem: Instance, schedule: Schedule) -> int:
        """One temperature, or as many as make a sweep."""
        return max(1, problem.m_rows // schedule.proposals(problem.m_rows))

    def advance(self, problem: Instance, state: PopulationState, schedule: Schedule) -> PopulationState:
        """Reweight and resample (or cut down to the best, for the quench), then sweep; at each temperature."""
        for mu, lam in schedule:
            if mu <= self.quench_mu:
                state = resample(problem, state, mu, lam)
            elif len(state.signs) > self.keep:
                state = _keep_lowest(problem, state, self.keep)
            state = _sweep(problem, state._replace(mu=mu, lam=lam), schedule.proposals(problem.m_rows))
        return state

    def measure(self, problem: Instance, state: PopulationState) -> dict[str, float]:
        """Averages over the population; `floor` and `best_energy` are those of its best copy."""
        columns = of_signs(spectrum(problem), state.signs, state.c, state.lam)
        return {
            **to_floats(columns),
            "floor": float(np.min(columns["floor"])),
            "best_energy": float(np.min(columns["energy"])),
            "free_entropy": state.log_Z / problem.n,
            "families": len(np.unique(state.families)),
            "steps": state.proposals,
        }

    def stop(self, row: dict[str, float]) -> Status | None:
        """One copy has frozen around a solution."""
        return Status.NOT_RECOVERED if row["floor"] < FROZEN else None

    def finish(self, problem: Instance, state: PopulationState, noiseless: bool) -> Estimate:
        """The lowest copy (at lam = 0 if noiseless), finished like a single anneal."""
        energies = spectrum(problem).energy(state.c, 0.0 if noiseless else state.lam)
        signs = state.signs[int(np.argmin(energies))].astype(np.float64)
        return finish_signs(problem, signs, state.lam, noiseless)

    run = drive


def resample(problem: Instance, state: PopulationState, mu: float, lam: float) -> PopulationState:
    """Systematic resampling with weights `exp(-(mu' E_{lam'} - mu E_lam))`; adds their log mean to log Z."""
    spectral = spectrum(problem)
    log_weights = state.mu * spectral.energy(state.c, state.lam) - mu * spectral.energy(state.c, lam)
    total = logsumexp(log_weights)
    count = log_weights.size
    resampling = state.resampling.copy()
    offset = (float(next_random(resampling)) + 0.5) * 2.0**-64
    ticks = (np.arange(count) + offset) / count
    heirs = np.searchsorted(np.cumsum(np.exp(log_weights - total)), ticks).clip(max=count - 1)
    return state._replace(
        signs=state.signs[heirs],
        c=state.c[heirs],
        families=state.families[heirs],
        resampling=resampling,
        log_Z=state.log_Z + float(total) - np.log(count),
    )


def _keep_lowest(problem: Instance, state: PopulationState, keep: int) -> PopulationState:
    chosen = np.argsort(spectrum(problem).energy(state.c, state.lam), kind="stable")[:keep]
    return state._replace(
        signs=state.signs[chosen],
        c=state.c[chosen],
        random=state.random[chosen],
        families=state.families[chosen],
    )


def _sweep(problem: Instance, state: PopulationState, proposals: int) -> PopulationState:
    """Metropolis on every copy at the state's own (mu, lam); copies do not interact."""
    spectral = spectrum(problem)
    G = spectral.couplings(state.lam)
    self_energy = (problem.target**2 * np.diag(G)).astype(np.float32)
    v = (state.signs * problem.target).astype(np.float32)
    fields = v @ G
    random = state.random.copy()

    def run_copy(k: int) -> None:
        field_kernel(G, self_energy, v[k], fields[k], state.mu, proposals, random[k])

    run_parallel(run_copy, range(len(v)))
    signs = np.where(v < 0, -1, 1).astype(np.int8)
    return state._replace(
        signs=signs,
        c=spectral.coordinates(signs * problem.target),
        random=random,
        proposals=state.proposals + proposals * len(v),
    )

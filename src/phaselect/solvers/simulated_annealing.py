"""Simulated annealing of the signs (alg:SA): Metropolis single flips on `E(S)` while mu grows and lam falls.

The paper's pseudo-code rebuilds an M x M matrix at each temperature and compares unsquared residual norms, which
is not the energy of its theory; here the energy is `min_x H` (or the squared residual), and one SVD serves all
temperatures: a proposal costs O(N), a change of lam O(N).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from phaselect.base.errors import InputError
from phaselect.problem.instance import Instance, Vector, signs_of
from phaselect.problem.observables import of_signs, to_floats
from phaselect.problem.schedule import Schedule
from phaselect.problem.spectrum import ENERGIES, Spectrum, spectrum
from phaselect.solvers._metropolis import RandomState, field_kernel, random_state, spectral_kernel
from phaselect.solvers.base import Estimate, Start, drive
from phaselect.solvers.certificate import EXACT_FIT
from phaselect.solvers.finish import finish_signs, quenched
from phaselect.solvers.result import Status

FIELD_SWEEPS = 50
"""Sweeps at one lam that pay for building the couplings (about M^2 N flops in float32); see benchmarks."""


class SAState(NamedTuple):
    """Signed magnitudes `v = S*y`, their coordinates `c = U^T v`, and the random generator."""

    v: Vector
    c: Vector
    random: RandomState
    proposals: int
    accepted: int
    mu: float
    lam: float
    quenched: float
    use_fields: bool


@dataclass(frozen=True)
class SimulatedAnnealing:
    """Simulated annealing. The schedule's unit settles what T_A counts: sweeps (default) or proposals.

    energy: "penalised" (residual plus penalty, what the theory describes) or "residual".
    eager: stop as soon as greedy flips solve the problem; False to follow the anneal to its end.

    Memory: A and U; plus the couplings (M x M float32) when a lam is kept for many sweeps.
    """

    energy: str = "penalised"
    eager: bool = True

    def __post_init__(self) -> None:
        if self.energy not in ENERGIES:
            raise InputError(f"SimulatedAnnealing: energy = {self.energy!r}; use one of {', '.join(ENERGIES)}")

    state_type = SAState

    @property
    def name(self) -> str:
        """As in `phaselect solve --solver sa`."""
        return "sa"

    def default_schedule(self, problem: Instance) -> Schedule:
        """Matched, mu from 1 to 3e4 in steps of 5 %, 100 sweeps at each."""
        return Schedule.matched(eps=0.05)

    def start(self, problem: Instance, schedule: Schedule, rng: np.random.Generator, init: Start | None) -> SAState:
        """Random signs; the kernel is chosen here, once, from the sweeps the schedule spends at each lam."""
        signs = signs_of(rng.standard_normal(problem.m_rows)) if init is None else init.signs
        v = signs * problem.target
        proposals = schedule.proposals(problem.m_rows) * len(schedule) / len(np.unique(schedule.lam))
        mu, lam = schedule[0]
        return SAState(
            v=v,
            c=spectrum(problem).coordinates(v),
            random=random_state(rng),
            proposals=0,
            accepted=0,
            mu=mu,
            lam=lam,
            quenched=np.nan,
            use_fields=proposals >= FIELD_SWEEPS * problem.m_rows,
        )

    def segment(self, problem: Instance, schedule: Schedule) -> int:
        """One temperature, or as many as make a sweep."""
        return max(1, problem.m_rows // schedule.proposals(problem.m_rows))

    def advance(self, problem: Instance, state: SAState, schedule: Schedule) -> SAState:
        """Runs a segment inside one compiled loop (the couplings, where used, are built outside)."""
        spectral = spectrum(problem)
        anneal = self._anneal_fields if state.use_fields else self._anneal_spectral
        v, c, random, accepted = anneal(spectral, state, schedule)
        mu, lam = schedule[-1]
        return SAState(
            v=v,
            c=c,
            random=random,
            proposals=state.proposals + schedule.proposals(problem.m_rows) * len(schedule),
            accepted=state.accepted + accepted,
            mu=mu,
            lam=lam,
            quenched=quenched(problem, signs_of(v), state.mu, mu) if self.eager else np.nan,
            use_fields=state.use_fields,
        )

    def _anneal_spectral(
        self, spectral: Spectrum, state: SAState, schedule: Schedule
    ) -> tuple[Vector, Vector, RandomState, int]:
        v, c, random = state.v.copy(), state.c.copy(), state.random.copy()
        proposals = schedule.proposals(v.size)
        residual = self.energy == "residual"
        accepted = spectral_kernel(
            spectral.U, spectral.s2, spectral.leverage, v, c, schedule.mu, schedule.lam, proposals, residual, random
        )
        return v, c, random, accepted

    def _anneal_fields(
        self, spectral: Spectrum, state: SAState, schedule: Schedule
    ) -> tuple[Vector, Vector, RandomState, int]:
        y, random, accepted = spectral.problem.target, state.random.copy(), 0
        v = state.v.astype(np.float32)
        for mu, lam in schedule:
            G = spectral.couplings(lam, self.energy)
            self_energy = (y**2 * np.diag(G)).astype(np.float32)
            accepted += field_kernel(G, self_energy, v, G @ v, mu, schedule.proposals(v.size), random)
        exact = signs_of(v) * y
        return exact, spectral.coordinates(exact), random, accepted

    def measure(self, problem: Instance, state: SAState) -> dict[str, float]:
        """Observables of the signs and of their ridge estimate at the current lam."""
        row = of_signs(spectrum(problem), signs_of(state.v), state.c, state.lam)
        own = {"quenched": state.quenched, "accepted": state.accepted, "steps": state.proposals}
        return to_floats(row) | own

    def stop(self, row: dict[str, float], final: bool, noiseless: bool) -> Status | None:
        """Greedy flips lead to a solution."""
        return Status.NOT_RECOVERED if noiseless and row["quenched"] < EXACT_FIT else None

    def finish(self, problem: Instance, state: SAState, noiseless: bool) -> Estimate:
        """Greedy flips at lam = 0 in float64, then least squares."""
        return finish_signs(problem, signs_of(state.v), state.lam, noiseless)

    run = drive

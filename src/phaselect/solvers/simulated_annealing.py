"""Simulated annealing of the signs (alg:SA): Metropolis single flips on `E(S)` while mu grows and lam falls.

The paper's pseudo-code rebuilds an M x M matrix at each temperature and compares unsquared residual norms, which
is not the energy of its theory; here the energy is `min_x H` (or the squared residual). In memory one SVD serves all
temperatures: a proposal costs O(N), a change of lam O(N).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from phaselect.base.checks import shortened
from phaselect.base.errors import InputError
from phaselect.equations.arrays import Array, namespace
from phaselect.equations.greedy import greedy_flips
from phaselect.equations.regression import ENERGIES, sign_columns
from phaselect.equations.signs import sign_overlap
from phaselect.problem.normalised import Normalised
from phaselect.problem.schedule import Schedule, Stretch
from phaselect.solvers.finish import EXACT_FIT, settle_signs
from phaselect.solvers.protocol import Start, Work
from phaselect.solvers.run import run, run_batch
from phaselect.solvers.verdict import Ended

FIELD_SWEEPS = 50
"""Sweeps at one lam that pay for building the couplings (about M^2 N flops in float32); see benchmarks."""


class SignsDraw(NamedTuple):
    """What a run starts from: signs, one row per copy, and the seed of the chains."""

    signs: Array  # (R, M) int8
    words: Array  # (2,) uint32
    by_fields: Array


class SAState(NamedTuple):
    """One sign vector, as the backend keeps it, and the random numbers of its chain."""

    copies: Any
    random: Any
    accepted: Array
    sweeps: Array
    mu: Array
    lam: Array
    by_fields: Array


@dataclass(frozen=True)
class SimulatedAnnealing:
    """Simulated annealing. The schedule's unit settles what T_A counts: sweeps (default) or proposals.

    energy: "penalised" (residual plus penalty, what the theory describes) or "residual".
    eager: stop as soon as greedy flips solve the problem; False to follow the anneal to its end.

    Memory: A and U; plus the couplings (M x M float32) when a lam is kept for many sweeps, and in float64 for the
    greedy flips at the end.
    """

    energy: str = "penalised"
    eager: bool = True

    def __post_init__(self) -> None:
        if self.energy not in ENERGIES:
            raise InputError(f"SimulatedAnnealing: energy = {shortened(self.energy)}; use one of {', '.join(ENERGIES)}")

    name = "sa"
    state_type = SAState
    restarts = 0
    single_flips = in_batches = needs_entries = True
    takes_few = takes_phases = False

    def default_schedule(self, noise: float = 0.0) -> Schedule:
        """Matched, mu from 1 to 3e4 in steps of 5 %, 100 sweeps at each."""
        return Schedule.matched(eps=0.05) if not noise else Schedule.noisy(noise, eps=0.05)

    def draw(self, rng: np.random.Generator, m_rows: int, n: int, schedule: Schedule, attempt: int) -> SignsDraw:
        """Random signs; whether moves go by fields is settled here, once, from the sweeps spent at each lam."""
        return draw_signs(rng, 1, m_rows, _by_fields(schedule, m_rows))

    def start(self, problem: Normalised, drawn: SignsDraw, mu: Array, lam: Array, init: Start | None) -> SAState:
        """The signs drawn, or those given."""
        xp = namespace(problem.y)
        signs = xp.asarray(drawn.signs) if init is None else xp.asarray(init.signs)[None]
        return SAState(
            copies=problem.ridge.at(lam).copies(signs),
            random=problem.random.seeded(drawn.words, 1),
            accepted=xp.asarray(0),
            sweeps=xp.asarray(0.0),
            mu=xp.asarray(mu, dtype="float64"),
            lam=xp.asarray(lam, dtype="float64"),
            by_fields=xp.asarray(drawn.by_fields),
        )

    def work(self, m_rows: int, n: int, schedule: Schedule) -> Work:
        """Proposals by fields, after which the coordinates of the signs are computed anew; or by the spectrum."""
        sweeps = schedule.stretch(m_rows).sweeps
        each, look = 15 + 0.28 * n, 5.0 * n
        if _by_fields(schedule, m_rows):
            each, look = 10 + 0.05 * m_rows, 0.5 * m_rows * n
        launches = sweeps * launches_per_sweep(m_rows)
        return Work(sweeps * m_rows * each, look, greedy_work(m_rows), launches, regresses=True)

    def memory(self, m_rows: int, n: int, itemsize: int) -> int:
        """The couplings and their factors."""
        return 8 * (4 * m_rows * n + 4 * m_rows**2 + 2 * n**2)

    def advance(self, problem: Normalised, state: SAState, stretch: Stretch) -> SAState:
        """Metropolis through all temperatures of a segment."""
        copies, random, accepted = problem.ridge.anneal(
            state.copies,
            stretch.mu,
            stretch.lam,
            stretch.sweeps,
            state.random,
            energy=self.energy,
            by_fields=state.by_fields,
        )
        return state._replace(
            copies=copies,
            random=random,
            accepted=state.accepted + accepted,
            sweeps=state.sweeps + stretch.total,
            mu=stretch.mu[-1],
            lam=stretch.lam[-1],
        )

    def measure(self, problem: Normalised, state: SAState) -> dict[str, Array]:
        """Observables of the signs and of their ridge estimate at the current lam."""
        ridge = problem.ridge.at(state.lam)
        columns = columns_of_copies(problem, ridge.turn(state.copies), ridge)
        own = {"accepted": state.accepted, "sweeps": state.sweeps}
        return {name: column[0] for name, column in columns.items()} | own

    def stop(self, problem: Normalised, row: dict[str, float], final: bool, exact: bool) -> Ended | None:
        """Greedy flips lead to a solution."""
        return Ended.SETTLED if exact and self.eager and row["quenched"] < EXACT_FIT else None

    def candidate(self, problem: Normalised, state: SAState) -> tuple[Array, Array]:
        """Greedy flips at lam = 0 in float64."""
        signs = 1.0 * state.copies.signs[0]
        return greedy_flips(problem.ridge.exact_couplings(), problem.y, signs, problem.loops)

    def average(self, problem: Normalised, state: SAState) -> Array:
        """The ridge estimate of the signs."""
        return problem.ridge.at(state.lam).estimate(state.copies.signs[0] * problem.y)

    settle = staticmethod(settle_signs)
    run = run
    run_batch = run_batch


def _by_fields(schedule: Schedule, m_rows: int) -> bool:
    """Do the sweeps spent at each lam pay for its couplings?"""
    return bool(schedule.stretch(m_rows).total / len(np.unique(schedule.lam)) >= FIELD_SWEEPS)


def draw_signs(rng: np.random.Generator, copies: int, m_rows: int, by_fields: bool = True) -> SignsDraw:
    """Random signs of each copy, and the seed of their chains."""
    bits = np.unpackbits(np.frombuffer(rng.bytes(-(-copies * m_rows // 8)), dtype=np.uint8), count=copies * m_rows)
    signs = (1 - 2 * bits.astype(np.int8)).reshape(copies, m_rows)
    return SignsDraw(signs, rng.integers(2**32, size=2, dtype=np.uint32), np.bool_(by_fields))


def columns_of_copies(problem: Normalised, copies: Any, ridge: Any) -> dict[str, Array]:
    """Trace columns of each copy."""
    overlap = sign_overlap(problem.signs, copies.signs)
    return sign_columns(ridge.regressed(copies), overlap, problem.m_rows, problem.n)


def launches_per_sweep(m_rows: int) -> float:
    """On a device the accepted flips of a copy, about one in seven, wait for each other: a seventh of a launch each."""
    return m_rows / 50


def greedy_work(m_rows: int) -> float:
    """About M/4 flips from random signs, each over the fields of all."""
    return m_rows / 4 * (2.0 * m_rows + 1.5e4)

"""A lattice guided by a population: signs that its copies agree on are taken for known, and the rest is reduced.

Copies are annealed half way, to where most signs still vary and some no longer do. The latter become one unknown of the
equations; more and more of them, until what is left is within the reach of the lattice, if they are right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.interface import Vector
from phaselect.equations.sign_equations import SignEquations
from phaselect.equations.signs import signs_of
from phaselect.problem.normalised import Normalised
from phaselect.problem.schedule import Schedule, Stretch
from phaselect.solvers.finish import settle_found
from phaselect.solvers.lattice import EXACT, Lattice, LatticeState, beginning, columns_of_signs, equations_of
from phaselect.solvers.population_annealing import PopulationAnnealing, PopulationState, mean_signs
from phaselect.solvers.protocol import Start, Work
from phaselect.solvers.run import run, run_batch
from phaselect.solvers.simulated_annealing import SignsDraw
from phaselect.solvers.verdict import Ended

HALF_WAY = 20.0
"""The mu at which copies are asked."""
SHARES = (0.2, 0.25, 0.3, 0.35, 0.4)
"""Of the signs that are taken for known, in turn."""
TIE = 1e-3
"""What y, in units of its root mean square, adds to the confidence in a sign: it decides among those that all share."""


class GuidedState(NamedTuple):
    """The population; once it has been asked, the mean of each sign, and the lattice of those that are not known.

    rows, digits: of that lattice, in the place of the first of M rows. steps: of all lattices so far.
    """

    population: PopulationState
    means: Vector  # (M,)
    equations: SignEquations
    rows: Vector
    digits: float
    signs: Vector  # (2, M), as in `LatticeState`
    steps: int
    sweeps: float
    mu: float
    lam: float


@dataclass(frozen=True)
class GuidedLattice:
    """Population annealing half way, then lattice reduction with the signs known that it is sure of; for exact data.

    replicas: copies of the population. block: as in `Lattice`.
    """

    replicas: int = 1024
    block: int = 40

    def __post_init__(self) -> None:
        PopulationAnnealing(self.replicas)
        Lattice(self.block)

    name = "guided"
    state_type = GuidedState
    restarts = 0
    eager = single_flips = in_batches = takes_few = takes_phases = False
    needs_entries = True

    @property
    def population(self) -> PopulationAnnealing:
        """What guides."""
        return PopulationAnnealing(self.replicas, eager=False)

    @property
    def lattice(self) -> Lattice:
        """What is guided."""
        return Lattice(self.block)

    def default_schedule(self, noise: float = 0.0) -> Schedule:
        """Temperatures of the population, then its last one as often as there are steps of lattices."""
        if noise:
            return self.population.default_schedule(noise)
        whole = self.population.default_schedule()
        hot = whole[: int(np.searchsorted(whole.mu, HALF_WAY, side="right"))]
        hold = len(SHARES) * len(self.lattice.default_schedule())
        return Schedule(np.append(hot.mu, [hot.mu[-1]] * hold), np.append(hot.lam, [hot.lam[-1]] * hold), hot.steps)

    def draw(self, rng: np.random.Generator, m_rows: int, n: int, schedule: Schedule, attempt: int) -> SignsDraw:
        """Random signs of every copy."""
        return self.population.draw(rng, m_rows, n, schedule, attempt)

    def start(self, problem: Normalised, drawn: SignsDraw, mu: float, lam: float, init: Start | None) -> GuidedState:
        """That of the population."""
        equations = equations_of(problem, EXACT)
        return GuidedState(
            population=self.population.start(problem, drawn, mu, lam, init),
            means=np.zeros(problem.m_rows),
            equations=equations,
            rows=np.zeros((problem.m_rows, sum(equations.coefficients.shape))),
            digits=0.0,
            signs=np.zeros((2, problem.m_rows)),
            steps=0,
            sweeps=0.0,
            mu=mu,
            lam=lam,
        )

    def work(self, m_rows: int, n: int, schedule: Schedule) -> Work:
        """That of the population."""
        return self.population.work(m_rows, n, schedule)

    def memory(self, m_rows: int, n: int, itemsize: int) -> int:
        """Nothing: it does not run on a device."""
        return 0

    def advance(self, problem: Normalised, state: GuidedState, stretch: Stretch) -> GuidedState:
        """Anneals as long as temperatures change; then reduces."""
        for k, (mu, lam) in enumerate(zip(stretch.mu, stretch.lam, strict=True)):
            state = state._replace(mu=mu, lam=lam)
            if mu != state.population.mu:
                one = stretch._replace(mu=stretch.mu[k : k + 1], lam=stretch.lam[k : k + 1])
                population = self.population.advance(problem, state.population, one)
                state = state._replace(population=population, means=mean_signs(population))
            elif not state.signs.any() and state.steps < len(SHARES) * len(self.lattice.default_schedule()):
                state = self._reduced(problem, state)
            state = state._replace(sweeps=float(state.population.sweeps) + state.steps)
        return state

    def _reduced(self, problem: Normalised, state: GuidedState) -> GuidedState:
        """A step of the lattice of the signs that are not known."""
        share, step = divmod(state.steps, len(self.lattice.default_schedule()))
        guess, known = signs_of(state.means), surest(state.means, problem.y, SHARES[share])
        equations = state.equations.merged(guess, known)
        unknowns, width = len(equations.members), sum(equations.coefficients.shape)
        if step == 0:
            own = beginning(equations, np.ones(unknowns), np.arange(unknowns))
        else:
            nothing = np.zeros((2, unknowns))
            rows = state.rows[:unknowns, :width]
            own = LatticeState(rows, equations, np.ones(unknowns, dtype=bool), state.digits, nothing, step, EXACT, 0.0)
        own = self.lattice.step(own)
        rows = np.zeros_like(state.rows)
        rows[:unknowns, :width] = own.rows
        signs = np.where(known, own.signs[:, :1] * guess, 0.0)
        signs[:, ~known] = own.signs[:, 1:]
        return state._replace(rows=rows, digits=own.digits, signs=signs, steps=state.steps + 1)

    def measure(self, problem: Normalised, state: GuidedState) -> dict[str, Any]:
        """Averages over the population; once signs are found, of these."""
        row = self.population.measure(problem, state.population)
        if state.signs.any():
            row |= columns_of_signs(problem, state.signs[0], state.lam)
        share = min(state.steps // len(self.lattice.default_schedule()), len(SHARES) - 1)
        guided = {"known": SHARES[share] if state.steps else 0.0, "found": state.signs.any(), "steps": state.steps}
        return row | {name: np.asarray(value) for name, value in guided.items()} | {"sweeps": np.asarray(state.sweeps)}

    def stop(self, problem: Normalised, row: dict[str, float], final: bool, exact: bool) -> Ended | None:
        """Signs are found."""
        return Ended.SETTLED if exact and row["found"] else None

    def candidate(self, problem: Normalised, state: GuidedState) -> tuple[Vector, Vector]:
        """The signs found, or those of the lowest copy."""
        if state.signs.any():
            return state.signs, np.asarray(np.nan)
        signs, left = self.population.candidate(problem, state.population)
        return np.stack([signs, signs]), left

    settle = staticmethod(settle_found)

    def average(self, problem: Normalised, state: GuidedState) -> Vector:
        """That of the population."""
        estimate: Vector = self.population.average(problem, state.population)
        return estimate

    run = run
    run_batch = run_batch


def surest(means: Vector, y: Vector, share: float) -> NDArray[np.bool_]:
    """Which signs have the largest means, one of them at least; y in units of its root mean square."""
    order = np.argsort(-(np.abs(means) + TIE * y))
    known = np.zeros(len(y), dtype=bool)
    known[order[: max(1, round(share * len(y)))]] = True
    return known

r"""Lattice reduction: exact data are linear equations in the signs, and bits are measurements.

The signs are a short vector of a lattice (`sign_lattice.py`), that reduction finds: digits are let in, part by part,
then blocks of growing size are searched. For any matrix, from M = N + 1 on, as far as the digits of the data reach
(Song, Zadik and Bruna, NeurIPS 2021, for LLL at M = N + 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.interface import Vector
from phaselect.base.checks import is_count, shortened
from phaselect.base.errors import InputError, Unsuitable
from phaselect.equations.regression import sign_columns
from phaselect.equations.sign_equations import SignEquations
from phaselect.equations.signs import sign_overlap, signs_of
from phaselect.problem.normalised import Normalised
from phaselect.problem.schedule import Schedule, Stretch
from phaselect.solvers.finish import settle_found
from phaselect.solvers.lattice_reach import measurements_enough, tolerance
from phaselect.solvers.protocol import Start, Work
from phaselect.solvers.run import run, run_batch
from phaselect.solvers.sign_lattice import (
    BLOCKS,
    TOURS,
    all_even_or_odd,
    blocks_up_to,
    digits_of,
    equations_of_data,
    found,
    let_in,
    toured,
    with_values,
)
from phaselect.solvers.some_measurements import signs_of_all, some_measurements
from phaselect.solvers.verdict import Ended

PARTS = 16
"""Parts in which the digits of the equations are let in."""
PIECES = 8
"""Of a tour, between looks."""
EXACT = 1e37
"""The mu that stands for exact data."""
LARGEST = 500
"""Measurements beyond which a piece of a reduction takes more than seconds, and all of it hours."""
MORE = 4
"""Times as many measurements beyond the unknowns in each restart."""


class Drawn(NamedTuple):
    """The order of the measurements, and which attempt it is."""

    order: NDArray[np.int64]
    attempt: int


class LatticeState(NamedTuple):
    """The basis so far, `(z, z C)` of each row, with C to so many digits, and signs that solve the equations."""

    rows: Vector
    equations: SignEquations
    chosen: NDArray[np.bool_]  # (M,): the measurements whose signs it has
    digits: float  # binary, that have been let in, of those that an equation has
    signs: Vector  # of those, two: the first two found, the same twice if it is one, zeros if there is none
    sweeps: int
    mu: float
    lam: float

    def noting(self, exponent: float) -> LatticeState:
        """With the signs that are among its rows, whose values are times `2^exponent`."""
        signs = found(self.rows, self.equations, exponent)
        return self._replace(signs=signs) if signs.any() else self


@dataclass(frozen=True)
class Lattice:
    """Lattice reduction, for real data that are exact, or nearly: N up to a few hundred.

    block: the largest size of blocks; the more, the fewer measurements are needed, and the longer it takes.

    restarts: how often to start afresh, with more of the measurements. Of many it takes as many as it needs; the answer
    is that of all.

    The trace holds how many it took (`signs`), `digits`, `block`, and `length`, that of the shortest row over that of
    the signs.

    >>> import phaselect
    >>> problem = phaselect.gaussian_instance(n=60, alpha=63 / 60, seed=0)
    >>> phaselect.Lattice().run(problem).certified
    True
    """

    block: int = 60
    restarts: int = 2

    def __post_init__(self) -> None:
        if not is_count(self.block, 2) or self.block > BLOCKS[-1]:
            raise InputError(f"Lattice: block = {shortened(self.block)} must be a whole number, 2 to {BLOCKS[-1]}")
        if not is_count(self.restarts):
            raise InputError(f"Lattice: restarts = {shortened(self.restarts)} must be a whole number, 0 or more")

    name = "lattice"
    state_type = LatticeState
    eager = single_flips = in_batches = takes_few = takes_phases = False
    needs_entries = True

    @property
    def blocks(self) -> tuple[int, ...]:
        """Sizes of blocks, in turn."""
        return blocks_up_to(self.block)

    def default_schedule(self, noise: float = 0.0) -> Schedule:
        """It counts iterations: parts of the digits, then pieces of tours. mu = 1/(2 noise) throughout."""
        hold = PARTS + len(self.blocks) * TOURS * PIECES - 1
        if noise:
            mu = 1 / (2 * noise)
            return Schedule.fixed_product(1 / (1 - noise), mu0=mu, mu_max=mu, steps=1, unit="iterations", hold=hold)
        return Schedule.fixed_lambda(0.0, mu0=EXACT, mu_max=EXACT, steps=1, unit="iterations", hold=hold)

    def draw(self, rng: np.random.Generator, m_rows: int, n: int, schedule: Schedule, attempt: int) -> Drawn:
        """The order of the rows."""
        return Drawn(rng.permutation(m_rows), attempt)

    def start(self, problem: Normalised, drawn: Drawn, mu: float, lam: float, init: Start | None) -> LatticeState:
        """All whole numbers, even or odd; signs that are given are one of the rows."""
        chosen = some_measurements(problem, self.measurements(problem, mu, drawn.attempt))
        odd = (np.ones(problem.m_rows) if init is None else init.signs)[chosen]
        order = np.argsort(np.argsort(drawn.order)[chosen])
        return beginning(equations_of(problem, mu, chosen), odd, order)._replace(chosen=chosen, mu=mu, lam=lam)

    def measurements(self, problem: Normalised, mu: float, attempt: int) -> int:
        """How many an attempt takes; refused where the one before had them all."""
        least = measurements_enough(problem.m_rows, problem.n, precision_of(problem, mu)) - problem.n
        before, now = (problem.n + least * MORE**number for number in (attempt - 1, min(attempt, self.restarts)))
        if 0 < attempt <= self.restarts and before >= problem.m_rows:
            raise Unsuitable("a lattice of all measurements has been reduced")
        return int(min(problem.m_rows, now))

    def work(self, m_rows: int, n: int, schedule: Schedule) -> Work:
        """Rows are compared with each other, many times."""
        return Work(move=1e8, look=1e4)

    def memory(self, m_rows: int, n: int, itemsize: int) -> int:
        """Nothing: it does not run on a device."""
        return 0

    def advance(self, problem: Normalised, state: LatticeState, stretch: Stretch) -> LatticeState:
        """Lets digits in, then searches blocks."""
        for mu, lam in zip(stretch.mu, stretch.lam, strict=True):
            for _ in range(int(stretch.sweeps)):
                state = self.step(state)._replace(mu=mu, lam=lam)
        return state

    def step(self, state: LatticeState) -> LatticeState:
        """One iteration: a part of the digits is let in, or a piece of a tour is made."""
        move = self._let_in if state.sweeps < PARTS else self._search
        try:
            return move(state)._replace(sweeps=state.sweeps + 1)
        except ArithmeticError:  # more would come to nothing
            return state._replace(sweeps=PARTS + PIECES * TOURS * len(self.blocks))

    def _let_in(self, state: LatticeState) -> LatticeState:
        """A part of the digits."""
        all_of_them = digits_of(state.equations)
        end = all_of_them * (state.sweeps + 1) / PARTS
        rows = let_in(state.rows, state.equations, state.digits, end)
        return state._replace(rows=rows, digits=end).noting(end - all_of_them)

    def _search(self, state: LatticeState) -> LatticeState:
        """A piece of a tour."""
        tour, piece = divmod(state.sweeps - PARTS, PIECES)
        if tour >= TOURS * len(self.blocks):
            return state
        first, last = (len(state.rows) * part // PIECES for part in (piece, piece + 1))
        return state._replace(rows=toured(state.rows, self.blocks[tour // TOURS], first, last)).noting(0.0)

    def measure(self, problem: Normalised, state: LatticeState) -> dict[str, Any]:
        """The fit of the signs, or of what the shortest row has for signs."""
        signs = self._signs(problem, state)[0]
        shortest = (state.rows**2).sum(axis=1).min()
        return {
            **columns_of_signs(problem, signs, state.lam),
            "signs": np.asarray(state.chosen.sum()),
            "digits": np.asarray(state.digits),
            "block": np.asarray(self.block_before(state.sweeps)),
            "length": np.asarray(np.sqrt(shortest / state.chosen.sum())),
            "found": np.asarray(state.signs.any()),
            "sweeps": np.asarray(state.sweeps),
        }

    def block_before(self, sweeps: int) -> int:
        """The size of blocks in the iteration before; 2 in LLL."""
        tour = (sweeps - 1 - PARTS) // (TOURS * PIECES)
        return 2 if tour < 0 else self.blocks[min(tour, len(self.blocks) - 1)]

    def stop(self, problem: Normalised, row: dict[str, float], final: bool, exact: bool) -> Ended | None:
        """Signs are found, and LLL or a tour is over, which might have found others; or blocks exceed all rows."""
        tours, rest = divmod(int(row["sweeps"]) - PARTS, PIECES)
        last = tours >= TOURS * len(self.blocks) or row["block"] >= row["signs"] + 4
        return Ended.SETTLED if tours >= 0 and rest == 0 and (row["found"] or last) else None

    def _signs(self, problem: Normalised, state: LatticeState) -> Vector:
        signs = state.signs
        if not signs.any():
            shortest = int(np.argmin((state.rows**2).sum(axis=1)))
            signs = np.stack([signs_of(state.rows[shortest, : state.signs.shape[1]])] * 2)
        return signs_of_all(problem, state.chosen, signs)

    def candidate(self, problem: Normalised, state: LatticeState) -> tuple[Vector, Vector]:
        """The signs found, or those of the shortest row."""
        return self._signs(problem, state), np.asarray(np.nan)

    settle = staticmethod(settle_found)

    def average(self, problem: Normalised, state: LatticeState) -> Vector:
        """The ridge estimate for the signs."""
        estimate: Vector = problem.ridge.at(state.lam).estimate(self._signs(problem, state)[0] * problem.y)
        return estimate

    run = run
    run_batch = run_batch


def columns_of_signs(problem: Normalised, signs: Vector, lam: float) -> dict[str, Any]:
    """Trace columns of one sign vector."""
    regressed = problem.ridge.at(lam).regress((signs * problem.y)[None])
    columns = sign_columns(regressed, sign_overlap(problem.signs, signs[None]), problem.m_rows, problem.n)
    return {name: column[0] for name, column in columns.items()}


def precision_of(problem: Normalised, mu: float = EXACT) -> float:
    """Standard deviation of the noise on y, or of its rounding, over that of y."""
    if problem.all_digits is not None and mu >= EXACT:
        return float(problem.all_digits.noise)
    return float(max(problem.rounding, (2 * mu) ** -0.5))


def equations_of(problem: Normalised, mu: float, chosen: Any = None) -> SignEquations:
    """The equations of the signs, of these measurements or of all; refused where they cannot tell them."""
    chosen = np.ones(problem.m_rows, dtype=bool) if chosen is None else chosen
    count = int(chosen.sum())
    if count > LARGEST:
        raise Unsuitable(f"{count} measurements: reducing a lattice takes too long beyond {LARGEST}; use pa")
    if problem.all_digits is not None and mu >= EXACT:
        own = problem.all_digits.rows(None if chosen.all() else chosen)
        fits = tolerance(count, problem.n, own.noise)
        equations: SignEquations = own.equations
        return equations._replace(fits=fits)
    noise = precision_of(problem, mu)
    fits = tolerance(count, problem.n, noise)
    return equations_of_data(problem, noise, chosen)._replace(fits=fits)


def beginning(equations: SignEquations, odd: Vector, order: Any) -> LatticeState:
    """All whole numbers, even or odd, in this order; `odd`: signs that are one of the rows."""
    numbers = all_even_or_odd(odd)[order] * np.sqrt(equations.members)
    rows, nothing = with_values(numbers, equations, 0.0), np.zeros((2, len(odd)))
    return LatticeState(rows, equations, np.ones(len(odd), dtype=bool), 0.0, nothing, 0, EXACT, 0.0).noting(0.0)

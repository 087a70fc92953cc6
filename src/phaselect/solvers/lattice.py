r"""Lattice reduction: exact data are linear equations in the signs, and bits are measurements.

The signs are a short vector of a lattice (`sign_lattice.py`), that reduction finds: digits are let in, part by part,
then blocks of growing size are searched. For any matrix, from M = N + 1 on, as far as the digits of the data reach
(Song, Zadik and Bruna, NeurIPS 2021, for LLL at M = N + 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, log2
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

from phaselect.backends.interface import Vector
from phaselect.base.checks import is_count, shortened
from phaselect.base.errors import InputError, Unsuitable
from phaselect.equations.regression import sign_columns
from phaselect.equations.sign_equations import FITS, SignEquations
from phaselect.equations.signs import sign_overlap, signs_of
from phaselect.problem.normalised import Normalised
from phaselect.problem.schedule import Schedule, Stretch
from phaselect.solvers.certificate.impostors import log10_impostors_at
from phaselect.solvers.finish import settle_found
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
from phaselect.solvers.verdict import Ended

PARTS = 16
"""Parts in which the digits of the equations are let in."""
PIECES = 8
"""Of a tour, between looks."""
EXACT = 1e37
"""The mu that stands for exact data."""
LARGEST = 500
"""Measurements beyond which a piece of a reduction takes more than seconds, and all of it hours."""
FALL = 0.0215
"""Half of the binary digits that orthogonal parts lose from one to the next after blocks of 30 to 40 rows: measured."""
LEAST = -700.0
"""Logarithm of a noise below all others."""
TOLD_APART = -2.0
"""Base-10 logarithm of the number of wrong signs expected to fit, from which on the right ones cannot be told."""
SURELY = 4.0
"""Standard deviations that noise does not exceed."""


class LatticeState(NamedTuple):
    """The basis so far, `(z, z C)` of each row, with C to so many digits, and signs that solve the equations."""

    rows: Vector
    equations: SignEquations
    digits: float  # binary, that have been let in, of those that an equation has
    signs: Vector  # (2, M): the first two found, the same twice if it is one, zeros if there is none
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

    The trace holds `digits`, `block`, and `length`, that of the shortest row over that of the signs.

    >>> import phaselect
    >>> problem = phaselect.gaussian_instance(n=60, alpha=63 / 60, seed=0)
    >>> phaselect.Lattice().run(problem).certified
    True
    """

    block: int = 60

    def __post_init__(self) -> None:
        if not is_count(self.block, 2) or self.block > BLOCKS[-1]:
            raise InputError(f"Lattice: block = {shortened(self.block)} must be a whole number, 2 to {BLOCKS[-1]}")

    name = "lattice"
    state_type = LatticeState
    restarts = 0
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

    def draw(self, rng: np.random.Generator, m_rows: int, n: int, schedule: Schedule, attempt: int) -> Any:
        """The order of the rows."""
        return rng.permutation(m_rows)

    def start(self, problem: Normalised, drawn: Any, mu: float, lam: float, init: Start | None) -> LatticeState:
        """All whole numbers, even or odd; signs that are given are one of the rows."""
        odd = np.ones(problem.m_rows) if init is None else init.signs
        return beginning(equations_of(problem, mu), odd, drawn)._replace(mu=mu, lam=lam)

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
        signs = self._signs(state)[0]
        shortest = (state.rows**2).sum(axis=1).min()
        return {
            **columns_of_signs(problem, signs, state.lam),
            "digits": np.asarray(state.digits),
            "block": np.asarray(self.block_before(state.sweeps)),
            "length": np.asarray(np.sqrt(shortest / problem.m_rows)),
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
        last = tours >= TOURS * len(self.blocks) or row["block"] >= problem.m_rows + 4
        return Ended.SETTLED if tours >= 0 and rest == 0 and (row["found"] or last) else None

    def _signs(self, state: LatticeState) -> Vector:
        if state.signs.any():
            return state.signs
        shortest = int(np.argmin((state.rows**2).sum(axis=1)))
        return np.stack([signs_of(state.rows[shortest, : state.signs.shape[1]])] * 2)

    def candidate(self, problem: Normalised, state: LatticeState) -> tuple[Vector, Vector]:
        """The signs found, or those of the shortest row."""
        return self._signs(state), np.asarray(np.nan)

    settle = staticmethod(settle_found)

    def average(self, problem: Normalised, state: LatticeState) -> Vector:
        """The ridge estimate for the signs."""
        estimate: Vector = problem.ridge.at(state.lam).estimate(self._signs(state)[0] * problem.y)
        return estimate

    run = run
    run_batch = run_batch


def columns_of_signs(problem: Normalised, signs: Vector, lam: float) -> dict[str, Any]:
    """Trace columns of one sign vector."""
    regressed = problem.ridge.at(lam).regress((signs * problem.y)[None])
    columns = sign_columns(regressed, sign_overlap(problem.signs, signs[None]), problem.m_rows, problem.n)
    return {name: column[0] for name, column in columns.items()}


def equations_of(problem: Normalised, mu: float) -> SignEquations:
    """The equations of the signs; refused where they cannot tell them."""
    if problem.m_rows > LARGEST:
        raise InputError(f"{problem.m_rows} measurements: reducing a lattice takes too long beyond {LARGEST}; use pa")
    if problem.all_digits is not None and mu >= EXACT:
        fits = tolerance(problem.m_rows, problem.n, problem.all_digits.noise)
        equations: SignEquations = problem.all_digits.equations
        return equations._replace(fits=fits)
    noise = max(float(problem.rounding), (2 * mu) ** -0.5)
    fits = tolerance(problem.m_rows, problem.n, noise)
    return equations_of_data(problem, noise)._replace(fits=fits)


def tolerance(m_rows: int, n: int, noise: float) -> float:
    """The value up to which signs are taken for those that solve an equation, in units of its noise.

    noise: standard deviation over that of y. Refused where wrong signs fit as well as the right ones.
    """
    enough = noise_allowed(m_rows, n)
    if noise > enough:
        raise Unsuitable(
            f"y is known to {noise:.1g} of its size, and too many wrong signs fit as well as the right ones: a lattice "
            f"needs noise={0.9 * enough**2:.1e}*mean(y**2), more digits (Instance.exact) or more measurements"
        )
    return min(FITS, SURELY * enough / noise)


def noise_allowed(m_rows: int, n: int) -> float:
    """Standard deviation of noise, over that of y, up to which wrong signs do not fit as well as the right ones."""

    def impostors(log_noise: float) -> float:
        return log10_impostors_at(2 * log_noise + log((m_rows - n) / m_rows), m_rows, n) - TOLD_APART

    return exp(brentq(impostors, LEAST, 0.0))


def beginning(equations: SignEquations, odd: Vector, order: Any) -> LatticeState:
    """All whole numbers, even or odd, in this order; `odd`: signs that are one of the rows."""
    numbers = all_even_or_odd(odd)[order] * np.sqrt(equations.members)
    rows, nothing = with_values(numbers, equations, 0.0), np.zeros((2, len(odd)))
    return LatticeState(rows, equations, 0.0, nothing, 0, EXACT, 0.0).noting(0.0)


def within_reach(signs: int, equations: int, precision: float, block: int) -> bool:
    """Are blocks of this size expected to find so many signs, from equations of this relative precision?

    A block finds them once what they have in it, a number of unit size per row, is shorter than its first orthogonal
    part. Those fall off exponentially from row to row, around the volume of the lattice: a binary digit for each row,
    since numbers are even or odd, and those of all equations.
    """
    digits = 1 - (log2(precision) * equations + 1) / signs
    size = min(block, signs / 2)
    return digits >= log2(size) / 2 + FALL * (signs - 2 * size)

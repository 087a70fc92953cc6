r"""Lattice reduction: exact data are linear equations in the signs, and bits are measurements.

Whole numbers z, all even or all odd, with their values in the equations, `(z, z C)`, are a lattice, in which the signs
are a short vector: their values vanish. Binary digits of the equations are let in a few at a time, with LLL after each;
then blocks of growing size are searched for short vectors. For any matrix, from M = N + 1 on, as far as the digits of
the data reach (Song, Zadik and Bruna, NeurIPS 2021, for LLL at M = N + 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

from phaselect.backends.host.basis_reduction import Basis
from phaselect.backends.interface import Vector
from phaselect.base.checks import is_count, shortened
from phaselect.base.errors import InputError
from phaselect.equations.regression import sign_columns
from phaselect.equations.sign_equations import SignEquations, sign_equations
from phaselect.equations.signs import sign_overlap, signs_of
from phaselect.problem.normalised import Normalised
from phaselect.problem.schedule import Schedule, Stretch
from phaselect.solvers.certificate.impostors import log10_impostors
from phaselect.solvers.finish import settle_found
from phaselect.solvers.protocol import Start, Work
from phaselect.solvers.run import run, run_batch
from phaselect.solvers.verdict import Ended

PARTS = 16
"""Parts in which the digits of the equations are let in."""
MOST_DIGITS = 8
"""Binary digits let in at a time."""
BLOCKS = (10, 20, *range(24, 101, 4))
"""Sizes of blocks, in turn."""
TOURS, PIECES = 2, 8
"""Tours over all rows with blocks of one size, and pieces of a tour between looks."""
LOOKED_AT = 5_000_000
"""Combinations that the search of a block looks at, at most."""
FITS = 64.0
"""Value in an equation, in units of its noise, up to which signs may be the right ones: data decide that later."""
EXACT = 1e40
"""The mu that stands for exact data."""
LARGEST = 800
"""Measurements beyond which reduction would take days."""
LEAST = -1000.0
"""Base-2 logarithm of a noise below all others."""
TOLD_APART = -1.0
"""Base-10 logarithm of the number of wrong signs expected to fit, from which on the right ones cannot be told."""


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
        return tuple(size for size in BLOCKS if size <= self.block)

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
        return move(state)._replace(sweeps=state.sweeps + 1)

    def _let_in(self, state: LatticeState) -> LatticeState:
        """A part of the digits, a few at a time, with LLL after each."""
        digits, rows = state.digits, state.rows
        all_of_them = digits_of(state.equations)
        end = all_of_them * (state.sweeps + 1) / PARTS
        while digits < end:
            digits = min(end, digits + MOST_DIGITS)
            basis = Basis(with_values(rows, state.equations, digits - all_of_them))
            basis.reduce()
            rows = basis.rows
        return state._replace(rows=rows, digits=digits).noting(digits - all_of_them)

    def _search(self, state: LatticeState) -> LatticeState:
        """A piece of a tour."""
        tour, piece = divmod(state.sweeps - PARTS, PIECES)
        if tour >= TOURS * len(self.blocks):
            return state
        rows, block = state.rows.copy(), self.blocks[tour // TOURS]
        basis = Basis(rows)
        first, last = (len(rows) * part // PIECES for part in (piece, piece + 1))
        for place in range(first, last):
            basis.improve(place, block, LOOKED_AT)
        basis.reduce()
        return state._replace(rows=rows).noting(0.0)

    def measure(self, problem: Normalised, state: LatticeState) -> dict[str, Any]:
        """The fit of the signs, or of what the shortest row has for signs."""
        signs = self._signs(state)[0]
        columns = sign_columns(
            problem.ridge.at(state.lam).regress((signs * problem.y)[None]),
            sign_overlap(problem.signs, signs[None]),
            problem.m_rows,
            problem.n,
        )
        shortest = (state.rows**2).sum(axis=1).min()
        return {
            **{name: column[0] for name, column in columns.items()},
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
        """Signs are found, and the tour is over, which might have found others; or there is no larger block."""
        tours, rest = divmod(int(row["sweeps"]) - PARTS, PIECES)
        last = tours >= TOURS * len(self.blocks) or row["block"] >= problem.m_rows + BLOCKS[-1] - BLOCKS[-2]
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


def noise_of(problem: Normalised, mu: float) -> float:
    """Variance of the noise on y, in normalised units: that of rounding at least."""
    return float(max(problem.rounding**2, 1 / (2 * mu)))


def equations_of(problem: Normalised, mu: float) -> SignEquations:
    """The equations of the signs; refused where they cannot tell them."""
    if problem.m_rows > LARGEST:
        raise InputError(f"{problem.m_rows} measurements: reducing a lattice takes too long beyond {LARGEST}; use pa")
    noise = noise_of(problem, mu)
    check_noise(problem.m_rows, problem.n, noise)
    scale = np.broadcast_to(problem.scale, problem.y.shape)
    A = np.asarray(problem.matrix.entries(), dtype=np.float64)
    return sign_equations(A, problem.y / scale, np.sqrt(noise) / scale)


def check_noise(m_rows: int, n: int, noise: float) -> None:
    """Are there few enough wrong signs that fit as well as the right ones?"""

    def impostors(exponent: float) -> float:
        return log10_impostors(2.0**exponent * (m_rows - n) / m_rows, m_rows, n, floor=0.0) - TOLD_APART

    if impostors(log2(noise)) < 0:
        return
    enough = brentq(impostors, LEAST, log2(noise), xtol=1e-3)
    raise InputError(
        f"noise = {noise:.2g} of mean(y^2): so many wrong signs fit as well that the right ones cannot be told; "
        f"a lattice needs noise below {2.0**enough:.2g} of mean(y^2), or more measurements"
    )


def beginning(equations: SignEquations, odd: Vector, order: Any) -> LatticeState:
    """All whole numbers, even or odd, in this order; `odd`: signs that are one of the rows."""
    numbers = all_even_or_odd(odd)[order] * np.sqrt(equations.members)
    rows, nothing = with_values(numbers, equations, 0.0), np.zeros((2, len(odd)))
    return LatticeState(rows, equations, 0.0, nothing, 0, EXACT, 0.0).noting(0.0)


def digits_of(equations: SignEquations) -> int:
    """Binary digits before the point of the largest coefficient: what is behind it is noise."""
    return ceil(log2(float(np.abs(equations.floats).max())))


def all_even_or_odd(odd: Vector) -> Vector:
    """A basis of the lattice of whole numbers that are all even or all odd; `odd`: signs, which are a row of it."""
    rows = 2.0 * np.eye(len(odd))
    rows[-1] = odd
    return rows


def with_values(rows: Vector, equations: SignEquations, exponent: float) -> Vector:
    """Rows with their values in the equations, those times `2^exponent`."""
    unknowns = len(equations.members)
    weights = np.sqrt(equations.members)
    numbers = np.rint(rows[:, :unknowns] / weights)
    return np.hstack([numbers * weights, equations.values(numbers) * 2.0**exponent])


def found(rows: Vector, equations: SignEquations, exponent: float) -> Vector:
    """The first two sign vectors among the rows that solve the equations; the same twice, or zeros."""
    unknowns = len(equations.members)
    numbers = np.rint(rows[:, :unknowns] / np.sqrt(equations.members))
    good = (np.abs(numbers) == 1).all(axis=1) & (np.abs(rows[:, unknowns:]) <= FITS * 2.0**exponent).all(axis=1)
    signs = numbers[good]
    return np.zeros((2, unknowns)) if len(signs) == 0 else signs[[0, min(1, len(signs) - 1)]]

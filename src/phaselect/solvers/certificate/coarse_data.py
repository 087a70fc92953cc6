r"""Data that are coarser than their digits: how many wrong sign vectors fit whole numbers, or what comes of them?

Of random numbers each digit counts, and `impostors.py` counts them. Where sums of signed y can only be multiples of
something, as those of whole numbers on a matrix of small ones, the lattice of the sign equations has more vectors of
no value than its digits allow: what it reduces to tells how many. With V the volume of their lattice over all whole
numbers, a random sign vector is among them with probability `(2 pi)^(-k/2) / V`, k the number of equations.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from phaselect.backends.host.basis_reduction import Basis
from phaselect.base.errors import InputError
from phaselect.equations.sign_equations import SignEquations
from phaselect.problem.normalised import Normalised
from phaselect.solvers.sign_lattice import all_even_or_odd, digits_of, equations_of_data, let_in

SPARE = 8
"""Measurements beyond the unknowns, at least, with which the count begins; twice as many each time."""


def log10_coincidences(problem: Normalised, enough: float = -np.inf) -> float:
    """Base-10 logarithm of the number of wrong sign vectors expected to fit, as the lattice tells; nan if it cannot.

    Signs of measurements that determine x determine all others: the number is at most that for some of them, and a
    lattice of few is quickly reduced. enough: where so few fit those, the others are not asked.
    """
    found = np.nan
    try:
        for kept in _more_and_more(problem):
            found = _log10_of(_equations(problem, kept))
            if found < enough:
                break
    except InputError:  # float64 cannot invert A
        return np.nan
    except ArithmeticError:  # nor reduce this: nothing speaks for random numbers
        return np.inf
    return found


def _more_and_more(problem: Normalised) -> Iterator[NDArray[np.int64]]:
    """Measurements, those that determine x first; in the end all."""
    A, _ = problem.dense()
    m_rows, n = A.shape
    order = qr(A.T, mode="r", pivoting=True)[-1]
    more = max(SPARE, n // SPARE)
    while more < m_rows - n:
        yield order[: n + more]
        more *= 2
    yield np.arange(m_rows)


def _equations(problem: Normalised, kept: NDArray[np.int64]) -> SignEquations:
    if problem.all_digits is not None:
        own: SignEquations = problem.all_digits.rows(kept).equations
        return own
    return equations_of_data(problem, float(problem.rounding), kept)


def _log10_of(equations: SignEquations) -> float:
    signs, count = equations.coefficients.shape
    if not equations.coefficients.any():
        return np.inf
    basis = Basis(let_in(all_even_or_odd(np.ones(signs)), equations, 0.0, digits_of(equations)))
    basis.reduce()
    without_value = float(np.log2(basis.lengths[: signs - count]).sum())
    volume = without_value - (signs - count - 1)  # over all whole numbers, not those that are all even or all odd
    return float((signs - 1 - count / 2 * np.log2(2 * np.pi) - volume) * np.log10(2))

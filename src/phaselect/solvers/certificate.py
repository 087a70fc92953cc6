"""Is an answer the only one? See docs/conventions.md for the reasoning."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phaselect.problem.instance import Instance, Vector
from phaselect.problem.matrix import restricted
from phaselect.problem.observables import log10_impostors
from phaselect.problem.spectrum import has_spectrum, spectrum
from phaselect.solvers.least_squares import least_squares

CERTIFIED_BELOW = -6.0
"""An answer is certified when fewer than 10^-6 impostors are expected to fit as well."""

EXACT_FIT = 1e-12
"""mse_y below which an answer fits noiseless data; rounding leaves about 1e-30, a wrong sign far more."""

NEGLIGIBLE = 1e-8
"""What counts as zero: entries of x and y over their root mean square."""

WEAK = 1e-5
"""What counts as no tie: an influence of one measurement on another times sqrt(M), the relative residual of other
signs. Rounding A to float32 makes up ties of about 1e-7 at M/N = 1.6, more closer to 1, between groups that have none.
"""

ENUMERABLE = 16
"""Up to so many measurements the impostors are counted one by one."""


class Evidence(NamedTuple):
    """What an answer is judged by.

    missed: is a single measurement, where y exceeds the residual, not met to a percent? That tells the truth from its
    neighbours, which the count of impostors does not: one wrong sign at a small y leaves a small residual, but most
    of it right there.
    determined: do the data fix x, given that it fits them? A question, as the answer takes time.
    """

    mse_y: float
    missed: bool
    determined: Callable[[], bool]


def evidence(problem: Instance, x: Vector, signs: Vector, rank: int) -> Evidence:
    """The evidence for an answer, from A and y."""
    residual = signs * problem.y - problem.measure(x)
    fit = float(np.mean((residual / problem.y_scale) ** 2))
    missed = np.any((np.abs(residual) > 0.01 * problem.y) & (problem.target > np.sqrt(fit)))
    return Evidence(fit, bool(missed), lambda: determined(problem, x, signs, rank))


def certified(seen: Evidence, m_rows: int, rank: int) -> bool:
    """Yes when the fit is exact, no impostor is expected to fit as well, and A determines x with its relative signs."""
    if seen.mse_y > EXACT_FIT or log10_impostors(seen.mse_y, m_rows, rank) > CERTIFIED_BELOW:
        return False
    return not seen.missed and seen.determined()


def determined(problem: Instance, x: Vector, signs: Vector, rank: int) -> bool:
    """Do the data fix x, given that it fits them exactly?

    A must have full rank. Measurements influence each other through `K = A (A^T A)^{-1} A^T`: where they fall into
    groups that do not, each group has a global sign of its own. For few measurements all sign vectors are tried.
    """
    if rank < problem.n:
        return False
    if problem.m_rows <= ENUMERABLE:
        return _only_solution(problem, signs)
    active, support = touched(problem.target, x)
    if not (support.all() and active.all()):
        if problem.matrix.has_entries:
            return one_group(_projector(problem.matrix.entries()[active][:, support]), int(active.sum()))
        part = restricted(problem.matrix, active, support)
        whole = part.shape[0] > part.shape[1]
        return whole and _hang_together(Instance((part.forward, part.adjoint), problem.y[active]))
    return _hang_together(problem)


def touched(y: Vector, x: Vector) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Measurements and unknowns that are not zero: the others tie nothing together."""
    return y > NEGLIGIBLE, np.abs(x) > NEGLIGIBLE * np.sqrt(np.mean(x**2))


def _hang_together(problem: Instance) -> bool:
    """Do all measurements hang together?"""
    return one_group(_influence(problem), problem.m_rows)


def _only_solution(problem: Instance, signs: Vector) -> bool:
    """Does every other sign vector leave a residual? Signs at y ~ 0 do not count."""
    v = signs * problem.target
    free = np.flatnonzero(problem.target > NEGLIGIBLE)[1:]  # the first fixes the global sign
    flips = 1 - 2 * ((np.arange(2**free.size)[:, None] >> np.arange(free.size)) & 1)
    V = np.tile(v, (len(flips), 1))
    V[:, free] *= flips
    U = spectrum(problem).U
    residual = np.mean((V - (V @ U) @ U.T) ** 2, axis=1)
    return int(np.sum(residual < WEAK**2)) == 1


def one_group(influence: Callable[[int], Vector], size: int) -> bool:
    """Is every measurement reached from the first, going from each to those it influences?"""
    reached = np.zeros(size, dtype=bool)
    reached[0] = True
    waiting = [0]
    while waiting and not reached.all():
        tied = np.abs(influence(waiting.pop())) > WEAK / np.sqrt(size)
        waiting.extend(np.flatnonzero(tied & ~reached).tolist())
        reached |= tied
    return bool(reached.all())


def _influence(problem: Instance) -> Callable[[int], Vector]:
    """Columns of K: from the SVD if there is one, else by conjugate gradients, as one column mostly settles it."""
    calls = count()

    def column(i: int) -> Vector:
        if has_spectrum(problem) or (problem.matrix.has_entries and next(calls) >= 3):
            U = spectrum(problem).U
            return np.asarray(U @ U[i])
        unit = np.zeros(problem.m_rows)
        unit[i] = 1.0
        return problem.forward(least_squares(problem, unit, np.zeros(problem.n), precision=1e-9))

    return column


def _projector(A: NDArray[Any]) -> Callable[[int], Vector]:
    """Columns of the projector on the range of A."""
    U, s, _ = np.linalg.svd(A.astype(np.float64, copy=False), full_matrices=False)
    U = U[:, s > s[0] * max(A.shape) * np.finfo(np.float64).eps]
    return lambda i: np.asarray(U @ U[i])

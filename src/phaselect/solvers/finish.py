"""From where a solver stopped to its answer: greedy flips at lam = 0, then least squares to full precision."""

from __future__ import annotations

import numpy as np

from phaselect.problem.instance import Instance, Vector, signs_of
from phaselect.problem.spectrum import Spectrum, spectrum
from phaselect.solvers.base import Estimate
from phaselect.solvers.least_squares import least_squares, looks_full_rank

WORTH_REFINING = 1e-3
"""mse_y above which the signs are wrong anyway, and least squares would polish a failure."""


def finish_signs(problem: Instance, signs: Vector, lam: float, noiseless: bool) -> Estimate:
    """The answer of a solver that ends with signs: greedy flips and least squares, or ridge if noisy."""
    spectral = spectrum(problem)
    if not noiseless:
        x = spectral.ridge(spectral.coordinates(signs * problem.target), lam)
        return Estimate(x, signs, spectral.rank)
    signs = greedy(spectral, signs)
    v = signs * problem.target
    x = np.zeros(problem.n)
    for _ in range(3):  # iterative refinement: the SVD's own error is removed by the later rounds
        x = x + spectral.ridge(spectral.coordinates(v - problem.forward(x)), 0.0)
    return Estimate(x, signs, spectral.rank)


def finish_x(problem: Instance, x: Vector, noiseless: bool) -> Estimate:
    """The answer of a solver that ends with an estimate of x and has no SVD; O(M + N) memory."""
    z = problem.forward(x)
    signs = signs_of(z)
    if not noiseless or not np.mean((problem.target - np.abs(z)) ** 2) < WORTH_REFINING:
        return Estimate(x, signs, problem.n)
    if problem.matrix.on_device:
        from phaselect.devices.finish import finish_on_device

        return finish_on_device(problem, x)
    full_rank = looks_full_rank(problem)
    if not full_rank and problem.matrix.has_entries:
        return finish_signs(problem, signs, 0.0, noiseless)
    refined = least_squares(problem, signs * problem.target, x)
    return Estimate(*_repair(problem, refined, signs), problem.n - (not full_rank))


def _repair(problem: Instance, x: Vector, signs: Vector) -> tuple[Vector, Vector]:
    """Greedy flips without an SVD, for the few signs at tiny y that were still open: G_ii taken at its mean N/M."""
    for _ in range(20):
        v = signs * problem.target
        residual = v - problem.forward(x)
        change = 4 * v * (v * (1 - problem.n / problem.m_rows) - residual)
        best = int(np.argmin(change))
        if change[best] > -1e-20:  # rounding leaves 1e-30
            break
        signs = signs.copy()
        signs[best] = -signs[best]
        x = least_squares(problem, signs * problem.target, x)
    return x, signs


def quenched(problem: Instance, signs: Vector, mu_before: float, mu: float) -> float:
    """E(lam = 0)/M that greedy flips reach from here: shows a solution long before the anneal has frozen.

    nan where it is not yet time to look again.
    """
    if not time_to_quench(mu_before, mu):
        return np.nan
    spectral = spectrum(problem)
    return float(spectral.energy(spectral.coordinates(greedy(spectral, signs) * problem.target), 0.0)) / problem.m_rows


def time_to_quench(mu_before: float, mu: float) -> bool:
    """From mu = 2 on, each time mu has grown by a quarter."""
    before, after = (np.floor(np.log(max(value, 1e-300)) / np.log(1.25)) for value in (mu_before, mu))
    return bool(mu >= 2 and before != after)


def greedy(spectral: Spectrum, signs: Vector) -> Vector:
    """Flip the sign that lowers E(lam = 0) most, until none does; float64."""
    signs = signs.copy()
    y = spectral.problem.target
    c = spectral.coordinates(signs * y)
    for _ in range(10 * signs.size):
        v = signs * y
        change = 4 * v * (spectral.U @ c - v * spectral.leverage)
        best = int(np.argmin(change))
        if change[best] > -1e-13:
            break
        c -= 2 * v[best] * spectral.U[best]
        signs[best] = -signs[best]
    return signs

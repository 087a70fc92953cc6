"""What infinitely slow anneals reach: thresholds in alpha, and temperatures along the uninformed branch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from phaselect.base.errors import InputError, TheoryError
from phaselect.equations.priors import Prior, as_prior
from phaselect.problem.schedule import Schedule
from phaselect.theory.bayes import recovery_threshold
from phaselect.theory.branch import points_along, states_along
from phaselect.theory.control import (
    MU_MAX,
    Control,
    check_lam,
    check_positive,
    check_recoverable,
    check_tolerance,
    number,
)
from phaselect.theory.saddle import Point, require_converged, saddle_point
from phaselect.theory.signal_priors import recovers_with_prior
from phaselect.theory.spectra import MarchenkoPastur, Spectrum, SpectrumLike, as_spectrum, degrees_of_freedom
from phaselect.theory.vector_anneal import slow_anneal_recovers
from phaselect.theory.vector_nodes import Ensemble

MU_RANGE = (0.05, MU_MAX)
"""Temperatures searched for transitions."""

RECOVERED, HIGH = 0.99, 0.9
"""Overlaps that count as having found the signal: at fixed product, and at fixed lam, which biases m away from 1."""

REAL_SIGNAL = "real signal"
"""The field of a real x behind a complex A."""


def critical_alpha(
    product: float = 1.0,
    *,
    spectrum: SpectrumLike = "gaussian",
    field: str = "real",
    prior: Prior | str = "gaussian",
    tolerance: float = 1e-5,
) -> float:
    """Smallest alpha at which an infinitely slow anneal at fixed `mu*lam = product` ends at the signal.

    spectrum: of A: "gaussian", "orthogonal" (columns), or the squared singular values of a matrix, in any units: the
    eigenvalues of `A^T A/alpha` are kept while alpha varies. field: "real" or "complex", of A and x, or "real signal"
    for a real x behind a complex A, whose spectrum is that of `Re A^H A`. prior: of x, as in
    `evolution_with_prior`; one that is not Gaussian takes the place of the product, and is real.
    The uninformed branch is followed from mu = 0.5; bisection in alpha. At the matched product, 1, this is the
    threshold of Bayes-optimal message passing. Infinite where no anneal up to alpha = 1000 does.

    >>> f"{critical_alpha():.4f} {critical_alpha(spectrum='orthogonal'):.4f}"
    '1.1285 1.5839'
    >>> f"{critical_alpha(field='complex'):.4f} {critical_alpha(spectrum='orthogonal', field='complex'):.4f}"
    '2.0267 2.2640'
    >>> f"{critical_alpha(field='real signal'):.4f} {critical_alpha(spectrum='orthogonal', field='real signal'):.4f}"
    '1.0134 1.1320'
    """
    if field == REAL_SIGNAL:
        # real and imaginary parts, one below the other, are 2M rows: the equations are those of a complex x at 2 M/N
        return critical_alpha(product, spectrum=spectrum, field="complex", prior=prior, tolerance=tolerance) / 2
    check_positive("product", product)
    check_tolerance(tolerance)
    law, degrees, known = as_spectrum(spectrum), degrees_of_freedom(field), as_prior(prior)
    if not known.gaussian:
        if degrees > 1 or product != 1:
            raise InputError("a prior that is not Gaussian goes with a real field and with product 1")
        recovers = partial(recovers_with_prior, known, law)
    elif degrees == 1 and isinstance(law, MarchenkoPastur):
        recovers = partial(_saddle_points_recover, float(product))
    elif product == 1:
        return recovery_threshold(law, degrees)
    else:
        recovers = partial(_messages_recover, float(product), law, degrees)
    few = not known.gaussian and isinstance(law, MarchenkoPastur)  # other spectra have no fewer rows than columns
    low, high = (0.0, 1.0) if few else (1.0 + tolerance, 2.0)
    while not recovers(high):
        low, high = high, 2 * high
        if high > 1e3:
            return math.inf
    return _bisect(recovers, low, high, tolerance)


def _saddle_points_recover(product: float, alpha: float) -> bool:
    """Independent real entries: the anneal of the replica theory."""
    controls = (Control(alpha, mu, product / mu) for mu in np.geomspace(0.5, 3e4, 32))
    return _reaches(controls, RECOVERED)  # m only grows from there


def _messages_recover(product: float, spectrum: Spectrum, degrees: int, alpha: float) -> bool:
    """Any matrix: the anneal of vector message passing."""
    return slow_anneal_recovers(product, Ensemble(alpha, spectrum, degrees))


def alpha_recovery(lam: float = 0.0, *, tolerance: float = 1e-4) -> float:
    """alpha above which an infinitely slow anneal at fixed lam reaches m > 0.9 at some temperature.

    Infinite where lam biases the estimate so much that none does up to alpha = 8.
    """
    check_lam(lam)
    check_tolerance(tolerance)

    def recovers(alpha: float) -> bool:
        return _reaches((Control(alpha, mu, lam) for mu, _ in _anneal(lam)), HIGH)

    high = next((alpha for alpha in (2.0, 4.0, 8.0) if recovers(alpha)), math.inf)
    return _bisect(recovers, 1.0 + tolerance, high, tolerance) if math.isfinite(high) else math.inf


def mu_at_overlap(alpha: float, lam: float = 0.0, *, m: float = 0.1) -> float:
    """mu at which an anneal at fixed lam reaches overlap m, on the uninformed branch; infinite where it never does."""
    if not 0 < number("m", m) < 1:
        raise InputError(f"m = {m:g} must lie between 0 and 1")
    return _crossing(alpha, lam, lambda point: point.m - m)


def entropy_crisis(alpha: float, lam: float = 0.0) -> float:
    """mu at which the complexity of the uninformed branch vanishes; infinite where it stays positive.

    Beyond, replica symmetry counts less than one sign vector: it must be broken there at the latest.
    """
    return _crossing(alpha, lam, lambda point: -point.complexity)


def local_instability(alpha: float, lam: float = 0.0) -> float:
    """mu at which the replicon of the uninformed branch first exceeds 1; infinite where it never does."""
    return _crossing(alpha, lam, lambda point: point.replicon - 1)


class MaxOverlap(NamedTuple):
    """The largest overlap m of an anneal, and where it is reached."""

    m: float
    mu: float


def max_overlap(alpha: float, lam: float = 0.0) -> MaxOverlap:
    """The largest m on the uninformed branch of an anneal at fixed lam, with its mu: nan where m = 0 throughout."""
    check_lam(lam)
    points = [require_converged(point) for point in points_along(alpha, _anneal(lam))]
    best = int(np.argmax([point.m for point in points]))
    if points[best].m == 0.0:
        return MaxOverlap(0.0, math.nan)
    around = [math.log(points[i].mu) for i in (max(best - 1, 0), min(best + 1, len(points) - 1))]

    def lost(log_mu: float) -> float:
        return -require_converged(saddle_point(alpha, math.exp(log_mu), lam, start=points[best].overlaps)).m

    found = minimize_scalar(lost, bounds=around, method="bounded", options={"xatol": 1e-6})
    m, log_mu = max((-found.fun, found.x), (points[best].m, math.log(points[best].mu)))
    return MaxOverlap(float(m), math.exp(log_mu))


def _reaches(controls: Iterable[Control], overlap: float) -> bool:
    """Does an anneal along these controls come to a larger overlap with the signal?"""
    for control, arrival in states_along(controls):
        if not arrival.converged:
            raise TheoryError(f"the saddle point at {control} did not converge")
        if arrival.state.m > overlap:
            return True
    return False


def _anneal(lam: float) -> Schedule:
    return Schedule.fixed_lambda(lam, mu0=MU_RANGE[0], mu_max=MU_RANGE[1], eps=0.25)


def _crossing(alpha: float, lam: float, level: Callable[[Point], float]) -> float:
    """First mu along the uninformed branch where `level` turns positive, by a jump or smoothly."""
    check_recoverable(alpha)
    check_lam(lam)
    previous = None
    for point in map(require_converged, points_along(alpha, _anneal(lam))):
        if level(point) > 0:
            return point.mu if previous is None else _refine(previous, point, level)
        previous = point
    return math.inf


def _refine(before: Point, after: Point, level: Callable[[Point], float]) -> float:
    """mu of the crossing between two points of a branch, each reached from the first of them."""
    start = before.overlaps if before.q0 > 0 else "uninformed"

    def at(log_mu: float) -> float:
        return level(require_converged(saddle_point(before.alpha, math.exp(log_mu), before.lam, start=start)))

    return math.exp(brentq(at, math.log(before.mu), math.log(after.mu), xtol=1e-10))


def _bisect(holds: Callable[[float], bool], low: float, high: float, tolerance: float) -> float:
    """Where `holds` turns true between low, where it is false, and high."""
    while high - low > tolerance:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return 0.5 * (low + high)

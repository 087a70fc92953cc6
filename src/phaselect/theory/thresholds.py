"""Thresholds and lines of the phase diagram, each found by root-finding on branches."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from phaselect.base.errors import InputError
from phaselect.problem.schedule import Schedule
from phaselect.theory.branch import Branch, points_along, states_along
from phaselect.theory.continuation import VANISHING, Curve, Path, curve_from, folds, least_slope, make_path
from phaselect.theory.control import Control, check_positive, check_recoverable, check_tolerance
from phaselect.theory.flow import flow
from phaselect.theory.saddle import Point, PointStatus, saddle_point, starting_state

MU_RANGE = (0.05, 1e5)
"""Temperatures searched for transitions; beyond, branches follow their power laws."""

RECOVERED, HIGH = 0.99, 0.9
"""Overlaps that count as having found the signal: at fixed product, and at fixed lam, which biases m away from 1."""


def critical_alpha(product: float = 1.0, tolerance: float = 1e-5) -> float:
    """Smallest alpha at which an infinitely slow anneal at fixed `mu*lam = product` ends at the signal.

    The uninformed branch is followed from mu = 0.5 to 3e4; bisection in alpha. At the matched product, 1, this is the
    threshold of Bayes-optimal message passing.

    >>> f"{critical_alpha():.4f}"
    '1.1285'
    """
    check_positive("product", product)
    check_tolerance(tolerance)
    mus = np.geomspace(0.5, 3e4, 32)

    def recovers(alpha: float) -> bool:
        controls = (Control(alpha, mu, product / mu) for mu in mus)
        for control, arrival in states_along(controls):
            if not arrival.converged:
                raise ArithmeticError(f"the saddle point at {control} did not converge")
            if arrival.state.m > RECOVERED:  # m only grows from here
                return True
        return False

    low, high = 1.0 + tolerance, 2.0
    while not recovers(high):
        low, high = high, 2 * high
        if high > 1e3:
            raise InputError(f"product = {product:g}: the anneal recovers nothing up to alpha = {low:g}")
    return _bisect(recovers, low, high, tolerance)


@dataclass(frozen=True)
class PhaseDiagram:
    """Where informed and uninformed branches coexist at one lam.

    lines: columns alpha; mu_spinodal, where the informed branch is born; mu_first_order, where the two have equal free
    entropy (nan where never); mu_uninformed_end, where the uninformed branch ends and an anneal would jump (infinite
    where it never does). Rows without coexistence on the way from the signal to the uninformed branch hold nan. At
    lam > 0 and large mu a point with m = 0 < q0 coexists as well; its replicon exceeds 1, and it is not followed here.
    alpha_merge: above, there is one branch at every temperature; nan where the branches never separate.
    alpha_recovery: above, an infinitely slow anneal reaches m > 0.9 at some temperature; infinite where none does.
    """

    lam: float
    alpha_merge: float
    alpha_recovery: float
    lines: Branch


def phase_diagram(
    lam: float, alphas: Sequence[float], *, progress: Callable[[float], None] | None = None
) -> PhaseDiagram:
    """The coexistence region at fixed lam, a row for each alpha.

    progress: called with the share done, from 0 to 1; an alpha takes about a second.
    """
    rows = []
    for count, alpha in enumerate(alphas):
        if progress is not None:
            progress(count / (len(alphas) + 6))  # the two thresholds below take as long as six rows
        rows.append(transitions(float(alpha), lam))
    names = ("alpha", "mu_spinodal", "mu_first_order", "mu_uninformed_end")
    lines = dict(zip(names, np.array(rows).reshape(-1, 4).T, strict=True))
    return PhaseDiagram(lam, alpha_merge(lam), alpha_recovery(lam), lines)


def transitions(alpha: float, lam: float) -> tuple[float, float, float, float]:
    """alpha, mu_spinodal, mu_first_order and mu_uninformed_end; nan without coexistence."""
    check_recoverable(alpha)
    found = _folds_from_the_signal(alpha, lam)
    if not found:
        return alpha, math.nan, math.nan, math.nan
    (spinodal, m), *others = found
    # a second fold at larger m is the other end of the informed branch, which then is a closed curve
    end = others[0][0] if others and others[0][1] < m else math.inf
    limit = others[0][0] if others else math.inf
    return alpha, spinodal, _first_order(alpha, lam, spinodal, limit), end


def alpha_merge(lam: float) -> float:
    """alpha above which informed and uninformed branches are one at every temperature: where two folds annihilate.

    nan where they are one at every alpha, as at large lam. (A window of coexistence much narrower than 0.1 in alpha,
    as at the largest lam that has one, may be missed.)
    """

    def slope(alpha: float) -> float:
        path = make_path(alpha, lam, None)
        start = _leave_signal(path)
        return 1.0 if start is None else least_slope(path, start, MU_RANGE)

    grid = np.arange(2.25, 1.0, -0.1).tolist()
    slopes = []
    for alpha in grid:
        slopes.append(slope(alpha))
        if slopes[-1] < 0:
            return float(brentq(slope, alpha, alpha + 0.1, xtol=1e-6))
    least = grid[int(np.argmin(slopes))]  # a window of coexistence may hide between the points of the grid
    found = minimize_scalar(slope, bounds=(least - 0.1, least + 0.1), method="bounded", options={"xatol": 1e-3})
    return math.nan if found.fun >= 0 else float(brentq(slope, found.x, least + 0.1, xtol=1e-6))


def alpha_recovery(lam: float, tolerance: float = 1e-4) -> float:
    """alpha above which an infinitely slow anneal at fixed lam reaches m > 0.9 at some temperature.

    Infinite where lam biases the estimate so much that none does up to alpha = 8.
    """
    check_tolerance(tolerance)

    def recovers(alpha: float) -> bool:
        controls = (Control(alpha, mu, lam) for mu, _ in _anneal(lam))
        return any(arrival.state.m > HIGH for _, arrival in states_along(controls))

    high = next((alpha for alpha in (2.0, 4.0, 8.0) if recovers(alpha)), math.inf)
    return _bisect(recovers, 1.0 + tolerance, high, tolerance) if math.isfinite(high) else math.inf


def _folds_from_the_signal(alpha: float, lam: float) -> list[tuple[float, float]]:
    """(mu, m) at the folds met on the way from the signal down to the uninformed branch, in that order."""
    path = make_path(alpha, lam, None)
    start = _leave_signal(path)
    return [] if start is None else folds(path, start, MU_RANGE)


def _leave_signal(path: Path) -> Curve | None:
    """The informed branch at the largest mu needed, heading for smaller mu; None where there is none."""
    found: list[tuple[float, float]] = []
    for mu in np.geomspace(1.0, 2e5, 20).tolist():
        control = path.control(mu)
        found.append((flow(starting_state("informed", control), control).state.m, mu))
        if found[-1][0] > 0.95:
            break
    m, mu = max(found)
    if m < VANISHING:
        return None
    start = curve_from(path, mu, "informed")
    return start._replace(tangent=-start.tangent)


def _first_order(alpha: float, lam: float, spinodal: float, end: float) -> float:
    """mu of equal free entropy between the spinodals; nan where the informed branch never takes over."""

    def excess(log_mu: float) -> float:
        mu = math.exp(log_mu)
        informed = saddle_point(alpha, mu, lam, start="informed")
        if informed.status is PointStatus.ONE_BRANCH:  # two computations of one point, equal but for rounding
            return -1.0
        return informed.free_entropy - saddle_point(alpha, mu, lam).free_entropy

    low, high = math.log(spinodal), math.log(min(end, 1e12))
    inside = 1e-3 * (high - low)  # at the folds themselves a start may fall to either side
    stops = np.append(np.arange(low + inside, high - inside, 0.25), high - inside).tolist()
    for before, after in pairwise(stops):
        if excess(after) > 0:
            return math.exp(brentq(excess, before, after, xtol=1e-9))
    return math.nan


def mu_at_overlap(alpha: float, lam: float = 0.0, m: float = 0.1) -> float:
    """mu at which an anneal at fixed lam reaches overlap m, on the uninformed branch; infinite where it never does."""
    if not 0 < m < 1:
        raise InputError(f"m = {m:g} must lie between 0 and 1")
    return _crossing(alpha, lam, lambda point: point.m - m)


def entropy_crisis(alpha: float, lam: float = 0.0) -> float:
    """mu at which the complexity of the uninformed branch vanishes; infinite where it stays positive.

    Beyond, replica symmetry counts less than one sign vector: it must be broken there at the latest.
    """
    return _crossing(alpha, lam, lambda point: -point.complexity)


def replicon_line(alphas: Sequence[float], lam: float = 0.0) -> Branch:
    """mu at which the replicon of the uninformed branch first exceeds 1, for each alpha; infinite where never."""
    mus = [_crossing(float(alpha), lam, lambda point: point.replicon - 1) for alpha in alphas]
    return {"alpha": np.array(alphas, dtype=float), "mu_replicon": np.array(mus)}


def max_overlap(alpha: float, lam: float = 0.0) -> tuple[float, float]:
    """The largest m on the uninformed branch of an anneal at fixed lam, and the mu where it is reached."""
    points = list(points_along(alpha, _anneal(lam)))
    best = int(np.argmax([point.m for point in points]))
    if points[best].m == 0.0:
        return 0.0, math.nan
    around = [math.log(points[i].mu) for i in (max(best - 1, 0), min(best + 1, len(points) - 1))]

    def lost(log_mu: float) -> float:
        return -saddle_point(alpha, math.exp(log_mu), lam, start=points[best].overlaps).m

    found = minimize_scalar(lost, bounds=around, method="bounded", options={"xatol": 1e-6})
    m, log_mu = max((-found.fun, found.x), (points[best].m, math.log(points[best].mu)))
    return float(m), math.exp(log_mu)


def _anneal(lam: float) -> Schedule:
    return Schedule.fixed_lambda(lam, mu0=MU_RANGE[0], mu_max=MU_RANGE[1], eps=0.25)


def _crossing(alpha: float, lam: float, level: Callable[[Point], float]) -> float:
    """First mu along the uninformed branch where `level` turns positive, by a jump or smoothly."""
    check_recoverable(alpha)
    previous = None
    for point in points_along(alpha, _anneal(lam)):
        if level(point) > 0:
            return point.mu if previous is None else _refine(previous, point, level)
        previous = point
    return math.inf


def _refine(before: Point, after: Point, level: Callable[[Point], float]) -> float:
    """mu of the crossing between two points of a branch, each reached from the first of them."""
    start = before.overlaps if before.q0 > 0 else "uninformed"

    def at(log_mu: float) -> float:
        return level(saddle_point(before.alpha, math.exp(log_mu), before.lam, start=start))

    return math.exp(brentq(at, math.log(before.mu), math.log(after.mu), xtol=1e-10))


def _bisect(holds: Callable[[float], bool], low: float, high: float, tolerance: float) -> float:
    """Where `holds` turns true between low, where it is false, and high."""
    while high - low > tolerance:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return 0.5 * (low + high)

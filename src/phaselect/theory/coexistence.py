"""Where informed and uninformed branches coexist at fixed lam: spinodals, first-order line, and where they merge."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from phaselect.base.bars import Share, share_told
from phaselect.base.errors import TheoryError
from phaselect.base.tables import Table
from phaselect.theory.continuation import (
    VANISHING,
    AnnealPath,
    CurvePoint,
    Fold,
    anneal_path,
    curve_from,
    folds,
    least_slope,
)
from phaselect.theory.control import check_lam, check_recoverable, numbers
from phaselect.theory.flow import flow
from phaselect.theory.saddle import PointStatus, require_converged, saddle_point, starting_state
from phaselect.theory.thresholds import MU_RANGE, alpha_recovery


class Transitions(NamedTuple):
    """Temperatures at which branches are born, equal and end; all nan where they do not coexist.

    mu_spinodal: the informed branch is born; mu_first_order: the two have equal free entropy (nan where never,
    up to mu = 1e5 at least); mu_uninformed_end: the uninformed branch ends, and an anneal would jump (infinite where
    it never does).
    """

    mu_spinodal: float
    mu_first_order: float
    mu_uninformed_end: float


def transitions(alpha: float, lam: float = 0.0) -> Transitions:
    """Where informed and uninformed branches coexist, on the way from the signal to the uninformed branch.

    At lam > 0 and large mu a point with m = 0 < q0 coexists as well; its replicon exceeds 1, and it is not followed
    here.
    """
    check_recoverable(alpha)
    found = _folds_from_the_signal(alpha, lam)
    if not found:
        return NO_COEXISTENCE
    spinodal, *others = found
    # a second fold at larger m is the other end of the informed branch, which then is a closed curve
    end = others[0].mu if others and others[0].m < spinodal.m else math.inf
    limit = others[0].mu if others else math.inf
    return Transitions(spinodal.mu, _first_order(alpha, lam, spinodal.mu, limit), end)


NO_COEXISTENCE = Transitions(math.nan, math.nan, math.nan)


class PhaseDiagram(NamedTuple):
    """The coexistence region at one lam: the table of `transitions` against alpha, and the two thresholds."""

    lam: float
    alpha_merge: float
    alpha_recovery: float
    lines: Table


def phase_diagram(alphas: Sequence[float], lam: float = 0.0, *, progress: Share | bool | None = None) -> PhaseDiagram:
    """The coexistence region at fixed lam, one row per alpha, as in `transitions`; see there for nan and infinity.

    A row that could not be computed holds nan, and `converged` is False there. progress: True for a bar, or a
    function, called with the share done, from 0 to 1; an alpha takes about a second.
    """
    alphas = numbers("alphas", alphas)
    check_lam(lam)
    for alpha in alphas:
        check_recoverable(alpha)
    rows, converged = [], []
    with share_told(progress, "phase diagram") as tell:
        for count, alpha in enumerate(alphas):
            tell(count / (len(alphas) + 6))  # the two thresholds below take as long as six rows
            try:
                rows.append(transitions(alpha, lam))
                converged.append(True)
            except TheoryError:
                rows.append(NO_COEXISTENCE)
                converged.append(False)
        thresholds = alpha_merge(lam), alpha_recovery(lam)
    columns = dict(zip(Transitions._fields, np.array(rows).reshape(-1, 3).T, strict=True))
    lines = {"alpha": np.array(alphas), **columns, "converged": np.array(converged, dtype=bool)}
    table = Table(lines, shown=("alpha", *Transitions._fields))
    return PhaseDiagram(lam, *thresholds, table)


def alpha_merge(lam: float = 0.0) -> float:
    """alpha above which informed and uninformed branches are one at every temperature: where two folds annihilate.

    nan where they are one at every alpha, as at large lam. (A window of coexistence much narrower than 0.1 in alpha,
    as at the largest lam that has one, may be missed.)
    """

    def slope(alpha: float) -> float:
        path = anneal_path(alpha, lam, None)
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


def _folds_from_the_signal(alpha: float, lam: float) -> list[Fold]:
    """The folds met on the way from the signal down to the uninformed branch, in that order."""
    path = anneal_path(alpha, lam, None)
    start = _leave_signal(path)
    return [] if start is None else folds(path, start, MU_RANGE)


def _leave_signal(path: AnnealPath) -> CurvePoint | None:
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
        informed = require_converged(saddle_point(alpha, mu, lam, start="informed"))
        if informed.status is PointStatus.ONE_BRANCH:  # two computations of one point, equal but for rounding
            return -1.0
        return informed.free_entropy - require_converged(saddle_point(alpha, mu, lam)).free_entropy

    low, high = math.log(spinodal), math.log(min(end, 1e12))
    inside = 1e-3 * (high - low)  # at the folds themselves a start may fall to either side
    stops = np.append(np.arange(low + inside, high - inside, 0.25), high - inside).tolist()
    for before, after in pairwise(stops):
        try:
            crossed = excess(after) > 0
        except TheoryError:
            if math.exp(after) < MU_RANGE[1]:
                raise
            return math.nan  # rounding ends the search: nothing was found as far as one can see
        if crossed:
            return math.exp(brentq(excess, before, after, xtol=1e-9))
    return math.nan

"""What thresholds say of each other: alpha_50 by size and rate, with its limit, compared."""

from __future__ import annotations

import math

import numpy as np

from phaselect.base.tables import Table
from phaselect.experiments.joint_limit import JointLimit
from phaselect.experiments.limits import BAYES_OPTIMAL, Interval, Limit, intervals, limit_of
from phaselect.experiments.success import STANDARD_ERRORS
from phaselect.report.evidence import Missing
from phaselect.report.ledger import Said

SLOW, FAST = 0.01, 0.1
"""The paper's two rates."""
NARROW = 0.05
"""An interval wider than two steps of the paper's alphas does not settle a limit."""
NEGLIGIBLE = 0.01
"""A gain in alpha_50 that is surely less than this is none."""

Halves = dict[int, Interval]
"""alpha_50 by size."""


def halves(table: Table, solver: str, **options: float) -> Halves:
    """alpha_50 by size, of one solver."""
    own = table.where(kind="threshold", solver=solver, **options)
    return dict(sorted(zip(own["n"].tolist(), intervals(own), strict=True))) if len(own) else {}


def limit(table: Table, solver: str, **options: float) -> Limit | None:
    """The fit of alpha_50 against N, where enough sizes were measured."""
    own = table.where(kind="limit", solver=solver, **options)
    return limit_of(own) if len(own) else None


def clearly_below(one: Interval, other: Interval) -> bool:
    """Does the one interval end before the other begins?"""
    return one.high < other.low


def below(one: Interval, other: Interval) -> Said:
    """Is the one below the other? Not known where their intervals overlap."""
    return True if clearly_below(one, other) else False if clearly_below(other, one) else None


def above(half: Interval, alpha: float) -> Said:
    """Does half need more than alpha? Not known where alpha lies in the interval."""
    return below(Interval(alpha, alpha, alpha), half)


def largest(found: Halves) -> Interval:
    """alpha_50 at the largest size."""
    if not found:
        raise Missing("no alpha_50 is known")
    return found[max(found)]


def arrives(fit: Limit | JointLimit | None, at: float = BAYES_OPTIMAL) -> Said:
    """Is this threshold the limit? Not known without a fit to be trusted, or from a wide interval."""
    if fit is None or fit.doubt or not all(map(math.isfinite, fit.limit)):
        return None
    if not fit.limit.low <= at <= fit.limit.high:
        return False
    return True if fit.limit.high - fit.limit.low < NARROW else None


def mean_gain(fast: Halves, slow: Halves) -> Interval:
    """By how much less alpha the slow anneal needs: the weighted mean over the sizes at which both are known."""
    pairs = [(fast[n], slow[n]) for n in fast if n in slow]
    closed = [(f, s) for f, s in pairs if all(map(math.isfinite, (*f, *s)))]
    if not closed:
        raise Missing("no size is known at both rates")
    gains = np.array([f.value - s.value for f, s in closed])
    variances = np.array([f.standard_error**2 + s.standard_error**2 for f, s in closed])
    mean, error = np.average(gains, weights=1 / variances), STANDARD_ERRORS / math.sqrt(np.sum(1 / variances))
    return Interval(float(mean), float(mean - error), float(mean + error))


def gains(fast: Halves, slow: Halves) -> Said:
    """Is slow better: in the mean over all sizes, and clearly worse at none?"""
    mean = mean_gain(fast, slow)
    worse = any(clearly_below(fast[n], slow[n]) for n in fast if n in slow)
    if mean.high < NEGLIGIBLE:
        return False
    return True if mean.low > 0 and not worse else None


def listed(found: Halves) -> str:
    """alpha_50 by size, in words."""
    return "; ".join(f"N = {n}: {half}" for n, half in found.items())


def paired(fast: Halves, slow: Halves) -> str:
    """Both rates by size, and what slowness gains in the mean, in words."""
    sizes = "; ".join(f"N = {n}: {fast[n]} fast, {slow[n]} slow" for n in fast if n in slow)
    return f"{sizes}; mean gain {mean_gain(fast, slow)}"


def both_rates(table: Table, solver: str, **options: float) -> tuple[Halves, Halves]:
    """alpha_50 by size of the fast anneal, and of the slow one."""
    fast, slow = (halves(table, solver, eps=eps, **options) for eps in (FAST, SLOW))
    return fast, slow

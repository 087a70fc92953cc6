"""What thresholds say of each other: alpha_50 by size and rate, with its limit, compared."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from phaselect.base.tables import Table
from phaselect.experiments.fits import bad_fit
from phaselect.experiments.joint_limit import JointLimit
from phaselect.experiments.limits import (
    BAYES_OPTIMAL,
    ENOUGH_SIZES,
    Interval,
    Limit,
    intervals,
    large_n_limit,
    limit_of,
)
from phaselect.experiments.success import STANDARD_ERRORS
from phaselect.report.evidence import Missing
from phaselect.report.ledger import Said

SLOW, FAST = 0.01, 0.1
"""The paper's two rates."""
NARROW = 0.05
"""An interval wider than two steps of the paper's alphas does not settle a limit."""
NEGLIGIBLE = 0.01
"""A gain in alpha_50 that may be zero, and is surely less than this, is none."""

EDGE = 0.001
"""By how much an end of an interval may be off at most: it comes from a thousand draws, and a law that is only nearly
right."""

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
    """Is this threshold the limit? Not known without a fit to be trusted, from a wide interval, or at its very end.

    Nor is a limit elsewhere one for sure where it rests on no trend with N being seen: a slow one hides behind errors.
    """
    if fit is None or fit.doubt or not all(map(math.isfinite, fit.limit)):
        return None
    _, low, high = fit.limit
    edge = min(EDGE, (high - low) / 8)
    if not low - edge < at < high + edge:
        return False if (fit.large if isinstance(fit, JointLimit) else fit).amplitude else None
    return True if low + edge <= at <= high - edge and high - low < NARROW else None


def limits_from_each_size(found: Halves) -> dict[int, Limit | None]:
    """The fit of alpha_50 against N, from each size on, the smallest first, as long as enough are left to judge it."""
    sizes = sorted(found)
    parts = [sizes[first:] for first in range(max(len(sizes) - ENOUGH_SIZES + 1, min(len(sizes), 1)))]
    return {some[0]: large_n_limit(some, [found[n] for n in some]) for some in parts}


def agreed(fits: Iterable[Limit | None]) -> Said:
    """Is the Bayes-optimal threshold the limit? What the first fit says whose chi^2 is good, and the next one too.

    Those of even fewer sizes may not object, but need not tell.
    """
    answers = [arrives(fit) for fit in fits if fit and not bad_fit(fit.chi2, fit.dof)]
    return answers[0] if len({*answers[:2]}) == 1 and {*answers} <= {answers[0], None} else None


def told(fits: Mapping[int, Limit | None]) -> str:
    """Such limits, in words."""
    return "limit " + ("; ".join(f"from N = {n} on {fit or 'not fitted'}" for n, fit in fits.items()) or "not fitted")


def mean_gain(fast: Halves, slow: Halves) -> Interval:
    """By how much less alpha the slow anneal needs: the weighted mean over the sizes at which both are known.

    As if both had instances of their own: too wide where, as in the presets, they share them.
    """
    pairs = [(fast[n], slow[n]) for n in fast if n in slow]
    closed = [(f, s) for f, s in pairs if all(map(math.isfinite, (*f, *s)))]
    if not closed:
        raise Missing("no size is known at both rates")
    gains = np.array([f.value - s.value for f, s in closed])
    variances = np.array([f.standard_error**2 + s.standard_error**2 for f, s in closed])
    mean, error = np.average(gains, weights=1 / variances), STANDARD_ERRORS / math.sqrt(np.sum(1 / variances))
    return Interval(float(mean), float(mean - error), float(mean + error))


def gains(fast: Halves, slow: Halves) -> Said:
    """Is slow better: surely so in the mean over all sizes, and clearly worse at none?

    Not so if it may be no better at all, and is surely not better by as much as would matter.
    """
    mean = mean_gain(fast, slow)
    if mean.low > 0:
        worse = any(clearly_below(fast[n], slow[n]) for n in fast if n in slow)
        return None if worse else True
    return False if mean.high < NEGLIGIBLE else None


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

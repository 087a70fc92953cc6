"""alpha_50 against size and rate: `alpha_50(N, tau) = a_N + d tau^-e`, a level for each size and one law of rates.

a_N is what an ever slower anneal tends to at size N; the limit of these for large N is `limits.extrapolated`. No law
in N is put into the first fit: all rates of a size are run on the same instances, so that what is easy or hard by
chance is so at every rate, and would count against any such law as often as there are rates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from phaselect.base.errors import InputError
from phaselect.experiments.limits import (
    ENDS,
    UNKNOWN,
    Interval,
    Limit,
    bad_fit,
    closed,
    extrapolated,
    fit_doubt,
    misfit,
    power_fits,
    with_replicates,
)
from phaselect.experiments.success import Array

EXPONENTS = np.linspace(0.1, 1.5, 57)
"""That the fit tries, of tau: an end is a sign that another law holds, or that the data do not tell."""
FEWEST_RATES = FEWEST_SIZES = 3


class JointLimit(NamedTuple):
    """The fit; doubt: why it says nothing of the limit, "" if it does. slower_than: tau of the fastest rate in it.

    levels: a_N by size. rate_doubt: why the law of rates says nothing of them. large: what they tend to with N.
    """

    levels: dict[int, Interval]
    rate_amplitude: float
    rate_exponent: float
    rate_chi2: float
    rate_dof: int
    rate_doubt: str
    slower_than: float
    large: Limit

    @property
    def limit(self) -> Interval:
        """Of large instances and slow anneals."""
        return self.large.limit

    @property
    def doubt(self) -> str:
        """Why there is no limit to be trusted, "" if there is one."""
        return self.rate_doubt or self.large.doubt

    def at(self, n: int, tau: Any) -> Any:
        """alpha_50 by the fit."""
        return self.levels[n].value + self.rate_amplitude * tau**-self.rate_exponent

    def __str__(self) -> str:
        if self.rate_doubt:
            return f"none: {self.rate_doubt}"
        levels = ", ".join(f"{level} (N = {n})" for n, level in self.levels.items())
        law = f"tau^-{self.rate_exponent:.2f}, {misfit(self.rate_chi2, self.rate_dof)}"
        law += f", from {self.slower_than:.3g} sweeps per e-fold on"
        return f"{levels} if ever slower ({law}); for large N {self.large}"


def joint_limit(sizes: Sequence[int], rates: Sequence[float], found: Sequence[Interval]) -> JointLimit | None:
    """Weighted least squares over all sizes and rates whose alpha_50 is known; None for too few of them.

    Where the rates do not fit together, by chi^2, the fastest are left out, one after the other, as long as three are
    left: the law is one for slow anneals.
    """
    if not len(sizes) == len(rates) == len(found):
        raise InputError("joint_limit: give the size, the rate and alpha_50 of each curve")
    points, fit = closed(found, sizes, rates), None
    for fastest in np.unique(points[:, 1])[: 1 - FEWEST_RATES or None]:
        own = points[points[:, 1] >= fastest]
        if len(np.unique(own[:, 0])) < FEWEST_SIZES or len(np.unique(own[:, 1])) < FEWEST_RATES:
            break
        fit = _fitted(own)
        if not bad_fit(fit.rate_chi2, fit.rate_dof):
            break
    return fit


def _fitted(points: Array) -> JointLimit:
    """Errors of one size may be independent, or, since its rates share instances, all the same: intervals hold both."""
    n, tau, values, spread = points.T
    sizes, place = np.unique(n, return_inverse=True)
    apart = with_replicates(values, spread)
    together = values + spread * np.random.default_rng(0).standard_normal((len(apart), sizes.size))[:, place]
    fits = [power_fits(place, tau, rows, spread, EXPONENTS) for rows in (apart, np.vstack([values, together]))]
    dof = n.size - sizes.size - 2
    best = fits[0][0]
    doubt = fit_doubt(best[-1], dof, EXPONENTS, np.percentile(np.vstack(fits)[:, -2], ENDS), of=" of tau")
    levels = {
        int(size): Interval(float(best[k]), *(UNKNOWN[1:] if doubt else _widest(fit[1:, k] for fit in fits)))
        for k, size in enumerate(sizes)
    }
    own_error = np.array([np.median(spread[n == size]) for size in sizes])
    large = extrapolated(sizes, np.vstack([fit[:, : sizes.size] for fit in fits]), own_error)
    if doubt:
        large = large._replace(limit=Interval(large.limit.value, math.nan, math.nan), doubt=doubt)
    amplitude, exponent, chi2 = best[-3:].tolist()
    return JointLimit(levels, amplitude, exponent, chi2, dof, doubt, float(tau.min()), large)


def _widest(samples: Any) -> tuple[float, float]:
    """The outer ends of several 95 % intervals."""
    ends = np.array([np.percentile(sample, ENDS) for sample in samples])
    return float(ends[:, 0].min()), float(ends[:, 1].max())

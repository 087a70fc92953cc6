"""alpha_50 against size and rate together: `alpha_50(N, tau) = a + b N^-c + d tau^-e`, with a for large and slow.

Where the sizes do not differ c is anything: then b = 0, and c infinite.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtrc

from phaselect.base.errors import InputError
from phaselect.experiments.limits import ENDS, IMPROBABLE, Interval, bad_fit, closed, misfit, with_replicates
from phaselect.experiments.success import Array

EXPONENTS = np.linspace(0.1, 1.5, 57)
"""That the fit tries, of N and of tau: an end is a sign that another law holds, or that the data do not tell."""
NO_TERM, HIDDEN = np.array([math.inf]), np.array([0.5])
"""The exponent of N with which its term is zero; that of a term which may hide in the errors."""
PARAMETERS, SIZE_PARAMETERS, FEWEST_RATES = 5, 2, 3


class JointLimit(NamedTuple):
    """The fit; doubt: why it says nothing of the limit, "" if it does. slower_than: tau of the fastest rate in it."""

    limit: Interval
    size_amplitude: float
    size_exponent: float
    rate_amplitude: float
    rate_exponent: float
    chi2: float
    dof: int
    slower_than: float
    doubt: str

    def at(self, n: Any, tau: Any) -> Any:
        """alpha_50 by the fit."""
        by_size, by_rate = self.size_amplitude * n**-self.size_exponent, self.rate_amplitude * tau**-self.rate_exponent
        return self.limit.value + by_size + by_rate

    def __str__(self) -> str:
        if self.doubt:
            return f"none: {self.doubt}"
        sizes = ", the same at all sizes" if math.isinf(self.size_exponent) else ""
        return f"{self.limit}{sizes}, {misfit(self.chi2, self.dof)}, from {self.slower_than:.3g} sweeps per e-fold on"


def joint_limit(sizes: Sequence[int], rates: Sequence[float], found: Sequence[Interval]) -> JointLimit | None:
    """Weighted least squares over all sizes and rates whose alpha_50 is known; None for too few of them.

    Where the rates do not fit together, by chi^2, the fastest are left out, one after the other, as long as three are
    left: the law is one for slow anneals. Where that leaves c open and a term in N does not improve chi^2,
    alpha_50 is taken to be the same at all sizes. The 95 % interval is a bootstrap over the errors of the thresholds.
    """
    if not len(sizes) == len(rates) == len(found):
        raise InputError("joint_limit: give the size, the rate and alpha_50 of each curve")
    points, fit = closed(found, sizes, rates), None
    for slowest in np.unique(points[:, 1])[: 1 - FEWEST_RATES or None]:
        own = points[points[:, 1] >= slowest]
        if len(np.unique(own[:, 0])) < 3 or len(own) < PARAMETERS:
            break
        fit = _fitted(own, EXPONENTS)
        if fit.doubt and chdtrc(SIZE_PARAMETERS, (same := _same_at_all_sizes(own)).chi2 - fit.chi2) >= IMPROBABLE:
            fit = same
        if not bad_fit(fit.chi2, fit.dof):
            break
    return fit


def _same_at_all_sizes(points: Array) -> JointLimit:
    """Without a term in N; the interval is at least as wide as with a term that may hide in the errors."""
    fit, other = _fitted(points, NO_TERM), _fitted(points, HIDDEN)
    low, high = np.minimum(fit.limit.low, other.limit.low), np.maximum(fit.limit.high, other.limit.high)
    return fit._replace(limit=Interval(fit.limit.value, float(low), float(high)), doubt=fit.doubt or other.doubt)


def _fitted(points: Array, of_n: Array) -> JointLimit:
    """With these exponents of N to choose from."""
    n, tau, values, spread = points.T
    fits = _fit(n, tau, with_replicates(values, spread), spread, of_n)
    (a, b, d, c, e, chi2), free = fits[0].tolist(), {"N": 3, "tau": 4} if len(of_n) > 1 else {"tau": 4}
    dof = n.size - PARAMETERS + (SIZE_PARAMETERS if math.isinf(c) else 0)
    doubt = _doubt(chi2, dof, {name: np.percentile(fits[1:, column], ENDS) for name, column in free.items()})
    bounds = (math.nan, math.nan) if doubt else np.percentile(fits[1:, 0], ENDS).tolist()
    return JointLimit(Interval(a, *bounds), b, c, d, e, chi2, dof, float(tau.min()), doubt)


def _doubt(chi2: float, dof: int, exponents: dict[str, Array]) -> str:
    if bad := bad_fit(chi2, dof):
        return bad
    for name, (least, most) in exponents.items():
        if least <= EXPONENTS[0] or most >= EXPONENTS[-1]:
            return f"exponent of {name} not determined, {least:.2f} to {most:.2f}"
    return ""


def _fit(n: Array, tau: Array, values: Array, spread: Array, of_n: Array) -> Array:
    """a, b, d, c, e and chi^2 of the best fit to each row of values: at given exponents a, b and d are linear.

    By a grid, not by scipy.optimize.curve_fit, as in `limits`: every row at once, and no minimum is only a local one.
    """
    scaled, rows = (values / spread).T, np.arange(len(values))
    best = np.full((len(values), 6), math.inf)
    for c in of_n:
        designs = np.stack([np.stack([np.ones_like(n), n**-c, tau**-e], axis=1) / spread[:, None] for e in EXPONENTS])
        linear = np.linalg.pinv(designs) @ scaled
        chi2 = np.sum((designs @ linear - scaled) ** 2, axis=1)
        which = np.argmin(chi2, axis=0)
        least = chi2[which, rows]
        better = least < best[:, 5]
        found = np.column_stack([linear[which, :, rows], np.full(len(rows), c), EXPONENTS[which], least])
        best[better] = found[better]
    return best

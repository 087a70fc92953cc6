"""alpha_50 against size and rate together: `alpha_50(N, tau) = a + b N^-c + d tau^-e`, with a for large and slow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from phaselect.base.errors import InputError
from phaselect.experiments.limits import ENDS, REPLICATES, Interval, bad_fit, misfit
from phaselect.experiments.success import Array

EXPONENTS = np.linspace(0.1, 1.5, 57)
"""That the fit tries, of N and of tau: an end is a sign that another law holds, or that the data do not tell."""
PARAMETERS, FEWEST_RATES = 5, 3


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
        return f"{self.limit}, {misfit(self.chi2, self.dof)}, from {self.slower_than:.3g} sweeps per e-fold on"


def joint_limit(sizes: Sequence[int], rates: Sequence[float], found: Sequence[Interval]) -> JointLimit | None:
    """Weighted least squares over all sizes and rates whose alpha_50 is known; None for too few of them.

    Where all rates do not fit together, the fastest are left out, one after the other, as long as three are left: the
    law is one for slow anneals. The 95 % interval is a bootstrap over the errors of the thresholds.
    """
    if not len(sizes) == len(rates) == len(found):
        raise InputError("joint_limit: give the size, the rate and alpha_50 of each curve")
    good = [
        (n, tau, half.value, half.standard_error)
        for n, tau, half in zip(sizes, rates, found, strict=True)
        if all(map(math.isfinite, half))
    ]
    points = np.array(good, dtype=float).reshape(-1, 4)
    fit = None
    for slowest in np.unique(points[:, 1])[: 1 - FEWEST_RATES or None]:
        own = points[points[:, 1] >= slowest]
        if len(np.unique(own[:, 0])) < 3 or len(own) < PARAMETERS:
            break
        fit = _fitted(own)
        if not fit.doubt:
            break
    return fit


def _fitted(points: Array) -> JointLimit:
    n, tau, values, spread = points.T
    drawn = np.random.default_rng(0).normal(values, spread, (REPLICATES, n.size))
    fits = _fit(n, tau, np.vstack([values, drawn]), spread)
    (a, b, d, c, e, chi2), ends = fits[0].tolist(), np.percentile(fits[1:], ENDS, axis=0)
    dof = n.size - PARAMETERS
    doubt = _doubt(chi2, dof, {"N": ends[:, 3], "tau": ends[:, 4]})
    bounds = (math.nan, math.nan) if doubt else ends[:, 0].tolist()
    return JointLimit(Interval(a, *bounds), b, c, d, e, chi2, dof, float(tau.min()), doubt)


def _doubt(chi2: float, dof: int, exponents: dict[str, Array]) -> str:
    if bad := bad_fit(chi2, dof):
        return bad
    for name, (least, most) in exponents.items():
        if least <= EXPONENTS[0] or most >= EXPONENTS[-1]:
            return f"exponent of {name} not determined, {least:.2f} to {most:.2f}"
    return ""


def _fit(n: Array, tau: Array, values: Array, spread: Array) -> Array:
    """a, b, d, c, e and chi^2 of the best fit to each row of values: at given exponents a, b and d are linear."""
    scaled, rows = (values / spread).T, np.arange(len(values))
    best = np.full((len(values), 6), math.inf)
    for c in EXPONENTS:
        designs = np.stack([np.stack([np.ones_like(n), n**-c, tau**-e], axis=1) / spread[:, None] for e in EXPONENTS])
        linear = np.linalg.pinv(designs) @ scaled
        chi2 = np.sum((designs @ linear - scaled) ** 2, axis=1)
        which = np.argmin(chi2, axis=0)
        least = chi2[which, rows]
        better = least < best[:, 5]
        found = np.column_stack([linear[which, :, rows], np.full(len(rows), c), EXPONENTS[which], least])
        best[better] = found[better]
    return best

"""alpha_50 against size and rate: `alpha_50(N, tau) = a_N + d tau^-e`, a level for each size and one law of rates.

a_N is what an ever slower anneal tends to at size N; the limit of these for large N is `limits.extrapolated`. No law
in N is put into the first fit: all rates of a size are run on the same instances, so that what is easy or hard by
chance is so at every rate, and would count against any such law as often as there are rates.

Its rival has the threshold of theory for the level of every size, and an amplitude for each: `theory + d_N tau^-e`. It
is a case of `a + d_N tau^-e`, one level for all sizes: by how much chi^2 that is free to be lower is a test of theory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from phaselect.base.errors import InputError
from phaselect.experiments.fits import PowerFits, bad_fit, best_powers, first_good, fit_doubt, misfit, with_replicates
from phaselect.experiments.limits import ENDS, UNKNOWN, Interval, Limit, closed, extrapolated
from phaselect.experiments.success import Array

EXPONENTS = np.linspace(0.1, 1.5, 281)
"""That the fit tries, of tau: an end is a sign that another law holds, or that the data do not tell."""
FEWEST_RATES = FEWEST_SIZES = 3


class RateLaw(NamedTuple):
    """`tau^-exponent`, for all sizes, at rates from from_tau on; doubt: why it says nothing, "" if it does."""

    exponent: Interval
    chi2: float
    dof: int
    doubt: str
    from_tau: float

    @property
    def fits(self) -> bool:
        """By chi^2, whether or not the exponent is determined."""
        return not bad_fit(self.chi2, self.dof)

    def __str__(self) -> str:
        power = f"tau^-{self.exponent.value:.2f} [{self.exponent.low:.2f}, {self.exponent.high:.2f}]"
        return f"{power}, {misfit(self.chi2, self.dof)}, from {self.from_tau:.0f} sweeps per e-fold on"


class JointLimit(NamedTuple):
    """The fit: a_N by size, the amplitude d and its law of rates, and what the levels tend to with N."""

    levels: dict[int, Interval]
    amplitude: float
    rates: RateLaw
    large: Limit

    @property
    def fits(self) -> bool:
        """By chi^2 of its law of rates."""
        return self.rates.fits

    @property
    def limit(self) -> Interval:
        """Of large instances and slow anneals."""
        return self.large.limit

    @property
    def doubt(self) -> str:
        """Why there is no limit to be trusted, "" if there is one."""
        return self.rates.doubt or self.large.doubt

    def at(self, n: int, tau: Any) -> Any:
        """alpha_50 by the fit."""
        return self.levels[n].value + self.amplitude * tau**-self.rates.exponent.value

    def __str__(self) -> str:
        if self.rates.doubt:
            return f"no law of rates: {self.rates.doubt}"
        levels = ", ".join(f"{level} (N = {n})" for n, level in self.levels.items())
        return f"ever slower anneals tend to {levels} ({self.rates}); limit of these for large N: {self.large}"


class EndsAtTheory(NamedTuple):
    """The rival: d_N by size, and its law of rates."""

    theory: float
    amplitudes: dict[int, float]
    rates: RateLaw

    @property
    def fits(self) -> bool:
        """By chi^2 of its law of rates."""
        return self.rates.fits

    def at(self, n: int, tau: Any) -> Any:
        """alpha_50 by the fit."""
        return self.theory + self.amplitudes[n] * tau**-self.rates.exponent.value

    def __str__(self) -> str:
        fits = "fits the slow rates too" if self.fits else "does not fit"
        return f"a law that ends at {self.theory:.3f} at every size {fits} ({self.rates})"


class Fitted(NamedTuple):
    """How a law fits, and its exponent of tau."""

    chi2: float
    dof: int
    exponent: float

    def __str__(self) -> str:
        return f"{self.chi2:.1f} for {self.dof}"


class Cut(NamedTuple):
    """The laws fitted to the same rates, from from_tau on; level: the one of all sizes, where it is free and told."""

    from_tau: float
    levels: Fitted
    rival: Fitted
    common: Fitted
    level: Interval

    def __str__(self) -> str:
        return f"from {self.from_tau:.0f} on {self.levels}, {self.rival} and {self.common} at {self.level}"

    @property
    def fits(self) -> bool:
        """Does any of them, by chi^2?"""
        return not all(bad_fit(law.chi2, law.dof) for law in (self.levels, self.rival, self.common))


Fit = TypeVar("Fit", JointLimit, EndsAtTheory)


def joint_limit(sizes: Sequence[int], rates: Sequence[float], found: Sequence[Interval]) -> JointLimit | None:
    """Weighted least squares over all sizes and rates whose alpha_50 is known; None for too few of them.

    Where the rates do not fit together, by chi^2, the fastest are left out, one after the other, as long as three are
    left: the law is one for slow anneals. That choice is not in the intervals; and the chi^2, which takes the rates of
    a size for independent, doubts too little where they share instances. So `cuts` compares it with its rival on the
    same rates, whichever are left out.
    """
    return _of_slow_ones(_with_levels, sizes, rates, found)


def ending_at_theory(
    theory: float, sizes: Sequence[int], rates: Sequence[float], found: Sequence[Interval]
) -> EndsAtTheory | None:
    """The rival of `joint_limit`, found in the same way."""
    return _of_slow_ones(partial(_to_theory, theory), sizes, rates, found)


def cuts(theory: float, sizes: Sequence[int], rates: Sequence[float], found: Sequence[Interval]) -> list[Cut]:
    """How these two compare, and with one level for all sizes, whichever rates are left out, from the fastest on."""
    return [_cut(theory, own) for own in _slow_parts(sizes, rates, found)]


def _cut(theory: float, points: Array) -> Cut:
    values = points[:, 2]
    levels, rival = _fits("levels", points, values[None]), _fits("rival", points, values[None] - theory)
    common, shared = (_fits("common", points, rows) for rows in _drawn(points))
    both = common[0], shared[0]
    least, most = _widest(fit.exponents[1:] for fit in both)
    ends = _widest(fit.coefficients[1:, 0] for fit in both)
    told = least > EXPONENTS[0] and most < EXPONENTS[-1]
    level = Interval(float(common[0].coefficients[0, 0]), *ends) if told else UNKNOWN
    return Cut(float(points[:, 1].min()), _best(*levels), _best(*rival), _best(*common), level)


def _best(fits: PowerFits, dof: int) -> Fitted:
    """That of the first row of values."""
    return Fitted(float(fits.chi2[0]), dof, float(fits.exponents[0]))


def _slow_parts(sizes: Sequence[int], rates: Sequence[float], found: Sequence[Interval]) -> Iterator[Array]:
    """Size, rate, alpha_50 and error of each curve; then those without the fastest rates, as long as a fit says more.

    A level for each size, an amplitude and an exponent have to leave a degree of freedom.
    """
    if not len(sizes) == len(rates) == len(found):
        raise InputError("give the size, the rate and alpha_50 of each curve")
    points = closed(found, sizes, rates)
    for fastest in np.unique(points[:, 1])[: 1 - FEWEST_RATES]:
        own = points[points[:, 1] >= fastest]
        count = len(np.unique(own[:, 0]))
        if count < FEWEST_SIZES or len(np.unique(own[:, 1])) < FEWEST_RATES or len(own) < count + 3:
            return
        yield own


def _of_slow_ones(
    fitted: Callable[[Array], Fit], sizes: Sequence[int], rates: Sequence[float], found: Sequence[Interval]
) -> Fit | None:
    """The fit to all rates but the fastest, as many as chi^2 leaves out."""
    return first_good(fitted(own) for own in _slow_parts(sizes, rates, found))


def _with_levels(points: Array) -> JointLimit:
    n, tau, _, spread = points.T
    sizes, (apart, shared) = np.unique(n), (_fits("levels", points, rows) for rows in _drawn(points))
    fits = [apart[0], shared[0]]
    law, (*levels, amplitude) = _law(fits, tau, apart[1]), fits[0].coefficients[0].tolist()
    ends = [_widest(fit.coefficients[1:, k] for fit in fits) for k in range(sizes.size)]
    found = [Interval(level, *(UNKNOWN[1:] if law.doubt else own)) for level, own in zip(levels, ends, strict=True)]
    own_error = np.array([np.median(spread[n == size]) for size in sizes])
    larges = [extrapolated(sizes, fit.coefficients[:, :-1], own_error) for fit in fits]
    if any(large.amplitude for large in larges):  # one fit for both kinds of errors
        larges = [extrapolated(sizes, fit.coefficients[:, :-1], own_error, may_be_level=False) for fit in fits]
    unsure = law.doubt or next(filter(None, (large.doubt for large in larges)), "")
    bounds = UNKNOWN[1:] if unsure else (min(it.limit.low for it in larges), max(it.limit.high for it in larges))
    large = larges[0]._replace(limit=Interval(larges[0].limit.value, *bounds), doubt=unsure)
    return JointLimit(dict(zip(map(int, sizes), found, strict=True)), amplitude, law, large)


def _to_theory(theory: float, points: Array) -> EndsAtTheory:
    (fit, dof), (shared, _) = (_fits("rival", points, rows - theory) for rows in _drawn(points))
    amplitudes = dict(zip(map(int, np.unique(points[:, 0])), fit.coefficients[0].tolist(), strict=True))
    return EndsAtTheory(theory, amplitudes, _law([fit, shared], points[:, 1], dof))


def _fits(law: str, points: Array, rows: Array) -> tuple[PowerFits, int]:
    """The best fit of a law to each row of values at these sizes and rates: levels, then amplitudes; its dof."""
    n, tau, _, spread = points.T
    each, every = 1.0 * (n[:, None] == np.unique(n)), np.ones((n.size, 1))
    levels, amplitudes = {"levels": (each, every), "rival": (each[:, :0], each), "common": (every, each)}[law]
    designs = np.stack([np.hstack([levels, amplitudes * (tau**-e)[:, None]]) for e in EXPONENTS])
    return best_powers(designs, rows, spread, EXPONENTS), n.size - designs.shape[2] - 1


def _drawn(points: Array) -> list[Array]:
    """The values, first, and replicates, by errors of two kinds: intervals hold those of either.

    Errors of one size may be independent, or, since its rates share instances, all the same.
    """
    n, _, values, spread = points.T
    sizes, place = np.unique(n, return_inverse=True)
    apart = with_replicates(values, spread)
    shared = np.random.default_rng(0).standard_normal((len(apart), sizes.size))[:, place]
    return [apart, np.vstack([values, (values + spread * shared)[1:]])]


def _law(fits: Sequence[PowerFits], tau: Array, dof: int) -> RateLaw:
    exponent, chi2 = float(fits[0].exponents[0]), float(fits[0].chi2[0])
    ends = _widest(fit.exponents[1:] for fit in fits)
    return RateLaw(
        Interval(exponent, *ends), chi2, dof, fit_doubt(chi2, dof, EXPONENTS, np.array(ends), "tau"), float(tau.min())
    )


def _widest(samples: Iterable[Array]) -> tuple[float, float]:
    """The outer ends of several 95 % intervals."""
    ends = np.array([np.percentile(sample, ENDS) for sample in samples])
    return float(ends[:, 0].min()), float(ends[:, 1].max())

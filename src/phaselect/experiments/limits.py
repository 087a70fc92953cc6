"""The ratio alpha at which half of the instances are recovered, with its interval, and its limit for large N."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import boxcox, expit

from phaselect.base.errors import InputError
from phaselect.base.tables import Columns, Table, stack
from phaselect.experiments.fits import REPLICATES, bad_fit, fit_doubt, misfit, power_fits, with_replicates
from phaselect.experiments.grid import CURVE
from phaselect.experiments.success import CONFIDENCE, STANDARD_ERRORS, Array, curves, finished, succeeded, wilson

BAYES_OPTIMAL = 1.128
"""Published threshold of Bayes-optimal message passing, where the anneal at mu*lam = 1 begins to work."""
ENDS = [50 * (1 - CONFIDENCE), 50 * (1 + CONFIDENCE)]
FEWEST = 10
"""Instances below which a bootstrap is not to be trusted."""
STEEPEST = 8.0
"""Slopes beyond this over the smallest spacing are held back: where a curve jumps, no slope is too steep."""
SKEWS = (-0.5, 0.0, 0.5, 1.0)
"""Powers of alpha - 1, 0 for its logarithm, on which success is regressed: most curves level off slowly."""
EXPONENTS = np.linspace(0.25, 2.0, 141)
"""The exponents c that the finite-size fit tries: wide around 1/2 to 1, so that an end is a sign of a wrong law."""


Midpoint = Callable[[Array, Array, Array], Array]
"""From places, and rows of hits and trials there, to where each row crosses one half."""


class Interval(NamedTuple):
    """An estimate with the bounds of its 95 % interval; nan with bounds where only these are known."""

    value: float
    low: float
    high: float

    @property
    def standard_error(self) -> float:
        """That of a normal law with this interval, and not less than the digits that are given."""
        return max((self.high - self.low) / (2 * STANDARD_ERRORS), 1e-4)

    def __str__(self) -> str:
        if math.isfinite(self.value):
            return f"{self.value:z.3f} [{self.low:z.3f}, " + ("∞)" if math.isinf(self.high) else f"{self.high:z.3f}]")
        if math.isnan(self.low) or (self.low <= 1.0 and math.isinf(self.high)):
            return "unknown"
        return f"above {self.low:.5g}" if math.isinf(self.high) else f"below {self.high:.5g}"


class Alpha50(NamedTuple):
    """alpha_50 of a curve and the number of instances."""

    interval: Interval
    instances: int


class Limit(NamedTuple):
    """The fit alpha_50(N) = limit + amplitude N^-exponent; doubt: why it says nothing of the limit, "" if it does.

    Amplitude and exponent are zero where no trend with N is seen.
    """

    limit: Interval
    amplitude: float
    exponent: float
    chi2: float
    dof: int
    doubt: str

    def __str__(self) -> str:
        if self.doubt:
            return f"none: {self.doubt}"
        return f"{self.limit}, {'' if self.amplitude else 'no trend with N, '}{misfit(self.chi2, self.dof)}"


def intervals(rows: Table) -> list[Interval]:
    """Of each row of a table that has them."""
    return [Interval(*numbers) for numbers in zip(*(rows[name].tolist() for name in Interval._fields), strict=True)]


def limit_of(rows: Table) -> Limit:
    """The fit that the first of these rows has."""
    return Limit(intervals(rows)[0], *(rows[name][0].item() for name in NO_FIT))


UNKNOWN = Interval(math.nan, math.nan, math.nan)
ENOUGH_SIZES = 4
"""For a limit to be trusted: the fit has three parameters."""
BOUNDS = ("alpha_50", "low", "high")
NO_FIT = {"amplitude": math.nan, "exponent": math.nan, "chi2": math.nan, "dof": 0, "doubt": ""}


def alpha_50(rows: Table, least: float = 1.0) -> Alpha50:
    """The alpha at which half of the runs of one curve succeed, by logistic regression of success on a power of alpha.

    Of alpha - least, that is, where nothing can succeed: the one of `SKEWS` that fits best. The interval is a bootstrap
    over instances: seeds are drawn with replacement, each with its runs at all alphas. Where that says little (fewer
    than ten instances, or none to all within two steps of alpha) it extends to the alphas beyond which Wilson's
    intervals exclude one half. A curve that stays below (above) one half, or crosses it beyond the alphas tried, has
    value nan and an interval that is open above (below).
    """
    above = rows.take(rows["alpha"] > least)
    found = half_point(above, lambda runs: runs["alpha"], partial(skewed_midpoint, least=least), least)
    return found._replace(interval=_seen(found.interval, finished(above)["alpha"], least))


def half_point(rows: Table, of: Callable[[Table], Array], midpoint: Midpoint, least: float = -math.inf) -> Alpha50:
    """Where half of the runs succeed, against any number `of` them with which success grows, from `least` on."""
    runs = finished(rows)
    if len(runs) == 0:
        return Alpha50(UNKNOWN, 0)
    places, column = np.unique(of(runs), return_inverse=True)
    seeds, line = np.unique(runs["seed"], return_inverse=True)
    hits, trials = tallied(runs, line, column)
    # scipy.stats.bootstrap refuses a single instance, and has nan for percentiles where some midpoints are infinite
    draws = np.random.default_rng(0).multinomial(seeds.size, np.full(seeds.size, 1 / seeds.size), REPLICATES)
    weights = np.vstack([np.ones(seeds.size), draws])
    middles = midpoint(places, weights @ hits, weights @ trials)
    total, count = hits.sum(axis=0), trials.sum(axis=0)
    return Alpha50(_interval(places, total, count, middles, seeds.size, least), int(seeds.size))


def alpha_50_of_shares(shares: Table, least: float = 1.0) -> Interval:
    """The same from counts alone, by a bootstrap that draws them anew: instances of two alphas are independent."""
    alphas, hits, trials = shares["alpha"], 1.0 * shares["successes"], 1.0 * shares["trials"]
    order = np.argsort(alphas)
    order = order[(trials[order] > 0) & (alphas[order] > least)]
    if order.size == 0:
        return UNKNOWN
    alphas, hits, trials = alphas[order], hits[order], trials[order]
    draws = np.random.default_rng(0).binomial(trials.astype(int), hits / trials, (REPLICATES, alphas.size))
    counts = np.vstack([hits, draws])
    middles = skewed_midpoint(alphas, counts, np.broadcast_to(trials, counts.shape), least)
    return _seen(_interval(alphas, hits, trials, middles, int(np.median(trials)), least), alphas, least)


def _seen(found: Interval, alphas: Array, least: float) -> Interval:
    """As it is, or only a bound where its value is beyond the alphas tried: the fit had to guess it."""
    if found.value > alphas.max(initial=-math.inf):
        return Interval(math.nan, found.low, math.inf)
    if found.value < alphas.min(initial=math.inf):
        return Interval(math.nan, least, found.high)
    return found


def tallied(runs: Table, line: NDArray[np.intp], column: NDArray[np.intp]) -> tuple[Array, Array]:
    """Successes and trials as two arrays, given where in them each run counts."""
    hits, trials = np.zeros((2, line.max() + 1, column.max() + 1))
    np.add.at(hits, (line, column), succeeded(runs))
    np.add.at(trials, (line, column), 1.0)
    return hits, trials


def _interval(places: Array, hits: Array, trials: Array, middles: Array, instances: int, least: float) -> Interval:
    """middles: that of the runs, first, and those of the bootstrap."""
    share, (low, high) = hits / trials, _bracket(places, hits, trials, least)
    value, replicates = middles[0], middles[1:]
    if share.max() < 0.5:
        return Interval(math.nan, low, math.inf)
    if share.min() > 0.5:
        return Interval(math.nan, least, high)
    if not math.isfinite(value):
        return Interval(math.nan, least, math.inf)
    drawn = replicates[~np.isnan(replicates)]
    ends = np.percentile(drawn, ENDS, method="nearest") if drawn.size else np.array([low, high])  # some are infinite
    if instances < FEWEST or np.sum((share > 0) & (share < 1)) < 2:
        ends = np.array([min(ends[0], low), max(ends[1], high)])
    low, high = max(float(ends[0]), least), float(ends[1])
    if low == least and math.isinf(high):
        return Interval(math.nan, least, math.inf)
    return Interval(float(value), min(low, float(value)), max(high, float(value)))


def _bracket(places: Array, hits: Array, trials: Array, least: float) -> tuple[float, float]:
    """The last place up to which every share is surely below one half, the first from which on all are above."""
    lower, upper = wilson(hits, trials)
    below = np.cumprod(upper < 0.5).astype(bool)
    above = np.cumprod((lower > 0.5)[::-1])[::-1].astype(bool)
    return float(places[below].max(initial=least)), float(places[above].min(initial=math.inf))


def skewed_midpoint(alphas: Array, hits: Array, trials: Array, least: float) -> Array:
    """Where curves that are logistic in a power of `alpha - least`, the one that fits each row best, cross one half."""
    fits = [_logistic_fits(boxcox(alphas - least, skew), hits, trials) for skew in SKEWS]
    middles = [least + _from_boxcox(middle, skew) for (middle, _), skew in zip(fits, SKEWS, strict=True)]
    best = np.argmax([likelihood for _, likelihood in fits], axis=0)
    return np.asarray(np.stack(middles)[best, np.arange(len(best))])


def _from_boxcox(x: Array, skew: float) -> Array:
    """0 or infinite beyond its ends, where scipy.special.inv_boxcox has nan."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.exp(x) if skew == 0 else np.maximum(1 + skew * x, 0.0) ** (1 / skew))


def logistic_midpoint(places: Array, hits: Array, trials: Array) -> Array:
    """Where fitted curves `1/(1 + exp(-(place - middle)/width))` cross one half, for each row of hits and trials."""
    return _logistic_fits(places, hits, trials)[0]


def _logistic_fits(places: Array, hits: Array, trials: Array) -> tuple[Array, Array]:
    """Those midpoints, and logarithms of the likelihood.

    The likelihood, with a weak prior on the slope that matters only where the data would have it infinite, is maximised
    on a grid of middles and widths, then by Newton's method from there. nan where success does not grow with the place;
    infinite where the middle lies far outside of the places measured. All rows at once: scipy.optimize takes one.
    """
    spacing = np.diff(places).min() if places.size > 1 else 1.0
    start, slope = _best_on_grid(places, hits, trials, spacing)
    x = (places - start[:, None]) / spacing
    a, b = np.zeros(len(hits)), slope
    for _ in range(50):
        p = expit(a[:, None] + b[:, None] * x)
        slack, weight = hits - trials * p, trials * p * (1 - p) + 1e-9
        along_a, along_b = slack.sum(axis=1), np.sum(slack * x, axis=1) - b / STEEPEST**2
        haa, hab, hbb = weight.sum(axis=1), np.sum(weight * x, axis=1), np.sum(weight * x**2, axis=1) + STEEPEST**-2
        step = np.stack([hbb * along_a - hab * along_b, haa * along_b - hab * along_a]) / (haa * hbb - hab**2)
        step *= np.minimum(1.0, 0.5 / np.maximum(np.abs(step).max(axis=0), 1e-300))  # no overshooting
        a, b = a + step[0], b + step[1]
        if np.abs(step).max() < 1e-10:
            break
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        middle = np.where(b > 0, start - spacing * a / b, math.nan)
    field, span = a[:, None] + b[:, None] * x, places[-1] - places[0]
    likelihood = -np.sum(hits * np.logaddexp(0, -field) + (trials - hits) * np.logaddexp(0, field), axis=1)
    far = np.where(middle > places[-1] + span, math.inf, np.where(middle < places[0] - span, -math.inf, middle))
    return far, likelihood


def _best_on_grid(places: Array, hits: Array, trials: Array, spacing: float) -> tuple[Array, Array]:
    """The best middle, and slope in units of the spacing, of a coarse grid for each row."""
    span = places[-1] - places[0] + spacing
    middles = np.linspace(places[0] - span, places[-1] + span, 121)
    slopes = spacing / np.geomspace(spacing / STEEPEST, span, 12)
    middle, slope = (grid.ravel() for grid in np.meshgrid(middles, slopes))
    field = slope[:, None] * (places - middle[:, None]) / spacing
    right, wrong = -np.logaddexp(0, -field), -np.logaddexp(0, field)
    likelihood = hits @ right.T + (trials - hits) @ wrong.T - slope**2 / (2 * STEEPEST**2)
    best = np.argmax(likelihood, axis=1)
    return middle[best], slope[best]


def alpha_50_table(rows: Table) -> Columns:
    """alpha_50 of every curve, with its interval, and its limit for large N of every family of curves (n = 0)."""
    thresholds = [_threshold_row(curve, own) for curve, own in curves(rows)]
    return stack([*thresholds, *limit_rows(thresholds)])


def _threshold_row(curve: dict[str, Any], rows: Table) -> dict[str, Any]:
    found = alpha_50(rows)
    counts = {"runs": len(finished(rows)), "instances": found.instances}
    return {"kind": "threshold"} | curve | dict(zip(BOUNDS, found.interval, strict=True)) | counts | NO_FIT


def limit_rows(thresholds: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """A row for each family of curves, those that differ in N only, if its thresholds can be fitted."""
    families: dict[str, list[dict[str, Any]]] = {}
    for row in thresholds:
        families.setdefault(repr([row[name] for name in CURVE if name != "n" and name in row]), []).append(row)
    for members in families.values():
        fit = large_n_limit([row["n"] for row in members], [Interval(*(row[it] for it in BOUNDS)) for row in members])
        if fit is not None:
            fitted = dict(zip(BOUNDS, fit.limit, strict=True)) | {name: getattr(fit, name) for name in NO_FIT}
            yield members[0] | {"kind": "limit", "n": 0, "runs": 0, "instances": 0} | fitted


def large_n_limit(sizes: Sequence[int], found: Sequence[Interval]) -> Limit | None:
    """Extrapolate alpha_50(N) = a + b N^-c to infinite N by weighted least squares; None for fewer than three sizes.

    Sizes without an alpha_50, or with an open interval, are left out. The 95 % interval is a bootstrap over the errors
    of the thresholds. A fit that is in doubt has none: no degree of freedom, a bad chi^2, or an exponent whose own
    interval reaches the end of the range, so that the range decides on the limit and not the data. Where not even the
    sign of b is sure, no trend is seen and no exponent needed: the limit is the mean of all sizes, four or more, if
    they are equal by chi^2, and its interval that of the fit with any exponent in the range. That no trend was seen,
    and smaller exponents, are not in it.
    """
    if len(sizes) != len(found):
        raise InputError("large_n_limit: give alpha_50 of each size")
    points = closed(found, sizes)
    if len(points) < 3:
        return None
    n, values, spread = points[np.argsort(points[:, 0])].T  # draws go by place
    return extrapolated(n, with_replicates(values, spread), spread)


def extrapolated(sizes: Array, values: Array, spread: Array, may_be_level: bool = True) -> Limit:
    """The fit a + b N^-c to the first row of values, which have these errors; the other rows tell how sure it is."""
    fits = power_fits(np.zeros(sizes.size, int), sizes, values, spread, EXPONENTS)
    (low, high), (least, most) = np.percentile(fits.coefficients[1:], ENDS, axis=0).T.tolist()
    if may_be_level and sizes.size >= ENOUGH_SIZES and least < 0 < most:
        a, b, c, dof = float(np.average(values[0], weights=spread**-2)), 0.0, 0.0, sizes.size - 1
        chi2 = float(np.sum(((values[0] - a) / spread) ** 2))
        low, high, doubt = min(low, a), max(high, a), bad_fit(chi2, dof)
    else:
        (a, b), c, chi2 = fits.coefficients[0].tolist(), float(fits.exponents[0]), float(fits.chi2[0])
        dof = sizes.size - 3
        doubt = fit_doubt(chi2, dof, EXPONENTS, np.percentile(fits.exponents[1:], ENDS), "N")
    return Limit(UNKNOWN._replace(value=a) if doubt else Interval(a, low, high), b, c, chi2, dof, doubt)


def closed(found: Sequence[Interval], *places: Sequence[float]) -> Array:
    """A row for each interval that is closed: its places, its value and its standard error."""
    rows = [
        (*place, half.value, half.standard_error)
        for half, *place in zip(found, *places, strict=True)
        if all(map(math.isfinite, half))
    ]
    return np.array(rows, dtype=float).reshape(-1, len(places) + 2)


def decided(shares: Array, trials: Array) -> NDArray[np.bool_]:
    """Where both outcomes are expected: elsewhere trials are no degree of freedom, and one surprise outweighs all."""
    return np.asarray(trials * shares * (1 - shares) > 0.1)

"""The ratio alpha at which half of the instances are recovered, with its interval, and its limit for large N."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from phaselect.base.errors import InputError
from phaselect.base.tables import Columns, Table, stack
from phaselect.experiments.success import CONFIDENCE, Array, curves, finished, succeeded, wilson

BAYES_OPTIMAL = 1.128
"""Published threshold of Bayes-optimal message passing, where the anneal at mu*lam = 1 begins to work."""
REPLICATES = 1000
ENDS = [50 * (1 - CONFIDENCE), 50 * (1 + CONFIDENCE)]
FEWEST = 10
"""Instances below which a bootstrap is not to be trusted."""
STEEPEST = 8.0
"""Slopes beyond this over the spacing of alpha are held back: where a curve jumps, no slope is too steep."""
EXPONENTS = np.linspace(1 / 3, 1.5, 71)
"""The exponents c that the finite-size fit tries: fluctuations of order N^-1/2 and less."""


class Interval(NamedTuple):
    """An estimate with the bounds of its 95 % interval; nan with bounds where only these are known."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if math.isfinite(self.value):
            return f"{self.value:.3f} [{self.low:.3f}, " + ("∞)" if math.isinf(self.high) else f"{self.high:.3f}]")
        if math.isnan(self.low) or (self.low <= 1.0 and math.isinf(self.high)):
            return "unknown"
        return f"above {self.low:.3g}" if math.isinf(self.high) else f"below {self.high:.3g}"


class Alpha50(NamedTuple):
    """alpha_50 of a curve, what the bootstrap drew for it, and the number of instances."""

    interval: Interval
    replicates: Array
    instances: int


class Limit(NamedTuple):
    """The fit alpha_50(N) = limit + amplitude N^-exponent."""

    limit: Interval
    amplitude: float
    exponent: float


UNKNOWN = Interval(math.nan, math.nan, math.nan)


def alpha_50(rows: Table, *, seed: int = 0) -> Alpha50:
    """The alpha at which half of the runs of one curve succeed, by logistic regression of success on alpha.

    The interval is a bootstrap over instances: seeds are drawn with replacement, each with its runs at all alphas.
    Where that says little (fewer than ten instances, or none to all within two steps of alpha) it extends to the alphas
    beyond which Wilson's intervals exclude one half. A curve that stays below (above) one half has value nan and
    an interval that is open above (below).
    """
    runs = finished(rows)
    if len(runs) == 0:
        return Alpha50(UNKNOWN, np.full(REPLICATES, math.nan), 0)
    alphas, column = np.unique(runs["alpha"], return_inverse=True)
    seeds, line = np.unique(runs["seed"], return_inverse=True)
    trials, hits = np.zeros((2, seeds.size, alphas.size))
    np.add.at(trials, (line, column), 1.0)
    np.add.at(hits, (line, column), succeeded(runs))
    draws = np.random.default_rng(seed).multinomial(seeds.size, np.full(seeds.size, 1 / seeds.size), REPLICATES)
    replicates = logistic_midpoint(alphas, draws @ hits, draws @ trials)
    total, count = hits.sum(axis=0), trials.sum(axis=0)
    interval = _interval(alphas, total, count, replicates, seeds.size)
    return Alpha50(interval, replicates, int(seeds.size))


def _interval(alphas: Array, hits: Array, trials: Array, replicates: Array, instances: int) -> Interval:
    share, (low, high) = hits / trials, _bracket(alphas, hits, trials)
    (value,) = logistic_midpoint(alphas, hits[None], trials[None])
    if share.max() < 0.5:
        return Interval(math.nan, low, math.inf)
    if share.min() > 0.5:
        return Interval(math.nan, 1.0, high)
    if not math.isfinite(value):
        return Interval(math.nan, 1.0, math.inf)
    drawn = replicates[~np.isnan(replicates)]
    ends = np.percentile(drawn, ENDS, method="nearest") if drawn.size else np.array([low, high])  # some are infinite
    if instances < FEWEST or np.sum((share > 0) & (share < 1)) < 2:
        ends = np.array([min(ends[0], low), max(ends[1], high)])
    return Interval(float(value), min(float(ends[0]), float(value)), max(float(ends[1]), float(value)))


def _bracket(alphas: Array, hits: Array, trials: Array) -> tuple[float, float]:
    """The largest alpha up to which every share is surely below one half, the smallest from which on all are above."""
    lower, upper = wilson(hits, trials)
    below = np.cumprod(upper < 0.5).astype(bool)
    above = np.cumprod((lower > 0.5)[::-1])[::-1].astype(bool)
    return float(alphas[below].max(initial=1.0)), float(alphas[above].min(initial=math.inf))


def logistic_midpoint(alphas: Array, hits: Array, trials: Array) -> Array:
    """Where fitted curves `1/(1 + exp(-(alpha - middle)/width))` cross one half; a fit for each row of hits and trials.

    The likelihood, with a weak prior on the slope that matters only where the data would have it infinite, is maximised
    on a grid of middles and widths, then by Newton's method from there. nan where success does not grow with alpha;
    infinite where the middle lies far outside of the alphas measured.
    """
    spacing = np.diff(alphas).min() if alphas.size > 1 else 1.0
    start, slope = _best_on_grid(alphas, hits, trials, spacing)
    x = (alphas - start[:, None]) / spacing
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
    span = alphas[-1] - alphas[0]
    return np.where(middle > alphas[-1] + span, math.inf, np.where(middle < alphas[0] - span, -math.inf, middle))


def _best_on_grid(alphas: Array, hits: Array, trials: Array, spacing: float) -> tuple[Array, Array]:
    """The best middle, and slope in units of the spacing, of a coarse grid for each row."""
    span = alphas[-1] - alphas[0] + spacing
    middles = np.linspace(alphas[0] - span, alphas[-1] + span, 121)
    slopes = spacing / np.geomspace(spacing / STEEPEST, span, 12)
    middle, slope = (grid.ravel() for grid in np.meshgrid(middles, slopes))
    field = slope[:, None] * (alphas - middle[:, None]) / spacing
    right, wrong = -np.logaddexp(0, -field), -np.logaddexp(0, field)
    likelihood = hits @ right.T + (trials - hits) @ wrong.T - slope**2 / (2 * STEEPEST**2)
    best = np.argmax(likelihood, axis=1)
    return middle[best], slope[best]


def alpha_50_table(rows: Table) -> Columns:
    """alpha_50 of every curve, with its interval, and its limit for large N of every family of curves (n = 0)."""
    parts: list[dict[str, Any]] = []
    families: dict[str, list[tuple[dict[str, Any], Alpha50]]] = {}
    for curve, own in curves(rows):
        found = alpha_50(own)
        runs = len(finished(own))
        parts.append(_row("threshold", curve, found.interval) | {"runs": runs, "instances": found.instances})
        family = {name: value for name, value in curve.items() if name != "n"}
        families.setdefault(repr(family), []).append((curve, found))
    for members in families.values():
        fit = large_n_limit([int(curve["n"]) for curve, _ in members], [found for _, found in members])
        if math.isfinite(fit.limit.value):
            row = _row("limit", members[0][0] | {"n": 0}, fit.limit)
            parts.append(row | {"amplitude": fit.amplitude, "exponent": fit.exponent})
    return stack(parts)


def _row(kind: str, curve: dict[str, Any], interval: Interval) -> dict[str, Any]:
    nothing = {"runs": 0, "instances": 0, "amplitude": math.nan, "exponent": math.nan}
    return {"kind": kind} | curve | dict(zip(("alpha_50", "low", "high"), interval, strict=True)) | nothing


def large_n_limit(sizes: list[int], found: list[Alpha50]) -> Limit:
    """Extrapolate alpha_50(N) = a + b N^-c to infinite N; sizes without one or with few instances are left out.

    For each c of a grid a and b follow by weighted least squares; the best c is taken, for the estimate and for each
    bootstrap replicate of alpha_50. Three sizes do not determine c: it is then 1/2. nan for fewer.
    """
    if len(sizes) != len(found):
        raise InputError("large_n_limit: give alpha_50 of each size")
    good = [(n, it) for n, it in zip(sizes, found, strict=True) if _measured(it) and it.instances >= FEWEST // 2]
    if len(good) < 3:
        return Limit(UNKNOWN, math.nan, math.nan)
    n = np.array([size for size, _ in good], dtype=float)
    values = np.array([[it.interval.value for _, it in good]])
    replicates = np.stack([it.replicates for _, it in good], axis=1)
    replicates = replicates[np.isfinite(replicates).all(axis=1)]
    if len(replicates) < REPLICATES // 2:
        return Limit(UNKNOWN, math.nan, math.nan)
    half_widths = np.array([0.5 * (it.interval.high - it.interval.low) for _, it in good])
    spread = np.maximum(replicates.std(axis=0), np.maximum(half_widths / 1.96, 1e-4))
    exponents = EXPONENTS if len(good) > 3 else np.array([0.5])
    best, drawn = _fit(n, values, spread, exponents)[0], _fit(n, replicates, spread, exponents)
    low, high = np.percentile(drawn[:, 0], ENDS).tolist()
    return Limit(Interval(float(best[0]), low, high), float(best[1]), float(best[2]))


def _measured(found: Alpha50) -> bool:
    return all(math.isfinite(number) for number in found.interval)


def _fit(sizes: Array, values: Array, spread: Array, exponents: Array) -> Array:
    """a, b and c of the best fit to each row of values."""
    fits, misfits = [], []
    for c in exponents:
        design = np.stack([np.ones_like(sizes), sizes**-c], axis=1) / spread[:, None]
        solution = np.linalg.lstsq(design, (values / spread).T, rcond=None)[0]
        misfits.append(np.sum((design @ solution - (values / spread).T) ** 2, axis=0))
        fits.append(np.stack([*solution, np.full(len(values), c)], axis=1))
    best = np.argmin(misfits, axis=0)
    return np.asarray(np.stack(fits)[best, np.arange(len(values))])

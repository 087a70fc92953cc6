"""What the rows of a sweep say: success probabilities, the ratio at which half succeeds, its limit, time to solution.

A run succeeds if it ends at the signal: m > 0.99 and mse_y < 1e-6. Failed tasks (those that crashed) count as no run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import norm

from phaselect.errors import InputError
from phaselect.experiments.store import FAILED
from phaselect.tables import Columns, Table, stack

CURVE = ("solver", "n", "eps", "product", "replicas")
"""The columns that tell one success curve from another."""
REPLICATES = 1000
CONFIDENCE = 0.95
STEEPEST = 8.0
"""Slopes beyond this over the spacing of alpha are held back: where a curve jumps, no slope is too steep."""
EXPONENTS = np.linspace(1 / 3, 1.5, 71)
"""The exponents c that the finite-size fit tries: fluctuations of order N^-1/2 and less."""

Array = NDArray[np.float64]


class Interval(NamedTuple):
    """An estimate with the bounds of its 95 % interval."""

    value: float
    low: float
    high: float


class Threshold(NamedTuple):
    """alpha_50 of a curve, and what the bootstrap drew for it."""

    interval: Interval
    replicates: Array


class Limit(NamedTuple):
    """The fit alpha_50(N) = limit + amplitude N^-exponent."""

    limit: Interval
    amplitude: float
    exponent: Interval


def succeeded(rows: Table) -> NDArray[np.bool_]:
    """Which runs ended at the signal."""
    with np.errstate(invalid="ignore"):
        return np.asarray((rows["m"] > 0.99) & (rows["mse_y"] < 1e-6))


def finished(rows: Table) -> Table:
    """The rows that are runs, not crashes."""
    return rows.take(rows["status"] != FAILED)


def wilson(successes: Any, trials: Any) -> tuple[Array, Array]:
    """Wilson's 95 % interval of a proportion; (0, 1) without trials."""
    z = norm.ppf(0.5 + CONFIDENCE / 2)
    k, n = np.broadcast_arrays(np.asarray(successes, dtype=float), np.asarray(trials, dtype=float))
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = (k + z**2 / 2) / (n + z**2)
        half = z * np.sqrt(k * (n - k) / n + z**2 / 4) / (n + z**2)
    low, high = np.where(n > 0, centre - half, 0.0), np.where(n > 0, centre + half, 1.0)
    return np.where(k == 0, 0.0, low), np.where(k == n, 1.0, high)


def curves(rows: Table) -> Iterator[tuple[dict[str, Any], Table]]:
    """The rows of each success curve, with the parameters that define it."""
    keys = list(zip(*(rows[name].tolist() for name in CURVE), strict=True))
    texts = np.array([repr(key) for key in keys])
    for text in dict.fromkeys(texts.tolist()):
        chosen = np.flatnonzero(texts == text)
        yield dict(zip(CURVE, keys[chosen[0]], strict=True)), rows.take(chosen)


def success_table(rows: Table) -> Columns:
    """For each curve and alpha: runs, crashes, successes, their share with its interval, and the time to solution."""
    parts = []
    for curve, own in curves(rows):
        for alpha in sorted(own.values("alpha")):
            every = own.where(alpha=alpha)
            runs = finished(every)
            hits, trials = int(np.sum(succeeded(runs))), len(runs)
            low, high = wilson(hits, trials)
            seconds = float(np.mean(runs["seconds"])) if trials else math.nan
            share = hits / trials if trials else math.nan
            parts.append(
                curve
                | {"alpha": alpha, "trials": trials, "crashed": len(every) - trials, "successes": hits}
                | {"p": share, "p_low": float(low), "p_high": float(high), "seconds": seconds}
                | {"tts_50": time_to_solution(share, seconds, 0.5), "tts_99": time_to_solution(share, seconds, 0.99)}
            )
    return stack(parts)


def time_to_solution(share: float, seconds: float, certainty: float) -> float:
    """Seconds of independent runs, one after the other, until one has succeeded with this certainty.

    `seconds * log(1 - certainty) / log(1 - share)`, one run at least; infinite where none succeeded.
    """
    if not share > 0:
        return math.inf if share == 0 else math.nan
    return seconds * max(1.0, math.log1p(-certainty) / math.log1p(-share)) if share < 1 else seconds


def alpha_50(rows: Table, *, seed: int = 0) -> Threshold:
    """The alpha at which half of the runs of one curve succeed, by logistic regression of success on alpha.

    The interval is a bootstrap over instances: seeds are drawn with replacement, each with its runs at all alphas.
    Where the curve jumps from none to all between two alphas, it is the gap between them. A curve that stays below
    (above) one half has value nan and an interval that is open above (below).
    """
    runs = finished(rows)
    if len(runs) == 0:
        return Threshold(Interval(math.nan, 1.0, math.inf), np.full(REPLICATES, math.nan))
    alphas, column = np.unique(runs["alpha"], return_inverse=True)
    seeds, line = np.unique(runs["seed"], return_inverse=True)
    trials, hits = np.zeros((2, seeds.size, alphas.size))
    np.add.at(trials, (line, column), 1.0)
    np.add.at(hits, (line, column), succeeded(runs))
    draws = np.random.default_rng(seed).multinomial(seeds.size, np.full(seeds.size, 1 / seeds.size), REPLICATES)
    replicates = logistic_midpoint(alphas, draws @ hits, draws @ trials)
    share = hits.sum(axis=0) / trials.sum(axis=0)
    if share.max() < 0.5:
        return Threshold(Interval(math.nan, float(alphas[-1]), math.inf), replicates)
    if share.min() > 0.5:
        return Threshold(Interval(math.nan, 1.0, float(alphas[0])), replicates)
    value = float(logistic_midpoint(alphas, hits.sum(axis=0)[None], trials.sum(axis=0)[None])[0])
    if not np.any((share > 0) & (share < 1)):
        low, high = float(alphas[share == 0].max()), float(alphas[share == 1].min())
    else:
        ends = [50 * (1 - CONFIDENCE), 50 * (1 + CONFIDENCE)]
        low, high = np.nanpercentile(replicates, ends, method="nearest").tolist()  # some may be infinite
    return Threshold(Interval(value, low, high), replicates)


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


def thresholds(rows: Table) -> Columns:
    """alpha_50 of every curve, with its interval."""
    parts = []
    for curve, own in curves(rows):
        value, low, high = alpha_50(own).interval
        runs = finished(own)
        each = len(runs) / max(1, len(np.unique(runs["alpha"])))
        parts.append(curve | {"alpha_50": value, "low": low, "high": high, "runs": len(runs), "runs_each": each})
    return stack(parts)


def large_n_limit(sizes: list[int], found: list[Threshold]) -> Limit:
    """Extrapolate alpha_50(N) = a + b N^-c to infinite N, for three sizes or more.

    For each c of a grid a and b follow by weighted least squares; the best c is taken, for the estimate and for each
    bootstrap replicate of the thresholds.
    """
    if len(sizes) < 3 or len(sizes) != len(found):
        raise InputError("the limit of large N needs a threshold at three sizes or more")
    values = np.array([[threshold.interval.value for threshold in found]])
    replicates = np.stack([threshold.replicates for threshold in found], axis=1)
    usable = replicates[np.isfinite(replicates).all(axis=1)]
    if not np.isfinite(values).all() or len(usable) < REPLICATES // 2:
        nothing = Interval(math.nan, math.nan, math.nan)
        return Limit(nothing, math.nan, nothing)
    spread = np.maximum(usable.std(axis=0), 1e-4)
    best = _fit(np.array(sizes, dtype=float), values, spread)[0]
    drawn = _fit(np.array(sizes, dtype=float), usable, spread)
    bounds = np.percentile(drawn, [50 * (1 - CONFIDENCE), 50 * (1 + CONFIDENCE)], axis=0)
    limit, exponent = (Interval(float(best[i]), float(bounds[0, i]), float(bounds[1, i])) for i in (0, 2))
    return Limit(limit, float(best[1]), exponent)


def _fit(sizes: Array, values: Array, spread: Array) -> Array:
    """a, b and c of the best fit to each row of values."""
    fits, misfits = [], []
    for c in EXPONENTS:
        design = np.stack([np.ones_like(sizes), sizes**-c], axis=1) / spread[:, None]
        solution = np.linalg.lstsq(design, (values / spread).T, rcond=None)[0]
        misfits.append(np.sum((design @ solution - (values / spread).T) ** 2, axis=0))
        fits.append(np.stack([*solution, np.full(len(values), c)], axis=1))
    best = np.argmin(misfits, axis=0)
    return np.asarray(np.stack(fits)[best, np.arange(len(values))])

"""Copies that population annealing needs for half of the instances, and how that number grows with N.

Success grows slowly with the number of copies, two or more: its odds are a power of `log2(copies)` over what half of
the instances need. (A step in log2(copies) itself does not fit: twice the logarithm helps less and less.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial.polynomial import polyfit, polyval
from scipy.special import expit, rel_entr

from phaselect.base.tables import Table
from phaselect.experiments.limits import (
    ENDS,
    FEWEST,
    NO_FIT,
    REPLICATES,
    STEEPEST,
    UNKNOWN,
    Interval,
    bad_fit,
    closed,
    half_point,
    logistic_midpoint,
    tallied,
    with_replicates,
)
from phaselect.experiments.success import Array, finished

LAWS: dict[str, Callable[[Array], Array]] = {"exponential": lambda n: n, "power": np.log2}
"""What the logarithm of the number of copies is linear in."""
PARAMETERS, FEWEST_SIZES = 4, 3
"""Of a fit; a line through two sizes is no law."""
FEWEST_POWERS = 0.1
"""log2 of copies that a law may come down to."""


class Growth(NamedTuple):
    """The fit `log2(copies) = offset + rate * N`, or `log2(N)`; doubt: why it says nothing, "" if it does."""

    rate: Interval
    offset: float
    chi2: float
    dof: int
    doubt: str


class Vanishing(NamedTuple):
    """Where a line through the rates at several alpha reaches zero."""

    alpha: Interval
    chi2: float
    dof: int
    doubt: str


class Cells(NamedTuple):
    """Successes and trials by instance, a line, and by size and number of copies, a column."""

    n: Array
    log2_copies: Array
    hits: Array
    trials: Array


def copies_50(rows: Table) -> Interval:
    """log2 of the copies with which half of the runs succeed, at one N and alpha."""
    found = half_point(rows, lambda runs: np.log2(np.log2(runs["replicas"])), logistic_midpoint).interval
    return Interval(*np.exp2(found).tolist())


def growth(rows: Table) -> tuple[dict[str, Growth], Interval] | None:
    """By each law, from all runs at one alpha, and by how much the deviance of the power exceeds the exponential's.

    The odds of success are a power of log2(copies) over the law, one that is itself a power of N, fitted by maximum
    likelihood: sizes that no population solves, or every one, count for what they say. chi2 is the deviance
    from shares that are free at every size and number of copies; the intervals are a bootstrap over instances. None
    for one size, or where success does not vary.
    """
    cells = _cells(finished(rows))
    sizes, instances = np.unique(cells.n[np.argmax(cells.trials, axis=1)], return_counts=True)
    if sizes.size < 2 or not 0 < cells.hits.sum() < cells.trials.sum():
        return None
    drawn = np.random.default_rng(0).standard_exponential((REPLICATES, len(cells.hits)))
    weights = np.vstack([np.ones(len(cells.hits)), drawn])
    dof = cells.n.size - PARAMETERS if sizes.size >= FEWEST_SIZES else 0
    few = "" if instances.min() >= FEWEST else f"fewer than {FEWEST} instances"
    fits = {law: _steps(of(cells.n), cells, weights) for law, of in LAWS.items()}
    found = {
        law: Growth(_estimate(rates), float(offsets[0]), float(chi2[0]), dof, bad_fit(float(chi2[0]), dof) or few)
        for law, (offsets, rates, chi2) in fits.items()
    }
    return found, _estimate(fits["power"][2] - fits["exponential"][2])


def _estimate(fits: Array) -> Interval:
    """Of the runs, first, with what the bootstrap says."""
    return Interval(float(fits[0]), *np.percentile(fits[1:], ENDS).tolist())


def _cells(runs: Table) -> Cells:
    copies = np.log2(runs["replicas"])
    places, column = np.unique(np.column_stack([runs["n"], copies]), axis=0, return_inverse=True)
    _, line = np.unique(np.column_stack([runs["n"], runs["seed"]]), axis=0, return_inverse=True)
    return Cells(places[:, 0], places[:, 1], *tallied(runs, line, column))


def _steps(x: Array, cells: Cells, weights: Array) -> tuple[Array, Array, Array]:
    """Offsets and rates of `log2(copies) = offset + rate * x`, and deviances, for each row of weights of the instances.

    Fisher's scoring, with a weak prior that matters only where the data would have a step infinite. All rows at once:
    scipy.optimize takes one.
    """
    hits, trials, y = weights @ cells.hits, weights @ cells.trials, cells.log2_copies
    centre, unit = x.mean(), x.std()
    place, size = (x - centre) / unit, np.log(cells.n / cells.n.mean())
    start = np.array([y.mean(), 0.0, 0.7, 0.0])  # odds that grow like the square of log2(copies)
    prior = np.diag([(STEEPEST * y.max()) ** -2, (STEEPEST * y.max()) ** -2, 1.0, 1.0])
    fits = np.tile(start, (len(weights), 1))
    for _ in range(100):
        pull, field = _step(fits, place, size, y)
        share = expit(field)
        along = np.stack([-pull, -pull * place, field, field * size], axis=2)
        uphill = np.einsum("rc,rci->ri", hits - trials * share, along) - (fits - start) @ prior
        curvature = np.swapaxes(along * (trials * share * (1 - share))[..., None], 1, 2) @ along + prior
        step = np.linalg.solve(curvature, uphill[..., None])[..., 0]
        step *= np.minimum(1.0, 1.0 / np.maximum(np.abs(step).max(axis=1, keepdims=True), 1e-300))  # no overshooting
        fits += step
        if np.abs(step).max() < 1e-6:
            break
    share, rates = expit(_step(fits, place, size, y)[1]), fits[:, 1] / unit
    deviances = 2 * np.sum(rel_entr(hits, trials * share) + rel_entr(trials - hits, trials * (1 - share)), axis=1)
    return fits[:, 0] - rates * centre, rates, deviances


def _step(fits: Array, place: Array, size: Array, y: Array) -> tuple[Array, Array]:
    """How much the logarithm of the odds falls with every power of 2 more that half of them need; that logarithm."""
    level, rate, slope, power = (column[:, None] for column in fits.T)
    slopes, half = np.exp(slope + power * size), np.maximum(level + rate * place, FEWEST_POWERS)
    return slopes / half, slopes * np.log(y / half)


def vanishing(alphas: Sequence[float], rates: Sequence[Interval]) -> Vanishing | None:
    """Weighted least squares over the rates; None for fewer than two."""
    good = closed(rates, alphas)
    if len(good) < 2:
        return None
    alpha, values, spread = good.T
    centre = alpha.mean()
    (levels, slopes), chi2 = _lines(alpha - centre, values, spread)
    dof = alpha.size - 2
    if np.percentile(slopes, ENDS[1]) >= 0:
        return Vanishing(UNKNOWN, chi2, dof, bad_fit(chi2, dof) or "no decrease")
    zeros, doubt = centre - levels / slopes, bad_fit(chi2, dof)
    return Vanishing(UNKNOWN if doubt else _estimate(zeros), chi2, dof, doubt)


def hard_phase_rows(rows: Table) -> Iterator[dict[str, Any]]:
    """Copies by N and alpha; of each alpha the growth with N by both laws, and by how much the exponential is better.

    At last, where its rate vanishes.
    """
    rates = []
    for alpha in sorted(rows.values("alpha")):
        own = rows.where(alpha=alpha)
        for n in sorted(own.values("n")):
            here = own.where(n=n)
            instances = len(np.unique(here["seed"]))
            yield _row("copies", n=n, alpha=alpha, instances=instances, value=copies_50(here))
        found = growth(own)
        if found is None:
            continue
        laws, gain = found
        for law, fit in laws.items():
            own_fit = {"amplitude": fit.offset, "chi2": fit.chi2, "dof": fit.dof, "doubt": fit.doubt}
            yield _row(law, alpha=alpha, value=fit.rate) | own_fit
        yield _row("gain", alpha=alpha, value=gain)
        rates += [] if laws["exponential"].doubt else [(alpha, laws["exponential"].rate)]
    end = vanishing(*zip(*rates, strict=True)) if rates else None
    if end is not None:
        yield _row("vanishing", value=end.alpha) | {"chi2": end.chi2, "dof": end.dof, "doubt": end.doubt}


def _row(kind: str, *, value: Interval, n: int = 0, alpha: float = math.nan, instances: int = 0) -> dict[str, Any]:
    bounds = dict(zip(("value", "low", "high"), value, strict=True))
    return {"kind": kind, "n": n, "alpha": alpha, "instances": instances} | bounds | NO_FIT


def _lines(x: Array, values: Array, spread: Array) -> tuple[Array, float]:
    """Offsets and slopes of the best line, first, and of lines through values drawn anew; chi^2 of the best."""
    lines = np.asarray(polyfit(x, with_replicates(values, spread).T, 1, w=1 / spread), dtype=np.float64)
    return lines, float(np.sum(((values - polyval(x, lines[:, 0])) / spread) ** 2))

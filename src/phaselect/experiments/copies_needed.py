"""Copies that population annealing needs for half of the instances, and how that number grows with N.

Success grows slowly with the number of copies, two or more: its odds are a power of `log2(copies)` over what half of
the instances need. (A step in log2(copies) itself does not fit: twice the logarithm helps less and less.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, rel_entr

from phaselect.base.tables import Table
from phaselect.experiments.fits import REPLICATES, bad_fit
from phaselect.experiments.limits import (
    BAYES_OPTIMAL,
    ENDS,
    FEWEST,
    NO_FIT,
    STEEPEST,
    UNKNOWN,
    Interval,
    decided,
    half_point,
    logistic_midpoint,
    tallied,
)
from phaselect.experiments.success import Array, finished
from phaselect.experiments.vanishing import Vanishing, vanishing

LAWS: dict[str, Callable[[Array], Array]] = {"exponential": lambda n: n, "power": np.log2}
"""What the logarithm of the number of copies is linear in."""
PARAMETERS = 4
"""Of a fit: level, rate, slope of the odds, and how that goes with N."""
FEWEST_SIZES = 3
"""A line through two is no law."""
FEW = f"fewer than {FEWEST} instances"
FEWEST_POWERS = 0.1
"""log2 of copies that a law may come down to."""


class Growth(NamedTuple):
    """The fit `log2(copies) = offset + rate * N`, or `log2(N)`; doubt: why it says nothing, "" if it does.

    chi2 and dof: as `_as_chi2` has them.
    """

    rate: Interval
    offset: float
    chi2: float
    dof: int
    doubt: str


class Fit(NamedTuple):
    """How a law fits at all alphas; doubt: why it does not, "" if it does."""

    chi2: float
    dof: int
    doubt: str


class Growths(NamedTuple):
    """By alpha and law; by law, all alphas together; and by how much the deviance of the power then is the larger."""

    at: dict[float, dict[str, Growth]]
    together: dict[str, Fit]
    gain: Interval


class Steps(NamedTuple):
    """Offsets and rates of `log2(copies) = offset + rate * x`, and deviances: of the runs, first, and replicates.

    unexplained: what the runs' own fit leaves, by instance, a line, and by size and number of copies where both
    outcomes are expected, in units of the standard error there, and without what other parameters would take up.
    """

    offset: Array
    rate: Array
    deviance: Array
    unexplained: Array


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


def growths(rows: Table) -> Growths:
    """By each law, from all runs at each alpha, and at all of them together.

    The odds of success are a power of log2(copies) over the law, one that is itself a power of N, fitted by maximum
    likelihood: sizes that no population solves, or every one, count for what they say. chi2 is the deviance
    from shares that are free at every size and number of copies, held against its own law; the intervals are a
    bootstrap over instances. An alpha with one size, or where success does not vary, is left out. The more alphas, the
    less one bad chi2 says.
    """
    runs = finished(rows)
    _, instance = np.unique(np.column_stack([runs["n"], runs["seed"]]), axis=0, return_inverse=True)
    drawn = np.random.default_rng(0).standard_exponential((REPLICATES, instance.max(initial=-1) + 1))
    own: dict[float, Cells] = {}
    fits: dict[float, dict[str, Steps]] = {}
    for alpha in sorted(runs.values("alpha")):
        here = runs["alpha"] == alpha
        cells = _cells(runs.take(here))
        if np.unique(cells.n).size > 1 and 0 < cells.hits.sum() < cells.trials.sum():
            weights = np.vstack([np.ones(len(cells.hits)), drawn[:, np.unique(instance[here])]])
            fits[alpha] = {law: _steps(of(cells.n), cells, weights) for law, of in LAWS.items()}
            own[alpha] = cells
    at = {alpha: {law: _growth(own[alpha], fits[alpha][law], len(own)) for law in LAWS} for alpha in own}
    known = [alpha for alpha in own if np.unique(own[alpha].n).size >= FEWEST_SIZES]
    if not known:
        return Growths(at, {}, UNKNOWN)
    few = max(_few(own[alpha]) for alpha in known)
    together = {}
    lines = {alpha: np.unique(instance[runs["alpha"] == alpha]) for alpha in known}
    for law in LAWS:
        deviance = float(sum(fits[alpha][law].deviance[0] for alpha in known))
        left = np.hstack([_at_lines(lines[alpha], fits[alpha][law].unexplained, len(drawn[0])) for alpha in known])
        chi2, dof = _as_chi2(deviance, left, left.shape[1] - PARAMETERS * len(known))
        together[law] = Fit(chi2, dof, few or bad_fit(chi2, dof))
    excess = [fits[alpha]["power"].deviance - fits[alpha]["exponential"].deviance for alpha in known]
    return Growths(at, together, _estimate(np.sum(excess, axis=0)))


def _growth(cells: Cells, fit: Steps, among: int) -> Growth:
    """A law at one of so many alphas."""
    enough = np.unique(cells.n).size >= FEWEST_SIZES
    free = fit.unexplained.shape[1] - PARAMETERS if enough else 0
    chi2, dof = _as_chi2(float(fit.deviance[0]), fit.unexplained, free)
    doubt = _few(cells) or bad_fit(chi2, dof, among)
    return Growth(_estimate(fit.rate), float(fit.offset[0]), chi2, dof, doubt)


def _at_lines(lines: NDArray[np.intp], values: Array, count: int) -> Array:
    """These at some lines of so many, zero at the others."""
    spread = np.zeros((count, values.shape[1]))
    spread[lines] = values
    return spread


def _as_chi2(deviance: float, unexplained: Array, free: int) -> tuple[float, int]:
    """A deviance from so many free shares as one chi^2, with its degrees of freedom.

    Runs of one instance go together: the deviance is a sum of squares with unequal weights, taken for the chi^2 that
    has the same mean and variance (Rao and Scott; Satterthwaite). The weights are those of the instances that there
    are, which makes for few degrees of freedom: that allows for shares of few runs, whose deviance varies by more than
    a chi^2, and the right law is doubted as often as it should be.
    """
    if free < 1:
        return deviance, 0
    weights = unexplained.T @ unexplained
    total, squares = float(np.trace(weights)), float(np.sum(weights**2))
    dof = max(1, round(total**2 / squares)) if squares > 0 else free
    return deviance * dof / max(total, 1e-300), dof


def _few(cells: Cells) -> str:
    """Why a bootstrap over the instances is not to be trusted, "" if it is."""
    _, instances = np.unique(cells.n[np.argmax(cells.trials, axis=1)], return_counts=True)
    return "" if instances.min() >= FEWEST else FEW


def _estimate(fits: Array) -> Interval:
    """Of the runs, first, with what the bootstrap says."""
    return Interval(float(fits[0]), *np.percentile(fits[1:], ENDS).tolist())


def _cells(runs: Table) -> Cells:
    copies = np.log2(runs["replicas"])
    places, column = np.unique(np.column_stack([runs["n"], copies]), axis=0, return_inverse=True)
    _, line = np.unique(np.column_stack([runs["n"], runs["seed"]]), axis=0, return_inverse=True)
    return Cells(places[:, 0], places[:, 1], *tallied(runs, line, column))


def _steps(x: Array, cells: Cells, weights: Array) -> Steps:
    """The fit for each row of weights of the instances.

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
        along = _along(pull, field, place, size)
        uphill = np.einsum("rc,rci->ri", hits - trials * share, along) - (fits - start) @ prior
        curvature = np.swapaxes(along * (trials * share * (1 - share))[..., None], 1, 2) @ along + prior
        step = np.linalg.solve(curvature, uphill[..., None])[..., 0]
        step *= np.minimum(1.0, 1.0 / np.maximum(np.abs(step).max(axis=1, keepdims=True), 1e-300))  # no overshooting
        fits += step
        if np.abs(step).max() < 1e-6:
            break
    pull, field = _step(fits, place, size, y)
    share, rates = expit(field), fits[:, 1] / unit
    deviances = 2 * np.sum(rel_entr(hits, trials * share) + rel_entr(trials - hits, trials * (1 - share)), axis=1)
    unexplained = _unexplained(cells, share[0], _along(pull, field, place, size)[0])
    return Steps(fits[:, 0] - rates * centre, rates, deviances, unexplained)


def _along(pull: Array, field: Array, place: Array, size: Array) -> Array:
    """Derivatives of the field by each parameter."""
    return np.stack([-pull, -pull * place, field, field * size], axis=2)


def _unexplained(cells: Cells, share: Array, along: Array) -> Array:
    trials = cells.trials.sum(axis=0)
    free = decided(share, trials)
    errors = np.sqrt(trials * share * (1 - share))[free]
    left = (cells.hits - cells.trials * share)[:, free] / errors
    taken, _ = np.linalg.qr(along[free] * errors[:, None])
    return np.asarray(left - left @ taken @ taken.T)


def _step(fits: Array, place: Array, size: Array, y: Array) -> tuple[Array, Array]:
    """How much the logarithm of the odds falls with every power of 2 more that half of them need; that logarithm."""
    level, rate, slope, power = (column[:, None] for column in fits.T)
    slopes, free = np.exp(slope + power * size), level + rate * place
    half = np.maximum(free, FEWEST_POWERS)
    return np.where(free > FEWEST_POWERS, slopes / half, 0.0), slopes * np.log(y / half)


def hard_phase_rows(rows: Table) -> Iterator[dict[str, Any]]:
    """Copies by N and alpha; of each alpha the growth with N by both laws; how these fit at all alphas below threshold.

    By how much the exponential then fits better; at last, where its rate vanishes, by the laws of `vanishing`, with the
    alpha from which on each holds, its scale (amplitude) and its power (exponent).
    """
    for alpha in sorted(rows.values("alpha")):
        own = rows.where(alpha=alpha)
        for n in sorted(own.values("n")):
            here = own.where(n=n)
            instances = len(np.unique(finished(here)["seed"]))
            yield _row("copies", n=n, alpha=alpha, instances=instances, value=copies_50(here))
    found = growths(rows.take(rows["alpha"] < BAYES_OPTIMAL))
    for alpha, laws in found.at.items():
        for law, fit in laws.items():
            yield _row(law, alpha=alpha, value=fit.rate) | {"amplitude": fit.offset} | _fitted(fit)
    for law, whole in found.together.items():
        yield _row(f"{law} together", value=UNKNOWN) | _fitted(whole)
    if found.together:
        yield _row("gain", value=found.gain)
    good = {alpha: laws["exponential"].rate for alpha, laws in found.at.items() if not laws["exponential"].doubt}
    for end in vanishing(list(good), list(good.values())):
        numbers = {"amplitude": end.scale, "exponent": end.power}
        yield _row("vanishing", alpha=end.least, value=end.end) | _fitted(end) | numbers


def lattice_rows(rows: Table) -> Iterator[dict[str, Any]]:
    """Of each alpha the N at which lattices of one block recover half."""
    for alpha in sorted(rows.values("alpha")):
        own = finished(rows.where(alpha=alpha))
        if len(own):
            reach = _row("lattice", alpha=alpha, value=lattice_50(own), instances=len(own.values("seed")))
            yield reach | {"block": own["block"][0]}


def lattice_50(rows: Table) -> Interval:
    """N at which half of the runs succeed, fewer at more, at one alpha; beyond the N tried only a bound."""
    found = half_point(rows, lambda runs: -1.0 * runs["n"], logistic_midpoint).interval
    value, low, high = -found.value, max(-found.high, 0.0), -found.low
    if value > rows["n"].max() or math.isinf(high):
        return Interval(math.nan, low, math.inf)
    return Interval(value if value >= rows["n"].min() else math.nan, low, high)


def _fitted(fit: Growth | Fit | Vanishing) -> dict[str, Any]:
    return {"chi2": fit.chi2, "dof": fit.dof, "doubt": fit.doubt}


def _row(kind: str, *, value: Interval, n: int = 0, alpha: float = math.nan, instances: int = 0) -> dict[str, Any]:
    bounds = dict(zip(("value", "low", "high"), value, strict=True))
    return {"kind": kind, "n": n, "alpha": alpha, "instances": instances} | bounds | NO_FIT

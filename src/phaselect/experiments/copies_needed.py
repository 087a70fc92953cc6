"""Copies that population annealing needs for half of the instances, and how that number grows with N."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtrc

from phaselect.base.tables import Table
from phaselect.experiments.limits import ENDS, IMPROBABLE, NO_FIT, REPLICATES, Interval, half_point, misfit
from phaselect.experiments.success import Array

LAWS: dict[str, Callable[[Array], Array]] = {"exponential": lambda n: n, "power": np.log2}
"""What the logarithm of the number of copies is linear in."""


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


def copies_50(rows: Table) -> Interval:
    """log2 of the copies with which half of the runs succeed, at one N and alpha."""
    return half_point(rows, lambda runs: np.log2(runs["replicas"]), least=0.0).interval


def growth(sizes: Sequence[int], found: Sequence[Interval], law: str) -> Growth | None:
    """Weighted least squares over the sizes whose number is known; None for fewer than two."""
    good = _closed(sizes, found)
    if len(good) < 2:
        return None
    n, values, spread = good.T
    (offset, rate), chi2, ends = _line(LAWS[law](n), values, spread)
    return Growth(Interval(rate, *ends[:, 1]), offset, chi2, n.size - 2, _doubt(chi2, n.size - 2))


def vanishing(alphas: Sequence[float], rates: Sequence[Interval]) -> Vanishing | None:
    """Weighted least squares over the rates; None for fewer than two."""
    good = _closed(alphas, rates)
    if len(good) < 2:
        return None
    alpha, values, spread = good.T
    centre = alpha.mean()
    (level, slope), chi2, _ = _line(alpha - centre, values, spread)
    drawn = np.random.default_rng(0).normal(values, spread, (REPLICATES, alpha.size))
    levels, slopes = _least_squares(alpha - centre, np.vstack([values, drawn]), spread)
    zeros = centre - levels / slopes
    doubt = _doubt(chi2, alpha.size - 2) or ("" if slope < 0 and np.percentile(slopes, ENDS[1]) < 0 else "no decrease")
    bounds = (math.nan, math.nan) if doubt else np.percentile(zeros[1:], ENDS).tolist()
    return Vanishing(Interval(float(centre - level / slope), *bounds), chi2, alpha.size - 2, doubt)


def hard_phase_rows(rows: Table) -> Iterator[dict[str, Any]]:
    """Copies by N and alpha; of each alpha the growth with N by both laws; where the exponential rate vanishes."""
    rates = []
    for alpha in sorted(rows.values("alpha")):
        own = rows.where(alpha=alpha)
        sizes = sorted(own.values("n"))
        found = [copies_50(own.where(n=n)) for n in sizes]
        for n, half in zip(sizes, found, strict=True):
            instances = len(np.unique(own.where(n=n)["seed"]))
            yield _row("copies", n=n, alpha=alpha, instances=instances, value=half)
        for law in LAWS:
            fit = growth(sizes, found, law)
            if fit is not None:
                own_fit = {"amplitude": fit.offset, "chi2": fit.chi2, "dof": fit.dof, "doubt": fit.doubt}
                yield _row(law, alpha=alpha, value=fit.rate) | own_fit
                rates += [(alpha, fit.rate)] if law == "exponential" and not fit.doubt else []
    end = vanishing(*zip(*rates, strict=True)) if rates else None
    if end is not None:
        yield _row("vanishing", value=end.alpha) | {"chi2": end.chi2, "dof": end.dof, "doubt": end.doubt}


def _row(kind: str, *, value: Interval, n: int = 0, alpha: float = math.nan, instances: int = 0) -> dict[str, Any]:
    bounds = dict(zip(("value", "low", "high"), value, strict=True))
    return {"kind": kind, "n": n, "alpha": alpha, "instances": instances} | bounds | NO_FIT


def _closed(places: Sequence[float], found: Sequence[Interval]) -> Array:
    """Those whose interval is closed, with their standard errors."""
    pairs = zip(places, found, strict=True)
    good = [(place, half.value, half.standard_error) for place, half in pairs if all(map(math.isfinite, half))]
    return np.array(good, dtype=float).reshape(-1, 3)


def _line(x: Array, values: Array, spread: Array) -> tuple[list[float], float, Array]:
    """Offset and slope, chi^2, and the ends of the bootstrap intervals of the two."""
    drawn = np.random.default_rng(0).normal(values, spread, (REPLICATES, x.size))
    offsets, slopes = _least_squares(x, np.vstack([values, drawn]), spread)
    chi2 = float(np.sum(((values - offsets[0] - slopes[0] * x) / spread) ** 2))
    ends = np.percentile(np.column_stack([offsets, slopes])[1:], ENDS, axis=0)
    return [float(offsets[0]), float(slopes[0])], chi2, ends


def _least_squares(x: Array, values: Array, spread: Array) -> Array:
    design = np.column_stack([np.ones_like(x), x]) / spread[:, None]
    return np.asarray(np.linalg.pinv(design) @ (values / spread).T)


def _doubt(chi2: float, dof: int) -> str:
    if dof == 0:
        return "no degree of freedom left"
    return misfit(chi2, dof) if chdtrc(dof, chi2) < IMPROBABLE else ""

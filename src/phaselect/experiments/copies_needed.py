"""Copies that population annealing needs for half of the instances, and how that number grows with N."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from phaselect.base.tables import Table
from phaselect.experiments.limits import ENDS, NO_FIT, REPLICATES, Interval, bad_fit, half_point
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
    (offsets, rates), chi2 = _lines(LAWS[law](n), values, spread)
    ends = np.percentile(rates[1:], ENDS).tolist()
    return Growth(Interval(float(rates[0]), *ends), float(offsets[0]), chi2, n.size - 2, bad_fit(chi2, n.size - 2))


def vanishing(alphas: Sequence[float], rates: Sequence[Interval]) -> Vanishing | None:
    """Weighted least squares over the rates; None for fewer than two."""
    good = _closed(alphas, rates)
    if len(good) < 2:
        return None
    alpha, values, spread = good.T
    centre = alpha.mean()
    (levels, slopes), chi2 = _lines(alpha - centre, values, spread)
    zeros = centre - levels / slopes
    doubt = bad_fit(chi2, alpha.size - 2) or ("" if np.percentile(slopes, ENDS[1]) < 0 else "no decrease")
    bounds = (math.nan, math.nan) if doubt else np.percentile(zeros[1:], ENDS).tolist()
    return Vanishing(Interval(float(zeros[0]), *bounds), chi2, alpha.size - 2, doubt)


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


def _lines(x: Array, values: Array, spread: Array) -> tuple[Array, float]:
    """Offsets and slopes of the best line, first, and of lines through values drawn anew; chi^2 of the best."""
    drawn = np.random.default_rng(0).normal(values, spread, (REPLICATES, x.size))
    design = np.column_stack([np.ones_like(x), x]) / spread[:, None]
    lines = np.linalg.pinv(design) @ (np.vstack([values, drawn]) / spread).T
    return lines, float(np.sum((values / spread - design @ lines[:, 0]) ** 2))

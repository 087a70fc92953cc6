"""Weighted fits of power laws, their replicates, and whether they are to be trusted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from phaselect.experiments.success import Array

REPLICATES = 1000
IMPROBABLE = 0.05
"""A chi^2 that the right law would exceed less often than this is a bad one."""


class PowerFits(NamedTuple):
    """The best fit to each row of values: its coefficients, also a row, its exponent and its chi^2."""

    coefficients: Array
    exponents: Array
    chi2: Array


def power_fits(place: NDArray[np.intp], x: Array, values: Array, spread: Array, exponents: Array) -> PowerFits:
    """The best fit `a_place + b x^-c` to each row of values, a level for each place: coefficients a and b.

    At a given c the others are linear. By a grid, not by scipy.optimize.curve_fit, which makes one fit at a time: all
    thousand of an interval at once, and no minimum is only a local one.
    """
    levels = place[:, None] == np.arange(place.max() + 1)
    return best_powers(np.stack([np.column_stack([levels, x**-c]) for c in exponents]), values, spread, exponents)


def best_powers(designs: Array, values: Array, spread: Array, exponents: Array) -> PowerFits:
    """The best linear fit to each row of values by one of the designs, of which there is one for each exponent."""
    scaled, rows = (values / spread).T, np.arange(len(values))
    designs = designs / spread[:, None]
    directions, triangles = np.linalg.qr(designs)
    along = np.swapaxes(directions, 1, 2) @ scaled
    best = np.argmax(np.sum(along**2, axis=1), axis=0)  # what is explained: far fewer numbers than what is not
    coefficients = np.linalg.solve(triangles[best], along[best, :, rows][..., None])
    left = designs[best] @ coefficients - scaled.T[..., None]
    return PowerFits(coefficients[..., 0], exponents[best], np.sum(left[..., 0] ** 2, axis=1))


def with_replicates(values: Array, spread: Array) -> Array:
    """The values, first, and as many rows as a bootstrap has of values drawn anew within their errors."""
    return np.vstack([values, np.random.default_rng(0).normal(values, spread, (REPLICATES, values.size))])


def fit_doubt(chi2: float, dof: int, exponents: Array, ends: Array, of: str) -> str:
    """Why a fit says nothing of its limit, "" if it does; ends: of the interval of its exponent `of` some variable."""
    if bad := bad_fit(chi2, dof):
        return bad
    least, most = ends
    if least > exponents[0] and most < exponents[-1]:
        return ""
    found = f"{least:.2f} to {most:.2f}" if most > least else f"at the end, {least:.2f}, of the range tried"
    return f"exponent of {of} not determined, {found}"


class Judged(Protocol):
    """A fit that is known to be good or bad."""

    @property
    def fits(self) -> bool:
        """By chi^2."""


One = TypeVar("One", bound=Judged)


def first_good(fits: Iterable[One]) -> One | None:
    """The first one that is good, or the last one; none of none. No more are made than are looked at."""
    found = None
    for found in fits:
        if found.fits:
            break
    return found


def bad_fit(chi2: float, dof: int, among: int = 1) -> str:
    """Why a fit, one among so many of the same law, is not to be trusted, whatever that law is; "" if it may be."""
    if dof < 1:
        return "no degree of freedom left"
    return misfit(chi2, dof) if chdtrc(dof, chi2) < IMPROBABLE / among else ""


def misfit(chi2: float, dof: int) -> str:
    """In words."""
    return f"χ² = {chi2:.1f} for {dof} degree{'s' if dof > 1 else ''} of freedom"

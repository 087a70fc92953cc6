"""Mistakes that the data give away before anything is solved: intensities, clipped values, outliers. Hints, no errors.

Measurements over the norms of their rows, `u = y/|a|`, look half-normal wherever many entries of x have a part in each:
mean(u)^2/mean(u^2) = 2/pi. Intensities have 1/3 there, or less if rows are uneven, and their square roots look
half-normal.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.interface import Vector
from phaselect.problem.instance import Instance

BETWEEN, DISTANCE = 0.45, 1.3
"""The ratio below which y are no magnitudes; and a distance of two laws, times sqrt(M), that chance rarely exceeds."""
FEWEST = 50
"""Fewer measurements give nothing away."""
CLIPPED, AT_LEAST, REPEATED = 0.01, 3, 0.1
"""Share of the measurements, and number, from which on equal maxima are clipped, unless so many others repeat too."""
FEW, FAR, ORDINARY = 0.02, 8.0, 0.5
"""Share of the measurements that may be outliers, root mean squares of the others that these are beyond, and the ratio
that the others must have."""


def suspicions(problem: Instance) -> tuple[str, ...]:
    """What seems to be wrong with the data of an instance, a line each; in units in which squares fit into float64."""
    kept = np.arange(problem.m_rows) if problem.kept is None else np.flatnonzero(problem.kept)
    y, norms = problem.y[kept] / problem.y.max(), np.sqrt(problem.row_powers / problem.row_powers.max())
    if y.size < FEWEST:
        return ()
    found = _intensities(y, norms) or _outliers(y, norms, kept)
    return tuple(filter(None, (found, _clipped(problem.y[kept]))))


def _ratio(values: Vector) -> float:
    """mean(v)^2/mean(v^2)."""
    return float(np.mean(values) ** 2 / np.mean(values**2))


def _half_normal(values: Vector) -> bool:
    """Do they look like |z| for Gaussian z, by the test of Kolmogorov and Smirnov?"""
    from scipy.special import erf

    ordered = np.sort(values)
    law = erf(ordered / np.sqrt(2 * np.mean(ordered**2)))
    steps = np.arange(values.size + 1) / values.size
    return bool(max(np.max(steps[1:] - law), np.max(law - steps[:-1])) < DISTANCE / np.sqrt(values.size))


def _intensities(y: Vector, norms: Vector) -> str:
    """They look as intensities should, and do not as magnitudes should."""
    seen = _ratio(y / norms)
    if seen > BETWEEN or not _half_normal(np.sqrt(y) / norms):
        return ""
    return (
        f"y looks like intensities |A x|^2: mean(y)^2/mean(y^2) is {seen:.2f}, of magnitudes it would be 0.64; "
        "if so, give its square root"
    )


def _clipped(y: Vector) -> str:
    """Many are equal to the largest, and few others to each other."""
    values, counts = np.unique(y, return_counts=True)
    most = int(counts[-1])
    if most < max(AT_LEAST, CLIPPED * y.size) or np.sum(counts[:-1] > 1) > REPEATED * values.size:
        return ""
    return (
        f"{most} of {y.size} values of y equal the largest, {values[-1]:.4g}: "
        "they look clipped; if so, leave these measurements out"
    )


def _outliers(y: Vector, norms: Vector, places: NDArray[np.int64]) -> str:
    """A few are far beyond all others, which look as they should; not by noise on weak rows, which is small."""
    u, middle = y / norms, np.median(y)
    rest = np.sort(u)[: int((1 - FEW) * u.size)]
    far = (u > FAR * np.sqrt(np.mean(rest**2))) & (y > FAR / 2 * middle)
    if not far.any() or not rest.any() or _ratio(rest) < ORDINARY:
        return ""
    return (
        f"{far.sum()} of {u.size} values of y are far beyond the others, over the norms of their rows, "
        f"y[{places[np.argmax(u * far)]}] above all; if they are mistakes, leave these measurements out"
    )

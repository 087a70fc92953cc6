"""Mistakes that the data give away before anything is solved: intensities, clipped values, outliers. Hints, no errors.

Measurements over the norms of their rows, `u = y/|a|`, look half-normal wherever many entries of x have a part in each:
mean(u)^2/mean(u^2) = 2/pi. Intensities have 1/3 there, or less if rows are uneven, and their square roots look
half-normal. Where A is complex the law is that of Rayleigh, with pi/4, and 1/2 for intensities.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.interface import Vector
from phaselect.equations.fields import COMPLEX
from phaselect.problem.instance import Instance

USUAL, BETWEEN = {1: 2 / np.pi, 2: np.pi / 4}, {1: 0.45, 2: 0.62}
"""The ratio of magnitudes, and below which y are none; by the real numbers in a measurement."""
DISTANCE = 1.3
"""Of two laws, times sqrt(M), that chance rarely exceeds."""
FEWEST, MOST = 50, 200_000
"""Fewer measurements give nothing away; of more, about so many are looked at."""
CLIPPED, AT_LEAST, REPEATED = 0.01, 3, 0.1
"""Share of the measurements, and number, from which on equal maxima are clipped, unless so many others repeat too."""
SAME = 1e-9
"""Relative difference up to which measurements are the same."""
FEW, FAR, ORDINARY = 0.02, 8.0, 0.5
"""Share of the measurements that may be outliers, root mean squares of the others that these are beyond, and the ratio
that the others must have."""


def suspicions(problem: Instance) -> tuple[str, ...]:
    """What seems to be wrong with the data of an instance, a line each; in units in which squares fit into float64."""
    step = -(-problem.row_powers.size // MOST)
    kept = np.arange(0, problem.m_rows, step) if problem.kept is None else np.flatnonzero(problem.kept)[::step]
    powers = problem.row_powers[::step]
    y, norms = problem.y[kept] / problem.y[kept].max(), np.sqrt(powers / powers.max())
    if y.size < FEWEST:
        return ()
    found = _intensities(y, norms, problem.matrix.field.beta)
    if not problem.normalised.matrix.solves_directly:  # Fourier transforms have bright spots of their own
        found = found or _outliers(y, norms, kept)
    same = _all_the_same(y / norms)
    return tuple(filter(None, (same or found, "" if same else _clipped(problem.y[kept]), _complex_in_name(problem))))


def _all_the_same(u: Vector) -> str:
    """Such data have no direction in which to look for x."""
    if np.ptp(u) > SAME * u.max():
        return ""
    return (
        "all measurements are the same, over the norms of their rows: a single entry of x would leave that, any of "
        "them where entries of A have one magnitude; expected to fail, as nothing tells which"
    )


def _ratio(values: Vector) -> float:
    """mean(v)^2/mean(v^2)."""
    return float(np.mean(values) ** 2 / np.mean(values**2))


def _look_gaussian(values: Vector, beta: int) -> bool:
    """Do they look like |z| for Gaussian z, by the test of Kolmogorov and Smirnov?"""
    from scipy.special import gammainc

    ordered = np.sort(values)
    law = gammainc(beta / 2, beta / 2 * ordered**2 / np.mean(ordered**2))
    steps = np.arange(values.size + 1) / values.size
    return bool(max(np.max(steps[1:] - law), np.max(law - steps[:-1])) < DISTANCE / np.sqrt(values.size))


def _intensities(y: Vector, norms: Vector, beta: int) -> str:
    """They look as intensities should, and do not as magnitudes should."""
    seen = _ratio(y / norms)
    if seen > BETWEEN[beta] or not _look_gaussian(np.sqrt(y) / norms, beta):
        return ""
    return (
        f"y looks like intensities |A x|^2: mean(y)^2/mean(y^2) is {seen:.2f}, of magnitudes it would be "
        f"{USUAL[beta]:.2f}; "
        "if so, give its square root"
    )


def _complex_in_name(problem: Instance) -> str:
    """Is A an array of complex numbers that are all real?"""
    if problem.matrix.field != COMPLEX or not isinstance(problem.A, np.ndarray) or problem.A.imag.any():
        return ""
    return (
        "A is complex, and all of its imaginary parts are zero: x and its conjugate fit alike; give A.real if x is real"
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

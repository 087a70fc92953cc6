"""Where the rate at which copies grow with N vanishes: that depends on the power by which it does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from phaselect.experiments.fits import bad_fit, best_powers, first_good, with_replicates
from phaselect.experiments.limits import ENDS, UNKNOWN, Interval, closed
from phaselect.experiments.success import Array

POWERS = (1.0, 2.0, 3.0)
"""Of a law; from 1, a line, to one that hardly differs from an exponential, which has no end."""
FEWEST_RATES = 3
"""That a law keeps."""
REACH, STEP = 1.0, 5e-4
"""How far from the second smallest alpha ends are looked for, and how closely."""


class Vanishing(NamedTuple):
    """The law `scale (end - alpha)^power`, from the alpha `least` on; doubt: why it says nothing, "" if it does."""

    power: float
    end: Interval
    scale: float
    least: float
    chi2: float
    dof: int
    doubt: str

    @property
    def fits(self) -> bool:
        """By chi^2, whether or not an end is found."""
        return not bad_fit(self.chi2, self.dof)

    def at(self, alpha: Array) -> Array:
        """The rate by this law, zero beyond its end."""
        return np.asarray(self.scale * np.maximum(self.end.value - alpha, 0.0) ** self.power)


def vanishing(alphas: Sequence[float], rates: Sequence[Interval]) -> list[Vanishing]:
    """The law of each power, by weighted least squares over the rates; none for fewer than two.

    Where it does not fit, by chi^2, the smallest alphas are left out, one after the other, as long as three are left:
    the law is one near its end.
    """
    good = closed(rates, alphas)
    good = good[np.argsort(good[:, 0])]
    parts = [good[first:] for first in range(max(1, len(good) - FEWEST_RATES + 1))] if len(good) > 1 else []
    laws = (first_good(_law(part, power) for part in parts) for power in POWERS)
    return [law for law in laws if law is not None]


def _law(points: Array, power: float) -> Vanishing:
    """At a given end the law is linear: the best of a grid of ends, for the rates and for rates drawn anew."""
    alpha, values, spread = points.T
    ends = alpha[1] + np.arange(STEP, REACH, STEP)  # beyond two rates: through one all would go
    laws = np.maximum(ends[:, None] - alpha, 0.0) ** power
    fits = best_powers(laws[..., None], with_replicates(values, spread), spread, ends)
    low, high = np.percentile(fits.exponents[1:], ENDS).tolist()
    chi2, dof = float(fits.chi2[0]), alpha.size - 2
    falls = np.percentile(fits.coefficients[1:, 0], ENDS[0]) > 0
    far = f"no end up to alpha = {ends[-1]:.2f}" if high > ends[-2] else ""
    doubt = bad_fit(chi2, dof) or (far if falls else "no rates above zero")
    end = Interval(float(fits.exponents[0]), *(UNKNOWN[1:] if doubt else (low, high)))
    return Vanishing(power, end, float(fits.coefficients[0, 0]), float(alpha[0]), chi2, dof, doubt)

r"""What is known of x beforehand, as a value; and what each makes of x when it was believed to be r, to a variance v.

Power is the mean square of an entry, 1/Lam for the Gaussian prior. Every other one is a node of its own in vector
message passing: from r and v it makes the posterior mean and variance of each entry.

    Gaussian      x = r/(1 + Lam v)
    Sparse        zero but for a share, the density rho; Gaussian of variance power/rho there
    Nonnegative   |g|, g Gaussian of variance power
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from phaselect.base.checks import is_number, shortened
from phaselect.base.errors import InputError
from phaselect.equations.arrays import Array, namespace, special

UNKNOWN, LIKELY = 0.1, (0.02, 0.5)
"""Density that is tried first where it is not known, and between which others are tried after it."""
DENSITIES = 1e-6, 1 - 1e-6
"""Between which a density stays."""
KNOWN = 10.0
"""Power over variance, of what an entry is believed to be, from which on posteriors tell the density."""
FAR = -100.0
"""Standard deviations below zero from which on differences lose digits, and the series does not."""


class Posterior(NamedTuple):
    """Of every entry: mean and variance; whether it counts as not zero; and the density they speak for."""

    mean: Array
    variance: Array
    nonzero: Array
    density: Array


class Prior(Protocol):
    """What is known of x beforehand."""

    @property
    def gaussian(self) -> bool:
        """Is it Gaussian, so that all of it is the regulariser?"""

    @property
    def along_ones(self) -> float:
        """Square of the mean over the power: what of x is the same in all entries."""

    def draw_density(self, rng: np.random.Generator, attempt: int) -> float:
        """Share of the entries that are not zero, to try in an attempt."""

    def posterior(self, r: Array, v: Array, power: Array, density: Array) -> Posterior:
        """Of entries that were believed to be r, to a variance v."""

    def likelihood(self, r: Array, v: Array, power: Array, density: Array) -> Array:
        """How likely r is, for an entry of this prior with noise of variance v."""


@dataclass(frozen=True)
class Gaussian:
    """Entries of either sign and of all sizes: the prior of the paper."""

    gaussian = True
    along_ones = 0.0

    def draw_density(self, rng: np.random.Generator, attempt: int) -> float:
        """All."""
        return 1.0

    def posterior(self, r: Array, v: Array, power: Array, density: Array) -> Posterior:
        """Shrunk."""
        shrunk = power / (power + v)
        return Posterior(shrunk * r, shrunk * v + 0 * r, r == r, density)

    def likelihood(self, r: Array, v: Array, power: Array, density: Array) -> Array:
        """Gaussian."""
        return normal(r, power + v)


@dataclass(frozen=True)
class Sparse:
    """Most entries are zero.

    density: share of those that are not, or "auto" to find it from the data.
    """

    density: float | str = "auto"

    gaussian = False
    along_ones = 0.0

    def __post_init__(self) -> None:
        known = is_number(self.density) and 0 < float(self.density) < 1
        if not known and not (isinstance(self.density, str) and self.density == "auto"):
            raise InputError(
                f'density = {shortened(self.density)}: give the share of nonzeros, between 0 and 1, or "auto"'
            )

    def draw_density(self, rng: np.random.Generator, attempt: int) -> float:
        """As given, or a guess."""
        known = None if isinstance(self.density, str) else float(self.density)
        if attempt == 0:
            return known or UNKNOWN
        least, most = LIKELY
        return float(least * (most / least) ** rng.random())

    def posterior(self, r: Array, v: Array, power: Array, density: Array) -> Posterior:
        """A mixture of zero and of a Gaussian, by the odds of r."""
        xp, width = namespace(r), power / density
        log_odds = xp.log(density / (1 - density)) + 0.5 * (r * r / v * width / (width + v) - xp.log1p(width / v))
        chance = 1 / (1 + xp.exp(-xp.clip(log_odds, -500, 500)))
        mean, variance = width / (width + v) * r, width / (width + v) * v
        found = xp.clip(chance.mean(), *DENSITIES) if isinstance(self.density, str) else self.density
        share = xp.where(power > KNOWN * v, found, density)
        return Posterior(chance * mean, chance * (variance + (1 - chance) * mean**2), chance > 0.5, share)

    def likelihood(self, r: Array, v: Array, power: Array, density: Array) -> Array:
        """A mixture."""
        return density * normal(r, power / density + v) + (1 - density) * normal(r, v)


@dataclass(frozen=True)
class Nonnegative:
    """No entry is negative: entries are magnitudes of Gaussian ones."""

    gaussian = False
    along_ones = 2 / math.pi

    def draw_density(self, rng: np.random.Generator, attempt: int) -> float:
        """All."""
        return 1.0

    def posterior(self, r: Array, v: Array, power: Array, density: Array) -> Posterior:
        """A Gaussian cut off at zero."""
        xp = namespace(r)
        variance = power * v / (power + v)
        b = xp.sqrt(variance) * r / v
        near, far = xp.maximum(b, FAR), xp.minimum(b, FAR)
        hazard = math.sqrt(2 / math.pi) / special(r).erfcx(-near / math.sqrt(2))
        mean = xp.where(b > FAR, near + hazard, -(1 - 2 / far**2) / far)
        left = xp.where(b > FAR, 1 - hazard * (near + hazard), (1 - 6 / far**2) / far**2)
        return Posterior(xp.sqrt(variance) * mean, variance * left, r == r, density)

    def likelihood(self, r: Array, v: Array, power: Array, density: Array) -> Array:
        """Skew."""
        b = namespace(r).sqrt(power / (v * (power + v))) * r
        return 2 * normal(r, power + v) * special(r).ndtr(b)


def normal(x: Array, variance: Array) -> Array:
    """The density of a Gaussian of mean zero."""
    xp = namespace(x)
    return xp.exp(-x * x / (2 * variance)) / xp.sqrt(2 * math.pi * variance)


GAUSSIAN = Gaussian()
PRIORS: dict[str, type[Gaussian | Sparse | Nonnegative]] = {
    "gaussian": Gaussian,
    "sparse": Sparse,
    "nonnegative": Nonnegative,
}
"""Every prior by its name."""


def as_prior(given: Any) -> Prior:
    """A prior, or the name of one: "gaussian", "sparse", "sparse:0.1" for a density, "nonnegative"."""
    if isinstance(given, Gaussian | Sparse | Nonnegative):
        return given
    name, colon, density = given.partition(":") if isinstance(given, str) else ("", "", "")
    try:
        if name == "sparse" and colon and density != "auto":
            return Sparse(float(density))
    except ValueError:
        name = ""
    if name not in PRIORS or (colon and name != "sparse"):
        raise InputError(f"prior = {shortened(given)}: give gaussian, sparse, sparse:0.1 (the density) or nonnegative")
    return PRIORS[name]()

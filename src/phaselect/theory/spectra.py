r"""Spectra of A: what the theory of vector message passing asks of a matrix.

Averages are over the N squared singular values `s2` of the normalised A, whose rows have unit mean squared norm, so
that the mean of s2 is alpha. A spectrum is a value that keeps its shape while alpha varies:

* "gaussian": independent entries, the law of Marchenko and Pastur of that alpha;
* "orthogonal": orthogonal columns of equal norm, s2 = alpha;
* an array of squared singular values in any units: the eigenvalues of `A^T A/alpha` are kept, divided by their mean.

The Gaussian node of vector message passing knows the spectrum through one function of the precision `g` of a message
and of that of the prior, `prior`:

    1 + pull = E[s2^2/(g s2 + prior)] / E[s2/(g s2 + prior)],

a mean of s2 that goes from E[s2^2]/alpha, where nothing is known, to alpha.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from phaselect.base.checks import shortened
from phaselect.base.errors import InputError
from phaselect.theory.control import check_positive
from phaselect.theory.quadrature import Array

SpectrumLike = str | ArrayLike
"""How a spectrum is given: "gaussian", "orthogonal", or squared singular values."""


class Response(NamedTuple):
    """Averages at one (g, prior); numbers, or arrays for a batch of them."""

    V: Array  # E[1/(g s2 + prior)], the variance of x
    gain: Array  # E[s2/(g s2 + prior)], alpha times the variance of z
    V_slope: Array  # dV/dg = -E[s2/(g s2 + prior)^2]
    gain_slope: Array  # dgain/dg = -E[s2^2/(g s2 + prior)^2]
    pull: Array  # see the module
    pull_slope: Array  # dpull/dg


class Spectrum(Protocol):
    """The law of s2, for any alpha."""

    def check(self, alpha: float) -> None:
        """One line for an alpha that no such matrix has."""

    def response(self, g: Array, prior: Array, alpha: float) -> Response:
        """The averages that the Gaussian node needs; nan where `g s2 + prior` is not positive."""

    def log_det(self, g: Array, alpha: Array) -> Array:
        """`E[log(1 + g s2)]`."""

    def alpha_at(self, g1: Array, g2: Array) -> Array:
        """The alpha at which g2 is answered by g1 at prior 1: `alpha/E[s2/(g2 s2 + 1)] = g1 + g2`."""


class MarchenkoPastur:
    """Independent entries: `V = 1/(prior + alpha g/(1 + g V))`, and the rest follows."""

    def check(self, alpha: float) -> None:
        """Any will do."""
        check_positive("alpha", alpha)

    def response(self, g: Array, prior: Array, alpha: float) -> Response:
        """From the root V and its derivative."""
        V = _root(g, prior, alpha)
        slope = -(prior * V + alpha - 1) * V / (2 * prior * g * V + prior + (alpha - 1) * g)
        share = 1 / (1 + g * V)
        return Response(
            V=V,
            gain=alpha * V * share,
            V_slope=slope,
            gain_slope=alpha * (slope - V * V) * share**2,
            pull=alpha * share,
            pull_slope=-alpha * (V + g * slope) * share**2,
        )

    def log_det(self, g: Array, alpha: Array) -> Array:
        """Stationary in V, with derivative `gain` in g."""
        V = _root(g, np.asarray(1.0), alpha)
        return np.asarray(alpha * np.log1p(g * V) - np.log(V) - (1 - V))

    def alpha_at(self, g1: Array, g2: Array) -> Array:
        """Here `g1 = 1/V`."""
        return np.asarray((g1 - 1) * (1 / g1 + 1 / g2))


def _root(g: Array, prior: Array, alpha: float | Array) -> Array:
    """V > 0 of `prior g V^2 + (prior + (alpha-1) g) V = 1`, without cancellation."""
    b = prior + (alpha - 1) * g
    with np.errstate(invalid="ignore", divide="ignore"):
        root = np.sqrt(b * b + 4 * prior * g)
        return np.where(b > 0, 2 / (b + root), (root - b) / (2 * prior * g))


@dataclass(frozen=True, eq=False)
class Shape:
    """Given eigenvalues of `A^T A/alpha`, of mean 1: every average is a sum."""

    values: Array

    def check(self, alpha: float) -> None:
        """All singular values are positive, so that there are at least as many rows as columns."""
        check_positive("alpha", alpha)
        if alpha < 1:
            raise InputError(f"alpha = {alpha:g}: a matrix with this spectrum has alpha of at least 1")

    def response(self, g: Array, prior: Array, alpha: float) -> Response:
        """Sums over the values."""
        g, prior = np.asarray(g)[..., None], np.asarray(prior)[..., None]
        s2 = alpha * self.values
        with np.errstate(divide="ignore"):
            weight = np.where(g * s2 + prior > 0, 1 / (g * s2 + prior), np.nan)
        gain = (s2 * weight).mean(-1)
        pull = (s2 * (s2 - 1) * weight).mean(-1) / gain
        return Response(
            V=weight.mean(-1),
            gain=gain,
            V_slope=-(s2 * weight**2).mean(-1),
            gain_slope=-((s2 * weight) ** 2).mean(-1),
            pull=pull,
            pull_slope=-((s2 * weight) ** 2 * (s2 - 1 - pull[..., None])).mean(-1) / gain,
        )

    def log_det(self, g: Array, alpha: Array) -> Array:
        """A sum."""
        return np.asarray(np.log1p(np.multiply(g, alpha)[..., None] * self.values).mean(-1))

    def alpha_at(self, g1: Array, g2: Array) -> Array:
        """`1/E[e/(1 + a e)] = g1 + g2` for `a = alpha g2`, by Newton.

        The left-hand side is a harmonic mean of straight lines, hence concave: from a = 0 Newton climbs to the root and
        never beyond.
        """
        a = np.zeros_like(np.asarray(g1 + g2))
        for _ in range(MOST_STEPS):
            weight = self.values / (1 + a[..., None] * self.values)
            mean, square = weight.mean(-1), (weight**2).mean(-1)
            step = (g1 + g2 - 1 / mean) * mean**2 / square
            a = a + np.maximum(step, 0.0)
            if np.all(step <= 1e-14 * (1 + a)):
                break
        return np.asarray(a / g2)


MOST_STEPS = 200
"""Newton needs a handful for even spectra, and some dozens for singular values over many decades."""


def as_spectrum(spectrum: SpectrumLike) -> Spectrum:
    """The spectrum that a user's words or numbers stand for."""
    if isinstance(spectrum, str):
        if spectrum == "gaussian":
            return MarchenkoPastur()
        if spectrum == "orthogonal":
            return Shape(np.ones(1))
        raise InputError(
            f'spectrum = {shortened(spectrum)}: use "gaussian", "orthogonal" or an array of squared singular values'
        )
    try:
        values = np.array(spectrum, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError("spectrum: squared singular values must be a list of numbers") from None
    if values.ndim != 1 or values.size == 0:
        raise InputError("spectrum: squared singular values must be a non-empty list of numbers")
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise InputError(
            "spectrum: squared singular values must be positive and finite; what A does not see cannot be recovered"
        )
    relative = values / values.max()
    return Shape(relative / relative.mean())


def degrees_of_freedom(field: str) -> int:
    """Of a number: 1 in the real field, 2 in the complex one."""
    if not isinstance(field, str) or field not in ("real", "complex"):
        raise InputError(f'field = {shortened(field)}: use "real" or "complex"')
    return 1 if field == "real" else 2

"""How far the digits of data reach: which noise leaves enough of them, which reduction finds the signs, from how many
measurements.
"""

from __future__ import annotations

from math import exp, log, log2
from typing import Any

from scipy.optimize import brentq

from phaselect.base.errors import Unsuitable
from phaselect.equations.sign_equations import FITS
from phaselect.solvers.certificate.impostors import log10_impostors_at

FALL = 0.0215
"""Half of the binary digits that orthogonal parts lose from one to the next after blocks of 30 to 40 rows: measured."""
LEAST = -700.0
"""Logarithm of a noise below all others."""
TOLD_APART = -2.0
"""Base-10 logarithm of the number of wrong signs expected to fit, from which on the right ones cannot be told."""
SURELY = 4.0
"""Standard deviations that noise does not exceed."""
ENOUGH, ROOM = 0.045, 16.0
"""The `strength` from which on LLL mostly finds the signs, and blocks find the rest (figure `bits`); and how much less
than allowed the noise is then to be. Measurements beyond that are left out."""


def tolerance(m_rows: int, n: int, noise: float) -> float:
    """The value up to which signs are taken for those that solve an equation, in units of its noise.

    noise: standard deviation over that of y. Refused where wrong signs fit as well as the right ones.
    """
    enough = noise_allowed(m_rows, n)
    if noise > enough:
        raise Unsuitable(
            f"y is known to {noise:.1g} of its size, and too many wrong signs fit as well as the right ones: a lattice "
            f"needs noise={0.9 * enough**2:.1e}*mean(y**2), more digits (Instance.exact) or more measurements"
        )
    return min(FITS, SURELY * enough / noise)


def noise_allowed(m_rows: int, n: int) -> float:
    """Standard deviation of noise, over that of y, up to which wrong signs do not fit as well as the right ones."""

    def impostors(log_noise: float) -> float:
        return log10_impostors_at(2 * log_noise + log((m_rows - n) / m_rows), m_rows, n) - TOLD_APART

    return exp(brentq(impostors, LEAST, 0.0))


def within_reach(signs: int, equations: int, precision: float, block: int) -> bool:
    """Are blocks of this size expected to find so many signs, from equations of this relative precision?

    A block finds them once what they have in it, a number of unit size per row, is shorter than its first orthogonal
    part. Those fall off exponentially from row to row, around the volume of the lattice: a binary digit for each row,
    since numbers are even or odd, and those of all equations.
    """
    digits = 1 - (log2(precision) * equations + 1) / signs
    size = min(block, signs / 2)
    return digits >= log2(size) / 2 + FALL * (signs - 2 * size)


def strength(digits: Any, signs: Any) -> Any:
    """`(k b + M) / M^2`, which decides what a reduction finds; digits: k b, of all equations."""
    return (digits + signs) / signs**2


def measurements_enough(m_rows: int, n: int, noise: float) -> int:
    """How many of the measurements a lattice can do with; all of them, if it can do with no less."""
    digits = -log2(noise)
    for few in range(n + 1, min(m_rows, int((digits + 1) / ENOUGH))):
        if strength(digits * (few - n), few) >= ENOUGH and ROOM * noise <= noise_allowed(few, n):
            return few
    return m_rows

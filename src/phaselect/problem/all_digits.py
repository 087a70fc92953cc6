"""Data to more digits than float64 has: whole numbers, fractions, decimals of any length, numbers of mpmath."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cached_property
from math import ceil, lgamma, log, log2, log10, pi
from numbers import Rational
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.interface import Vector
from phaselect.base.checks import is_count, shortened
from phaselect.base.errors import InputError
from phaselect.equations.exact_range import in_range
from phaselect.equations.sign_equations import FITS, SignEquations, sign_equations

WANTED = 0.04
"""Binary digits that LLL needs, of all equations together, over the square of the number of measurements."""
LEAST_DIGITS, MOST_DIGITS = 64, 1000
"""Binary digits of each equation of numbers that have no end of them."""
LONGEST = 4000
"""Decimal digits of a number, at most, before and after the point."""
KINDS = "whole numbers, fractions as 3/7, decimals as 0.125, or numbers of mpmath"


class Left(NamedTuple):
    """mse_y to all digits; is it what they allow; base-10 logarithm of the wrong signs expected to leave as little."""

    mse_y: float
    fits: bool
    log10_impostors: float


@dataclass(frozen=True, eq=False)
class AllDigits:
    """A and y as fractions; precision: half a unit of the last digit of y, over the largest of them, 0 for none."""

    A: NDArray[np.object_]
    y: NDArray[np.object_]
    precision: float

    def rows(self, kept: NDArray[np.bool_ | np.int64] | None) -> AllDigits:
        """Some of the measurements."""
        return self if kept is None else AllDigits(self.A[kept], self.y[kept], self.precision)

    @cached_property
    def noise(self) -> float:
        """The precision; of exact numbers, so little that their equations have enough digits for LLL."""
        m_rows, n = self.A.shape
        digits = ceil(WANTED * m_rows**2 / max(1, m_rows - n))
        return self.precision or 2.0 ** -min(max(LEAST_DIGITS, digits), MOST_DIGITS)

    @cached_property
    def equations(self) -> SignEquations:
        """Of the signs, to all digits."""
        y = self.y.astype(np.float64)
        if self.precision:
            return sign_equations(self.A, self.y, np.full(len(y), self.noise * y.max()))
        lengths = np.linalg.norm(self.A.astype(np.float64), axis=1)
        return sign_equations(self.A, self.y, self.noise * np.sqrt(np.mean(y**2) / np.mean(lengths**2)) * lengths)

    def left_by(self, signs: Vector) -> Left:
        """What signs leave of the equations."""
        values = self.equations.values(np.asarray(signs, dtype=np.float64)[None])[0]
        left = max(1.0, float(np.linalg.norm(values)))  # of exact numbers nothing is left
        m_rows, k = len(self.y), len(values)
        ball = (k / 2 * log(pi) - lgamma(k / 2 + 1)) / log(2) + k * log2(left)  # of what would be left as well
        impostors = m_rows - 1 + ball - k / 2 * log2(2 * pi) - self.equations.bits
        fit = (self.noise * left) ** 2 / m_rows
        fits = bool((np.abs(values) <= FITS).all()) and (self.precision > 0 or self._solved_by(signs))
        return Left(fit, fits, impostors * log10(2))

    def _solved_by(self, signs: Vector) -> bool:
        """To the last digit of exact numbers, of which equations have as many as are needed to find signs."""
        return in_range(self.A, self.y * np.where(signs < 0, -1, 1).astype(object))


def all_digits(A: Any, y: Any, digits: Any = None) -> AllDigits:
    """Numbers as they are written, of which those of A are right. digits: how many of y are, if not all."""
    (A, _), (y, unit) = _fractions(A, "A", 2), _fractions(y, "y", 1)
    if any(value < 0 for value in y):
        where = next(i for i, value in enumerate(y) if value < 0)
        raise InputError(f"y[{where}] = {float(y[where]):g} is negative: y holds magnitudes, |A x|")
    if digits is not None and not is_count(digits, 1):
        raise InputError(f"digits = {shortened(digits)}: give the number of right digits, 1 or more")
    largest = max(y, default=Fraction(0))
    precision = float(unit / largest) if largest else 0.0
    return AllDigits(A, y, max(precision, 0.0 if digits is None else 0.5 * 10.0**-digits))


def _fractions(values: Any, name: str, dimensions: int) -> tuple[NDArray[np.object_], Fraction]:
    """An array of fractions, and half a unit of the last digit of the one that has the fewest; 0 if all are exact."""
    if np.ma.is_masked(values):
        raise InputError(f"{name} has masked entries: drop those measurements, or fill them in")
    given = np.array(values, dtype=object)
    if given.ndim != dimensions or given.size == 0:
        shape = "a 2-D array, one row per measurement" if dimensions == 2 else "a 1-D array, one number per measurement"
        raise InputError(f"{name} has shape {given.shape}: give {shape}, of {KINDS}")
    found, units = np.empty(given.shape, dtype=object), Fraction(0)
    for where in np.ndindex(given.shape):
        try:
            found[where], unit = as_fraction(given[where])
        except (ValueError, TypeError, OverflowError, ZeroDivisionError, InvalidOperation):
            place = ", ".join(map(str, where))
            raise InputError(f"{name}[{place}] = {shortened(given[where])}: give {KINDS}") from None
        units = max(units, unit)
    return found, units


def as_fraction(value: Any) -> tuple[Fraction, Fraction]:
    """A number, and half a unit of its last digit; 0 for whole numbers and fractions."""
    nothing = Fraction(0)
    if isinstance(value, bool | np.bool_):
        raise TypeError
    if isinstance(value, Rational | np.integer):
        return Fraction(int(value.numerator), int(value.denominator)), nothing
    if isinstance(value, str):
        text = value.strip()
        if "/" in text or text.lstrip("+-").isdigit():
            return Fraction(text), nothing
        value = Decimal(text)
    if isinstance(value, Decimal):
        if max(abs(value.adjusted()), len(value.as_tuple().digits)) > LONGEST:
            raise ValueError
        places = int(value.as_tuple().exponent)
        return Fraction(value), Fraction(10) ** places / 2 if places else nothing
    if hasattr(value, "_mpf_"):
        sign, mantissa, exponent, bits = value._mpf_
        if mantissa == 0 and exponent != 0:  # inf, or nan
            raise ValueError
        number = Fraction(int(mantissa)) * Fraction(2) ** int(exponent) * (-1 if sign else 1)
        digits = max(int(value.context.prec), int(bits))  # it may have been made in another context
        return number, Fraction(2) ** (int(exponent) + int(bits) - digits) / 2 if bits else nothing
    number = Fraction(float(value))
    rounding = np.finfo(value.dtype if isinstance(value, np.floating) else np.float64).eps
    return number, abs(number) * Fraction(float(rounding)) / 2

"""Which numbers x and its measurements are made of: real ones, complex ones, or a real x behind a complex A.

The field is a value. Signs of real measurements become phases of complex ones, tanh becomes I1/I0; the rest are
conjugates and the constants here. `A^T` is the conjugate transpose, and its real part where x is real. Means and
variances are of `|.|^2`, so that one schedule serves all: the weight of a state is `exp(-beta mu H)`, the noise on a
measurement has `E|n|^2 = nu = 1/(2 mu)`, the prior `E|x|^2 = 1/(mu lam)`.
"""

from __future__ import annotations

from typing import NamedTuple

from phaselect.equations.arrays import Array

SINGLE = {"float64": "float32", "complex128": "complex64"}


class Field(NamedTuple):
    """dtypes of x and of `A x`."""

    x: str
    z: str

    @property
    def beta(self) -> int:
        """Real numbers in a measurement. Noise on a magnitude, which is along one of them, is 1/beta of that on z."""
        return 2 if self.z.startswith("complex") else 1

    @property
    def reals(self) -> int:
        """Real numbers in an unknown."""
        return 2 if self.x.startswith("complex") else 1

    @property
    def fold(self) -> float:
        """Real numbers in a measurement over those in an unknown: so much more a belief of precision g tells of x."""
        return self.beta / self.reals

    @property
    def single(self) -> Field:
        """The same in single precision."""
        return Field(SINGLE[self.x], SINGLE[self.z])

    def of_x(self, back: Array) -> Array:
        """What comes back from measurements: of a real x, the real part of it."""
        return back.real.copy() if self.fold == 2 else back


REAL = Field("float64", "float64")
COMPLEX = Field("complex128", "complex128")
REAL_SIGNAL = Field("float64", "complex128")


def field_of(dtype: object, real: bool = False) -> Field:
    """That of a matrix of such entries; real: is x real whatever A is?"""
    if not str(dtype).startswith("complex"):
        return REAL
    return REAL_SIGNAL if real else COMPLEX

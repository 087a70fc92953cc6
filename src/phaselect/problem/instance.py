"""An instance of phase retrieval, real or complex: the matrix A, the magnitudes y and, when known, the signal x0.

The only place where A and y are validated (by `given_data.py`), and where their units are dealt with: solvers work on
`normalised`, in which the matched regulariser is mu * lam = 1 and `mse_y` is a fraction of the measured power.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.host.by_products import Operator
from phaselect.backends.host.dense import Dense
from phaselect.backends.host.fourier import MaskedFourier
from phaselect.backends.interface import Matrix, Vector
from phaselect.base.errors import InputError
from phaselect.base.files import save_arrays
from phaselect.equations.fields import COMPLEX, REAL, REAL_SIGNAL
from phaselect.equations.signs import signs_of
from phaselect.equations.units import Units, normalised_units
from phaselect.problem.all_digits import AllDigits, all_digits
from phaselect.problem.given_data import (
    check_length,
    checked_noise,
    checked_powers,
    checked_rounding,
    given_y,
    kept_rows,
    yes_or_no,
)
from phaselect.problem.matrix import as_matrix, entries, magnitudes, numbers, precision_of
from phaselect.problem.normalised import Normalised

ARRAY_NAMES = ("A", "y", "x0", "A_test", "y_test", "noise", "rounding", "real")
IN_FULL = ("A_in_full", "y_in_full", "precision")
"""Names of A and y to all digits, as texts."""
UNEVEN, MOST = 0.3, 0.5
"""Standard deviation of the squared row norms over their mean from which rows count as uneven, beyond the sqrt(2/N)
that iid entries leave; and in any case."""


@dataclass(frozen=True, eq=False, repr=False)
class Instance:
    """Measurements `y = |A x0|` of a signal, validated; `x0` and the test set are there when known.

    A: an array, kept in the dtype given if that is float32 or float64 (a C-ordered array is not copied); an array of
        JAX, which stays on its device; or, for message passing, a linear operator or a pair of functions. Of a complex
        A, x is complex up to a global phase, unless `real` says that it is real.
    noise: variance of the noise on y, one number or one per measurement; None (or 0) for exact data; "auto" where there
        may be some, the same for all measurements, that solvers are to learn.
    rounding: relative precision of A and y; at least that of the dtypes they are given in.
    all_digits: see `Instance.exact`.

    Rows are weighted where that helps: by 1/|a_i| where data are exact and the norms of the rows uneven, by the inverse
    of the standard deviation of the noise where that is given for each measurement. Rows of zeros are left out.
    """

    A: Any
    y: Vector
    x0: Vector | None = None
    A_test: NDArray[Any] | None = None
    y_test: Vector | None = None
    noise: Any = None
    rounding: Any = 0.0
    real: Any = False
    all_digits: AllDigits | None = None
    matrix: Matrix = field(init=False)  # A as it is used, whatever it is
    kept: NDArray[np.bool_] | None = field(init=False)  # the rows that are not all zeros, where some are
    row_powers: Vector = field(init=False)  # squared norms of those

    def __post_init__(self) -> None:
        def put(name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

        y = given_y(self.A, self.y)
        matrix = as_matrix(self.A, y.size, real=yes_or_no(self.real))
        put("real", matrix.field == REAL_SIGNAL)
        put("rounding", max(checked_rounding(self.rounding), matrix.rounding, precision_of(self.y)))
        put("y", y)
        put("A", matrix.A if isinstance(matrix, Dense) else self.A)
        powers = checked_powers(matrix, y)
        put("noise", checked_noise(self.noise, y))
        put("kept", kept_rows(powers, y, self.noise is None))
        put("matrix", matrix)
        columns = matrix.shape[1]
        put("row_powers", powers if self.kept is None else powers[self.kept])
        if self.x0 is not None:
            kinds = "fiubc" if matrix.field == COMPLEX else "fiub"
            x0 = check_length(numbers(self.x0, "x0", kinds).astype(matrix.field.x, copy=False), columns, "x0")
            if not x0.any():
                raise InputError("x0 is all zeros: there is nothing to recover")
            put("x0", x0)
        if (self.A_test is None) != (self.y_test is None):
            raise InputError("A_test and y_test go together: give both or neither")
        if self.A_test is not None:
            A_test, y_test = entries(self.A_test, "A_test"), magnitudes(self.y_test, "y_test")
            if y_test.size != len(A_test):
                raise InputError(f"A_test has {len(A_test)} rows but y_test has {y_test.size} entries")
            check_length(A_test[0], columns, "a row of A_test")
            put("A_test", A_test)
            put("y_test", y_test)

    @classmethod
    def exact(cls, A: Any, y: Any, x0: Any = None, digits: int | None = None) -> Instance:
        """Data to more digits than float64 has: whole numbers, fractions, numbers of mpmath, `decimal.Decimal`, or
        decimals as strings, in lists or arrays of objects.

        A is what is written, and so are whole numbers and fractions in y; decimals in y may be off by half a unit of
        their last digit. digits: how many of the largest y are right, if fewer. A lattice needs the fewer measurements
        the more digits there are; the certificate counts them.

        >>> problem = phaselect.Instance.exact([["1", "1/3"], ["0.5", "-2"], ["3", "1"]], ["1/3", "2", "1"])
        """
        found = all_digits(A, y, digits)
        try:
            floats = found.A.astype(np.float64), found.y.astype(np.float64)
        except OverflowError:
            raise InputError("A and y must be within the range of float64: rescale them") from None
        return cls(*floats, x0=x0, rounding=min(0.5, found.precision), all_digits=found)

    def __repr__(self) -> str:
        known = ", x0 known" if self.x0 is not None else ""
        kind = {REAL: "", COMPLEX: ", complex", REAL_SIGNAL: ", complex A, real x"}[self.matrix.field]
        return f"Instance(M={self.m_rows}, N={self.n}, alpha={self.alpha:.4g}{kind}{known})"

    @property
    def m_rows(self) -> int:
        """Number of measurements, M."""
        return self.matrix.shape[0]

    @property
    def n(self) -> int:
        """Number of unknowns, N."""
        return self.matrix.shape[1]

    @property
    def alpha(self) -> float:
        """Measurement ratio M / N."""
        return self.m_rows / self.n

    @cached_property
    def signs(self) -> Vector | None:
        """True signs of the measurements, `sign(A x0)`, or phases, when x0 is known."""
        return None if self.x0 is None else np.asarray(signs_of(self.measure(self.x0)))

    def measure(self, x: Vector) -> Vector:
        """`A x` in float64, in the units of the data."""
        return self.matrix.measure(x)

    def backproject(self, z: Vector) -> Vector:
        """`A^T z` in float64, in the units of the data."""
        return self.matrix.backproject(z)

    def to_device(self, device: Any = "gpu", dtype: str = "float32") -> Instance:
        """The same instance with A on a device: `gpu` or `cpu`, its rows shared out if there are several; or one of
        JAX's.

        Solvers then run there. dtype: that of A there; the answer is refined in float64 in any case.
        """
        if isinstance(self.matrix, MaskedFourier):
            from phaselect.backends.jax import fourier

            return replace(self, A=fourier.put(self.matrix, device, dtype), all_digits=None)
        from phaselect.backends.jax.sharding import put

        if not isinstance(self.matrix, Dense):
            raise InputError("A is not an array in memory, so it cannot be sent to a device")
        return replace(self, A=put(self.matrix.A, device, dtype), all_digits=None)

    def with_noise(self, noise: Any) -> Instance:
        """The same instance with another noise; itself if None is given."""
        return self if noise is None else replace(self, A=self._given, noise=noise)

    def with_rounding(self, rounding: Any) -> Instance:
        """The same instance with data of this relative precision; itself if theirs is less."""
        given, digits = checked_rounding(rounding), self.all_digits
        if digits is not None:
            digits = replace(digits, precision=max(digits.precision, given))
        elif given <= self.rounding:
            return self
        return replace(self, A=self._given, rounding=max(given, self.rounding), all_digits=digits)

    @property
    def _given(self) -> Any:
        """A, not to be looked at anew."""
        return self.matrix if isinstance(self.matrix, Dense | Operator) else self.A

    # ------------------------------------------------------------------ normalised units

    @cached_property
    def weights(self) -> Vector:
        """What the rows that are kept are multiplied by: ones, 1/|a_i|, or 1/sigma_i up to a factor."""
        powers = self.row_powers
        ones = np.broadcast_to(1.0, powers.shape)  # takes no memory
        if self.noise is None:
            return 1 / np.sqrt(powers) if self._uneven(powers) else ones
        if np.ndim(self.noise) == 0:  # one variance, or "auto"
            return ones
        noise: Vector = self._of_kept(self.noise)
        return np.asarray(np.sqrt(noise.min() / noise))  # not 1 / noise, which may not fit into float64

    def _uneven(self, powers: Vector) -> bool:
        """Do squared norms of rows differ by more than those of iid entries?"""
        if not powers.strides[0]:  # one number in every place
            return False
        spread = np.std(powers / np.mean(powers))  # squares of powers may not fit into float64
        return bool(spread > min(UNEVEN + np.sqrt(2 / self.n), MOST))

    @cached_property
    def units(self) -> Units:
        """What takes the data to normalised units."""
        return normalised_units(self.weights, self.row_powers, self._of_kept(self.y))

    @cached_property
    def noise_level(self) -> float:
        """Variance of the noise on z in normalised units; 0 for exact data, and as long as it is to be learned."""
        if self.noise is None or self.learns_noise:
            return 0.0
        variance = float(np.mean(self.weights**2 * self._of_kept(np.broadcast_to(self.noise, self.y.shape))))
        level = self.matrix.field.beta * variance / float(self.units.y_scale) ** 2
        if level >= 1:
            beta = self.matrix.field.beta
            half, limit = "/2" if beta == 2 else "", np.mean(self.y**2) / beta
            raise InputError(
                f"noise = {np.mean(self.noise):g} is not below mean(y^2){half} = {limit:g}: nothing but noise"
            )
        return level

    @property
    def noise_given(self) -> Any:
        """The variance, or variances, that are known; 0 if there are none."""
        return 0.0 if self.noise is None or self.learns_noise else self.noise

    @property
    def learns_noise(self) -> bool:
        """Is the noise to be learned from the data?"""
        return isinstance(self.noise, str)

    @cached_property
    def normalised(self) -> Normalised:
        """The problem as solvers see it."""
        matrix = self.matrix if self.kept is None else self.matrix.rows_kept(self.kept)
        units = self.units
        x0, signs = (np.asarray(np.nan, dtype) for dtype in matrix.field)
        if self.x0 is not None and self.signs is not None:
            x0, signs = self.x0 / units.x_scale, self._of_kept(self.signs)
        y = units.weight * self._of_kept(self.y) / units.y_scale
        powers = units.scale**2 * self.row_powers
        powers = powers if self._uneven(powers) else np.float64(1)
        matrix, scale = matrix.prepared(units.scale)
        digits = None if self.all_digits is None else self.all_digits.rows(self.kept)
        return Normalised(matrix, scale, y, x0, signs, powers, np.float64(self.rounding), digits)

    @cached_property
    def placed(self) -> Normalised:
        """The same, all of it where A is: sent there once, for all attempts."""
        return self.normalised.placed(self.normalised.matrix.ready)

    def _of_kept(self, values: Vector) -> Vector:
        return values if self.kept is None else values[self.kept]

    def signs_of_all(self, signs: Vector) -> Vector:
        """Signs of the rows that are kept, put among those that are not."""
        if self.kept is None:
            return signs
        whole = np.ones(self.m_rows, signs.dtype)
        whole[self.kept] = signs
        return whole

    # ------------------------------------------------------------------ storage

    def save(self, path: str | Path) -> None:
        """Write the instance to an `.npz` file; the file appears whole or not at all."""
        arrays = {name: getattr(self, name) for name in ARRAY_NAMES} | {"A": self.matrix.entries()}
        arrays["real"] = self.real or None
        if self.all_digits is not None:
            in_full = (self.all_digits.A.astype(str), self.all_digits.y.astype(str), self.all_digits.precision)
            arrays |= dict(zip(IN_FULL, in_full, strict=True))
        save_arrays(path, {name: np.asarray(array) for name, array in arrays.items() if array is not None})

"""An instance of real phase retrieval: the matrix A, the magnitudes y and, when known, the signal x0.

The only place where A and y are validated, and where their units are dealt with: solvers work on the
normalised problem (unit mean squared row norm of A, unit mean square of y), in which the matched
regulariser is mu * lam = 1 and `mse_y` is a fraction of the measured power.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phaselect.base.errors import InputError
from phaselect.base.files import read_array, read_npz, save_arrays
from phaselect.problem.matrix import Dense, Matrix, is_device_array, is_operator, operator
from phaselect.problem.matrix import Vector as Vector

ARRAY_NAMES = ("A", "y", "x0", "A_test", "y_test")


@dataclass(frozen=True, eq=False, repr=False)
class Instance:
    """Measurements `y = |A x0|` of a signal, validated; `x0` and the test set are there when known.

    A: an array, kept in the dtype given if that is float32 or float64 (a C-ordered array is not copied); an array of
    JAX, which stays on its device; or, for message passing, a linear operator or a pair of functions (see matrix.py).
    """

    A: Any
    y: Vector
    x0: Vector | None = None
    A_test: NDArray[Any] | None = None
    y_test: Vector | None = None
    matrix: Matrix = field(init=False)  # A as the solvers use it, whatever it is
    _power: float = field(init=False)  # sum of its squared entries

    def __post_init__(self) -> None:
        matrix, y = _measurements(self.A, self.y)
        rows, columns = matrix.shape
        if rows <= columns:
            raise InputError(
                f"A has {rows} rows and {columns} columns: recovery is impossible in principle unless "
                "alpha = rows/columns exceeds 1; add measurements"
            )
        object.__setattr__(self, "_power", _check_power(matrix, y))
        object.__setattr__(self, "matrix", matrix)
        if isinstance(matrix, Dense):
            object.__setattr__(self, "A", matrix.A)
        object.__setattr__(self, "y", y)
        if self.x0 is not None:
            x0 = _check_length(_numbers(self.x0, "x0"), columns, "x0")
            if not x0.any():
                raise InputError("x0 is all zeros: there is nothing to recover")
            object.__setattr__(self, "x0", x0)
        if (self.A_test is None) != (self.y_test is None):
            raise InputError("A_test and y_test go together: give both or neither")
        if self.A_test is not None:
            A_test, y_test = _check_measurements(self.A_test, self.y_test, "A_test", "y_test")
            _check_length(A_test[0], columns, "a row of A_test")
            object.__setattr__(self, "A_test", A_test)
            object.__setattr__(self, "y_test", y_test)

    def __repr__(self) -> str:
        known = ", x0 known" if self.x0 is not None else ""
        return f"Instance(M={self.m_rows}, N={self.n}, alpha={self.alpha:.4g}{known})"

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
        """True signs of the measurements, `sign(A x0)`, when x0 is known."""
        return None if self.x0 is None else signs_of(self.measure(self.x0))

    def measure(self, x: Vector) -> Vector:
        """`A x` in float64."""
        return self.matrix.measure(x)

    def backproject(self, z: Vector) -> Vector:
        """`A^T z` in float64."""
        return self.matrix.backproject(z)

    def to_device(self, device: Any = "gpu", dtype: str = "float32") -> Instance:
        """The same instance with A on a device: `gpu` or `cpu`, its rows shared out if there are several; or one of
        JAX's.

        Solvers then run there. dtype: that of A there; the answer is refined in float64 in any case.
        """
        from phaselect.devices.matrix import put

        if not isinstance(self.matrix, Dense):
            raise InputError("A is not an array in memory, so it cannot be sent to a device")
        return replace(self, A=put(self.matrix.A, device, dtype))

    # Normalised units: gain * A has unit mean squared row norm, target has unit mean square.

    @cached_property
    def gain(self) -> float:
        """Factor that gives A unit mean squared row norm."""
        return float(np.sqrt(self.m_rows / self._power))

    @cached_property
    def y_scale(self) -> float:
        """Root mean square of y."""
        return float(np.sqrt(np.mean(self.y**2)))

    @cached_property
    def target(self) -> Vector:
        """The magnitudes in normalised units: y with unit mean square."""
        return self.y / self.y_scale

    @cached_property
    def target_x0(self) -> Vector | None:
        """The signal in normalised units, when known."""
        return None if self.x0 is None else self.x0 / self.x_scale

    @property
    def x_scale(self) -> float:
        """What a normalised estimate is multiplied by to return to the units of the data."""
        return self.y_scale * self.gain

    def forward(self, x: Vector) -> Vector:
        """`A x` in normalised units."""
        return self.gain * self.measure(x)

    def adjoint(self, z: Vector) -> Vector:
        """`A^T z` in normalised units."""
        return self.gain * self.backproject(z)

    def save(self, path: str | Path) -> None:
        """Write the instance to an `.npz` file; the file appears whole or not at all."""
        arrays = {name: getattr(self, name) for name in ARRAY_NAMES} | {"A": self.matrix.entries()}
        save_arrays(path, {name: array for name, array in arrays.items() if array is not None})


def load(path: str | Path, y_path: str | Path | None = None) -> Instance:
    """Read an instance from one `.npz` with arrays A and y, or from two `.npy`/`.csv` files (A, then y)."""
    if y_path is not None:
        A = read_array(path)
        return Instance(A[:, None] if A.ndim == 1 else A, read_array(y_path))
    if Path(path).suffix.lower() in (".npy", ".csv"):
        raise InputError(f"{path} holds one array: give two files, A and y, or one .npz with both")
    arrays = read_npz(path)
    unknown = sorted(set(arrays) - set(ARRAY_NAMES))
    missing = sorted({"A", "y"} - set(arrays))
    if missing or unknown:
        found = ", ".join(sorted(arrays)) or "nothing"
        raise InputError(f"{path} must hold arrays A and y (optionally x0, A_test, y_test); it holds: {found[:200]}")
    return Instance(**arrays)


def gaussian_instance(
    n: int,
    alpha: float,
    *,
    seed: int,
    signal_variance: float = 1.0,
    density: float = 1.0,
    noise: float = 0.0,
    activation: str = "abs",
) -> Instance:
    """Draw the paper's random instance (alg:Problem): iid Gaussian A of variance 1/N, Gaussian x0.

    `|x0|^2 = n * signal_variance` exactly; with `density` < 1 a random fraction of the entries is kept
    and the rest set to zero before rescaling (the paper rescales first, which loses the norm). `noise` is
    the variance of the noise on the output; `activation` is what the sensor reports, "abs" for |A x0| or
    "square" for a power meter, whose reading is turned into a magnitude. A noisy magnitude below zero
    is folded to its absolute value: signs are free, so S*y ranges over the same vectors.

    >>> gaussian_instance(100, 1.3, seed=0)
    Instance(M=130, N=100, alpha=1.3, x0 known)
    """
    check_generator(n, alpha, seed, signal_variance, density, noise, activation)
    rng = np.random.default_rng(seed)
    rows = round(alpha * n)
    try:
        A = rng.standard_normal((rows, n)) / np.sqrt(n)
    except (MemoryError, ValueError):
        raise InputError(f"a {rows} x {n} matrix needs {8 * rows * n / 2**30:.3g} GiB: too large for memory") from None
    x0 = rng.standard_normal(n)
    if density < 1:
        keep = rng.random(n) < density
        keep[rng.integers(n)] = True  # a signal is never empty
        x0 *= keep
    x0 *= np.sqrt(n * signal_variance) / np.linalg.norm(x0)
    sense = _ACTIVATIONS[activation]
    y = sense(A @ x0, np.sqrt(noise) * rng.standard_normal(rows))
    rows_test = max(200, rows // 4)
    A_test = rng.standard_normal((rows_test, n)) / np.sqrt(n)
    y_test = sense(A_test @ x0, np.sqrt(noise) * rng.standard_normal(rows_test))
    return Instance(A, y, x0, A_test, y_test)


_ACTIVATIONS: dict[str, Callable[[Vector, Vector], Vector]] = {
    "abs": lambda z, error: np.abs(np.abs(z) + error),
    "square": lambda z, error: np.sqrt(np.abs(z**2 + error)),
}


def signs_of(z: NDArray[np.floating[Any]]) -> Vector:
    """Signs in {-1, +1}; zero counts as +1."""
    return np.where(z < 0, -1.0, 1.0)


def is_count(value: Any, least: int = 0) -> bool:
    """A whole number, Python's or NumPy's, not below `least`."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= least


def check_seed(seed: int) -> int:
    """A seed is a whole number from 0 on."""
    if not is_count(seed):
        raise InputError(f"seed = {seed!r}: give a whole number, 0 or more")
    return int(seed)


def check_generator(
    n: int,
    alpha: float,
    seed: int,
    variance: float = 1.0,
    density: float = 1.0,
    noise: float = 0.0,
    activation: str = "abs",
) -> None:
    """The parameters of a random instance, checked."""
    check_seed(seed)
    if not is_count(n, 1):
        raise InputError(f"n = {n!r}: the number of unknowns must be a whole number, 1 or more")
    for name, value in (("alpha", alpha), ("signal_variance", variance), ("density", density), ("noise", noise)):
        if not isinstance(value, Real):
            raise InputError(f"{name} = {value!r}: give a number")
    if not np.isfinite(alpha) or round(alpha * n) <= n:
        raise InputError(f"alpha = {alpha!r} with n = {n}: recovery is impossible in principle unless alpha exceeds 1")
    if not (np.isfinite(variance) and variance > 0):
        raise InputError(f"signal_variance = {variance!r}: must be positive")
    if not 0 < density <= 1:
        raise InputError(f"density = {density!r}: must lie in (0, 1]")
    if not (np.isfinite(noise) and noise >= 0):
        raise InputError(f"noise = {noise!r}: a variance, 0 or more")
    if activation not in _ACTIVATIONS:
        raise InputError(f"activation = {activation!r}: use one of {', '.join(_ACTIVATIONS)}")


def _measurements(A: Any, y: Any) -> tuple[Matrix, Vector]:
    """A as a matrix, whatever it is, with magnitudes that fit it."""
    if is_operator(A):
        y = _magnitudes(y, "y")
        found: Matrix = operator(A, y.size)
    elif is_device_array(A):
        from phaselect.devices.matrix import on_device

        y = _magnitudes(y, "y")
        found = on_device(A, y.size)
    else:
        array, y = _check_measurements(A, y, "A", "y")
        return Dense(array), y
    if y.size != found.shape[0]:
        raise InputError(f"A has {found.shape[0]} rows but y has {y.size} entries")
    return found, y


def _magnitudes(values: Any, name: str) -> Vector:
    """Numbers from 0 on, at least one."""
    y: Vector = _numbers(values, name)
    if y.ndim != 1:
        raise InputError(f"{name} has shape {y.shape}: give a 1-D array, one number a measurement")
    if y.size == 0:
        raise InputError(f"{name} is empty: give at least one measurement")
    if y.min() < 0:
        where = int(np.argmax(y < 0))
        raise InputError(f"{name}[{where}] = {y[where]:g} is negative: {name} holds magnitudes, |A x|")
    return y


def _check_measurements(matrix: ArrayLike, y: Any, matrix_name: str, y_name: str) -> tuple[NDArray[Any], Vector]:
    matrix = np.ascontiguousarray(_numbers(matrix, matrix_name, keep_float32=True))
    if matrix.ndim != 2:
        raise InputError(f"{matrix_name} has {matrix.ndim} dimensions: give a 2-D array, one row a measurement")
    if matrix.size == 0:
        raise InputError(f"{matrix_name} is empty: give at least one measurement")
    y = _magnitudes(y, y_name)
    if y.size != matrix.shape[0]:
        raise InputError(f"{matrix_name} has {matrix.shape[0]} rows but {y_name} has {y.size} entries")
    return matrix, y


def _check_power(matrix: Matrix, y: Vector) -> float:
    """The sum of the squared entries of A, once A and y are known to hold something to work with."""
    powers = {"A": matrix.squared_norm(), "y": float(np.einsum("i,i->", y, y))}
    nothing = not matrix.A.any() if isinstance(matrix, Dense) else powers["A"] == 0
    for name, zero in (("A", nothing), ("y", not y.any())):
        if zero:
            raise InputError(f"{name} is all zeros: there is nothing to recover")
        if not np.isfinite(powers[name]) or powers[name] < 1e-290:
            raise InputError(f"{name} has entries too large or too small for float64 squares: rescale it")
    if (where := matrix.empty_column()) is not None:
        raise InputError(f"column {where} of A is all zeros: x[{where}] cannot be determined; drop it")
    return powers["A"]


def _check_length(array: NDArray[Any], length: int, name: str) -> NDArray[Any]:
    if array.shape != (length,):
        raise InputError(f"{name} has shape {array.shape}: it must be ({length},), one entry a column of A")
    return array


def _numbers(values: Any, name: str, keep_float32: bool = False) -> NDArray[Any]:
    """The values as a finite real float array; float32 is kept where the kernels can use it."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(f"{name} is ragged: give a rectangular array of numbers") from None
    if array.dtype.kind == "c":
        raise InputError(f"{name} is complex: real phase retrieval only; give real numbers")
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name} is not numeric (dtype {array.dtype}): give an array of real numbers")
    kept = keep_float32 and array.dtype == np.float32
    with np.errstate(over="ignore"):  # a long double beyond float64 becomes inf and is reported below
        array = array.astype(np.float32 if kept else np.float64, copy=False)
    if array.size and not (np.isfinite(array.min()) and np.isfinite(array.max())):
        where = np.unravel_index(int(np.argmin(np.isfinite(array))), array.shape)
        position = ", ".join(str(int(i)) for i in where)
        raise InputError(f"{name}[{position}] is {array[where]}: every entry must be finite")
    return array

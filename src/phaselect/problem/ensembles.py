"""Random matrices and instances, drawn in memory; many at once on a device: see `instance_batches.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from phaselect.backends.host.by_products import ENTRIES_LIMIT
from phaselect.backends.interface import Vector
from phaselect.base.checks import is_count, is_number, shortened
from phaselect.base.errors import InputError
from phaselect.equations.arrays import squared
from phaselect.equations.fields import COMPLEX
from phaselect.equations.units import gaussian_signal
from phaselect.problem.instance import Instance
from phaselect.problem.matrix_kinds import (
    KINDS,
    can_be_complex,
    check_field,
    check_kind,
    check_parameters,
    gaussian,
    normal,
)
from phaselect.problem.streams import Purpose, check_seed, stream

__all__ = ["ensemble_instance", "gaussian_instance", "matrix"]

LARGEST, HUGE = 1e15, 1e250
"""More measurements than this have no place in any memory; sums of larger squares no room in float64."""


def matrix(
    kind: str,
    m_rows: int,
    n: int,
    seed: int | np.random.Generator,
    *,
    dense: bool | None = None,
    field: str = "real",
    **parameters: Any,
) -> Any:
    """Draw a random M x N matrix of a kind of `KINDS`, whose squared row norms are 1 on average.

    dense: False for the form in which it is drawn, which is a SciPy array for `sparse`, a LinearOperator for `dct` and
        an array for all others; True for an array in any case; None for an array up to 2000 columns.
    field: "real", or "complex" for the kinds that can be.
    parameters: what the kind can be told, such as `rho` of `toeplitz`.

    >>> matrix("toeplitz", 130, 100, seed=0, rho=0.5).shape
    (130, 100)
    """
    check_kind(kind)
    check_parameters(kind, parameters)
    numbers = check_field(field, kind)
    told = parameters | ({"field": numbers} if can_be_complex(kind) else {})
    for name, count in (("m_rows", m_rows), ("n", n)):
        if not is_count(count, 1) or count > LARGEST:
            raise InputError(f"{name} = {shortened(count)}: give a whole number, 1 or more, {LARGEST:g} at most")
    rng = stream(check_seed(seed), Purpose.MATRIX, m_rows, n)
    try:
        A = KINDS[kind](rng, m_rows, n, **told)
        wanted = n <= ENTRIES_LIMIT if dense is None else dense
        return A @ np.eye(n) if wanted and not isinstance(A, np.ndarray) else A
    except InputError:
        raise
    except (MemoryError, ValueError):
        raise InputError(
            f"a {m_rows} x {n} matrix needs {8 * numbers.reals * m_rows * n / 2**30:.3g} GiB: too large for memory"
        ) from None


def ensemble_instance(
    kind: str,
    n: int,
    alpha: float,
    *,
    seed: int | np.random.Generator,
    signal_variance: float = 1.0,
    density: float = 1.0,
    nonnegative: bool = False,
    noise: float = 0.0,
    activation: str = "abs",
    dense: bool | None = None,
    field: str = "real",
    **parameters: Any,
) -> Instance:
    """Draw a random instance with a matrix of any kind: see `matrix` for that, `gaussian_instance` for the signal.

    The signal of a seed is the same whatever the kind. Only the paper's instances, `gaussian`, have a test set.

    >>> ensemble_instance("toeplitz", 100, 1.3, seed=0)
    Instance(M=130, N=100, alpha=1.3, x0 known)
    """
    seed = check_generator(n, alpha, seed, signal_variance, density, noise, activation)
    shape = round(alpha * n), n  # instances of one seed and several shapes have nothing in common
    A = matrix(kind, *shape, seed, dense=dense, field=field, **parameters)
    numbers = check_field(field)
    if nonnegative and numbers == COMPLEX:
        raise InputError("nonnegative signals are real: leave out nonnegative, or the complex field")
    for_signal, for_noise = (stream(seed, purpose, *shape) for purpose in (Purpose.SIGNAL, Purpose.NOISE))
    x0 = normal(for_signal, (n,), numbers)
    if density < 1:
        keep = for_signal.random(n) < density
        keep[for_signal.integers(n)] = True  # a signal is never empty
        x0 *= keep
    parts = (np.abs(x0) if nonnegative else x0).view(np.float64)  # real and imaginary ones share the variance
    x0 = gaussian_signal(parts, signal_variance / numbers.reals).view(numbers.x)

    def reading(A: Any) -> Vector:
        return _ACTIVATIONS[activation](A @ x0, np.sqrt(noise) * for_noise.standard_normal(A.shape[0]))

    y = reading(A)
    if kind != "gaussian":
        return Instance(A, y, x0)
    A_test = gaussian(stream(seed, Purpose.TEST_SET, *shape), max(200, shape[0] // 4), n, field=numbers)
    return Instance(A, y, x0, A_test, reading(A_test))


def gaussian_instance(
    n: int,
    alpha: float,
    *,
    seed: int | np.random.Generator,
    signal_variance: float = 1.0,
    density: float = 1.0,
    nonnegative: bool = False,
    noise: float = 0.0,
    activation: str = "abs",
    field: str = "real",
) -> Instance:
    """Draw the paper's random instance (alg:Problem): iid Gaussian A of variance 1/N, Gaussian x0.

    `|x0|^2 = n * signal_variance` exactly; with `density` < 1 a random fraction of the entries is kept
    and the rest set to zero before rescaling (the paper rescales first, which loses the norm). With `nonnegative` the
    entries of x0 are magnitudes. `noise` is the variance of the noise on the output (of which the instance does not
    tell: give it to `solve`); `activation` is what the sensor reports, "abs" for |A x0| or "square" for a power meter,
    whose reading is turned into a magnitude. A noisy magnitude below zero is folded to its absolute value: signs are
    free, so S*y ranges over the same vectors. In the "complex" `field` variances are of |.|^2, but that of the noise,
    which is on a magnitude.

    >>> gaussian_instance(100, 1.3, seed=0)
    Instance(M=130, N=100, alpha=1.3, x0 known)
    """
    return ensemble_instance(
        "gaussian",
        n,
        alpha,
        seed=seed,
        signal_variance=signal_variance,
        density=density,
        nonnegative=nonnegative,
        noise=noise,
        activation=activation,
        field=field,
    )


_ACTIVATIONS: dict[str, Callable[[Vector, Vector], Vector]] = {
    "abs": lambda z, error: np.abs(np.abs(z) + error),
    "square": lambda z, error: np.sqrt(np.abs(squared(z) + error)),
}


def check_generator(
    n: int,
    alpha: float,
    seed: Any,
    variance: float = 1.0,
    density: float = 1.0,
    noise: float = 0.0,
    activation: str = "abs",
) -> int:
    """The parameters of a random instance, checked; returns the seed as a plain number."""
    number = check_seed(seed)
    if not is_count(n, 1):
        raise InputError(f"n = {shortened(n)}: the number of unknowns must be a whole number, 1 or more")
    for name, value in (("alpha", alpha), ("signal_variance", variance), ("density", density), ("noise", noise)):
        if not is_number(value):
            raise InputError(f"{name} = {shortened(value)}: give a number")
    if n > LARGEST or not alpha * n < LARGEST:
        raise InputError(f"n = {shortened(n)} with alpha = {shortened(alpha)} is too large")
    if round(alpha * n) < 1:
        raise InputError(f"alpha = {shortened(alpha)} with n = {n}: there must be a measurement")
    if not 1 / HUGE <= variance <= HUGE:
        raise InputError(
            f"signal_variance = {shortened(variance)}: must be positive, between {1 / HUGE:g} and {HUGE:g}"
        )
    if not 0 < density <= 1:
        raise InputError(f"density = {shortened(density)}: must lie in (0, 1]")
    if not 0 <= noise <= HUGE:
        raise InputError(f"noise = {shortened(noise)}: a variance, 0 or more, {HUGE:g} at most")
    if activation not in _ACTIVATIONS:
        raise InputError(f"activation = {shortened(activation)}: use one of {', '.join(_ACTIVATIONS)}")
    return number

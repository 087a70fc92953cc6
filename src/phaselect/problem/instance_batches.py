"""Many instances of one shape, for a device: sent there from memory, or drawn there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from phaselect.backends.interface import Vector
from phaselect.base.checks import is_count, shortened
from phaselect.base.errors import InputError
from phaselect.equations.fields import REAL, Field
from phaselect.equations.signs import signs_of
from phaselect.equations.units import normalised_units
from phaselect.problem.ensembles import check_generator
from phaselect.problem.instance import Instance
from phaselect.problem.normalised import Normalised
from phaselect.problem.streams import Purpose, check_seed


class Batch(Protocol):
    """Instances of one shape, to be had on a device, a few at a time."""

    @property
    def m_rows(self) -> int:
        """Measurements of each."""

    @property
    def n(self) -> int:
        """Unknowns of each."""

    @property
    def field(self) -> Field:
        """What x and its measurements are made of."""

    @property
    def noise_levels(self) -> Sequence[float]:
        """Noise of each in normalised units; 0 for exact data."""

    def noise_of(self, k: int) -> Any:
        """Variance of the noise of member k, or variances, in the units of its data; 0 for exact data."""

    def __len__(self) -> int: ...

    def stacked(self, chosen: Sequence[int], device: Any, dtype: str) -> tuple[Normalised, Vector]:
        """Those chosen, stacked on the device; and for each what takes normalised x to the units of the data."""

    def signs_of_all(self, k: int, signs: Vector) -> Vector:
        """Signs of the rows of member k that are kept, put among those that are not."""


@dataclass(frozen=True, eq=False)
class InstanceBatch:
    """Instances that are in memory; they are sent to the device."""

    problems: Sequence[Instance]

    @property
    def m_rows(self) -> int:
        """Measurements of each that are not rows of zeros."""
        return self.problems[0].normalised.m_rows

    @property
    def n(self) -> int:
        """Unknowns of each."""
        return self.problems[0].n

    @property
    def field(self) -> Field:
        """See `Batch`."""
        return self.problems[0].matrix.field

    @property
    def noise_levels(self) -> Sequence[float]:
        """Noise of each in normalised units."""
        return [problem.noise_level for problem in self.problems]

    def noise_of(self, k: int) -> Any:
        """See `Batch`."""
        return self.problems[k].noise_given

    def __len__(self) -> int:
        return len(self.problems)

    def stacked(self, chosen: Sequence[int], device: Any, dtype: str) -> tuple[Normalised, Vector]:
        """See `Batch`."""
        from phaselect.backends.jax.batches import stack

        some = [self.problems[k].normalised for k in chosen]
        parts = zip(*(one.vectors for one in some), strict=True)
        *vectors, rounding = (np.stack(np.broadcast_arrays(*own)) for own in parts)  # powers may be numbers, and arrays
        vectors.append(np.maximum(rounding, np.finfo(dtype).eps))
        matrix, arrays = stack([one.matrix for one in some], vectors, device, dtype)
        scales = [float(self.problems[k].units.x_scale) for k in chosen]
        return Normalised(matrix, *arrays), np.array(scales)

    def signs_of_all(self, k: int, signs: Vector) -> Vector:
        """See `Batch`."""
        return self.problems[k].signs_of_all(signs)


@dataclass(frozen=True)
class GaussianBatch:
    """The paper's random instances, drawn on the device from their seeds: A never crosses the bus.

    The random numbers are JAX's: the instance of a seed is not that of `gaussian_instance`, but of the same ensemble.
    It does not depend on the other members, on the size of the batch or, up to rounding, on the device.
    """

    n: int
    alpha: float
    seeds: tuple[int, ...]
    field = REAL

    @property
    def m_rows(self) -> int:
        """Measurements of each."""
        return round(self.alpha * self.n)

    @property
    def noise_levels(self) -> Sequence[float]:
        """None has any."""
        return [0.0] * len(self)

    def noise_of(self, k: int) -> Any:
        """None."""
        return 0.0

    def __len__(self) -> int:
        return len(self.seeds)

    def stacked(self, chosen: Sequence[int], device: Any, dtype: str) -> tuple[Normalised, Vector]:
        """See `Batch`."""
        from phaselect.backends.jax.batches import draw_many

        seeds = np.array([self.seeds[k] for k in chosen], dtype=np.int64)
        matrix, arrays, scale = draw_many(seeds, self.m_rows, self.n, dtype, _STREAMS, device, _normalise)
        scales, y, x0, signs = arrays
        ones = np.ones(len(chosen))
        return Normalised(matrix, scales, y, x0, signs, ones, matrix.rounding * ones), scale

    def signs_of_all(self, k: int, signs: Vector) -> Vector:
        """See `Batch`."""
        return signs

    def instance(self, k: int = 0, device: Any = None, dtype: str = "float32") -> Instance:
        """Member k by itself, with A on the device: for one that is too large to be drawn anywhere else."""
        from phaselect.backends.jax.batches import draw_one

        if not is_count(k) or k >= len(self):
            raise InputError(f"instance {shortened(k)} of a batch of {len(self)}: they are counted from 0")
        drawn = draw_one(self.seeds[k], self.m_rows, self.n, dtype, _STREAMS, device)
        return Instance(drawn.A, np.abs(drawn.z), np.asarray(drawn.x0))


_STREAMS = int(Purpose.MATRIX), int(Purpose.SIGNAL)


def _normalise(row_powers: Any, x0: Any, z: Any) -> tuple[Any, ...]:
    """scale, y, x0 and signs in normalised units, and what takes x back; rows have weight one."""
    units = normalised_units(1.0 + 0 * z, row_powers, abs(z))
    return units.scale, abs(z) / units.y_scale, x0 / units.x_scale, signs_of(z), units.x_scale


def gaussian_batch(n: int, alpha: float, *, seeds: Iterable[int]) -> GaussianBatch:
    """Random instances to be drawn on a device, one per seed: for `run_batch`.

    >>> len(gaussian_batch(100, 1.3, seeds=range(50)))
    50
    """
    chosen = checked_seeds(seeds)
    check_generator(n, alpha, chosen[0])
    return GaussianBatch(int(n), float(alpha), chosen)


def checked_seeds(seeds: Any) -> tuple[int, ...]:
    """One per instance, as whole numbers that JAX can take."""
    if not isinstance(seeds, Iterable):
        raise InputError(f"seeds = {shortened(seeds)}: give one for each instance, such as range({shortened(seeds)})")
    chosen = tuple(check_seed(seed) for seed in seeds)
    if not chosen or max(chosen) >= 2**63:
        raise InputError("seeds: give at least one, each below 2^63")
    return chosen


def as_batch(problems: Any) -> Batch:
    """Instances of one shape, or a batch to be drawn."""
    if isinstance(problems, GaussianBatch):
        return problems
    given = list(problems) if isinstance(problems, Iterable) else []
    if not given or not all(isinstance(problem, Instance) for problem in given):
        raise InputError(
            "run_batch takes a list of Instances, at least one, or phaselect.gaussian_batch(n, alpha, seeds=...)"
        )
    if len({problem.matrix.field for problem in given}) > 1:
        raise InputError("the instances of a batch must all be real, or all complex")
    shapes = sorted({(problem.normalised.m_rows, problem.n) for problem in given})
    if len(shapes) > 1:
        raise InputError(f"the instances of a batch must have one shape; these have {shapes[0]} and {shapes[1]}")
    return InstanceBatch(given)

"""One instance as a device program sees it; a batch of them has a leading axis in every field."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from phaselect.base.errors import InputError
from phaselect.devices.backend import choose, on, out_of_memory, too_large
from phaselect.problem.instance import Instance, check_generator, check_seed

Array = Any
"""An array of JAX, of which mypy is not asked to know."""


class Member(NamedTuple):
    """An instance in normalised units, `gain * A` and y; x0 and its signs are nan where they are not known."""

    A: Array  # (M, N), as it was given
    gain: Array
    y: Array  # (M,) float64, of unit mean square
    x0: Array  # (N,) float64
    signs: Array  # (M,) float64


class Batch(Protocol):
    """Instances of one shape, to be had on a device, a few at a time."""

    @property
    def m_rows(self) -> int:
        """Measurements of each."""

    @property
    def n(self) -> int:
        """Unknowns of each."""

    def __len__(self) -> int: ...

    def members(self, chosen: Sequence[int], device: Any, dtype: str) -> tuple[Member, np.ndarray]:
        """Those chosen, stacked on the device; and for each what takes normalised x to the units of the data."""


@dataclass(frozen=True, eq=False)
class Given:
    """Instances that are in memory; they are sent to the device."""

    problems: Sequence[Instance]

    @property
    def m_rows(self) -> int:
        """Measurements of each."""
        return self.problems[0].m_rows

    @property
    def n(self) -> int:
        """Unknowns of each."""
        return self.problems[0].n

    def __len__(self) -> int:
        return len(self.problems)

    def members(self, chosen: Sequence[int], device: Any, dtype: str) -> tuple[Member, np.ndarray]:
        """See `Batch`."""
        some = [self.problems[k] for k in chosen]
        unknown_x, unknown_signs = np.full(self.n, np.nan), np.full(self.m_rows, np.nan)
        with on(device):
            member = Member(
                A=jnp.stack([jax.device_put(_entries(p, dtype), device) for p in some]),
                gain=jnp.asarray([p.gain for p in some]),
                y=jnp.asarray(np.stack([p.target for p in some])),
                x0=jnp.asarray(np.stack([unknown_x if p.target_x0 is None else p.target_x0 for p in some])),
                signs=jnp.asarray(np.stack([unknown_signs if p.signs is None else p.signs for p in some])),
            )
        return member, np.array([p.x_scale for p in some])


def _entries(problem: Instance, dtype: str) -> Array:
    """A, on a device or in memory, without padding."""
    entries = problem.A[: problem.m_rows] if problem.matrix.on_device else problem.matrix.entries()
    return entries.astype(dtype)


@dataclass(frozen=True)
class GaussianBatch:
    """The paper's random instances, drawn on the device from their seeds: A never crosses the bus.

    The random numbers are JAX's: the instance of a seed is not that of `gaussian_instance`, but of the same ensemble.
    It does not depend on the other members, on the size of the batch or, up to rounding, on the device.
    """

    n: int
    alpha: float
    seeds: tuple[int, ...]

    @property
    def m_rows(self) -> int:
        """Measurements of each."""
        return round(self.alpha * self.n)

    def __len__(self) -> int:
        return len(self.seeds)

    def members(self, chosen: Sequence[int], device: Any, dtype: str) -> tuple[Member, np.ndarray]:
        """See `Batch`."""
        seeds = np.array([self.seeds[k] for k in chosen], dtype=np.int64)
        with on(device):
            member, scale = _drawing(self.m_rows, self.n, dtype, True)(jnp.asarray(seeds))
        return member, np.asarray(scale)

    def instance(self, k: int = 0, device: Any = None, dtype: str = "float32") -> Instance:
        """Member k by itself, with A on the device: for one that is too large to be drawn anywhere else."""
        if not 0 <= k < len(self):
            raise InputError(f"instance {k} of a batch of {len(self)}: they are counted from 0")
        where = choose(device)
        try:
            with on(where):
                member, _ = _drawing(self.m_rows, self.n, dtype, False)(self.seeds[k])
                y, x0 = np.array(member.y), np.array(member.x0)
        except RuntimeError as error:
            if not out_of_memory(error):
                raise
            raise too_large("A", self.m_rows * self.n * np.dtype(dtype).itemsize, where) from None
        return Instance(member.A, y, x0 * float(member.gain))


def gaussian_batch(n: int, alpha: float, *, seeds: Iterable[int]) -> GaussianBatch:
    """Random instances to be drawn on a device, one for each seed: for `run_batch`.

    >>> len(gaussian_batch(100, 1.3, seeds=range(50)))
    50
    """
    chosen = checked_seeds(seeds)
    check_generator(n, alpha, chosen[0])
    return GaussianBatch(int(n), float(alpha), chosen)


def checked_seeds(seeds: Any) -> tuple[int, ...]:
    """One for each instance, as whole numbers that JAX can take."""
    if not isinstance(seeds, Iterable):
        raise InputError(f"seeds = {seeds!r}: give one for each instance, such as range({seeds!r})")
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
    shapes = sorted({problem.matrix.shape for problem in given})
    if len(shapes) > 1:
        raise InputError(f"the instances of a batch must have one shape; these have {shapes[0]} and {shapes[1]}")
    return Given(given)


@cache
def _drawing(rows: int, columns: int, dtype: str, many: bool) -> Any:
    """The program that draws one instance, or many."""

    def draw(seed: Array) -> tuple[Member, Array]:
        return _draw(seed, rows, columns, dtype)

    return jax.jit(jax.vmap(draw) if many else draw)


def _draw(seed: Array, rows: int, columns: int, dtype: str) -> tuple[Member, Array]:
    """A of variance 1/N, the same in any dtype; x0 of norm sqrt(N); `y = |A x0|` in float64."""
    for_A, for_x = jax.random.split(jax.random.key(seed))
    A = (jax.random.normal(for_A, (rows, columns), "float32") / np.float32(np.sqrt(columns))).astype(dtype)
    x0 = jax.random.normal(for_x, (columns,), "float64")
    x0 = x0 * np.sqrt(columns) / jnp.linalg.norm(x0)
    z = (A.astype("float64") * x0).sum(axis=1)
    gain = jnp.sqrt(rows / (A.astype("float64") ** 2).sum())
    y_scale = jnp.sqrt((z**2).mean())
    scale = y_scale * gain
    return Member(A, gain, abs(z) / y_scale, x0 / scale, jnp.where(z < 0, -1.0, 1.0)), scale

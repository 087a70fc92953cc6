"""Who is to be solved: instances one by one, or a batch of them on a device, in cohorts that fit into its memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from phaselect.backends.interface import Vector
from phaselect.equations.fields import Field
from phaselect.problem.instance import Instance
from phaselect.problem.instance_batches import Batch
from phaselect.solvers.cohort import Alone, Cohort, Together
from phaselect.solvers.protocol import Solver

Found = TypeVar("Found")


class Company(Protocol):
    """Members, and how they are brought to run."""

    @property
    def noise_levels(self) -> Sequence[float]:
        """Noise of each in normalised units; 0 for exact data."""

    @property
    def field(self) -> Field:
        """What x and its measurements are made of."""

    def noise_of(self, k: int) -> Any:
        """Variance of the noise of member k in the units of its data, or variances; 0 for exact data."""

    @property
    def shape(self) -> tuple[int, int]:
        """Measurements and unknowns of each."""

    def __len__(self) -> int: ...

    def in_cohorts(
        self, solver: Solver, chosen: Sequence[int], run: Callable[[Cohort, Sequence[int]], Found]
    ) -> Iterator[tuple[Sequence[int], Found]]:
        """What `run` returns for cohorts of the members chosen, one after the other."""

    def x_scale(self, k: int) -> float:
        """What takes a normalised x of member k to the units of its data."""

    def signs_of_all(self, k: int, signs: Vector) -> Vector:
        """Signs of all measurements of member k."""


@dataclass(frozen=True)
class OneByOne:
    """Instances of one shape, mostly a single one, each where its A is, one after the other."""

    problems: Sequence[Instance]

    @property
    def noise_levels(self) -> Sequence[float]:
        """See `Company`."""
        return [problem.noise_level for problem in self.problems]

    @property
    def field(self) -> Field:
        """See `Company`."""
        return self.problems[0].matrix.field

    def noise_of(self, k: int) -> Any:
        """See `Company`."""
        return self.problems[k].noise_given

    @property
    def shape(self) -> tuple[int, int]:
        """See `Company`."""
        return self.problems[0].normalised.m_rows, self.problems[0].n

    def __len__(self) -> int:
        return len(self.problems)

    def in_cohorts(
        self, solver: Solver, chosen: Sequence[int], run: Callable[[Cohort, Sequence[int]], Found]
    ) -> Iterator[tuple[Sequence[int], Found]]:
        """See `Company`."""
        for k in chosen:
            problem, own = self.problems[k], self.problems[k].normalised
            placed = problem.placed if solver.in_batches else own.placed(own.matrix.in_memory)
            yield [k], run(Cohort(solver, placed, Alone()), [k])

    def x_scale(self, k: int) -> float:
        """See `Company`."""
        return float(self.problems[k].units.x_scale)

    def signs_of_all(self, k: int, signs: Vector) -> Vector:
        """See `Company`."""
        return self.problems[k].signs_of_all(signs)


@dataclass
class BatchOnDevice:
    """Many instances: as many at a time as the device has room for, half as many when it turns out to have less."""

    batch: Batch
    device: Any
    dtype: str

    def __post_init__(self) -> None:
        self._scales = np.ones(len(self.batch))

    @property
    def noise_levels(self) -> Sequence[float]:
        """See `Company`."""
        return self.batch.noise_levels

    @property
    def field(self) -> Field:
        """See `Company`."""
        return self.batch.field

    def noise_of(self, k: int) -> Any:
        """See `Company`."""
        return self.batch.noise_of(k)

    @property
    def shape(self) -> tuple[int, int]:
        """See `Company`."""
        return self.batch.m_rows, self.batch.n

    def __len__(self) -> int:
        return len(self.batch)

    def in_cohorts(
        self, solver: Solver, chosen: Sequence[int], run: Callable[[Cohort, Sequence[int]], Found]
    ) -> Iterator[tuple[Sequence[int], Found]]:
        """See `Company`."""
        from phaselect.backends.jax.devices import MARGIN, free_bytes, out_of_memory, too_large

        each = self.batch.field.beta * solver.memory(*self.shape, np.dtype(self.dtype).itemsize)
        room = max(1, int(min(len(chosen), MARGIN * free_bytes(self.device) / each)))
        done = 0
        while done < len(chosen):
            part = list(chosen[done : done + room])
            try:
                problem, self._scales[part] = self.batch.stacked(part, self.device, self.dtype)
                result = run(Cohort(solver, problem, Together(self.device)), part)
            except (RuntimeError, ValueError) as error:
                if not out_of_memory(error):
                    raise
                room = len(part) // 2
                if room == 0:
                    raise too_large(f"an instance with N = {self.batch.n}", each, self.device) from None
                continue
            done += len(part)
            yield part, result

    def x_scale(self, k: int) -> float:
        """See `Company`."""
        return float(self._scales[k])

    def signs_of_all(self, k: int, signs: Vector) -> Vector:
        """See `Company`."""
        return self.batch.signs_of_all(k, signs)

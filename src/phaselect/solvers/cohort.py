"""The members of a run: a solver's functions applied to one instance, wherever A is, or mapped over a batch.

Both kinds speak of their members in arrays with a leading axis, so that one loop drives them all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from phaselect.problem.normalised import Normalised
from phaselect.problem.schedule import Stretch
from phaselect.solvers.certificate import probe_points
from phaselect.solvers.finish import Answer, Support, examine, take_as_it_is, truth
from phaselect.solvers.protocol import Solver, Start

Columns = dict[str, NDArray[Any]]


class Functions(NamedTuple):
    """A solver's functions; one object per configuration, so that each is compiled once."""

    start: Callable[..., Any]
    advance: Callable[..., Any]
    measure: Callable[..., Any]
    candidate: Callable[..., Any]
    refine: Callable[..., Any]
    average: Callable[..., Any]


@cache
def functions_of(solver: Solver) -> Functions:
    """Kept for the life of the process."""
    return Functions(solver.start, solver.advance, solver.measure, solver.candidate, solver.refine, solver.average)


class Cohort(Protocol):
    """Members that go through a schedule together."""

    @property
    def members(self) -> int:
        """How many."""

    @property
    def problem(self) -> Normalised:
        """The problem of all."""

    @property
    def on_gpu(self) -> bool:
        """Do they run on a GPU?"""

    def start(self, level: tuple[float, float], drawn: Sequence[Any], init: Start | None) -> Any:
        """The first state."""

    def advance(self, state: Any, stretch: Stretch) -> Any:
        """A piece of schedule."""

    def measure(self, state: Any) -> Columns:
        """A row of the trace for each."""

    def candidate(self, state: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """What each would end with now, for exact data."""

    def average(self, state: Any) -> NDArray[Any]:
        """The estimate of each for noisy data."""

    def backprojection(self) -> NDArray[Any]:
        """`A^T y`: what is known before the first state."""

    def refine(self, candidates: NDArray[Any]) -> Answer:
        """Answers for exact data."""

    def take_as_it_is(self, x: NDArray[Any]) -> Answer:
        """Answers that are not refined."""

    def examine(self) -> Support:
        """What the certificate asks of A."""

    def truth(self, answers: Answer) -> Columns:
        """How answers compare with the truth; nan where it is not known."""

    def member(self, k: int) -> Normalised:
        """The problem of one member."""

    def reduced(self, state: Any, places: Sequence[int]) -> tuple[Cohort, Any]:
        """Some of the members, with their states."""


@dataclass(frozen=True)
class Alone:
    """One instance, wherever A is."""

    solver: Solver
    problem: Normalised
    members = 1

    @property
    def on_gpu(self) -> bool:
        """Does it run on a GPU?"""
        return self.problem.matrix.on_gpu

    def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return self.problem.compiled(function)(self.problem, *arguments)

    def start(self, level: tuple[float, float], drawn: Sequence[Any], init: Start | None) -> Any:
        """See `Cohort`."""
        return self._call(functions_of(self.solver).start, *level, drawn[0], init)

    def advance(self, state: Any, stretch: Stretch) -> Any:
        """See `Cohort`."""
        return self._call(functions_of(self.solver).advance, state, stretch)

    def measure(self, state: Any) -> Columns:
        """See `Cohort`."""
        row = self._call(functions_of(self.solver).measure, state)
        return {name: np.asarray(value)[None] for name, value in row.items()}

    def candidate(self, state: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """See `Cohort`."""
        found, floor = self._call(functions_of(self.solver).candidate, state)
        return np.asarray(found)[None], np.asarray(floor)[None]

    def average(self, state: Any) -> NDArray[Any]:
        """See `Cohort`."""
        return np.asarray(self._call(functions_of(self.solver).average, state))[None]

    def backprojection(self) -> NDArray[Any]:
        """See `Cohort`."""
        return np.asarray(self._call(_backprojection))[None]

    def refine(self, candidates: NDArray[Any]) -> Answer:
        """See `Cohort`."""
        return _widened(Answer, self._call(functions_of(self.solver).refine, candidates[0]))

    def take_as_it_is(self, x: NDArray[Any]) -> Answer:
        """See `Cohort`."""
        return _widened(Answer, self._call(take_as_it_is, x[0]))

    def examine(self) -> Support:
        """See `Cohort`."""
        return _widened(Support, self._call(examine, probe_points(self.problem.y, self.problem.n)))

    def truth(self, answers: Answer) -> Columns:
        """See `Cohort`."""
        found = self._call(truth, answers.x[0], answers.signs[0])
        return {name: np.asarray(value)[None] for name, value in found.items()}

    def member(self, k: int) -> Normalised:
        """See `Cohort`."""
        return self.problem

    def reduced(self, state: Any, places: Sequence[int]) -> tuple[Cohort, Any]:
        """There is nobody to spare."""
        return self, state


@dataclass(frozen=True)
class Together:
    """Many instances of one shape, stacked on a device: one JAX program for all."""

    solver: Solver
    problem: Normalised
    device: Any

    @property
    def members(self) -> int:
        """How many."""
        return int(self.problem.y.shape[0])

    @property
    def on_gpu(self) -> bool:
        """Do they run on a GPU?"""
        return bool(self.device.platform == "gpu")

    def _call(self, function: Callable[..., Any], *arguments: Any, axes: Any = 0) -> Any:
        from phaselect.backends.jax.batches import mapped
        from phaselect.backends.jax.devices import on

        with on(self.device):
            return mapped(function, axes)(self.problem, *arguments)

    def start(self, level: tuple[float, float], drawn: Sequence[Any], init: Start | None) -> Any:
        """See `Cohort`; all start afresh."""
        fields = (np.stack(parts) for parts in zip(*drawn, strict=True))
        stacked = type(drawn[0])(*fields)
        return self._call(functions_of(self.solver).start, *level, stacked, None, axes=(0, None, None, 0, None))

    def advance(self, state: Any, stretch: Stretch) -> Any:
        """See `Cohort`."""
        return self._call(functions_of(self.solver).advance, state, stretch, axes=(0, 0, None))

    def measure(self, state: Any) -> Columns:
        """See `Cohort`."""
        columns = self._call(functions_of(self.solver).measure, state)
        return {name: np.asarray(column) for name, column in columns.items()}

    def candidate(self, state: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """See `Cohort`."""
        found, floor = self._call(functions_of(self.solver).candidate, state)
        return np.asarray(found), np.asarray(floor)

    def average(self, state: Any) -> NDArray[Any]:
        """See `Cohort`."""
        return np.asarray(self._call(functions_of(self.solver).average, state))

    def backprojection(self) -> NDArray[Any]:
        """See `Cohort`."""
        return np.asarray(self._call(_backprojection))

    def refine(self, candidates: NDArray[Any]) -> Answer:
        """See `Cohort`."""
        return Answer(*map(np.asarray, self._call(functions_of(self.solver).refine, candidates)))

    def take_as_it_is(self, x: NDArray[Any]) -> Answer:
        """See `Cohort`."""
        return Answer(*map(np.asarray, self._call(take_as_it_is, x)))

    def examine(self) -> Support:
        """See `Cohort`."""
        probes = np.stack([probe_points(y, self.problem.n) for y in np.asarray(self.problem.y)])
        return Support(*map(np.asarray, self._call(examine, probes)))

    def truth(self, answers: Answer) -> Columns:
        """See `Cohort`."""
        found = self._call(truth, answers.x, answers.signs)
        return {name: np.asarray(column) for name, column in found.items()}

    def member(self, k: int) -> Normalised:
        """See `Cohort`."""
        from phaselect.backends.jax.batches import one
        from phaselect.backends.jax.devices import on

        with on(self.device):
            return one(self.problem, k)  # type: ignore[no-any-return]

    def reduced(self, state: Any, places: Sequence[int]) -> tuple[Cohort, Any]:
        """See `Cohort`; a power of two of them, so that few programs are compiled."""
        from phaselect.backends.jax.batches import take
        from phaselect.backends.jax.devices import on

        filled = [*places, *[places[0]] * ((1 << (len(places) - 1).bit_length()) - len(places))]
        with on(self.device):
            problem, state = take((self.problem, state), filled)
        return Together(self.solver, problem, self.device), state


def _backprojection(problem: Normalised) -> Any:
    return problem.adjoint(problem.y)


def _widened(kind: Any, values: Any) -> Any:
    return kind(*(np.asarray(value)[None] for value in values))

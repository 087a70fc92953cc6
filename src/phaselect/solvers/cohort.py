"""The members of a run: a solver's functions applied to one instance, wherever A is, or mapped over a batch.

A cohort speaks of its members in arrays of NumPy with a leading axis, so that one loop drives them all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from phaselect.equations.arrays import in_memory
from phaselect.problem.normalised import Normalised
from phaselect.problem.schedule import Stretch
from phaselect.problem.streams import trace_probes
from phaselect.solvers.certificate.judge import data_seed, probes, thinned
from phaselect.solvers.endings import Ending, ending_of
from phaselect.solvers.finish import Answer, Probe, take_as_it_is, truth, uncertainty
from phaselect.solvers.protocol import Solver, Start

Columns = dict[str, NDArray[Any]]


class Place(Protocol):
    """Where members are, and how a function of one problem is applied to them."""

    def members(self, problem: Normalised) -> int:
        """How many."""

    def on_gpu(self, problem: Normalised) -> bool:
        """Do they run on a GPU?"""

    def call(self, function: Callable[..., Any], own: Sequence[Any], shared: Sequence[Any] = ()) -> Any:
        """The function of what each member has of its own, its problem first, and of what all share."""

    def spread(self, arrays: Any) -> Any:
        """What each member has, from one entry per member."""

    def gathered(self, tree: Any) -> Any:
        """Arrays of NumPy with a leading axis, from what each member has."""

    def member(self, problem: Normalised, k: int) -> Normalised:
        """The problem of one member."""

    def some(self, tree: Any, places: Sequence[int]) -> Any:
        """Some of the members; there may be a few more than asked for at the end."""


class Alone:
    """One instance, wherever A is."""

    def members(self, problem: Normalised) -> int:
        """One."""
        return 1

    def on_gpu(self, problem: Normalised) -> bool:
        """Is A on a GPU?"""
        return problem.matrix.on_gpu

    def call(self, function: Callable[..., Any], own: Sequence[Any], shared: Sequence[Any] = ()) -> Any:
        """The function itself, made ready to run where A is."""
        problem: Normalised = own[0]
        return problem.compiled(function)(*own, *shared)

    def spread(self, arrays: Any) -> Any:
        """The only entry."""
        return arrays[0]

    def gathered(self, tree: Any) -> Any:
        """Each array with a leading axis of one."""
        return _mapped(lambda leaf: leaf[None], tree)

    def member(self, problem: Normalised, k: int) -> Normalised:
        """The problem."""
        return problem

    def some(self, tree: Any, places: Sequence[int]) -> Any:
        """All: there is nobody to spare."""
        return tree


@dataclass(frozen=True)
class Together:
    """Many instances of one shape, stacked on a device: one JAX program for all."""

    device: Any

    def members(self, problem: Normalised) -> int:
        """How many are stacked."""
        return int(problem.y.shape[0])

    def on_gpu(self, problem: Normalised) -> bool:
        """Is the device a GPU?"""
        return bool(self.device.platform == "gpu")

    def call(self, function: Callable[..., Any], own: Sequence[Any], shared: Sequence[Any] = ()) -> Any:
        """The function mapped over the members."""
        from phaselect.backends.jax.batches import mapped
        from phaselect.backends.jax.devices import on

        with on(self.device):
            return mapped(function, (0,) * len(own) + (None,) * len(shared))(*own, *shared)

    def spread(self, arrays: Any) -> Any:
        """Stacked, field by field."""
        if isinstance(arrays[0], tuple):
            return type(arrays[0])(*(np.stack(parts) for parts in zip(*arrays, strict=True)))
        return np.stack(arrays)

    def gathered(self, tree: Any) -> Any:
        """As they are, in memory."""
        return _mapped(lambda leaf: leaf, tree)

    def member(self, problem: Normalised, k: int) -> Normalised:
        """Cut out of the stack."""
        from phaselect.backends.jax.batches import one
        from phaselect.backends.jax.devices import on

        with on(self.device):
            return one(problem, k)  # type: ignore[no-any-return]

    def some(self, tree: Any, places: Sequence[int]) -> Any:
        """A power of two of them, so that few programs are compiled."""
        from phaselect.backends.jax.batches import take
        from phaselect.backends.jax.devices import on

        filled = [*places, *[places[0]] * ((1 << (len(places) - 1).bit_length()) - len(places))]
        with on(self.device):
            return take(tree, filled)


class Functions(NamedTuple):
    """A solver's functions; one object per configuration, so that each is compiled once."""

    start: Callable[..., Any]
    advance: Callable[..., Any]
    measure: Callable[..., Any]
    candidate: Callable[..., Any]
    settle: Callable[..., Any]
    average: Callable[..., Any]


@cache
def functions_of(solver: Solver) -> Functions:
    """Kept for the life of the process; solvers of the same configuration are equal."""
    return Functions(solver.start, solver.advance, solver.measure, solver.candidate, solver.settle, solver.average)


@dataclass(frozen=True)
class Cohort:
    """Members that go through a schedule together."""

    solver: Solver
    problem: Normalised
    place: Place

    @property
    def members(self) -> int:
        """How many."""
        return self.place.members(self.problem)

    @property
    def ending(self) -> Ending:
        """What comes after the search."""
        return ending_of(self.problem.field)

    def _call(self, function: Callable[..., Any], *own: Any, shared: Sequence[Any] = ()) -> Any:
        return self.place.call(function, [self.problem, *own], shared)

    def start(self, level: tuple[float, float], drawn: Sequence[Any], init: Start | None) -> Any:
        """The first state of each, from what was drawn for it."""
        return self._call(functions_of(self.solver).start, self.place.spread(drawn), shared=[*level, init])

    def advance(self, state: Any, stretch: Stretch) -> Any:
        """A piece of schedule."""
        return self._call(functions_of(self.solver).advance, state, shared=[stretch])

    def measure(self, state: Any) -> Columns:
        """A row of the trace for each."""
        found: Columns = self.place.gathered(self._call(functions_of(self.solver).measure, state))
        return found

    def candidate(self, state: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """What each would end with now, for exact data, and what greedy flips left."""
        found, floor = self.place.gathered(self._call(functions_of(self.solver).candidate, state))
        return found, floor

    def average(self, state: Any) -> NDArray[Any]:
        """The estimate of each for noisy data."""
        found: NDArray[Any] = self.place.gathered(self._call(functions_of(self.solver).average, state))
        return found

    def measurements(self) -> NDArray[Any]:
        """The y of each."""
        found: NDArray[Any] = self.place.gathered(self.problem.y)
        return found

    def backprojection(self) -> NDArray[Any]:
        """`A^T y`: what is known before the first state."""
        found: NDArray[Any] = self.place.gathered(self._call(_backprojection))
        return found

    def settle(self, candidates: NDArray[Any]) -> tuple[Answer, Any]:
        """Answers for exact data, and what the certificate asks of A."""
        own = self.place.spread(candidates), self._probe()
        answers, support = self._call(functions_of(self.solver).settle, *own)
        return Answer(*self.place.gathered(answers)), type(support)(*self.place.gathered(support))

    def take_as_it_is(self, x: NDArray[Any]) -> Answer:
        """Answers that are not refined."""
        return Answer(*self.place.gathered(self._call(take_as_it_is, self.place.spread(x))))

    def examine(self, x: NDArray[Any]) -> Any:
        """What the certificate asks of A, given answers x."""
        found = self._call(self.ending.examine, self.place.spread(x), self._probe())
        return type(found)(*self.place.gathered(found))

    def _probe(self) -> Probe:
        """A random one for each."""
        shape = self.problem.m_rows, self.problem.n, self.ending.points
        data = zip(*self.place.gathered(self._call(_some_data)), strict=True)
        found: Probe = self.place.spread([probes(data_seed(*own), *shape) for own in data])
        return found

    def truth(self, answers: Answer) -> Columns:
        """How answers compare with the truth, where it is known."""
        if self.problem.x0.ndim < self.problem.y.ndim:
            return {}
        own = self.place.spread(answers.x), self.place.spread(answers.signs)
        found: Columns = self.place.gathered(self._call(truth, *own))
        return found

    def uncertainty(self, x: NDArray[Any], noise: NDArray[Any]) -> NDArray[Any]:
        """Standard deviations of x, each at its own noise."""
        own = self.place.spread(x), self.place.spread(noise)
        found: NDArray[Any] = self.place.gathered(self._call(uncertainty, *own, shared=[trace_probes(self.problem.n)]))
        return found

    def member(self, k: int) -> Normalised:
        """The problem of one member."""
        return self.place.member(self.problem, k)

    def reduced(self, state: Any, places: Sequence[int]) -> tuple[Cohort, Any]:
        """Some of the members, with their states."""
        problem, state = self.place.some((self.problem, state), places)
        return Cohort(self.solver, problem, self.place), state


def _backprojection(problem: Normalised) -> Any:
    return problem.adjoint(problem.y)


def _some_data(problem: Normalised) -> Any:
    """Of y, and of `A^T y`, so that A counts."""
    return thinned(problem.y), thinned(problem.adjoint(problem.y))


def _mapped(function: Callable[[Any], Any], tree: Any) -> Any:
    """The function of every array of a tuple or dictionary of arrays, in memory."""
    if isinstance(tree, dict):
        return dict(zip(tree, map(function, in_memory(list(tree.values()))), strict=True))
    return list(map(function, in_memory(list(tree)))) if isinstance(tree, tuple) else function(in_memory([tree])[0])

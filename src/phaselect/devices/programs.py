"""What the batch driver needs of a solver: how its members start, advance, are looked at and end, as JAX programs.

Each function is written for one member; the driver maps it over the batch. A program ends with a candidate for each
member: an estimate of x, or signs that greedy flips have improved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from phaselect.devices import langevin, population
from phaselect.devices.amp import iterate, read_twice
from phaselect.devices.backend import NO_TUNING
from phaselect.devices.member import Array, Member
from phaselect.devices.products import Copy, forward
from phaselect.devices.refine import Answer, Part, refine, signs_of
from phaselect.problem.observables import estimate_columns
from phaselect.solvers.amp import AMPState
from phaselect.solvers.finish import WORTH_REFINING


class Knobs(NamedTuple):
    """What may differ between the members of a batch: the seed of a run, and what a restart changes."""

    seed: Array
    damping: Array
    factor: Array  # of every lam


class Program(Protocol):
    """A solver on a device."""

    def __hash__(self) -> int: ...

    def first(self, knobs: Knobs, m_rows: int, n: int) -> Array:
        """What each member starts from, made on the host: a row a member."""

    def start(self, member: Member, first: Array) -> Any:
        """The first state."""

    def advance(self, member: Member, state: Any, knobs: Knobs, mu: Array, lam: Array, steps: Array) -> Any:
        """A segment of schedule."""

    def columns(self, member: Member, state: Any) -> dict[str, Array]:
        """A row of the trace."""

    def candidate(self, member: Member, state: Any) -> tuple[Array, Array]:
        """An answer to finish, and the residual energy that greedy flips left, nan if they were not tried."""

    def average(self, member: Member, state: Any) -> Array:
        """The estimate of x for noisy data."""

    def finish(self, member: Member, candidate: Array) -> Answer:
        """The answer for noiseless data, and the evidence for it."""

    def segment(self, steps: int) -> int:
        """Temperatures between two looks at the members."""

    def bytes_a_member(self, m_rows: int, n: int, itemsize: int) -> int:
        """Memory that a member takes, its A included."""


@dataclass(frozen=True)
class AMPProgram:
    """Message passing."""

    def first(self, knobs: Knobs, m_rows: int, n: int) -> Array:
        """x as the single run draws it."""
        return np.stack([np.random.default_rng(seed).standard_normal(n) for seed in knobs.seed.tolist()])

    def start(self, member: Member, first: Array) -> AMPState:
        """See `AMP.start`."""
        zeros, one, inf = jnp.zeros(member.y.size), jnp.float64(1), jnp.float64(jnp.inf)
        return AMPState(first, one, one, zeros, zeros, first, zeros, jnp.int64(0), one, one, inf, jnp.bool_(False))

    def advance(self, member: Member, state: AMPState, knobs: Knobs, mu: Array, lam: Array, steps: Array) -> AMPState:
        """See `AMP.advance`."""
        read = read_twice(Copy(member.A), member.gain, member.y)
        return iterate(read, state, mu, knobs.factor * lam, steps, knobs.damping)

    def columns(self, member: Member, state: AMPState) -> dict[str, Array]:
        """See `AMP.measure`."""
        row = estimate_columns(member.y, member.x0, member.signs, state.x_in, state.z, state.lam)
        row["mse_y"] = jnp.where(state.diverged, jnp.inf, row["mse_y"])
        return {**row, "V": state.V, "change": state.change, "steps": state.iteration}

    def candidate(self, member: Member, state: AMPState) -> tuple[Array, Array]:
        """The estimate of x."""
        return state.x, jnp.float64(jnp.nan)

    def finish(self, member: Member, candidate: Array) -> Answer:
        """See `finish_x`."""
        refined = refine(member, Copy(member.A), _whole(member), candidate)
        given = as_it_is(member, candidate)
        worth = given.fit < WORTH_REFINING
        return Answer(*(jnp.where(worth, new, old) for new, old in zip(refined, given, strict=True)))

    def average(self, member: Member, state: AMPState) -> Array:
        """The estimate of x."""
        return state.x

    def segment(self, steps: int) -> int:
        """Ten iterations."""
        return max(1, 10 // steps)

    def bytes_a_member(self, m_rows: int, n: int, itemsize: int) -> int:
        """A, as much again while batches shrink, and float64 copies while they are refined; vectors."""
        return (2 * itemsize + 16) * m_rows * n + 200 * (m_rows + n)


class _FromSigns:
    """What the two programs that end with signs share."""

    def first(self, knobs: Knobs, m_rows: int, n: int) -> Array:
        """The data of a random key for each member."""
        stream = 1  # apart from the stream that the instance of the same seed is drawn from
        draw = jax.vmap(lambda seed: jax.random.key_data(jax.random.fold_in(jax.random.key(seed), stream)))
        return draw(jnp.asarray(knobs.seed))

    def finish(self, member: Member, candidate: Array) -> Answer:
        """See `finish_signs`: least squares for these signs."""
        return refine(member, Copy(member.A), _whole(member), jnp.zeros(member.A.shape[1]), candidate)


@dataclass(frozen=True)
class PopulationProgram(_FromSigns):
    """Population annealing."""

    replicas: int

    def start(self, member: Member, first: Array) -> population.State:
        """See `population.start`."""
        return population.start(member, first, self.replicas)

    def advance(self, member: Member, state: Any, knobs: Knobs, mu: Array, lam: Array, steps: Array) -> Any:
        """See `population.advance`."""
        return population.advance(member, state, mu, knobs.factor * lam, steps)

    def columns(self, member: Member, state: population.State) -> dict[str, Array]:
        """See `population.columns`."""
        return population.columns(member, state)

    def candidate(self, member: Member, state: population.State) -> tuple[Array, Array]:
        """See `population.quench`."""
        return population.quench(member, state)

    def average(self, member: Member, state: population.State) -> Array:
        """See `population.average`."""
        return population.average(member, state)

    def segment(self, steps: int) -> int:
        """A few temperatures: a fifth of an e-fold by default."""
        return 4

    def bytes_a_member(self, m_rows: int, n: int, itemsize: int) -> int:
        """v and h, what a resampling and an average take besides; the couplings and their factors."""
        copies = self.replicas * (8 * m_rows * itemsize + 24 * n + 24 * m_rows)
        return copies + 8 * (4 * m_rows * n + 3 * m_rows**2 + 2 * n**2)


@dataclass(frozen=True)
class LangevinProgram(_FromSigns):
    """Langevin dynamics."""

    eta: float

    def start(self, member: Member, first: Array) -> langevin.State:
        """See `langevin.start`."""
        return langevin.start(member, first)

    def advance(self, member: Member, state: Any, knobs: Knobs, mu: Array, lam: Array, steps: Array) -> langevin.State:
        """See `langevin.advance`."""
        return langevin.advance(member, state, mu, knobs.factor * lam, steps, self.eta)

    def columns(self, member: Member, state: langevin.State) -> dict[str, Array]:
        """See `langevin.columns`."""
        return langevin.columns(member, state)

    def candidate(self, member: Member, state: langevin.State) -> tuple[Array, Array]:
        """See `langevin.quench`."""
        return langevin.quench(member, state)

    def average(self, member: Member, state: langevin.State) -> Array:
        """See `langevin.average`."""
        return langevin.average(member, state)

    def segment(self, steps: int) -> int:
        """One temperature, or as many as make 20 iterations."""
        return max(1, 20 // steps)

    def bytes_a_member(self, m_rows: int, n: int, itemsize: int) -> int:
        """The couplings, their square and their factors."""
        return 8 * (4 * m_rows * n + 5 * m_rows**2 + 2 * n**2)


class Compiled(NamedTuple):
    """The functions of a program mapped over a batch and compiled, once for each shape."""

    start: Any
    advance: Any
    columns: Any
    candidate: Any
    average: Any
    finish: Any
    as_it_is: Any
    truth: Any


@cache
def compiled(program: Program) -> Compiled:
    """Kept for all batches of a process."""

    def batched(function: Any, axes: Any = 0) -> Any:
        return jax.jit(jax.vmap(function, axes), compiler_options=NO_TUNING)

    return Compiled(
        start=batched(program.start),
        advance=batched(program.advance, (0, 0, 0, None, None, None)),
        columns=batched(program.columns),
        candidate=batched(program.candidate),
        average=batched(program.average),
        finish=batched(program.finish),
        as_it_is=batched(as_it_is),
        truth=batched(truth),
    )


def as_it_is(member: Member, x: Array) -> Answer:
    """An estimate that is not refined: a failure, or one of noisy data."""
    z = member.gain * forward(member.A, x, "float64")
    no = jnp.bool_(False)
    return Answer(x, signs_of(z), ((member.y - abs(z)) ** 2).mean(), ~no, ~no, no)


def truth(member: Member, x: Array, signs: Array) -> dict[str, Array]:
    """m, O and mse_x of an answer, as `observables.against_truth`; nan where x0 is not known."""
    power, along = (member.x0**2).sum(), member.x0 @ x
    aligned = x * signs_of(along)
    m, O = abs(along) / power, abs(member.signs @ signs) / signs.size
    return {"m": m, "O": O, "mse_x": ((member.x0 - aligned) ** 2).sum() / power}


def _whole(member: Member) -> Part:
    return Part(jnp.ones(member.y.size), jnp.ones(member.A.shape[1]))


def take(tree: Any, chosen: Sequence[int]) -> Any:
    """Some members of a batch."""
    where = np.asarray(chosen)
    return jax.tree.map(lambda array: array[where], tree)

"""Belief propagation with annealed temperature and regulariser, for sparse A; see equations/belief_iteration.py.

An iteration touches every nonzero entry of A once, and memory is a few numbers for each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from phaselect.equations.arrays import Array, namespace
from phaselect.equations.belief_iteration import Messages, Nonzeros, belief_iteration, estimate, summed
from phaselect.equations.signs import estimate_columns
from phaselect.problem.normalised import Normalised
from phaselect.problem.schedule import Schedule, Stretch
from phaselect.solvers.finish import settle_estimate
from phaselect.solvers.message_passing import check_options, stop, to_the_noise
from phaselect.solvers.protocol import Start, Work
from phaselect.solvers.run import run, run_batch
from phaselect.solvers.vector_message_passing import hot_start

WEAK, FIRM = 0.1, 1e3
"""Precision of the first messages, which are in no signs yet; and of those in signs that are given."""


class BeliefDraw(NamedTuple):
    """What a run starts from."""

    signed: Array  # a number per measurement
    damping: Array
    factor: Array  # of every lam


class BeliefState(NamedTuple):
    """What the next iteration needs, and the estimate that the last one made."""

    messages: Messages
    x: Array
    damping: Array
    factor: Array
    sweeps: Array
    mu: Array
    lam: Array
    change: Array  # of x, in the last iteration
    diverged: Array


@dataclass(frozen=True)
class BeliefPropagation:
    """Belief propagation: right for matrices most of whose entries are zero, where the others go astray.

    damping: psi, on the natural parameters of the messages.
    restarts: how often to start afresh when a run fails, from other messages, with damping in (0.2, 0.6) and the
        product scaled by a factor in (0.5, 1.5).
    converged: mse_y at which least squares takes over.

    >>> import phaselect
    >>> problem = phaselect.ensemble_instance("sparse", 200, 1.6, seed=0)
    >>> phaselect.BeliefPropagation().run(problem, seed=0).certified
    True
    """

    damping: float = 0.3
    restarts: int = 12
    converged: float = 1e-10

    def __post_init__(self) -> None:
        check_options(self)

    name = "bp"
    state_type = BeliefState
    eager = single_flips = needs_entries = takes_few = takes_phases = False
    in_batches = True

    def default_schedule(self, noise: float = 0.0) -> Schedule:
        """Matched, from hot, and slowly: what is found begins to show between mu = 1 and 10."""
        return to_the_noise(noise, mu0=1.0, hold=100) if noise else hot_start(eps=0.05, cold=1e3)

    def draw(self, rng: np.random.Generator, m_rows: int, n: int, schedule: Schedule, attempt: int) -> BeliefDraw:
        """Messages of random sign; restarts vary damping and product too."""
        signed = rng.standard_normal(m_rows)
        damping, factor = (rng.uniform(0.2, 0.6), rng.uniform(0.5, 1.5)) if attempt else (self.damping, 1.0)
        return BeliefDraw(signed, np.float64(damping), np.float64(factor))

    def start(self, problem: Normalised, drawn: BeliefDraw, mu: Array, lam: Array, init: Start | None) -> BeliefState:
        """Weak messages; what is given is believed firmly."""
        xp, nonzeros = namespace(problem.y), problem.nonzeros
        a, x = nonzeros.values, xp.zeros(problem.n)
        h, q = WEAK * a * nonzeros.in_rows(problem.y * xp.asarray(drawn.signed)), 0.0 * a
        if init is not None:
            x = xp.asarray(init.x)
            left = nonzeros.in_rows(problem.y * xp.asarray(init.signs) - problem.forward(x))
            h, q = FIRM * a * (left + a * nonzeros.in_columns(x)), FIRM * a**2
        return BeliefState(
            messages=summed(h, q, nonzeros),
            x=x,
            damping=xp.asarray(drawn.damping),
            factor=xp.asarray(drawn.factor),
            sweeps=xp.asarray(0),
            mu=xp.asarray(mu, dtype="float64"),
            lam=xp.asarray(lam, dtype="float64"),
            change=xp.asarray(np.inf),
            diverged=xp.asarray(False),
        )

    def work(self, m_rows: int, n: int, schedule: Schedule) -> Work:
        """As if ten entries of a row were not zero."""
        return Work(
            move=schedule.steps * (400.0 * m_rows + 2e5), look=40.0 * (m_rows + n), launches=20 * schedule.steps
        )

    def memory(self, m_rows: int, n: int, itemsize: int) -> int:
        """A, as much again while batches shrink, messages for all of its entries, and what they are made from."""
        return (2 * itemsize + 80) * m_rows * n + 200 * (m_rows + n)

    def advance(self, problem: Normalised, state: BeliefState, stretch: Stretch) -> BeliefState:
        """Iterates through a segment; once it diverges, the last finite state stays, marked."""
        loops, nonzeros = problem.loops, problem.nonzeros

        def temperature(state: BeliefState, mu: Array, lam: Array) -> Any:
            return loops.repeat(stretch.sweeps, lambda now: _iterate(problem, now, mu, lam, nonzeros), state)

        with np.errstate(all="ignore"):  # as in AMP
            return loops.scan(temperature, state, stretch.mu, stretch.lam)  # type: ignore[no-any-return]

    def measure(self, problem: Normalised, state: BeliefState) -> dict[str, Array]:
        """Observables of the estimate that the last iteration made."""
        z = problem.forward(state.x)
        row = estimate_columns(problem.y, problem.x0, problem.signs, state.x, z, state.lam)
        row["mse_y"] = namespace(z).where(state.diverged, np.inf, row["mse_y"])
        return {"lam": state.lam, **row, "change": state.change, "sweeps": state.sweeps}

    def candidate(self, problem: Normalised, state: BeliefState) -> tuple[Array, Any]:
        """The estimate of x."""
        return state.x, namespace(state.x).asarray(np.nan)

    def average(self, problem: Normalised, state: BeliefState) -> Array:
        """The estimate of x."""
        return state.x

    stop = stop
    settle = staticmethod(settle_estimate)
    run = run
    run_batch = run_batch


def _iterate(problem: Normalised, state: BeliefState, mu: Array, lam: Array, nonzeros: Nonzeros) -> Any:
    own = state.factor * lam
    messages = belief_iteration(state.messages, mu, own, state.damping, problem.y, nonzeros)
    x = estimate(messages, mu * own)
    change = ((x - state.x) ** 2).mean()
    bad = state.diverged | ~(change < 1e6)
    following = state._replace(messages=messages, x=x, sweeps=state.sweeps + 1, mu=mu, lam=own, change=change)
    return problem.loops.choose(bad, state._replace(diverged=bad), following)

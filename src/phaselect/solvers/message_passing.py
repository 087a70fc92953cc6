"""Approximate message passing with annealed temperature and regulariser (alg:AMP); see equations/amp_iteration.py.

An iteration is one pass over A, and memory is A plus O(M + N), until the answer is refined.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from phaselect.base.checks import is_count, is_number, shortened
from phaselect.base.errors import InputError
from phaselect.equations.amp_iteration import Beliefs, Pass, diverged, iteration
from phaselect.equations.arrays import Array, namespace, squared
from phaselect.equations.signs import estimate_columns, random_in
from phaselect.problem.normalised import Normalised
from phaselect.problem.schedule import Schedule, Stretch
from phaselect.solvers.finish import settle_estimate
from phaselect.solvers.protocol import Start, Work
from phaselect.solvers.run import run, run_batch
from phaselect.solvers.verdict import Ended

STATIONARY = 1e-24
"""Mean squared change of x in one iteration below which AMP sits at a fixed point."""
CLOSE = 1e-6
"""mse_y below which all digits of A count."""


class AMPDraw(NamedTuple):
    """What a run starts from."""

    x: Array
    damping: Array
    factor: Array  # of every lam


class AMPState(NamedTuple):
    """What the next iteration needs, and the estimate (x_in, with its V) whose measurements the last one took."""

    beliefs: Beliefs
    x_in: Array
    V_in: Array
    damping: Array
    factor: Array
    sweeps: Array
    mu: Array
    lam: Array
    change: Array
    diverged: Array


def check_options(solver: Any) -> None:
    """Damping, restarts and what counts as converged, of either kind of message passing."""
    name = type(solver).__name__
    if not (is_number(solver.damping) and 0 <= solver.damping < 1):
        raise InputError(f"{name}: damping = {shortened(solver.damping)} must lie in [0, 1)")
    if not is_count(solver.restarts):
        raise InputError(f"{name}: restarts = {shortened(solver.restarts)} must be a whole number, 0 or more")
    if not (is_number(solver.converged) and solver.converged > 0):
        raise InputError(f"{name}: converged = {shortened(solver.converged)} must be positive")


def to_the_noise(noise: float, mu0: float, hold: int) -> Schedule:
    """Matched to the power that noise leaves to the signal, up to mu = 1/(2 noise), and on there."""
    return Schedule.noisy(noise, mu0=mu0, steps=1, unit="iterations", hold=hold)


def stop(solver: Any, problem: Normalised, row: dict[str, float], final: bool, exact: bool) -> Ended | None:
    """The signs are settled, or x is at a fixed point of the last temperature."""
    settled = exact and row["mse_y"] < max(solver.converged, problem.matrix.accuracy.handover)
    return Ended.SETTLED if settled or (final and row["change"] < STATIONARY) else None


@dataclass(frozen=True)
class AMP:
    """Approximate message passing. Runs in the dtype of A: a float32 matrix costs half the time.

    damping: psi, on (V, w).
    restarts: how often to start afresh when a run fails, with a new x, damping in (0.1, 0.5) and product
        scaled by a factor in (1, 3): failed runs wander rather than converge, and another start may succeed.
    converged: mse_y at which least squares takes over; earlier where A has a copy in half precision.

    >>> import phaselect
    >>> problem = phaselect.gaussian_instance(200, 1.4, seed=0)
    >>> phaselect.AMP().run(problem, seed=0).certified
    True
    """

    damping: float = 0.3
    restarts: int = 4
    converged: float = 1e-10

    def __post_init__(self) -> None:
        check_options(self)

    name = "amp"
    state_type = AMPState
    eager = single_flips = needs_entries = takes_few = False
    in_batches = takes_phases = True

    def default_schedule(self, noise: float = 0.0) -> Schedule:
        """Matched, from mu = 1000 (AMP needs no slow start), then on at 1e12: hard instances take their time."""
        if noise:
            return to_the_noise(noise, mu0=1e3, hold=500)
        return Schedule.matched(mu0=1e3, mu_max=1e12, eps=0.1, steps=1, unit="iterations", hold=981)

    def draw(self, rng: np.random.Generator, m_rows: int, n: int, schedule: Schedule, attempt: int) -> AMPDraw:
        """x ~ N(0, 1) entry by entry; restarts vary damping and product too."""
        x = rng.standard_normal(n)
        damping, factor = (rng.uniform(0.1, 0.5), rng.uniform(1, 3)) if attempt else (self.damping, 1.0)
        return AMPDraw(x, np.float64(damping), np.float64(factor))

    def start(self, problem: Normalised, drawn: AMPDraw, mu: Array, lam: Array, init: Start | None) -> AMPState:
        """The x drawn, with unit variance; a given x gets the variance that its residual shows."""
        xp = namespace(problem.y)
        x, V = random_in(problem.field.x, xp.asarray(drawn.x)), xp.asarray(1.0)
        if init is not None:
            x = xp.asarray(init.x)
            V = ((problem.y - abs(problem.forward(x))) ** 2).mean().clip(1e-12)
        zeros = xp.zeros(problem.m_rows, problem.field.z)
        return AMPState(
            beliefs=Beliefs(x, V, V, zeros, zeros, zeros),
            x_in=x,
            V_in=V,
            damping=xp.asarray(drawn.damping),
            factor=xp.asarray(drawn.factor),
            sweeps=xp.asarray(0),
            mu=xp.asarray(mu, dtype="float64"),
            lam=xp.asarray(lam, dtype="float64"),
            change=xp.asarray(np.inf),
            diverged=xp.asarray(False),
        )

    def work(self, m_rows: int, n: int, schedule: Schedule) -> Work:
        """A pass over A per iteration."""
        return Work(
            move=schedule.steps * (0.5 * m_rows * n + 4e4), look=20.0 * (m_rows + n), launches=10 * schedule.steps
        )

    def memory(self, m_rows: int, n: int, itemsize: int) -> int:
        """A, as much again while batches shrink; float64 copies and a mask while they are refined; vectors."""
        return (2 * itemsize + 18) * m_rows * n + 200 * (m_rows + n)

    def advance(self, problem: Normalised, state: AMPState, stretch: Stretch) -> AMPState:
        """Iterates through a segment; once it diverges, the last finite state stays, marked."""
        loops = problem.loops

        def anneal(pass_over: Pass) -> Any:
            def temperature(state: AMPState, mu: Array, lam: Array) -> Any:
                return loops.repeat(stretch.sweeps, lambda now: self._iterate(problem, now, mu, lam, pass_over), state)

            return loops.scan(temperature, state, stretch.mu, stretch.lam)

        close = ((problem.y - abs(state.beliefs.z)) ** 2).mean() < CLOSE
        with np.errstate(all="ignore"):  # lam = 0 too early in the anneal: no information and no prior
            return problem.with_message_pass(close, anneal)  # type: ignore[no-any-return]

    def _iterate(self, problem: Normalised, state: AMPState, mu: Array, lam: Array, pass_over: Pass) -> AMPState:
        old, own = state.beliefs, state.factor * lam
        new = iteration(old, mu, own, state.damping * (state.sweeps > 0), pass_over, problem.field.fold)
        following = state._replace(
            beliefs=new,
            x_in=old.x,
            V_in=old.V,
            sweeps=state.sweeps + 1,
            mu=mu,
            lam=own,
            change=squared(new.x - old.x).mean(),
        )
        bad = state.diverged | diverged(new.x)
        return problem.loops.choose(bad, state._replace(diverged=bad), following)  # type: ignore[no-any-return]

    def measure(self, problem: Normalised, state: AMPState) -> dict[str, Array]:
        """Observables of the estimate that the last iteration started from; `sweeps` counts those that made it."""
        z = state.beliefs.z
        row = estimate_columns(problem.y, problem.x0, problem.signs, state.x_in, z, state.lam)
        row["mse_y"] = namespace(z).where(state.diverged, np.inf, row["mse_y"])
        return {"lam": state.lam, **row, "V": state.V_in, "change": state.change, "sweeps": state.sweeps - 1}

    def candidate(self, problem: Normalised, state: AMPState) -> tuple[Array, Any]:
        """The estimate of x."""
        return state.beliefs.x, namespace(state.beliefs.x).asarray(np.nan)

    def average(self, problem: Normalised, state: AMPState) -> Array:
        """The estimate of x."""
        return state.beliefs.x

    stop = stop
    settle = staticmethod(settle_estimate)
    run = run
    run_batch = run_batch

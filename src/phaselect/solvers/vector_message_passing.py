"""Vector message passing with annealed temperature and regulariser, for any A; see equations/vector_iteration.py.

Where A is small an SVD makes an iteration two products; else the linear part is conjugate gradients that start from
where they were, and memory is A plus O(M + N).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from phaselect.equations.arrays import Array, namespace
from phaselect.equations.lanczos import Eigenvalues
from phaselect.equations.signs import estimate_columns
from phaselect.equations.vector_iteration import VectorBeliefs, noise_shown, vector_iteration
from phaselect.problem.normalised import Normalised
from phaselect.problem.schedule import Schedule, Stretch
from phaselect.solvers.finish import settle_estimate
from phaselect.solvers.message_passing import STATIONARY, check_options, to_the_noise
from phaselect.solvers.protocol import Start, Work
from phaselect.solvers.run import run, run_batch
from phaselect.solvers.verdict import Ended

WEAK = 1e-2
"""Precision of the first beliefs, and their size."""
FIRM = 1e3
"""Precision of beliefs in signs that are given."""
PROBES = 2400
"""Random numbers, about, that the eigenvalues are found with, where an SVD does not know them."""
HELD, STILL = 3.0, 1e-14
"""Noise learned over that of the schedule from which on it is the noise that holds the anneal; and the mean squared
change of z in one iteration below which it has come to rest there."""


class VectorDraw(NamedTuple):
    """What a run starts from."""

    h: Array
    damping: Array
    factor: Array  # of every lam
    probes: Array


class VectorState(NamedTuple):
    """What the next iteration needs."""

    beliefs: VectorBeliefs
    eigenvalues: Eigenvalues
    damping: Array
    factor: Array
    sweeps: Array
    mu: Array
    lam: Array
    noise: Array  # that the last iteration showed, where it is learned
    change: Array  # of z, in the last iteration
    diverged: Array


def hot_start(product: float = 1.0, eps: float = 0.1) -> Schedule:
    """From mu = 1 at a given rate, doubling from 1e6 on: what is not found there is better sought from elsewhere."""
    slow = Schedule.fixed_product(product, mu0=1.0, mu_max=1e6, eps=eps, steps=1, unit="iterations")
    fast = Schedule.fixed_product(product, mu0=2e6, mu_max=1e12, eps=1.0, steps=1, unit="iterations", hold=20)
    return Schedule(np.append(slow.mu, fast.mu), np.append(slow.lam, fast.lam), steps=1, unit="iterations")


@dataclass(frozen=True)
class VectorMessagePassing:
    """Vector message passing: as fast as AMP once an SVD is there, and right for matrices that are not iid.

    damping: psi, on the natural parameters of the beliefs.
    restarts: how often to start afresh when a run fails, from other beliefs, with damping in (0.1, 0.7) and the product
        scaled by a factor in (1, 3).
    converged: mse_y at which least squares takes over.

    >>> import phaselect
    >>> problem = phaselect.gaussian_instance(200, 1.4, seed=0)
    >>> phaselect.VectorMessagePassing().run(problem, seed=0).certified
    True
    """

    damping: float = 0.3
    restarts: int = 8
    converged: float = 1e-10

    def __post_init__(self) -> None:
        check_options(self)

    name = "vmp"
    state_type = VectorState
    eager = single_flips = needs_entries = False
    learns_noise = False  # does it go no colder than the noise that the data show? See learned_noise.py
    in_batches = True

    def default_schedule(self, noise: float = 0.0) -> Schedule:
        """Matched, and from hot: started cold it fails on many matrices."""
        return to_the_noise(noise, mu0=1.0, hold=100) if noise else hot_start()

    def draw(self, rng: np.random.Generator, m_rows: int, n: int, schedule: Schedule, attempt: int) -> VectorDraw:
        """Beliefs of random sign; restarts vary damping and product too."""
        h = rng.standard_normal(m_rows)
        damping, factor = (rng.uniform(0.1, 0.7), rng.uniform(1, 3)) if attempt else (self.damping, 1.0)
        probes = rng.integers(2, size=(-(-PROBES // n), n)) * 2.0 - 1.0
        return VectorDraw(h, np.float64(damping), np.float64(factor), probes)

    def start(self, problem: Normalised, drawn: VectorDraw, mu: Array, lam: Array, init: Start | None) -> VectorState:
        """Weak beliefs; given signs are believed firmly."""
        xp, node = namespace(problem.y), problem.gaussian_node
        g, h, x = xp.asarray(WEAK), WEAK * problem.y * xp.asarray(drawn.h), xp.zeros(problem.n)
        if init is not None:
            x, g = xp.asarray(init.x), xp.asarray(FIRM)
            h = g * xp.asarray(init.signs) * problem.y
        nothing = xp.zeros(problem.m_rows)
        return VectorState(
            beliefs=VectorBeliefs(h, g, nothing, xp.asarray(1.0), x),
            eigenvalues=node.eigenvalues(xp.asarray(drawn.probes)),
            damping=xp.asarray(drawn.damping),
            factor=xp.asarray(drawn.factor),
            sweeps=xp.asarray(0),
            mu=xp.asarray(mu, dtype="float64"),
            lam=xp.asarray(lam, dtype="float64"),
            noise=xp.asarray(0.0),
            change=xp.asarray(np.inf),
            diverged=xp.asarray(False),
        )

    def work(self, m_rows: int, n: int, schedule: Schedule) -> Work:
        """Two products with U; by conjugate gradients more."""
        product = 0.25 * m_rows * n
        return Work(move=schedule.steps * (2 * product + 6e4), look=2 * product, launches=100 * schedule.steps)

    def memory(self, m_rows: int, n: int, itemsize: int) -> int:
        """A, as much again while batches shrink, and float64 copies while they are refined; vectors."""
        return (2 * itemsize + 16) * m_rows * n + 400 * (m_rows + n) + 16 * PROBES

    def advance(self, problem: Normalised, state: VectorState, stretch: Stretch) -> VectorState:
        """Iterates through a segment; once it diverges, the last finite state stays, marked."""
        loops, node = problem.loops, problem.gaussian_node

        def iterate(state: VectorState, mu: Array, lam: Array) -> VectorState:
            old, own, noise = state.beliefs, state.factor * lam, state.noise
            if self.learns_noise:
                mu, own = _no_colder(mu, own, noise)
            new = vector_iteration(old, mu, own, state.damping, problem.y, problem.powers, state.eigenvalues, node)
            if self.learns_noise:
                noise = noise_shown(old, new, problem.y, problem.powers, 1 / (2 * mu))
            change = ((new.z - old.z) ** 2).mean()
            bad = state.diverged | ~((new.h**2).mean() < np.inf)
            following = state._replace(beliefs=new, sweeps=state.sweeps + 1, mu=mu, lam=own, noise=noise, change=change)
            return loops.choose(bad, state._replace(diverged=bad), following)  # type: ignore[no-any-return]

        def temperature(state: VectorState, mu: Array, lam: Array) -> VectorState:
            return loops.repeat(stretch.sweeps, lambda now: iterate(now, mu, lam), state)  # type: ignore[no-any-return]

        with np.errstate(all="ignore"):  # as in AMP
            return loops.scan(temperature, state, stretch.mu, stretch.lam)  # type: ignore[no-any-return]

    def measure(self, problem: Normalised, state: VectorState) -> dict[str, Array]:
        """Observables of the estimate that the last iteration made."""
        z, x = state.beliefs.z, problem.gaussian_node.signal(state.beliefs.kept)
        row = estimate_columns(problem.y, problem.x0, problem.signs, x, z, state.lam)
        row["mse_y"] = namespace(z).where(state.diverged, np.inf, row["mse_y"])
        own = {"noise": state.noise} if self.learns_noise else {}
        return {"lam": state.lam, **row, "v": state.beliefs.v, **own, "change": state.change, "sweeps": state.sweeps}

    def stop(self, problem: Normalised, row: dict[str, float], final: bool, exact: bool) -> Ended | None:
        """The signs are settled, or z is at a fixed point of the last temperature, or of the noise learned."""
        settled = exact and row["mse_y"] < self.converged
        held = self.learns_noise and row["noise"] > HELD / (2 * row["mu"]) and row["change"] < STILL
        return Ended.SETTLED if settled or held or (final and row["change"] < STATIONARY) else None

    def candidate(self, problem: Normalised, state: VectorState) -> tuple[Array, Array]:
        """The estimate of x."""
        return self.average(problem, state), namespace(problem.y).asarray(np.nan)

    def average(self, problem: Normalised, state: VectorState) -> Array:
        """The estimate of x."""
        return problem.gaussian_node.signal(state.beliefs.kept)

    settle = staticmethod(settle_estimate)
    run = run
    run_batch = run_batch


def _no_colder(mu: Array, lam: Array, noise: Array) -> tuple[Array, Array]:
    """The temperature of a schedule, or that of the noise if it is higher, at the same product."""
    nu = namespace(noise).maximum(1 / (2 * mu), noise)
    return 1 / (2 * nu), mu * lam * 2 * nu

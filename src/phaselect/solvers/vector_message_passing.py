"""Vector message passing with annealed temperature and regulariser, for any A; see equations/vector_iteration.py.

Where A is small an SVD makes an iteration two products; else the linear part is conjugate gradients that start from
where they were, and memory is A plus O(M + N).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from phaselect.equations.arrays import Array, by_blocks, namespace, squared
from phaselect.equations.lanczos import PROBES, Eigenvalues
from phaselect.equations.priors import GAUSSIAN, Prior, as_prior
from phaselect.equations.signs import estimate_columns, random_in, signs_of
from phaselect.equations.vector_iteration import SignalBeliefs, VectorBeliefs, noise_learned, vector_iteration
from phaselect.problem.normalised import Normalised
from phaselect.problem.schedule import Schedule, Stretch
from phaselect.problem.streams import random_numbers, random_signs
from phaselect.solvers.finish import settle_estimate, settle_nonzeros
from phaselect.solvers.message_passing import check_options, stop, to_the_noise
from phaselect.solvers.protocol import Start, Work
from phaselect.solvers.run import run, run_batch
from phaselect.solvers.verdict import Ended

WEAK, DEFINITE, FIRM = 1e-2, 1.0, 1e3
"""Precision of the first beliefs, which are in no signs yet; with a prior that is not Gaussian, in random signs; and in
signs that are given."""
HELD, STILL = 3.0, 1e-14
"""Noise learned over that of the schedule from which on it is the noise that holds the anneal; and the mean squared
change of x in one iteration below which it has come to rest there."""


class VectorDraw(NamedTuple):
    """What a run starts from."""

    h: Array
    damping: Array
    factor: Array  # of every lam
    probes: Array
    density: Array  # that the prior begins with


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
    change: Array  # of x, in the last iteration
    diverged: Array


def hot_start(product: float = 1.0, eps: float = 0.1, mu0: float = 1.0, cold: float = 1e6) -> Schedule:
    """At a given rate, doubling where it is cold: what is not found there is better sought from elsewhere."""
    slow = Schedule.fixed_product(product, mu0=mu0, mu_max=cold, eps=eps, steps=1, unit="iterations")
    fast = Schedule.fixed_product(product, mu0=2 * cold, mu_max=1e12, eps=1.0, steps=1, unit="iterations", hold=20)
    return Schedule(np.append(slow.mu, fast.mu), np.append(slow.lam, fast.lam), steps=1, unit="iterations")


@dataclass(frozen=True)
class VectorMessagePassing:
    """Vector message passing: as fast as AMP once an SVD is there, and right for matrices that are not iid.

    damping: psi, on the natural parameters of the beliefs.
    restarts: how often to start afresh when a run fails, from other beliefs, with damping in (0.1, 0.7) and the product
        scaled by a factor in (1, 3).
    converged: mse_y at which least squares takes over.
    prior: what is known of x: "gaussian", `Sparse(density)`, `Nonnegative()`, or their names.

    >>> import phaselect
    >>> problem = phaselect.gaussian_instance(200, 1.4, seed=0)
    >>> phaselect.VectorMessagePassing().run(problem, seed=0).certified
    True
    """

    damping: float = 0.3
    restarts: int = 8
    converged: float = 1e-10
    prior: Prior = GAUSSIAN

    def __post_init__(self) -> None:
        check_options(self)
        object.__setattr__(self, "prior", as_prior(self.prior))

    name = "vmp"
    state_type = VectorState
    eager = single_flips = needs_entries = False
    learns_noise = False  # does it go no colder than the noise that the data show? See learned_noise.py
    in_batches = takes_phases = True

    @property
    def takes_few(self) -> bool:
        """A prior can make up for measurements, if it is not Gaussian."""
        return not self.prior.gaussian

    def default_schedule(self, noise: float = 0.0) -> Schedule:
        """Matched, and from hot: started cold it fails on many matrices."""
        mu0, eps = (1.0, 0.1) if self.prior.gaussian else (10.0, 0.05)
        return to_the_noise(noise, mu0=mu0, hold=100) if noise else hot_start(eps=eps, mu0=mu0)

    def draw(self, rng: np.random.Generator, m_rows: int, n: int, schedule: Schedule, attempt: int) -> VectorDraw:
        """Beliefs of random sign; restarts vary damping and product too."""
        h = random_numbers(rng, m_rows)
        damping, factor = (rng.uniform(0.1, 0.7), rng.uniform(1, 3)) if attempt else (self.damping, 1.0)
        probes = random_signs(rng, n, PROBES)
        density = self.prior.draw_density(rng, attempt)
        return VectorDraw(h, np.float64(damping), np.float64(factor), probes, np.float64(density))

    def start(self, problem: Normalised, drawn: VectorDraw, mu: Array, lam: Array, init: Start | None) -> VectorState:
        """Weak beliefs; given signs are believed firmly."""
        xp = namespace(problem.y)
        eigenvalues = problem.gaussian_node.eigenvalues(xp.asarray(drawn.probes))
        signal = () if self.prior.gaussian else self._signal(problem, xp.asarray(drawn.density))
        problem = problem.rough
        field = problem.field
        signs = random_in(field.z, xp.asarray(drawn.h, dtype=problem.y.dtype))
        g, h, x = WEAK, WEAK * problem.y * signs, xp.zeros(problem.n, field.x)
        if not self.prior.gaussian:
            g, h = DEFINITE, DEFINITE * problem.y * signs_of(signs)
        if init is not None:
            g, h, x = FIRM, FIRM * problem.y * xp.asarray(init.signs, field.z), xp.asarray(init.x, field.x)
        return VectorState(
            beliefs=VectorBeliefs(h, xp.asarray(g), xp.asarray(1.0), x, signal),
            eigenvalues=eigenvalues,
            damping=xp.asarray(drawn.damping),
            factor=xp.asarray(drawn.factor),
            sweeps=xp.asarray(0),
            mu=xp.asarray(mu, dtype="float64"),
            lam=xp.asarray(lam, dtype="float64"),
            noise=xp.asarray(0.0),
            change=xp.asarray(np.inf),
            diverged=xp.asarray(False),
        )

    def _signal(self, problem: Normalised, density: Array) -> SignalBeliefs:
        """What the prior tells before anything is measured.

        Where entries have a mean, y tells their power only together with what A does to the vector of ones.
        """
        xp, prior = namespace(problem.y), self.prior
        ones = xp.ones(problem.n)
        power = 1 / (1 + prior.along_ones * (squared(problem.forward(ones)).mean() - 1))
        mean = xp.sqrt(prior.along_ones * power) * ones
        precision = 1 / ((1 - prior.along_ones) * power)
        return SignalBeliefs(mean, precision, mean, ones > 0, density, power)

    def work(self, m_rows: int, n: int, schedule: Schedule) -> Work:
        """Two products with U; by conjugate gradients more."""
        product = 0.25 * m_rows * n
        return Work(move=schedule.steps * (2 * product + 6e4), look=2 * product, launches=100 * schedule.steps)

    def memory(self, m_rows: int, n: int, itemsize: int) -> int:
        """A, as much again while batches shrink; float64 copies and a mask while they are refined; vectors."""
        return (2 * itemsize + 18) * m_rows * n + 400 * (m_rows + n) + 16 * PROBES

    def advance(self, problem: Normalised, state: VectorState, stretch: Stretch) -> VectorState:
        """Iterates through a segment; once it diverges, the last finite state stays, marked."""
        problem = problem.rough
        loops, node = problem.loops, problem.gaussian_node

        def iterate(state: VectorState, mu: Array, lam: Array) -> VectorState:
            old, own, noise = state.beliefs, state.factor * lam, state.noise
            if self.learns_noise:
                mu, own = _no_colder(mu, own, noise)
            given = problem.y, problem.powers, state.eigenvalues, node, self.prior
            new, z = vector_iteration(old, mu, own, state.damping, *given)
            if self.learns_noise:
                noise = noise_learned(noise, old, z, new.v, problem.y, problem.powers, 1 / (2 * mu))
            change = node.moved(old.kept, new.kept).astype("float64")
            bad = state.diverged | ~(by_blocks(lambda h: squared(h).sum(), new.h) < np.inf)
            following = state._replace(beliefs=new, sweeps=state.sweeps + 1, mu=mu, lam=own, noise=noise, change=change)
            return loops.choose(bad, state._replace(diverged=bad), following)  # type: ignore[no-any-return]

        def temperature(state: VectorState, mu: Array, lam: Array) -> VectorState:
            return loops.repeat(stretch.sweeps, lambda now: iterate(now, mu, lam), state)  # type: ignore[no-any-return]

        with np.errstate(all="ignore"):  # as in AMP
            return loops.scan(temperature, state, stretch.mu, stretch.lam)  # type: ignore[no-any-return]

    def measure(self, problem: Normalised, state: VectorState) -> dict[str, Array]:
        """Observables of the estimate that the last iteration made."""
        x = self.average(problem, state)
        z = problem.rough.gaussian_node.measure(x)
        row = estimate_columns(problem.y, problem.x0, problem.signs, x, z, state.lam)
        row["mse_y"] = namespace(z).where(state.diverged, np.inf, row["mse_y"])
        own = {"noise": state.noise} if self.learns_noise else {}
        return {"lam": state.lam, **row, "v": state.beliefs.v, **own, "change": state.change, "sweeps": state.sweeps}

    def stop(self, problem: Normalised, row: dict[str, float], final: bool, exact: bool) -> Ended | None:
        """The signs are settled, or x is at a fixed point of the last temperature, or of the noise learned."""
        held = self.learns_noise and row["noise"] > HELD / (2 * row["mu"]) and row["change"] < STILL
        return Ended.SETTLED if held else stop(self, problem, row, final, exact)

    def candidate(self, problem: Normalised, state: VectorState) -> tuple[Array, Array]:
        """The estimate of x, zero where it is more likely to be."""
        x, signal = self.average(problem, state), state.beliefs.signal
        return x * signal.nonzero if signal else x, namespace(problem.y).asarray(np.nan)

    def average(self, problem: Normalised, state: VectorState) -> Array:
        """The estimate of x."""
        signal = state.beliefs.signal
        return signal.x if signal else problem.gaussian_node.signal(state.beliefs.kept)

    @property
    def settle(self) -> Callable[..., tuple[Any, Any]]:
        """By least squares on all columns, or, with a prior, on those that x has."""
        return settle_estimate if self.prior.gaussian else settle_nonzeros

    run = run
    run_batch = run_batch


def _no_colder(mu: Array, lam: Array, noise: Array) -> tuple[Array, Array]:
    """The temperature of a schedule, or that of the noise if it is higher, at the same product."""
    nu = namespace(noise).maximum(1 / (2 * mu), noise)
    return 1 / (2 * nu), mu * lam * 2 * nu

r"""Approximate message passing with annealed temperature and regulariser (alg:AMP), collapsed form.

The paper's two-level AMP carries two variances that act only through `V = V0 + V1/mu` (see channels.py). One
iteration, with nu = 1/(2 mu), Lam = mu*lam and damping psi on (V, w), not on x:

    Vd <- (1-psi) V + psi Vd;      c = 1/(nu + Vd);      w <- (1-psi)(A x - V g) + psi w
    g, curvature = output channel;  chi = max(0, sum(curvature)/N)
    x <- (A^T g + chi x)/(Lam + chi);      V <- 1/(Lam + chi)

Everything is local to a row of A, so an iteration is one pass over A, and memory is A plus O(M + N).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from phaselect.base.errors import InputError
from phaselect.equations.channels import input_channel, local_update_with, output_channel_with
from phaselect.problem.instance import Instance, Vector, is_count
from phaselect.problem.matrix import Dense
from phaselect.problem.observables import of_estimate
from phaselect.problem.schedule import Schedule
from phaselect.solvers._passes import amp_pass
from phaselect.solvers.base import Attempt, Estimate, ProgressCallback, Start, check_run, drive, first_success
from phaselect.solvers.batch import run_batch
from phaselect.solvers.finish import finish_x
from phaselect.solvers.result import Result, Status

CONVERGED = 1e-10
"""mse_y at which the signs are settled, but for the tiniest y, and least squares takes over."""
CONVERGED_ON_DEVICE = 1e-6
"""The same where A is on a device: half precision is as good as A so far, and least squares mends many signs at once.
In a batch, which has no half-precision copy and waits for its slowest member, going on is faster."""

STATIONARY = 1e-24
"""Mean squared change of x in one iteration below which AMP sits at a fixed point."""


class AMPState(NamedTuple):
    """x and V as the next iteration will use them; the rest as the last one left it."""

    x: Vector
    V: float
    V_damped: float
    w: Vector
    g: Vector
    x_in: Vector  # the estimate whose measurements are z
    z: Vector  # A x_in
    iteration: int
    mu: float
    lam: float
    change: float
    diverged: bool


@dataclass(frozen=True)
class AMP:
    """Approximate message passing. Runs in the dtype of A: a float32 matrix costs half the time.

    damping: psi, on (V, w).
    restarts: how often to start afresh when a run fails, with a new x, damping in (0.1, 0.5) and product
        scaled by a factor in (1, 3): failed runs wander rather than converge, and another start may succeed.
    converged: mse_y at which least squares takes over; for one instance on a device at 1e-6 at the latest.

    >>> import phaselect
    >>> problem = phaselect.gaussian_instance(200, 1.4, seed=0)
    >>> phaselect.AMP().run(problem, seed=0).certified
    True
    """

    damping: float = 0.3
    restarts: int = 4
    converged: float = CONVERGED

    def __post_init__(self) -> None:
        if not (isinstance(self.damping, Real) and 0 <= self.damping < 1):
            raise InputError(f"AMP: damping = {self.damping!r} must lie in [0, 1)")
        if not is_count(self.restarts):
            raise InputError(f"AMP: restarts = {self.restarts!r} must be a whole number, 0 or more")
        if not (isinstance(self.converged, Real) and self.converged > 0):
            raise InputError(f"AMP: converged = {self.converged!r} must be positive")

    state_type = AMPState

    @property
    def name(self) -> str:
        """As in `phaselect solve --solver amp`."""
        return "amp"

    def default_schedule(self, problem: Instance | None) -> Schedule:
        """Matched, from mu = 1000 (AMP needs no slow start), then on at 1e12: hard instances take their time."""
        return Schedule.matched(mu0=1e3, mu_max=1e12, eps=0.1, steps=1, unit="iterations", hold=1000)

    def start(self, problem: Instance, schedule: Schedule, rng: np.random.Generator, init: Start | None) -> AMPState:
        """x ~ N(0, 1) entry by entry with unit variance; a given x gets the variance that its residual shows."""
        schedule.iterations("AMP")
        x, V = rng.standard_normal(problem.n), 1.0
        if init is not None:
            x = init.x
            V = max(1e-12, float(np.mean((problem.target - np.abs(problem.forward(x))) ** 2)))
        zeros = np.zeros(problem.m_rows)
        mu, lam = schedule[0]
        return AMPState(x, V, V, zeros, zeros, x, zeros, 0, mu, lam, np.inf, False)

    def segment(self, problem: Instance, schedule: Schedule) -> int:
        """A few iterations for small matrices, one where it takes long; ten on a device."""
        few = 10 if problem.matrix.on_device else min(5, 10_000_000 // (problem.m_rows * problem.n))
        return max(1, few // schedule.steps)

    def advance(self, problem: Instance, state: AMPState, schedule: Schedule) -> AMPState:
        """Iterates through a segment; on divergence returns the last finite state, marked."""
        if problem.matrix.on_device:
            from phaselect.devices.amp import advance

            return advance(problem, state, schedule, self.damping)
        state = _in_memory(state)
        read = reader(problem)
        for mu, lam in schedule:
            for _ in range(schedule.steps):
                with np.errstate(all="ignore"):  # lam = 0 too early in the anneal: no information and no prior
                    following = amp_iteration(state, mu, lam, self.damping, read)
                if diverged(following):
                    return state._replace(diverged=True)
                state = following
        return state

    def measure(self, problem: Instance, state: AMPState) -> dict[str, float]:
        """Observables of the estimate that the last iteration started from."""
        row = of_estimate(problem, np.asarray(state.x_in), np.asarray(state.z), float(state.lam))
        if state.diverged:
            row["mse_y"] = np.inf
        return {**row, "V": float(state.V), "change": float(state.change), "steps": int(state.iteration)}

    def stop(self, row: dict[str, float], final: bool, noiseless: bool) -> Status | None:
        """The signs are settled; or at a fixed point of the last temperature; or diverged."""
        if not np.isfinite(row["mse_y"]):
            return Status.DIVERGED
        settled = (noiseless and row["mse_y"] < self.converged) or (final and row["change"] < STATIONARY)
        return Status.NOT_RECOVERED if settled else None

    def finish(self, problem: Instance, state: AMPState, noiseless: bool) -> Estimate:
        """Signs of the measurements of x, then least squares without an SVD."""
        return finish_x(problem, np.asarray(state.x), noiseless)

    def run(
        self,
        problem: Instance,
        schedule: Schedule | None = None,
        *,
        seed: int = 0,
        init: Any = None,
        time_limit: float | None = None,
        progress: ProgressCallback | None = None,
        noiseless: bool = True,
    ) -> Result:
        """Run, and restart while the answer is not certified; see `drive` for the arguments.

        A run that continues an earlier state is not restarted.
        """
        seed = check_run(problem, schedule, seed, time_limit)
        base = schedule or self.default_schedule(problem)
        converged = max(self.converged, CONVERGED_ON_DEVICE) if problem.matrix.on_device else self.converged

        def attempt(number: int) -> Attempt:
            own_seed, damping, factor = self.variant(seed, number)
            return lambda left: drive(
                replace(self, damping=damping, converged=converged),
                problem,
                base.rescaled(factor),
                seed=own_seed,
                init=None if number else init,
                time_limit=left,
                progress=progress,
                noiseless=noiseless,
            )

        def attempts() -> Iterator[Attempt]:
            for number in range(1 if isinstance(init, AMPState) else 1 + self.restarts):
                yield attempt(number)

        best = first_success(attempts(), time_limit, lambda result: result.settled or not noiseless)
        return replace(best, seed=seed)

    def variant(self, seed: int, attempt: int) -> tuple[int, float, float]:
        """Seed, damping and factor of every lam for an attempt; the first is as asked for."""
        own = seed, self.damping, 1.0
        rng = np.random.default_rng([seed, 1])
        for _ in range(attempt):
            damping, factor = rng.uniform(0.1, 0.5), rng.uniform(1, 3)
            own = int(rng.integers(2**31)), damping, factor
        return own

    def program(self) -> Any:
        """Message passing as a JAX program, for `run_batch`."""
        from phaselect.devices.programs import AMPProgram

        return AMPProgram()

    run_batch = run_batch


def _in_memory(state: AMPState) -> AMPState:
    """A state of its own, in arrays and numbers of NumPy's and Python's: it may come from a device."""
    values: list[Any] = [np.array(value) for value in state]
    return AMPState(*(value if value.ndim else value.item() for value in values))


Read = Callable[..., tuple[Any, Any, Any, Any, Any]]
"""A pass over A: from (x, V, c, psi, w, g) to `A x`, the new w and g, `A^T g` and the sum of the curvatures."""


def amp_iteration(state: AMPState, mu: Any, lam: Any, damping: Any, read: Read) -> AMPState:
    """One iteration, on arrays of NumPy or JAX."""
    psi = damping * (state.iteration > 0)
    V_damped = (1 - psi) * state.V + psi * state.V_damped
    c = 1 / (1 / (2 * mu) + V_damped)
    z, w, g, back, curvature = read(state.x, state.V, c, psi, state.w, state.g)
    chi = curvature / state.x.size
    chi = chi * (chi > 0)
    x, variance = input_channel(back + chi * state.x, chi, mu * lam)
    change = ((x - state.x) ** 2).mean()
    return AMPState(x, variance, V_damped, w, g, state.x, z, state.iteration + 1, mu, lam, change, state.diverged)


def diverged(state: AMPState) -> Any:
    """Has x grown beyond bounds? (Not-a-number counts.)"""
    return ~((state.x**2).mean() < 1e6)


def reader(problem: Instance) -> Read:
    """Passes over A in normalised units: one compiled read, which updates w and g in place, or two products."""
    if isinstance(problem.matrix, Dense):
        return _compiled_reader(problem, problem.matrix)
    local_update = local_update_with(output_channel_with(np.tanh))

    def read(x: Vector, V: float, c: float, psi: float, w: Vector, g: Vector) -> tuple[Any, ...]:
        z = problem.forward(x)
        w, g, curvature = local_update(z, problem.target, w, g, V, c, psi)
        return z, w, g, problem.adjoint(g), curvature.sum()

    return read


def _compiled_reader(problem: Instance, matrix: Dense) -> Read:
    def read(x: Vector, V: float, c: float, psi: float, w: Vector, g: Vector) -> tuple[Any, ...]:
        z = np.empty(problem.m_rows)
        back, curvature = amp_pass(matrix.A, problem.target, problem.gain * x, V, c, psi, z, w, g)
        return z, w, g, problem.gain * back, np.float64(curvature)

    return read

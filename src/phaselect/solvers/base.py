"""What a solver is, and the one loop that drives them all: progress, time limit, interrupt, trace, verdict.

A solver is a frozen dataclass (its configuration). Its state is a NamedTuple that holds everything that
changes, random generator included; `advance` maps a state and a segment of schedule to the next state.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from phaselect.errors import InputError
from phaselect.instance import Instance, Vector, check_seed, signs_of
from phaselect.observables import certified, connected, log10_impostors, mse_y
from phaselect.parallel import one_blas_thread
from phaselect.schedule import Schedule
from phaselect.solvers.result import Result, Status, tabulate

EXACT_FIT = 1e-12
"""mse_y below which an answer fits noiseless data; rounding leaves about 1e-30, a wrong sign far more."""


class Progress(NamedTuple):
    """What a progress callback is told after each segment."""

    solver: str
    fraction: float  # of the schedule, 0 to 1
    mu: float
    mse_y: float
    seconds: float


ProgressCallback = Callable[[Progress], None]


class Estimate(NamedTuple):
    """A solver's answer in normalised units; `rank` is the rank of A as far as the solver could tell."""

    x: Vector
    signs: Vector
    rank: int


class Start(NamedTuple):
    """Where the user wants a run to start: an estimate of x in normalised units, and signs."""

    x: Vector
    signs: Vector


class Solver(Protocol):
    """The protocol; see docs/solvers.md for how to add one."""

    @property
    def name(self) -> str:
        """Short name, as in `phaselect solve --solver NAME`."""

    def default_schedule(self, problem: Instance) -> Schedule:
        """A good schedule for this solver."""

    def start(self, problem: Instance, schedule: Schedule, rng: np.random.Generator, init: Start | None) -> Any:
        """The first state: random, or from `init`."""

    def segment(self, problem: Instance, schedule: Schedule) -> int:
        """How many temperatures to run between two looks at the clock."""

    def advance(self, problem: Instance, state: Any, schedule: Schedule) -> Any:
        """Runs a segment of schedule; leaves the given state as it was."""

    def measure(self, problem: Instance, state: Any) -> dict[str, float]:
        """Observables of a state, as a row of the trace; `mse_y` and `steps` at least."""

    def stop(self, row: dict[str, float]) -> Status | None:
        """None to go on after this row; else the status of the run, should its answer not be certified."""

    def finish(self, problem: Instance, state: Any, noiseless: bool) -> Estimate:
        """The answer: quenched and refined at lam = 0 for noiseless data, as it stands otherwise."""


def drive(
    solver: Solver,
    problem: Instance,
    schedule: Schedule | None = None,
    *,
    seed: int = 0,
    init: Any = None,
    time_limit: float | None = None,
    progress: ProgressCallback | None = None,
    noiseless: bool = True,
) -> Result:
    """Run a solver over a schedule.

    schedule: the solver's own default if None.
    init: where to start from: an estimate of x (N numbers), signs (M numbers), or the state of an earlier
        result, to go on from there.
    time_limit: seconds, looked at between segments of the schedule.
    noiseless: whether y is exact, so that the answer is finished at lam = 0 and can be certified.
    """
    began = time.perf_counter()
    if not isinstance(problem, Instance):
        raise InputError("run takes an Instance: phaselect.Instance(A, y), or phaselect.solve(A, y) for arrays")
    check_time_limit(time_limit)
    rng = np.random.default_rng(check_seed(seed))
    schedule = schedule or solver.default_schedule(problem)
    rows: list[dict[str, float]] = []
    halted: Status | None = None
    state = init if isinstance(init, tuple) else solver.start(problem, schedule, rng, _start(problem, init))
    try:
        with one_blas_thread():
            for stretch in schedule.segments(solver.segment(problem, schedule)):
                state = solver.advance(problem, state, stretch)
                mu, lam = stretch[-1]
                seconds = time.perf_counter() - began
                rows.append({"mu": mu, "lam": lam, **solver.measure(problem, state), "seconds": seconds})
                if progress is not None:
                    done = len(rows) * solver.segment(problem, schedule) / len(schedule)
                    progress(Progress(solver.name, min(1.0, done), mu, rows[-1]["mse_y"], seconds))
                halted = solver.stop(rows[-1])
                if halted is None and time_limit is not None and seconds >= time_limit:
                    halted = Status.TIME_LIMIT
                if halted is not None:
                    break
    except KeyboardInterrupt:
        halted = Status.INTERRUPTED
    estimate = solver.finish(problem, state, noiseless)
    return Result(
        x=estimate.x * problem.x_scale,
        signs=estimate.signs,
        **verdict(problem, estimate, noiseless, halted)._asdict(),
        steps=int(rows[-1]["steps"]) if rows else 0,
        seconds=time.perf_counter() - began,
        trace=tabulate(rows),
        solver=solver.name,
        schedule=schedule,
        seed=seed,
        state=state,
    )


class Verdict(NamedTuple):
    """What a result says of its answer."""

    status: Status
    certified: bool
    log10_impostors: float
    mse_y: float


def verdict(problem: Instance, estimate: Estimate, noiseless: bool, halted: Status | None) -> Verdict:
    """Judge an answer; one that is certified is recovered however the run ended."""
    x, signs = estimate.x * problem.x_scale, estimate.signs
    fit = mse_y(problem, x, signs)
    log10 = log10_impostors(fit, problem.m_rows, estimate.rank)
    status = halted or Status.NOT_RECOVERED
    if not noiseless:
        return Verdict(Status.ESTIMATE if status is Status.NOT_RECOVERED else status, False, log10, fit)
    if certified(problem, x, signs, estimate.rank):
        return Verdict(Status.RECOVERED, True, log10, fit)
    if fit < EXACT_FIT:
        determined = estimate.rank == problem.n and connected(problem)
        status = Status.UNCERTIFIED if determined else Status.AMBIGUOUS
    return Verdict(status, False, log10, fit)


def check_time_limit(time_limit: float | None) -> None:
    """A time limit is a positive number of seconds."""
    if time_limit is not None and not (np.isreal(time_limit) and time_limit > 0):
        raise InputError(f"time_limit = {time_limit!r}: give a positive number of seconds")


def _start(problem: Instance, init: ArrayLike | None) -> Start | None:
    """The user's starting point: signs come with their back-projection, an estimate of x with its signs."""
    if init is None:
        return None
    given = np.asarray(init, dtype=np.float64)
    if given.shape == (problem.n,):
        return Start(given / problem.x_scale, signs_of(problem.measure(given)))
    if given.shape == (problem.m_rows,):
        signs = signs_of(given)
        return Start(problem.gain * problem.backproject(signs * problem.target), signs)
    raise InputError(
        f"init has shape {given.shape}: give an estimate of x ({problem.n} numbers), signs ({problem.m_rows}), "
        "or the state of an earlier result"
    )

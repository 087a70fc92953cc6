"""What a solver is, and the one loop that drives them all: progress, time limit, interrupt, trace, verdict.

A solver is a frozen dataclass (its configuration). Its state is a NamedTuple that holds everything that
changes, random generator included; `advance` maps a state and a segment of schedule to the next state.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from numbers import Real
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from phaselect.base.errors import InputError
from phaselect.base.threads import one_blas_thread
from phaselect.problem.instance import Instance, Vector, check_seed, signs_of
from phaselect.problem.observables import against_truth, log10_impostors
from phaselect.problem.schedule import Schedule
from phaselect.solvers.certificate import CERTIFIED_BELOW, EXACT_FIT, Evidence, certified, evidence
from phaselect.solvers.result import Result, Status, tabulate


class Progress(NamedTuple):
    """What a progress callback is told after each segment."""

    solver: str
    fraction: float  # of the schedule, 0 to 1
    mu: float
    mse_y: float
    seconds: float


ProgressCallback = Callable[[Progress], None]


class Estimate(NamedTuple):
    """A solver's answer in normalised units.

    rank: that of A as far as the solver could tell.
    seen: what speaks for the answer, if the solver knows already.
    """

    x: Vector
    signs: Vector
    rank: int
    seen: Evidence | None = None


class Start(NamedTuple):
    """Where the user wants a run to start: an estimate of x in normalised units, and signs."""

    x: Vector
    signs: Vector


class Solver(Protocol):
    """The protocol; see docs/solvers.md for how to add one."""

    @property
    def name(self) -> str:
        """Short name, as in `phaselect solve --solver NAME`."""

    @property
    def state_type(self) -> type:
        """The NamedTuple of its states."""

    def default_schedule(self, problem: Any) -> Schedule:
        """A good schedule for this solver."""

    def start(self, problem: Instance, schedule: Schedule, rng: np.random.Generator, init: Start | None) -> Any:
        """The first state: random, or from `init`."""

    def segment(self, problem: Instance, schedule: Schedule) -> int:
        """How many temperatures to run between two looks at the clock."""

    def advance(self, problem: Instance, state: Any, schedule: Schedule) -> Any:
        """Runs a segment of schedule; leaves the given state as it was."""

    def measure(self, problem: Instance, state: Any) -> dict[str, float]:
        """Observables of a state, as a row of the trace; `mse_y` and `steps` at least."""

    def stop(self, row: dict[str, float], final: bool, noiseless: bool) -> Status | None:
        """None to go on after this row; else the status of the run, should its answer not be certified.

        final: whether the schedule has come to its last temperature.
        """

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
    seed = check_run(problem, schedule, seed, time_limit)
    schedule = schedule or solver.default_schedule(problem)
    rows: list[dict[str, float]] = []
    halted: Status | None = None
    state = None
    with one_blas_thread():
        try:
            state = _first_state(solver, problem, schedule, seed, init)
            for stretch in schedule.segments(solver.segment(problem, schedule)):
                state = solver.advance(problem, state, stretch)
                mu, lam = stretch[-1]
                seconds = time.perf_counter() - began
                rows.append({"mu": mu, "lam": lam, **solver.measure(problem, state), "seconds": seconds})
                if progress is not None:
                    done = len(rows) * solver.segment(problem, schedule) / len(schedule)
                    progress(Progress(solver.name, min(1.0, done), mu, rows[-1]["mse_y"], seconds))
                halted = solver.stop(rows[-1], (mu, lam) == schedule[-1], noiseless)
                if halted is None and time_limit is not None and seconds >= time_limit:
                    halted = Status.TIME_LIMIT
                if halted is not None:
                    break
        except KeyboardInterrupt:
            halted = Status.INTERRUPTED
        try:
            estimate = _nothing(problem) if state is None else solver.finish(problem, state, noiseless)
        except KeyboardInterrupt:
            halted = Status.INTERRUPTED
            estimate = solver.finish(problem, state, False)
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
        truth=against_truth(problem, estimate.x * problem.x_scale, estimate.signs),
    )


Attempt = Callable[[float | None], Result]
"""A run that is given the seconds that are left."""


def first_success(attempts: Iterable[Attempt], time_limit: float | None, enough: Callable[[Result], bool]) -> Result:
    """Make attempts until one is good enough, time is out or the user interrupts.

    Returns the best, with the steps and seconds of all, and the reason for which they ended as its status.
    """
    began = time.perf_counter()
    best: Result | None = None
    ended: Status | None = None
    steps = 0
    for attempt in attempts:
        left = None if time_limit is None else time_limit - (time.perf_counter() - began)
        if best is not None and left is not None and left <= 0:
            ended = Status.TIME_LIMIT
            break
        try:
            result = attempt(left)
        except KeyboardInterrupt:
            if best is None:
                raise
            ended = Status.INTERRUPTED
            break
        except InputError:  # what comes next does not fit into memory: no reason to lose the best so far
            if best is None:
                raise
            break
        steps += result.steps
        best = better(best, result)
        if enough(best):
            break
        if result.status in (Status.TIME_LIMIT, Status.INTERRUPTED):
            ended = result.status
            break
    assert best is not None
    return replace(best, status=ended or best.status, steps=steps, seconds=time.perf_counter() - began)


def better(best: Result | None, result: Result) -> Result:
    """What to keep of two attempts at a problem."""
    return result if best is None or result.certified or result.mse_y < best.mse_y else best


class Verdict(NamedTuple):
    """What a result says of its answer."""

    status: Status
    certified: bool
    log10_impostors: float
    mse_y: float


def verdict(problem: Instance, estimate: Estimate, noiseless: bool, halted: Status | None) -> Verdict:
    """Judge an answer on a problem."""
    x, signs, rank, seen = estimate
    return judge(seen or evidence(problem, x * problem.x_scale, signs, rank), problem.m_rows, rank, noiseless, halted)


def judge(seen: Evidence, m_rows: int, rank: int, noiseless: bool, halted: Status | None) -> Verdict:
    """Judge an answer by the evidence; one that is certified is recovered however the run ended."""
    fit = seen.mse_y
    log10 = log10_impostors(fit, m_rows, rank)
    status = halted or Status.NOT_RECOVERED
    if not noiseless:
        return Verdict(Status.ESTIMATE if status is Status.NOT_RECOVERED else status, False, log10, fit)
    if certified(seen, m_rows, rank):
        return Verdict(Status.RECOVERED, True, log10, fit)
    if fit < EXACT_FIT:
        status = Status.UNCERTIFIED if seen.determined() else Status.AMBIGUOUS
    elif log10 < CERTIFIED_BELOW:
        status = Status.INEXACT
    return Verdict(status, False, log10, fit)


def check_run(problem: Any, schedule: Any, seed: int, time_limit: Any) -> int:
    """What every run is given, checked; returns the seed as a plain number."""
    if not isinstance(problem, Instance):
        raise InputError("run takes an Instance: phaselect.Instance(A, y), or phaselect.solve(A, y) for arrays")
    check_plan(schedule, time_limit)
    if time_limit is not None and problem.matrix.processes > 1:
        raise InputError("time_limit: processes that share A must stop together, and their clocks differ; leave it out")
    return check_seed(seed)


def check_plan(schedule: Any, time_limit: Any) -> None:
    """A schedule, or none, and a time limit, or none."""
    if schedule is not None and not isinstance(schedule, Schedule):
        raise InputError(f"schedule = {schedule!r}: give a phaselect.Schedule, or nothing for the default")
    if time_limit is not None and not (isinstance(time_limit, Real) and float(time_limit) > 0):
        raise InputError(f"time_limit = {time_limit!r}: give a positive number of seconds")


def _first_state(solver: Solver, problem: Instance, schedule: Schedule, seed: int, init: Any) -> Any:
    """The given state, if it is one of this solver on a problem of this size, or a new one."""
    if not (isinstance(init, tuple) and hasattr(init, "_fields")):
        return solver.start(problem, schedule, np.random.default_rng(seed), _start(problem, init))
    lengths = {"x": problem.n, "w": problem.m_rows, "v": problem.m_rows, "theta": problem.m_rows}
    lengths |= {"z": problem.m_rows, "signs": problem.m_rows}
    sizes = {name: getattr(init, name).shape[-1] for name in lengths if hasattr(init, name)}
    if not isinstance(init, solver.state_type) or any(size != lengths[name] for name, size in sizes.items()):
        raise InputError(f"init is not the state of a {solver.name} run on a problem of this size")
    return init


def _start(problem: Instance, init: ArrayLike | None) -> Start | None:
    """The user's starting point: signs come with their back-projection, an estimate of x with its signs."""
    if init is None:
        return None
    try:
        given = np.asarray(init, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("init must be numbers: an estimate of x, signs, or the state of an earlier result") from None
    if not np.isfinite(given).all():
        raise InputError("init must be finite")
    if given.shape == (problem.n,):
        return Start(given / problem.x_scale, signs_of(problem.measure(given)))
    if given.shape == (problem.m_rows,):
        signs = signs_of(given)
        return Start(problem.adjoint(signs * problem.target), signs)
    raise InputError(
        f"init has shape {given.shape}: give an estimate of x ({problem.n} numbers), signs ({problem.m_rows}), "
        "or the state of an earlier result"
    )


def _nothing(problem: Instance) -> Estimate:
    """What is known when a run is interrupted before its first state: next to nothing."""
    x = problem.adjoint(problem.target)
    return Estimate(x, signs_of(problem.measure(x)), problem.n)

"""The two ways to run a solver: on one instance, wherever its A is, and on many at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from phaselect.base.checks import check_seconds, shortened
from phaselect.base.errors import InputError
from phaselect.base.threads import one_blas_thread
from phaselect.equations.fields import COMPLEX, REAL, REAL_SIGNAL, Field
from phaselect.equations.signs import signs_of
from phaselect.problem.instance import Instance
from phaselect.problem.instance_batches import Batch, GaussianBatch, InstanceBatch, as_batch, checked_seeds
from phaselect.problem.schedule import Schedule
from phaselect.problem.streams import check_seed
from phaselect.solvers.company import BatchOnDevice, Company, OneByOne
from phaselect.solvers.progress_bar import told
from phaselect.solvers.protocol import ProgressOption, Solver, Start
from phaselect.solvers.restarts import Search, Stage
from phaselect.solvers.result import Result

FAR = 1e100
"""How large a starting point may be, in normalised units: its squares must fit into float64."""


@one_blas_thread()
def run(
    solver: Solver,
    problem: Instance,
    schedule: Schedule | None = None,
    *,
    seed: int | np.random.Generator = 0,
    init: Any = None,
    time_limit: float | None = None,
    progress: ProgressOption = None,
    noise: Any = None,
) -> Result:
    """Run a solver over a schedule, and start afresh, as often as the solver says, while the answer is not settled.

    schedule: the solver's own default if None.
    init: where to start from: an estimate of x (N numbers), signs (M numbers), or the state of an earlier
        result, to go on from there without restarts.
    time_limit: seconds, looked at between segments of the schedule.
    progress: True for a bar, or a function that is called with a `Progress` after each look at the run.
    noise: variance of the noise on y, one number or one per measurement; that of the instance if None. Exact data are
        finished at lam = 0 and can be certified.
    """
    problem = check_problem(problem, schedule, time_limit, noise)
    check_field(solver, problem.matrix.field)
    check_rows(problem.normalised.m_rows, problem.n, solver.takes_few, problem.matrix.field)
    start, state = starting_point(problem, init, solver.name, solver.state_type)
    company = OneByOne([problem])
    schedule = schedule or solver.default_schedule(problem.noise_level)
    check_schedule(solver, schedule, problem.matrix.on_device)
    check_entries(solver, problem)
    with told(progress) as tell:
        search = Search(company, [check_seed(seed)], start, state, time_limit, tell)
        return search.run([Stage(solver, schedule)])[0]


@one_blas_thread()  # on a CPU JAX factorises with the same library, whose threads fight over small matrices
def run_batch(
    solver: Solver,
    problems: Any,
    schedule: Schedule | None = None,
    *,
    seeds: Sequence[int] | None = None,
    device: Any = None,
    dtype: str = "float32",
    time_limit: float | None = None,
    progress: ProgressOption = None,
) -> list[Result]:
    """Run the solver on many instances of one shape at once; a result for each, in their order.

    problems: a list of Instances, which are sent to the device, or `phaselect.gaussian_batch(n, alpha, seeds=...)`,
        whose instances are drawn there.
    schedule: the same for all; the solver's default if None.
    seeds: of the runs; 0, 1, 2 ..., or the seeds of a `gaussian_batch`, if None.
    device: "gpu" or "cpu"; the first GPU, if there is one, if None.
    dtype: of A on the device, "float32" or "float64"; answers are refined in float64 in any case.
    time_limit: seconds for all together, looked at between segments of the schedule.

    A member that breaks down is marked as diverged and does not touch the others. After Ctrl-C the members that were
    done are kept, and the others have the status INTERRUPTED. `seconds` of a result is its share of the time. A solver
    that cannot be compiled (see `in_batches`) runs on one instance after the other, in memory.
    """
    check_plan(schedule, time_limit)
    batch = as_batch(problems)
    for problem in batch.problems if isinstance(batch, InstanceBatch) else ():
        check_noise(problem)
    own = problems.seeds if isinstance(problems, GaussianBatch) else range(len(batch))
    seeds = checked_seeds(own if seeds is None else seeds)
    if len(seeds) != len(batch):
        raise InputError(f"{len(seeds)} seeds for {len(batch)} instances: give one each")
    levels = batch.noise_levels
    if any(levels) and not all(levels):
        raise InputError("some instances of the batch are exact and some noisy: run them apart")
    schedule = schedule or solver.default_schedule(float(np.median(levels)))
    check_schedule(solver, schedule, on_device=True)
    check_field(solver, batch.field)
    check_rows(batch.m_rows, batch.n, solver.takes_few, batch.field)
    company = _company(solver, batch, device, dtype)
    with told(progress) as tell:
        return Search(company, seeds, time_limit=time_limit, progress=tell).run([Stage(solver, schedule)])


def _company(solver: Solver, batch: Batch, device: Any, dtype: str) -> Company:
    if solver.in_batches:
        from phaselect.backends.jax.devices import checked_dtype, choose

        return BatchOnDevice(batch, choose(device), checked_dtype(dtype))
    if not isinstance(batch, InstanceBatch):
        raise InputError(f"{solver.name} runs one instance after the other, in memory: give a list of Instances")
    return OneByOne(batch.problems)


def check_problem(problem: Any, schedule: Any, time_limit: Any, noise: Any) -> Instance:
    """What every run is given, checked; returns the instance with its noise."""
    if not isinstance(problem, Instance):
        raise InputError("run takes an Instance: phaselect.Instance(A, y), or phaselect.solve(A, y) for arrays")
    check_plan(schedule, time_limit)
    if time_limit is not None and problem.matrix.processes > 1:
        raise InputError("time_limit: processes that share A must stop together, and their clocks differ; leave it out")
    with_noise: Instance = problem.with_noise(noise)
    check_noise(with_noise)
    return with_noise


def check_noise(problem: Instance) -> None:
    """A run needs to know the noise."""
    if problem.learns_noise:
        raise InputError(
            'noise = "auto": solve(problem, solver=..., noise="auto") learns it, and runs any solver on it'
        )


def check_plan(schedule: Any, time_limit: Any) -> None:
    """A schedule, or none, and a time limit, or none."""
    if schedule is not None and not isinstance(schedule, Schedule):
        raise InputError(f"schedule = {shortened(schedule)}: give a phaselect.Schedule, or nothing for the default")
    check_seconds(time_limit)


def check_schedule(solver: Solver, schedule: Schedule, on_device: bool) -> None:
    """Single proposals make sense for single flips, in memory."""
    if not solver.single_flips or on_device:
        schedule.iterations(f"{solver.name} on a device" if solver.single_flips else solver.name)


def check_entries(solver: Solver, problem: Instance) -> None:
    """A solver that needs the entries of A cannot run where processes share its rows."""
    if solver.needs_entries and problem.matrix.processes > 1:
        raise InputError(f"{solver.name} needs A whole, and processes share it: use message passing")


def check_field(solver: Solver, field: Field) -> None:
    """Moves of signs do not carry over to phases."""
    if field != REAL and not solver.takes_phases:
        raise InputError(
            f"{solver.name} is for signs, and A is complex: use vmp, amp or a baseline, or leave it to auto"
        )


def check_rows(m_rows: int, n: int, few: bool, field: Field) -> None:
    """There must be more measurements than unknowns, unless something else is known of x."""
    if field == COMPLEX and m_rows < 2 * n - (n == 1):
        raise InputError(
            f"{m_rows} measurements, rows of zeros aside, for {n} complex unknowns: recovery is impossible in "
            "principle below 2N; add measurements, or, if x is real, say so: real=True"
        )
    if m_rows <= n and few and field == REAL_SIGNAL:
        raise InputError(f"{m_rows} measurements for {n} unknowns: so few are for real A; of a complex one add some")
    if m_rows <= n and not few:
        raise InputError(
            f"{m_rows} measurements, rows of zeros aside, for {n} unknowns: recovery is impossible in principle unless "
            'alpha = M/N exceeds 1; add measurements, or, if x is sparse, solve it with prior="sparse"'
        )


def starting_point(problem: Instance, init: Any, name: str, state_type: type | None) -> tuple[Start | None, Any]:
    """The user's starting point, or a state to go on from; signs come with their back-projection, x with its signs.

    Of a single unknown the signs are known.
    """
    if init is None and problem.n == 1:
        init = problem.units.x_scale * np.ones(1)
    if init is None:
        return None, None
    if state_type is not None and isinstance(init, state_type):
        return None, init
    field = problem.matrix.field
    try:
        given = np.asarray(init)
        wanted = field.x if given.shape == (problem.n,) else field.z
        complex_too = given.dtype.kind == "c" and wanted == "float64"
        given = given.astype("complex128" if given.dtype.kind == "c" else "float64")
    except (TypeError, ValueError):
        raise InputError(
            f"init is not the state of a run of {name}, nor numbers, x or signs; to go on from a state name its solver"
        ) from None
    if np.ma.is_masked(init) or not np.isfinite(given).all():
        raise InputError("init must be finite, and have no masked entries")
    if complex_too:
        raise InputError("init is complex, and x is real: give real numbers")
    own = problem.normalised
    if given.shape == (problem.n,) and float(np.abs(given).max()) > FAR * float(problem.units.x_scale):
        raise InputError(f"init has entries of {np.abs(given).max():.2g}, too large for an x of this A and y by far")
    if given.shape == (problem.n,):
        signs = signs_of(problem.measure(given))
        return Start(
            given.astype(field.x) / problem.units.x_scale, signs if problem.kept is None else signs[problem.kept]
        ), None
    if given.shape == (problem.m_rows,):
        signs = signs_of(given if problem.kept is None else given[problem.kept])
        return Start(own.matrix.backproject(own.scale * signs * own.y), signs), None
    raise InputError(
        f"init has shape {given.shape}: give an estimate of x ({problem.n} numbers), signs ({problem.m_rows}), "
        "or the state of an earlier result"
    )

"""The front door: data in, the signal out with its certificate, no choices to make."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from phaselect.base.errors import InputError
from phaselect.base.threads import one_blas_thread
from phaselect.problem.instance import Instance
from phaselect.problem.streams import check_seed
from phaselect.solvers.company import OneByOne
from phaselect.solvers.message_passing import AMP
from phaselect.solvers.population_annealing import PopulationAnnealing
from phaselect.solvers.protocol import ProgressCallback, Solver
from phaselect.solvers.registry import solver_named
from phaselect.solvers.restarts import Search, Stage
from phaselect.solvers.result import Result
from phaselect.solvers.run import check_problem, starting_point

LADDER = (64, 256, 1024)
"""Population sizes tried in turn once message passing has failed."""
LADDER_ON_GPU = (1_000, 10_000, 100_000)
"""The same where copies are cheap."""
MOST_ROWS = 20_000
"""Measurements up to which their couplings, M x M numbers, are an option."""


def solve(
    A: Any,
    y: Any = None,
    *,
    solver: str | Solver = "auto",
    init: Any = None,
    seed: int | np.random.Generator = 0,
    time_limit: float | None = None,
    noise: Any = None,
    progress: ProgressCallback | None = None,
    device: str | None = None,
    dtype: str = "float32",
) -> Result:
    """Find x, up to its global sign, from `y = |A x|`.

    Message passing with restarts is tried first: it is fast, and right for iid matrices. Where it fails or
    diverges (correlated columns, outliers, few measurements) population annealing takes over, with more and more
    copies, until the answer is certified, time is out or, without a time limit, the largest population has failed.

    A: M x N real matrix, M > N, in any units; float32 is kept as it is and halves the cost of message passing. Or a
        linear operator, or an array of JAX, which is worked on where it is: see `Instance`. Or an Instance: leave out y
        then; when it knows x0, the trace has the overlaps too.
    y: M magnitudes.
    solver: "auto", the name of a solver, as "pa", or a solver with its options, as `PopulationAnnealing(500)`.
    init: an estimate of x (N numbers) or signs (M numbers) to start from.
    seed: of the random numbers; a whole number, or a generator of NumPy's to draw one from.
    time_limit: seconds, checked between short stretches of work.
    noise: variance of the noise on y, one number or one per measurement, if there is any. The anneal then stops at
        mu = 1/(2 noise), where the posterior is that of the noisy problem, and no certificate is claimed.
    progress: called with a `Progress` several times per second.
    device: "gpu" or "cpu" to put A there, in `dtype`, and solve there with JAX.

    >>> import phaselect
    >>> problem = phaselect.gaussian_instance(200, 1.3, seed=0)
    >>> phaselect.solve(problem.A, problem.y).status
    <Status.RECOVERED: 'recovered: x is certified, unique up to its global sign'>
    """
    problem = _problem(A, y)
    if device is not None:
        problem = problem.to_device(device, dtype)
    problem = check_problem(problem, None, time_limit, noise)
    if solver != "auto":
        chosen = solver_named(solver) if isinstance(solver, str) else solver
        return chosen.run(problem, seed=seed, init=init, time_limit=time_limit, progress=progress)
    start, state = starting_point(problem, init)
    if state is not None:
        raise InputError("init is the state of a run: name its solver, or call its run, to go on from there")
    with one_blas_thread():
        search = Search(OneByOne([problem]), [check_seed(seed)], start, None, time_limit, progress)
        return search.run(stages_for(problem, timed=time_limit is not None))[0]


def stages_for(problem: Instance, timed: bool) -> Iterator[Stage]:
    """What to try, in order; with a time limit the last population is tried again until it strikes."""
    level, matrix = problem.noise_level, problem.matrix
    amp = AMP()
    yield Stage(amp, amp.default_schedule(level))
    if problem.m_rows > MOST_ROWS or not matrix.has_entries or matrix.processes > 1:
        return
    ladder = LADDER_ON_GPU if matrix.on_gpu else LADDER
    population = PopulationAnnealing()
    for replicas in ladder:
        population = PopulationAnnealing(replicas)
        yield Stage(population, population.default_schedule(level))
    while timed and not level:
        yield Stage(population, population.default_schedule())


def _problem(A: Any, y: Any) -> Instance:
    if isinstance(A, Instance):
        if y is not None:
            raise InputError("solve takes an Instance, or A and y: not both")
        return A
    if y is None:
        raise InputError("solve needs y, the magnitudes |A x|, beside A; or an Instance")
    return Instance(A, y)

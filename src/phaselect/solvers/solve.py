"""The front door: data in, the signal out with its certificate, no choices to make."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from phaselect.base.checks import check_seconds, shortened
from phaselect.base.errors import DataWarning, InputError, warn_user
from phaselect.equations.fields import COMPLEX, REAL, Field
from phaselect.equations.priors import Prior, as_prior
from phaselect.problem.dependence import dependent_columns
from phaselect.problem.instance import Instance
from phaselect.problem.matrix import magnitudes
from phaselect.problem.schedule import Schedule
from phaselect.problem.suspicions import suspicions
from phaselect.solvers.front_door import FrontDoor
from phaselect.solvers.progress_bar import told
from phaselect.solvers.protocol import ProgressOption, Runnable, Solver
from phaselect.solvers.registry import Plan, recipe
from phaselect.solvers.result import Result
from phaselect.solvers.unknown_noise import run_on_learned_noise
from phaselect.solvers.vector_message_passing import VectorMessagePassing

OF_COUNTS, DARK = 0.25, 4.0
"""Variance of the square root of a Poisson count, about, whatever its mean; and the mean below which that is wrong."""


def solve(
    A: Any,
    y: Any = None,
    *,
    solver: str | Solver = "auto",
    init: Any = None,
    seed: int | np.random.Generator = 0,
    time_limit: float | None = None,
    noise: Any = None,
    rounding: float = 0.0,
    prior: Prior | str = "gaussian",
    real: bool = False,
    counts: Any = None,
    progress: ProgressOption = None,
    device: str | None = None,
    dtype: str = "float32",
) -> Result:
    """Find x, up to its global sign, or phase if A is complex, from `y = |A x|`.

    Message passing with restarts is tried first: AMP where A looks like iid entries, belief propagation where it is
    sparse, vector message passing elsewhere. Where that fails (few measurements, mostly) population annealing takes
    over, with more and more copies, until the answer is certified, time is out or, without a time limit, the largest
    population has failed. Where the digits of exact data tell the signs of a small problem, a lattice is tried as well:
    before message passing, after it, or before the largest population, by the time that it takes.

    `result.stages` tells what was tried, why, and how it ended. Data that look like a mistake, or like too few, are
    warned of (`DataWarning`) before the search begins.

    A: M x N matrix, M > N, in any units; float32 is kept as it is and halves the cost of message passing. Or a linear
        operator, such as those of `phaselect.operators`, or an array of JAX, which is worked on where it is: see
        `Instance`. Or an Instance: leave out y then; when it knows x0, the trace has the overlaps too. Of a complex A
        message passing alone finds the phases, and M must be 2N at least.
    y: M magnitudes; a column, of shape (M, 1), or a row counts as its M numbers.
    solver: "auto", the name of a solver, as "pa", or a solver with its options, as `PopulationAnnealing(500)`.
    init: an estimate of x (N numbers) or signs (M numbers) to start from.
    seed: of the random numbers; a whole number, or a generator of NumPy's to draw one from.
    time_limit: seconds, checked between short stretches of work.
    noise: variance of the noise on y, one number or one per measurement, if there is any; "auto" to learn whether there
        is, and how much. The anneal then stops at mu = 1/(2 noise), where the posterior is that of the noisy problem:
        `result.x_std` is its standard deviation, and no certificate is claimed.
    rounding: relative precision of A and y, where it is less than that of their dtypes, as 1e-6 for six digits.
    prior: what is known of x beyond A and y: "gaussian" for nothing, `Sparse(density)` or "sparse" if most entries are
        zero, `Nonnegative()` or "nonnegative". Vector message passing uses it, population annealing does not. A sparse
        x can be recovered from fewer measurements than unknowns. Only of a real x.
    real: x is real, though A is complex: then fewer measurements do.
    counts: M numbers of photons, in the place of y: their square roots are y, with the noise that chance leaves in
        them, a variance of about 1/4 whatever their mean, from a few photons on.
    progress: True for a bar, in terminals and notebooks; or a function, called with a `Progress` when an attempt begins
        and after each look at it.
    device: "gpu" or "cpu" to put A there, in `dtype`, and solve there with JAX.

    >>> import phaselect
    >>> problem = phaselect.gaussian_instance(200, 1.3, seed=0)
    >>> phaselect.solve(problem.A, problem.y).status
    <Status.RECOVERED: 'recovered: x is certified'>
    """
    if counts is not None:
        y, noise = from_counts(counts, y, noise)
    problem = _problem(A, y, rounding, real)
    if device is not None:
        problem = problem.to_device(device, dtype)
    problem = problem.with_noise(noise)
    chosen, schedule = _plan(solver, exact=problem.noise is None)
    chosen, schedule = with_prior(chosen, schedule, as_prior(prior), problem.matrix.field)
    dependent = dependent_columns(problem) if as_prior(prior).gaussian else ()
    warned = dependent + suspicions(problem) + (() if counts is None else low_light(problem))
    for line in warned:
        warn_user(line, DataWarning)
    options: dict[str, Any] = {"seed": seed, "init": init, "time_limit": time_limit}
    check_seconds(time_limit)
    with told(progress) as tell:
        options["progress"] = tell
        if problem.learns_noise:
            result = run_on_learned_noise(chosen, problem, schedule, **options)
        else:
            result = chosen.run(problem, schedule, **options)
    return replace(result, reason=result.reason or " ".join(dependent), warnings=warned + result.warnings)


def _plan(solver: Any, exact: bool) -> Plan:
    """The solver of that name, or the one given; with noise the schedule is the solver's own, which ends earlier."""
    if not isinstance(solver, str):
        if isinstance(solver, type) or not isinstance(solver, Runnable):
            raise InputError(f"solver = {shortened(solver)}: give a name, or a solver, such as phaselect.AMP()")
        return solver, None
    chosen, schedule = recipe(solver).plan()
    if exact or schedule is None:
        return chosen, schedule
    if schedule != chosen.default_schedule():
        raise InputError(f"{solver} is a schedule for exact data: with noise use {chosen.name}")
    return chosen, None


def with_prior(solver: Any, schedule: Schedule | None, prior: Prior, field: Field = REAL) -> Plan:
    """The same with another prior than the Gaussian one, if it can be had."""
    if prior.gaussian:
        return solver, schedule
    if field == COMPLEX:
        raise InputError("x is complex, and priors are of real numbers: leave it out, or say real=True if x is real")
    if not isinstance(solver, FrontDoor | VectorMessagePassing):
        raise InputError(f"{solver.name} keeps the Gaussian prior: with another one use vmp or auto")
    return replace(solver, prior=prior), None


def from_counts(counts: Any, y: Any, noise: Any) -> tuple[Any, float]:
    """y and the variance of its noise, from numbers of photons."""
    if y is not None or noise is not None:
        raise InputError("counts are in the place of y and of noise: leave these out")
    return np.sqrt(magnitudes(counts, "counts")), OF_COUNTS


def low_light(problem: Instance) -> tuple[str, ...]:
    """What to think of few photons."""
    mean = float(np.mean(problem.y**2))
    line = f"{mean:.2g} photons per measurement are few: square roots are noisier than is assumed, and x_std too small"
    return (line,) if mean < DARK else ()


def _problem(A: Any, y: Any, rounding: float, real: bool) -> Instance:
    names = [shortened(str(one)) for one in (A, y) if isinstance(one, str | PathLike)]
    if names:
        raise InputError(
            f"{' and '.join(names)}: solve takes arrays; read files with phaselect.load, as "
            'phaselect.solve(phaselect.load("A.csv", "y.csv"))'
        )
    if isinstance(A, Instance):
        if y is not None or real:
            raise InputError("solve takes an Instance, or A and y: not both; an Instance says itself if x is real")
        return A.with_rounding(rounding)
    if y is None:
        raise InputError("solve needs y, the magnitudes |A x|, beside A; or an Instance")
    return Instance(A, y, rounding=rounding, real=real)

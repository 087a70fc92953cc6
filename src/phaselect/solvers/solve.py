"""The front door: data in, the signal out with its certificate, no choices to make."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from phaselect.base.errors import InputError
from phaselect.problem.instance import Instance
from phaselect.problem.schedule import Schedule
from phaselect.solvers.amp import AMP
from phaselect.solvers.base import Attempt, ProgressCallback, check_run, first_success
from phaselect.solvers.population_annealing import PopulationAnnealing
from phaselect.solvers.result import Result, Status

LADDER = (64, 256, 1024)
"""Population sizes tried in turn once message passing has failed."""
LADDER_ON_GPU = (1_000, 10_000, 100_000)
"""The same where copies are cheap."""
MOST_ROWS = 20_000
"""Measurements up to which their couplings, M x M numbers, are an option."""


def solve(
    A: ArrayLike,
    y: ArrayLike,
    *,
    seed: int = 0,
    time_limit: float | None = None,
    noise: float | None = None,
    progress: ProgressCallback | None = None,
    device: str | None = None,
    dtype: str = "float32",
) -> Result:
    """Find x, up to its global sign, from `y = |A x|`.

    Message passing with restarts is tried first: it is fast, and right for iid matrices. Where it fails or
    diverges (correlated columns, outliers, few measurements) population annealing takes over, with more and more
    copies, until the answer is certified, time is out or, without a time limit, the largest population has failed.

    A: M x N real matrix, M > N, in any units; float32 is kept as it is and halves the cost of message passing. Or a
        linear operator, or an array of JAX, which is worked on where it is: see `Instance`.
    y: M magnitudes.
    time_limit: seconds, checked between short stretches of work.
    noise: variance of the noise on y, if there is any. The anneal then stops at mu = 1/(2 noise), where the
        posterior is that of the noisy problem, and no certificate is claimed.
    progress: called with a `Progress` several times a second.
    device: "gpu" or "cpu" to put A there, in `dtype`, and solve there with JAX.

    >>> import phaselect
    >>> problem = phaselect.gaussian_instance(200, 1.3, seed=0)
    >>> phaselect.solve(problem.A, problem.y).status
    <Status.RECOVERED: 'recovered: x is certified, unique up to its global sign'>
    """
    problem = Instance(A, y)  # type: ignore[arg-type]
    if device is not None:
        problem = problem.to_device(device, dtype)
    return solve_instance(problem, seed=seed, time_limit=time_limit, noise=noise, progress=progress)


def solve_instance(
    problem: Instance,
    *,
    seed: int = 0,
    time_limit: float | None = None,
    noise: float | None = None,
    progress: ProgressCallback | None = None,
) -> Result:
    """`solve` for an Instance; when it knows x0, the trace has the overlaps too."""
    seed = check_run(problem, None, seed, time_limit)
    level = _relative_noise(problem, noise)

    def attempt(solver: AMP | PopulationAnnealing, schedule: Schedule | None, own_seed: int) -> Attempt:
        return lambda left: solver.run(
            problem, schedule, seed=own_seed, time_limit=left, progress=progress, noiseless=not level
        )

    def enough(result: Result) -> bool:
        return result.mse_y < level if level else result.settled

    ladder: tuple[int, ...] = LADDER_ON_GPU if problem.matrix.on_gpu else LADDER
    if problem.m_rows > MOST_ROWS or not problem.matrix.has_entries or problem.matrix.processes > 1:
        ladder = ()
    tried = stages(level, ladder, time_limit is not None)
    attempts = (attempt(solver, schedule, seed + k) for k, (solver, schedule) in enumerate(tried))
    best = first_success(attempts, time_limit, enough)
    return replace(best, status=_status(best, level), seed=seed)


def stages(
    level: float, ladder: tuple[int, ...], timed: bool
) -> Iterator[tuple[AMP | PopulationAnnealing, Schedule | None]]:
    """What to try, in order; with a time limit the last population is tried again until it strikes.

    With noise every schedule ends at mu = 1/(2 noise), and the signal has the power that the noise leaves.
    """
    amp = anneal = None
    if level:
        mu, product = 1 / (2 * level), 1 / (1 - level)
        amp = Schedule.fixed_product(
            product, mu0=min(1e3, mu), mu_max=mu, eps=0.1, steps=1, unit="iterations", hold=500
        )
        anneal = Schedule.fixed_product(product, mu0=min(0.1, mu), mu_max=mu, eps=0.05, steps=8)
    yield AMP(), amp
    for replicas in ladder:
        yield PopulationAnnealing(replicas), anneal
    while timed and ladder and not level:
        yield PopulationAnnealing(ladder[-1]), None


def _relative_noise(problem: Instance, noise: float | None) -> float:
    """Noise variance in units of mean(y^2); 0 when there is none."""
    if noise is None or (isinstance(noise, Real) and float(noise) == 0):
        return 0.0
    if not (isinstance(noise, Real) and np.isfinite(float(noise)) and float(noise) > 0):
        raise InputError(f"noise = {noise!r}: give a variance, 0 or more")
    level = float(noise) / problem.y_scale**2
    if level >= 1:
        raise InputError(f"noise = {noise:g} is not below mean(y^2) = {problem.y_scale**2:g}: nothing but noise")
    return level


def _status(best: Result, level: float) -> Status:
    """The verdict on the whole ladder."""
    if best.status in (Status.TIME_LIMIT, Status.INTERRUPTED):
        return best.status
    if level:
        return Status.ESTIMATE if best.mse_y < 2 * level else Status.POOR_ESTIMATE
    return Status.NOT_RECOVERED if best.status is Status.DIVERGED else best.status

"""The front door: data in, the signal out with its certificate, no choices to make."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from phaselect.errors import InputError
from phaselect.instance import Instance, check_seed
from phaselect.schedule import Schedule
from phaselect.solvers.amp import AMP
from phaselect.solvers.base import EXACT_FIT, ProgressCallback, check_time_limit
from phaselect.solvers.baselines import AlternatingMinimisation, ReweightedAmplitudeFlow
from phaselect.solvers.langevin import Langevin
from phaselect.solvers.population_annealing import PopulationAnnealing
from phaselect.solvers.result import Result, Status
from phaselect.solvers.simulated_annealing import SimulatedAnnealing

SOLVERS: dict[str, Callable[[], Any]] = {
    "amp": AMP,
    "sa": SimulatedAnnealing,
    "pa": PopulationAnnealing,
    "langevin": Langevin,
    "raf": ReweightedAmplitudeFlow,
    "altmin": AlternatingMinimisation,
}
"""Every solver by the name it has on the command line."""

LADDER = (64, 128, 256, 512, 1024)
"""Population sizes tried in turn once message passing has failed."""


def solve(
    A: ArrayLike,
    y: ArrayLike,
    *,
    seed: int = 0,
    time_limit: float | None = None,
    noise: float | None = None,
    progress: ProgressCallback | None = None,
) -> Result:
    """Find x, up to its global sign, from `y = |A x|`.

    Message passing with restarts is tried first: it is fast, and right for iid matrices. Where it fails or
    diverges (correlated columns, outliers, few measurements) population annealing takes over, with more and more
    copies, until the answer is certified, the largest population has failed, or time is out.

    A: M x N real matrix, M > N, in any units; float32 is kept as it is and halves the cost of message passing.
    y: M magnitudes.
    time_limit: seconds, checked between short stretches of work.
    noise: variance of the noise on y, if there is any. The anneal then stops at mu = 1/(2 noise), where the
        posterior is that of the noisy problem, and no certificate is claimed.
    progress: called with a `Progress` several times a second.

    >>> import phaselect
    >>> problem = phaselect.gaussian_instance(200, 1.3, seed=0)
    >>> phaselect.solve(problem.A, problem.y).status
    <Status.RECOVERED: 'recovered: x is certified, unique up to its global sign'>
    """
    return solve_instance(Instance(A, y), seed=seed, time_limit=time_limit, noise=noise, progress=progress)  # type: ignore[arg-type]


def solve_instance(
    problem: Instance,
    *,
    seed: int = 0,
    time_limit: float | None = None,
    noise: float | None = None,
    progress: ProgressCallback | None = None,
) -> Result:
    """`solve` for an Instance; when it knows x0, the trace has the overlaps too."""
    began = time.perf_counter()
    check_time_limit(time_limit)
    check_seed(seed)
    level = _relative_noise(problem, noise)
    best: Result | None = None
    ended: Status | None = None
    for stage, (solver, schedule) in enumerate(_stages(level)):
        left = None if time_limit is None else max(1e-9, time_limit - (time.perf_counter() - began))
        result = solver.run(
            problem, schedule, seed=seed + stage, time_limit=left, progress=progress, noiseless=not level
        )
        if best is None or result.certified or result.mse_y < best.mse_y:
            best = result
        if best.certified or best.mse_y < max(EXACT_FIT, level):
            break
        if result.status in (Status.TIME_LIMIT, Status.INTERRUPTED):
            ended = result.status
            break
    assert best is not None
    return replace(best, status=_status(best, ended, level), seconds=time.perf_counter() - began, seed=seed)


def _stages(level: float) -> list[tuple[AMP | PopulationAnnealing, Schedule | None]]:
    """What to try, in order; with noise every schedule ends at mu = 1/(2 noise), the signal taking what is left."""
    populations = [PopulationAnnealing(replicas) for replicas in LADDER]
    if not level:
        return [(AMP(), None), *((population, None) for population in populations)]
    mu, product = 1 / (2 * level), 1 / (1 - level)
    amp = Schedule.fixed_product(product, mu0=min(1e3, mu), mu_max=mu, eps=0.1, steps=1, unit="iterations", hold=500)
    anneal = Schedule.fixed_product(product, mu0=min(0.1, mu), mu_max=mu, eps=0.05, steps=8)
    return [(AMP(), amp), *((population, anneal) for population in populations[:3])]


def _relative_noise(problem: Instance, noise: float | None) -> float:
    """Noise variance in units of mean(y^2); 0 when there is none."""
    if noise is None or noise == 0:
        return 0.0
    if not (np.isreal(noise) and np.isfinite(noise) and noise > 0):
        raise InputError(f"noise = {noise!r}: give a variance, 0 or more")
    level = float(noise) / problem.y_scale**2
    if level >= 1:
        raise InputError(f"noise = {noise:g} is not below mean(y^2) = {problem.y_scale**2:g}: nothing but noise")
    return level


def _status(best: Result, ended: Status | None, level: float) -> Status:
    """The verdict on the whole ladder."""
    if best.certified:
        return Status.RECOVERED
    if level and ended is None:
        return Status.ESTIMATE if best.mse_y < 2 * level else Status.POOR_ESTIMATE
    if ended is not None or best.mse_y >= EXACT_FIT:
        return ended or Status.NOT_RECOVERED
    return best.status

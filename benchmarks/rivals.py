"""Who else solves the problem: amplitude flow, alternating minimisation, and the annealer of dwave-samplers."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.instances import MU, blind, couplings_at
from benchmarks.internals import Couplings, couplings, one_blas_thread
from benchmarks.timing import once
from phaselect import (
    AlternatingMinimisation,
    InputError,
    Instance,
    Result,
    ReweightedAmplitudeFlow,
    Schedule,
    SimulatedAnnealing,
    Status,
)

DWAVE_LAM = 0.1
"""The fixed lam at which dwave-samplers solves most, of 0.003, 0.01, 0.03, 0.1 and 0.3 (N = 200, alpha = 1.3, 1.5)."""
DWAVE_SWEEPS = 1000
FINISH = Schedule(np.array([1e9]), np.array([DWAVE_LAM]), steps=1, unit="proposals")
"""One cold proposal: what our annealer adds to given signs is its finish and its certificate."""


class Outcome(NamedTuple):
    """Did a solver find the certified answer, and when did it stop?"""

    certified: bool
    seconds: float
    diverged: bool = False


def outcome(result: Result, seconds: float) -> Outcome:
    """Of a run that came to its end; solvers return the best so far after Ctrl-C, which ends the benchmarks."""
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return Outcome(bool(result.certified), seconds, result.status is Status.DIVERGED)


class Rival(NamedTuple):
    """A solver, called with an instance and a time limit, and the largest N at which it ends within seconds."""

    solve: Callable[[Instance, float], Outcome]
    largest_n: int


def rivals() -> dict[str, Rival]:
    """By name.

    Amplitude flow with its published step diverges at times up to alpha = 1.3; with half and a quarter of it, and twice
    the iterations, it was seen to solve no more instances. Alternating minimisation starts with an SVD, which no time
    limit stops.
    """
    return {
        "reweighted amplitude flow": Rival(_solver(ReweightedAmplitudeFlow()), 3200),
        "alternating minimisation": Rival(_solver(AlternatingMinimisation()), 1600),
        "dwave-samplers annealing": Rival(dwave_solve, 400),
    }


def _solver(solver: Any) -> Callable[[Instance, float], Outcome]:
    def solve(problem: Instance, limit: float) -> Outcome:
        seconds, result = once(lambda: solver.run(blind(problem), time_limit=limit))
        return outcome(result, seconds)

    return solve


def dwave_solve(problem: Instance, limit: float) -> Outcome:
    """Anneals at fixed lam, each finished like ours, until one is certified or time is out; SVD and set-up count."""
    annealer = dwave()
    began = time.perf_counter()
    problem = blind(problem)
    with one_blas_thread():
        model = annealer.model(couplings(problem, DWAVE_LAM))
        for seed in count(1):
            signs = annealer.sample(model, np.geomspace(0.1, 300, DWAVE_SWEEPS), seed)
            finished = SimulatedAnnealing().run(problem, FINISH, init=signs)
            found = outcome(finished, time.perf_counter() - began)
            if found.certified or found.seconds >= limit:
                return found
    raise AssertionError


def dwave_pair(n: int) -> tuple[Callable[[], Any], Callable[[], Any], int]:
    """A short and a long run at fixed temperature, on one core, and by how many proposals they differ."""
    annealer, found = dwave(), couplings_at(n)
    model = annealer.model(found)
    sweeps = 400_000 // found.y.size
    short, long = (partial(annealer.sample, model, np.full(length, MU), 1) for length in (sweeps, 2 * sweeps))
    return short, long, sweeps * found.y.size


class Dwave(NamedTuple):
    """Simulated annealing of dwave-samplers, for couplings of ours."""

    sampler: Any
    quadratic_model: Any  # the class of dimod

    def model(self, found: Couplings) -> Any:
        """`E(S) - const = -2 sum_{i<j} G_ij y_i y_j S_i S_j`, as the sampler takes it."""
        quadratic = np.triu(-2 * found.G.astype(np.float64) * np.outer(found.y, found.y), 1)
        return self.quadratic_model(np.zeros(found.y.size), quadratic, 0.0, "SPIN")

    def sample(self, model: Any, betas: NDArray[Any], seed: int) -> NDArray[Any]:
        """Signs after one anneal, a sweep at each inverse temperature."""
        found = self.sampler.sample(model, num_reads=1, beta_schedule_type="custom", beta_schedule=betas, seed=seed)
        order = np.argsort(np.array(found.variables))
        return np.asarray(found.record.sample[0][order], dtype=np.float64)


def dwave() -> Dwave:
    """The sampler, if it is installed."""
    try:
        return Dwave(import_module("dwave.samplers").SimulatedAnnealingSampler(), import_module("dimod").BQM)
    except ImportError:
        raise InputError("dwave-samplers is not installed: pip install 'phaselect[bench]'") from None

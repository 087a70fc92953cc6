"""What a unit of work costs, in the paper's form and in ours, and how that grows with N."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.host.flips import spectral_kernel
from phaselect.backends.host.random import random_chains
from phaselect.backends.host.ridge import SpectralRidge
from phaselect.base.errors import InputError
from phaselect.equations.amp_iteration import Beliefs, Pass, iteration
from phaselect.equations.langevin_step import langevin_step
from phaselect.experiments.pseudo_code import flips, message_passing, regression, split_start
from phaselect.experiments.runs import one_thread
from phaselect.problem.ensembles import gaussian_instance

ALPHA, MU = 1.25, 10.0
LEAST_SECONDS, REPEATS = 0.02, 7
"""What a timed call lasts at least, and how many of them, of which the quickest counts."""

Work = Callable[[int], Any]
"""Does so many units of work."""


class PowerLaw(NamedTuple):
    """`value ~ N^exponent`, from least squares on the logarithms."""

    exponent: float
    standard_error: float


def power_law(sizes: Any, values: Any) -> PowerLaw:
    """The exponent with its standard error."""
    from scipy.stats import linregress

    if len(sizes) < 3:
        raise InputError("an exponent needs three sizes or more")
    line = linregress(np.log(sizes), np.log(values))
    return PowerLaw(float(line.slope), float(line.stderr))


def units_of_work(n: int) -> dict[tuple[str, str], Work]:
    """By whose form it is, "paper" or "ours", and the name of the unit; all on one instance."""
    problem = gaussian_instance(n, ALPHA, seed=0)
    A, y, own = np.asarray(problem.A), problem.y, problem.normalised
    S = np.random.default_rng(0).choice([-1.0, 1.0], y.size)
    state, x = random_chains(np.random.default_rng(1), 1)[0], np.zeros(n)
    M_ols, errors_of = regression(A, 1 / MU)
    start = split_start(x, y.size, MU, 0.5)
    ridge = cast(SpectralRidge, own.ridge)
    v = S * own.y
    c, explained = ridge.coordinates(v), ridge.at(1 / MU).explaining()

    def metropolis(temperatures: int, proposals: int) -> None:
        mu = np.full(temperatures, MU)
        arrays = ridge.U, ridge.s2, ridge.leverage, v.copy(), c.copy(), mu, 1 / mu
        spectral_kernel(*arrays, proposals, False, state)

    def iterate(count: int, pass_over: Pass) -> None:
        zeros = np.zeros(y.size)
        now = Beliefs(x, np.float64(1), np.float64(1), zeros, zeros, zeros)
        for _ in range(count):
            now = iteration(now, np.float64(MU), np.float64(1 / MU), np.float64(0.3), pass_over)

    return {
        ("paper", "regression"): _times(lambda: regression(A, 1 / MU)),
        ("paper", "estimate"): _times(lambda: M_ols @ (S * y)),
        ("paper", "proposal"): lambda count: flips(M_ols, errors_of, y, MU, 1 / MU, count, S.copy(), state, False),
        ("paper", "message passing"): lambda count: list(message_passing(A, y, start, [MU] * count, 1.0)),
        ("ours", "SVD"): _times(lambda: replace(problem).normalised.ridge),
        ("ours", "change of lam"): lambda count: metropolis(count, 0),
        ("ours", "proposal"): partial(metropolis, 1),
        ("ours", "message passing"): lambda count: own.with_message_pass(False, partial(iterate, count)),
        ("ours", "Langevin step"): _times(lambda: langevin_step(0.5 * S, own.y, explained, 0.0 * S, 1.0, n)),
    }


def _times(once: Callable[[], Any]) -> Work:
    def work(count: int) -> None:
        for _ in range(count):
            once()

    return work


def microseconds(works: list[Work]) -> NDArray[np.float64]:
    """The least time of a unit of each, on one thread; taken in turn, so that what disturbs one disturbs all.

    Time of this thread alone: other programs on the machine would lengthen long calls more than short ones.
    """
    with one_thread():
        counts = [_enough(work) for work in works]
        taken = [[_seconds(work, count) for work, count in zip(works, counts, strict=True)] for _ in range(REPEATS)]
    return np.asarray(1e6 * np.min(taken, axis=0) / counts)


def _enough(work: Work) -> int:
    """Units that fill the least time; the first call, which compiles, does not count."""
    work(1)
    count = 1
    while _seconds(work, count) < LEAST_SECONDS:
        count *= 2
    return count


def _seconds(work: Work, count: int) -> float:
    began = time.thread_time()
    work(count)
    return time.thread_time() - began

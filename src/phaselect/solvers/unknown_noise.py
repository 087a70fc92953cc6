"""Data whose noise is not known, `noise="auto"`: it becomes a number, and then all is as if that had been given.

Message passing that takes the data for exact goes first, for a solution ends all doubt. Then the noise is learned; if
nobody can be sure of it, the search goes on for exact data before it is used.
"""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import replace
from typing import Any

from phaselect.base.errors import DataWarning
from phaselect.equations.priors import GAUSSIAN, Prior
from phaselect.problem.instance import Instance
from phaselect.problem.streams import check_seed
from phaselect.solvers import diary
from phaselect.solvers.company import OneByOne
from phaselect.solvers.front_door import FrontDoor
from phaselect.solvers.learned_noise import learn
from phaselect.solvers.protocol import ProgressCallback, Runnable
from phaselect.solvers.restarts import Search
from phaselect.solvers.result import CUT, FITS, Result, StageRecord, Status
from phaselect.solvers.run import check_rows
from phaselect.solvers.vector_message_passing import VectorMessagePassing


class Patience:
    """What is left of a time limit."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds, self.began = seconds, time.perf_counter()

    @property
    def spent(self) -> float:
        """Seconds so far."""
        return time.perf_counter() - self.began

    def left(self, share: float = 1.0) -> float | None:
        """A share of the rest; next to nothing, if nothing is left."""
        return None if self.seconds is None else max(1e-9, share * (self.seconds - self.spent))


def run_on_learned_noise(
    solver: Runnable,
    problem: Instance,
    schedule: Any,
    *,
    seed: Any,
    init: Any,
    time_limit: float | None,
    progress: ProgressCallback | None,
) -> Result:
    """The solver on exact data, or on data with the noise learned."""
    patience, exact, seed = Patience(time_limit), problem.with_noise(0.0), check_seed(seed)
    prior = solver.prior if isinstance(solver, FrontDoor | VectorMessagePassing) else GAUSSIAN
    check_rows(exact.normalised.m_rows, exact.n, not prior.gaussian, exact.matrix.field)
    tried: tuple[StageRecord, ...] = ()

    def run(one: Instance, share: float = 1.0, start: Any = init) -> Result:
        own: dict[str, Any] = {"seed": seed, "init": start, "time_limit": patience.left(share), "progress": progress}
        result = solver.run(one, schedule, **own)
        return replace(result, stages=tried + result.stages, seconds=patience.spent)

    learned, found = None, _as_exact(exact, seed, patience.left(), progress, prior)
    tried += found.stages
    if found.status not in (*FITS, *CUT):
        learned, found = learn(problem, seed, patience.left(), progress, prior)
        tried += found.stages
        if learned is not None:
            diary.noise_learned(*learned)
    if found.status in CUT:
        return replace(found, stages=tried, seconds=patience.spent, noise=math.nan)
    if found.status in FITS:
        return run(exact, start=found.x if init is None else init)
    if learned is None or not learned.sure:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # of noise, which the user has thought of
            result = run(exact, 1.0 if learned is None else 0.5)
        if result.warnings:
            result = replace(result, reason="", warnings=())
        if result.status in (*FITS, Status.INTERRUPTED):
            return result
        if learned is None:
            return replace(result, noise=math.nan, reason="no noise could be learned")
    doubt = "" if learned.sure else f"the noise is a guess, as {learned.doubt}"
    return replace(run(problem.with_noise(learned.noise)), noise_std=learned.std, reason=doubt)


def _as_exact(
    exact: Instance, seed: int, time_limit: float | None, progress: ProgressCallback | None, prior: Prior
) -> Result:
    """Two attempts of the message passing that suits A."""
    first, _ = FrontDoor(prior=prior).first(exact)
    stage = first._replace(solver=replace(first.solver, restarts=1))  # type: ignore[type-var]
    return Search(OneByOne([exact]), [seed], None, None, time_limit, progress).run([stage])[0]

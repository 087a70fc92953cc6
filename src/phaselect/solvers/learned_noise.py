r"""The noise that data show, and its uncertainty, by vector message passing.

It anneals no further than to the noise that its beliefs show (`noise_shown`), from several starts. Where it comes to
rest the evidence is largest; in normalised units, with F(nu) the noise that beliefs at rest at nu show and tau as in
equations/vector_iteration.py, its logarithm has

    first derivative   (beta M/2) (F - nu)/(tau + nu)^2,    second, at F = nu,   -(beta M/2) (1 - F')/(tau + nu)^2,

so that two more runs, there and a little to the side, have the maximum and its width.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from phaselect.equations.cavity import before
from phaselect.equations.lanczos import Eigenvalues
from phaselect.equations.priors import GAUSSIAN, Prior
from phaselect.problem.given_data import AUTO
from phaselect.problem.instance import Instance
from phaselect.problem.schedule import Schedule
from phaselect.solvers.company import OneByOne
from phaselect.solvers.outcome import Tried
from phaselect.solvers.protocol import ProgressCallback
from phaselect.solvers.restarts import Search, Stage
from phaselect.solvers.result import CUT, FITS, Result, Status
from phaselect.solvers.vector_message_passing import VectorMessagePassing

STARTS, AGREEING = 8, 2
"""Starts to learn the noise from, at most, and how many have to come to the same x."""
ASIDE, COLDER, AT_REST = 0.05, 10.0, 200
"""How far aside the evidence is looked at, and how far down the noise may come to rest, of what was learned; iterations
that it may take."""
ENOUGH, SPARE, SAME, LOUDEST = 1.4, 50, 1e-2, 0.2
"""Measurements per unknown from which on data that resist may be noisy, measurements beyond the unknowns that it takes
to tell, how far apart two estimates of the noise may be, relatively, and the largest that is told."""
DIFFERENT = 0.95
"""Share of the values of noisy data that differ from all others, at least."""
SURE = 5.0
"""Standard deviations from zero from which on noise is believed in."""


class LearningNoise(VectorMessagePassing):
    """Vector message passing that goes no colder than the noise that the data show."""

    learns_noise = True


class Learned(NamedTuple):
    """What was learned of the noise, a variance in the units of the data; and why it is a guess, if it is one."""

    noise: float
    std: float
    doubt: str

    @property
    def sure(self) -> bool:
        """Is there no doubt?"""
        return not self.doubt


def learn(
    problem: Instance,
    seed: int,
    time_limit: float | None = None,
    progress: ProgressCallback | None = None,
    prior: Prior = GAUSSIAN,
) -> tuple[Learned | None, Result]:
    """What the data show of their noise, if anything; and the result of vector message passing that learned it."""
    problem, solver = problem.with_noise(AUTO), LearningNoise(restarts=0, prior=prior)
    search = Search(OneByOne([problem]), [seed], None, None, time_limit, progress)
    seen = search.seen[0]

    def stages() -> Iterator[Stage]:
        while seen.attempts < STARTS and seen.agreeing < AGREEING:
            yield Stage(solver, solver.default_schedule(), "to learn the noise")

    found = search.run(stages())[0]
    if found.status in (*FITS, *CUT) or found.state is None:
        return None, found
    left = None if time_limit is None else max(1e-9, time_limit - found.seconds)
    try:
        return _at_maximum(problem, solver, found.state, seen.agreeing >= AGREEING, left), found
    except KeyboardInterrupt:
        return None, replace(found, status=Status.INTERRUPTED)


def _at_maximum(
    problem: Instance, solver: LearningNoise, state: Any, agreed: bool, time_limit: float | None
) -> Learned | None:
    """The noise of largest evidence, from where it was learned, with the width of the maximum."""
    level = float(state.noise)
    if not 0 < level < 1:
        return None
    rest = _at_rest(problem, solver, state, 1 / (1 - level), level / COLDER, time_limit)
    nu, m_rows = float(rest.noise), problem.normalised.m_rows
    if not 0 < nu < 1:
        return None
    shown = float(_at_rest(problem, solver, state, 1 / (1 - nu), nu * (1 + ASIDE), time_limit).noise)
    slope, unit = (shown - nu) / (ASIDE * nu), _variance_of_y(problem)
    if slope >= 1:  # no maximum
        return None
    tau, _ = before(*map(np.asarray, (rest.beliefs.v, rest.beliefs.g, problem.normalised.powers)))
    field = problem.matrix.field
    width = math.sqrt(2 / (field.beta * (1 - slope) * m_rows * float(np.mean(1 / (tau + nu) ** 2))))
    least = _with_known_signs(nu, state.eigenvalues, m_rows, field.reals) if solver.prior.gaussian else 0.0
    std = max(width, least)
    doubt = "" if nu > SURE * std else f"it is less than {SURE:g} standard deviations from none"
    return Learned(nu * unit, std * unit, doubt if agreed else "searches from several starts do not agree on x")


def _with_known_signs(nu: float, eigenvalues: Eigenvalues, m_rows: int, reals: int) -> float:
    """The standard deviation of the noise that no estimate can beat: of data of variances nu + (1 - nu) s^2, and nu."""
    values, weights = np.asarray(eigenvalues.values), reals * np.asarray(eigenvalues.weights)
    unexplained = max(0.0, m_rows - weights.sum())
    return math.sqrt(2 / float(unexplained / nu**2 + (weights / (nu + values * (1 - nu)) ** 2).sum()))


def _at_rest(
    problem: Instance, solver: LearningNoise, state: Any, product: float, least: float, time_limit: float | None
) -> Any:
    """The state at rest, at the noise that it shows or at the least that is allowed."""
    mu = 1 / (2 * least)
    still = Schedule.fixed_product(product, mu0=mu, mu_max=mu, hold=AT_REST, steps=1, unit="iterations")
    search = Search(OneByOne([problem]), [0], state=state, time_limit=time_limit)
    found = search.run([Stage(solver, still)])[0]
    if found.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return found.state


def _variance_of_y(problem: Instance) -> float:
    """That of the noise on y, in the units of the data, for a noise of one on z."""
    return float(problem.units.y_scale) ** 2 / problem.matrix.field.beta


def could_be_noisy(problem: Instance) -> bool:
    """Could exact data that resist message passing be noisy, and could that be told?

    There are more than enough measurements, and many more than unknowns; rows are even; and few y are equal, as noise
    would have made them differ.
    """
    unknowns = problem.matrix.field.reals * problem.n
    if problem.noise is not None or problem.m_rows < max(ENOUGH * unknowns, unknowns + SPARE):
        return False
    even = bool((problem.weights == problem.weights[0]).all())
    return even and np.unique(problem.y).size > DIFFERENT * problem.m_rows


def noise_suspected(problem: Instance, tried: Sequence[Tried]) -> str:
    """Why exact data are taken for noisy, and what to do, if attempts from two starts came to the same noise."""
    looks = looks_at_noise(tried)
    if len(looks) < 2 or any(one.mse_y > one.noise for one in looks):  # what is left has to be the noise
        return ""
    noise, other = (one.noise for one in looks)
    if not noise < LOUDEST or abs(other - noise) > SAME * noise:
        return ""
    variance = noise * _variance_of_y(problem)
    percent = 100 * math.sqrt(variance / float(np.mean(problem.y**2)))
    return (
        f"y looks noisy, by about {percent:.2g} % of it (a variance of {variance:.2g}); if it is, "
        'solve(A, y, noise="auto")'
    )


def looks_at_noise(tried: Sequence[Tried]) -> list[Tried]:
    """The two attempts of a search that learned the noise, as far as they have been made."""
    return [one for one in tried if isinstance(one.attempt.solver, LearningNoise)][:2]

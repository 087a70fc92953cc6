"""What `phaselect.solve` tries on its own: the message passing that suits A, then larger and larger populations.

Where the digits of exact data are enough for it there is a lattice: among the first where few measurements are enough,
else before the last population, which takes as long; and one that is guided.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from phaselect.base.errors import DataWarning, InputError, warn_user
from phaselect.base.threads import one_blas_thread
from phaselect.equations.fields import REAL
from phaselect.equations.priors import GAUSSIAN, Prior
from phaselect.problem.instance import Instance
from phaselect.problem.likeness import likeness
from phaselect.problem.streams import check_seed
from phaselect.solvers.belief_propagation import BeliefPropagation
from phaselect.solvers.company import OneByOne
from phaselect.solvers.guided_lattice import SHARES, GuidedLattice
from phaselect.solvers.lattice import Lattice, precision_of
from phaselect.solvers.lattice_reach import measurements_enough, noise_allowed, within_reach
from phaselect.solvers.learned_noise import LearningNoise, could_be_noisy, noise_suspected
from phaselect.solvers.message_passing import AMP
from phaselect.solvers.population_annealing import PopulationAnnealing
from phaselect.solvers.progress_bar import told
from phaselect.solvers.prospects import poor_prospects
from phaselect.solvers.protocol import ProgressOption, Solver
from phaselect.solvers.restarts import Search, Stage
from phaselect.solvers.result import FITS, Result
from phaselect.solvers.run import check_problem, check_rows, starting_point
from phaselect.solvers.surely_noisy import surely_noisy
from phaselect.solvers.vector_message_passing import VectorMessagePassing

LADDER = (64, 256, 1024)
"""Population sizes tried in turn once message passing has failed."""
LADDER_ON_GPU = (1_000, 10_000, 100_000)
"""The same where copies are cheap."""
STARTS_WITH_A_PRIOR = 24
"""Fresh starts of message passing with a prior that is not Gaussian: nothing else can use it."""
BLOCK, LARGEST_LATTICE, LARGEST_GUIDED = 40, 400, 260
"""Of lattices that are tried: the size of blocks, and measurements, which take half a minute; with a population that
guides several of them, one after the other."""
QUICK, FEW = 120, 1.3
"""Measurements up to which a lattice takes tenths of a second, and measurements per unknown below which message passing
often fails on so few."""
ENDS_HERE = "; no exact x is near, so that the search ends here, which a time limit would make go on"
"""What is said where data are certain to be noisy."""
MOST_ROWS = 20_000
"""Measurements up to which their couplings, M x M numbers, are an option."""


def stage_of(solver: Solver, noise: float = 0.0) -> Stage:
    """A solver on its own schedule."""
    return Stage(solver, solver.default_schedule(noise))


def knowing(prior: Prior) -> VectorMessagePassing:
    """Message passing for a prior that is not Gaussian."""
    return VectorMessagePassing(restarts=STARTS_WITH_A_PRIOR, prior=prior)


def populations(sizes: tuple[int, ...]) -> tuple[Stage, ...]:
    """A stage for each size."""
    return tuple(map(stage_of, map(PopulationAnnealing, sizes)))


def room_for_couplings(problem: Instance) -> bool:
    """Has this process all entries of A, and are measurements, rows of zeros aside, few enough for their couplings?"""
    matrix = problem.matrix
    return problem.normalised.m_rows <= MOST_ROWS and matrix.has_entries and matrix.processes == 1


@dataclass(frozen=True)
class FrontDoor:
    """The search without choices to make; its stages are those for exact data in memory.

    iid, sparse, other: what is tried first, by what A looks like. lattice: what is tried beside it where data
    have the digits for it. ladder: what is tried after that, in turn, with guided before the last.
    prior: what is known of x; where it is not Gaussian vector message passing comes first, whatever A looks like.
    """

    iid: Stage = field(default_factory=lambda: stage_of(AMP()))
    sparse: Stage = field(default_factory=lambda: stage_of(BeliefPropagation()))
    other: Stage = field(default_factory=lambda: stage_of(VectorMessagePassing()))
    lattice: Stage = field(default_factory=lambda: stage_of(Lattice(BLOCK)))
    guided: Stage = field(default_factory=lambda: stage_of(GuidedLattice(block=BLOCK)))
    ladder: tuple[Stage, ...] = field(default_factory=lambda: populations(LADDER))
    prior: Prior = GAUSSIAN

    name = "auto"
    in_batches = False
    needs_entries = False
    takes_phases = True

    @one_blas_thread()
    def run(
        self,
        problem: Instance,
        schedule: None = None,
        *,
        seed: int | np.random.Generator = 0,
        init: Any = None,
        time_limit: float | None = None,
        progress: ProgressOption = None,
        noise: Any = None,
    ) -> Result:
        """As `run` of a solver; every stage has its own schedule."""
        problem = check_problem(problem, schedule, time_limit, noise)
        if schedule is not None:
            raise InputError("every solver that auto tries has its own schedule: name a solver, or leave it out")
        check_rows(problem.normalised.m_rows, problem.n, not self.prior.gaussian, problem.matrix.field)
        start, _ = starting_point(problem, init, self.name, None)
        began = time.perf_counter()
        warned = (
            poor_prospects(problem) if self.prior.gaussian and not self.lattice_pays(problem, LARGEST_LATTICE) else ()
        )
        for line in warned:
            warn_user(line, DataWarning)
        with told(progress) as tell:
            search = Search(OneByOne([problem]), [check_seed(seed)], start, None, time_limit, tell, began)
            said: list[str] = []
            result = search.run(self.plan(problem, time_limit is not None, search, said))[0]
        noisy = said[0] if said else noise_suspected(problem, search.tried[0])
        if not noisy or result.status in FITS:
            return replace(result, warnings=warned)
        return replace(result, reason=noisy, warnings=(*warned, noisy))

    def plan(
        self, problem: Instance, timed: bool, search: Search | None = None, said: list[str] | None = None
    ) -> Iterator[Stage]:
        """What to try, in order; with a time limit the last population is tried again until it strikes.

        search: what has been tried, as it grows. Where it looks as if data were noisy, the user is told before the
        longer part begins, in a line that is added to `said`; where that is certain, and there is no time limit, it
        does not begin.
        """
        level, matrix = problem.noise_level, problem.matrix

        def chosen(stage: Stage, why: str = "") -> Stage:
            return (stage_of(stage.solver, level) if level else stage)._replace(why=why)

        first, why = self.first(problem)
        lattice = self.lattice._replace(why="its digits tell the signs")
        pays = self.lattice_pays(problem, LARGEST_LATTICE)
        quick = pays and self.lattice_pays(problem, QUICK)
        early = quick and problem.alpha < FEW
        if early:
            yield lattice
        yield chosen(first, why)
        if could_be_noisy(problem):
            learning = LearningNoise(restarts=0, prior=self.prior)
            yield from [stage_of(learning)._replace(why="to see whether y is noisy")] * 2
            if search is not None and said is not None and (noisy := noise_suspected(problem, search.tried[0])):
                certain = not timed and surely_noisy(problem, search)
                said.append(noisy + (ENDS_HERE if certain else ""))
                warn_user(said[0], DataWarning)
                if certain:
                    return
        if quick and not early:
            yield lattice
        if problem.matrix.field != REAL:  # populations are of signs
            if first == self.iid:
                yield chosen(self.other, "message passing has failed that is right for iid entries")
            return
        if not room_for_couplings(problem):
            if first in (self.iid, self.sparse):
                yield chosen(self.other, "there is no room for the couplings that populations need")
            return
        if problem.normalised.m_rows <= problem.n:
            return
        ladder = populations(LADDER_ON_GPU) if matrix.on_gpu else self.ladder
        for stage in ladder:
            if stage is ladder[-1] and pays and not quick:
                yield lattice
            if stage is ladder[-1] and self.lattice_pays(problem, LARGEST_GUIDED, known=SHARES[-1]):
                yield self.guided._replace(
                    why="with the signs that a population is sure of, its digits tell the others"
                )
            yield chosen(stage, "" if self.prior.gaussian else "without the prior, which populations do not know")
        while timed and not level:
            yield ladder[-1]

    def lattice_pays(self, problem: Instance, largest: int, known: float = 0.0) -> bool:
        """Are data exact, and expected to have enough digits for a lattice, where a share of the signs is known?"""
        own = problem.normalised
        if problem.noise is not None or own.field != REAL or not self.prior.gaussian:
            return False
        if own.m_rows <= problem.n or not room_for_couplings(problem):
            return False
        precision = precision_of(own)
        count = own.m_rows if known else measurements_enough(own.m_rows, problem.n, precision)
        if count > largest or precision > noise_allowed(count, problem.n):
            return False
        return count < own.m_rows or within_reach(round((1 - known) * count), count - problem.n, precision, BLOCK)

    def first(self, problem: Instance) -> tuple[Stage, str]:
        """The message passing to begin with, and why."""
        if not self.prior.gaussian:
            return stage_of(knowing(self.prior)), "it knows priors that are not Gaussian"
        if problem.normalised.matrix.solves_directly:
            return self.other, "A^H A is diagonal, so that its linear part costs next to nothing"
        looks = likeness(problem.normalised)
        if not looks.unlike_iid:
            return self.iid, "A looks like a matrix of iid entries"
        sparse = looks.sparse and problem.matrix.field == REAL  # belief propagation knows no phases
        return self.sparse if sparse else self.other, f"A is not a matrix of iid entries: {looks.unlike_iid}"

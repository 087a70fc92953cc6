"""Lattices as stages of `solve`: in which order they come, what they are not for, and how they are ended."""

import os
import signal
import threading

import numpy as np
import pytest

from phaselect import AMP, DataWarning, GuidedLattice, Instance, Status, gaussian_instance, solve
from phaselect.equations.priors import as_prior
from phaselect.solvers.front_door import FrontDoor, populations, stage_of
from phaselect.solvers.restarts import Stage

GIVES_UP = Stage(AMP(restarts=0), AMP().default_schedule()[:2])
"""Message passing that fails at once."""


def names(problem, door=None, timed=False):
    return [stage.solver.name for stage in (door or FrontDoor()).plan(problem, timed)]


def test_a_lattice_comes_after_message_passing_and_before_populations():
    result = solve(gaussian_instance(30, 1.5, seed=0), solver=FrontDoor(iid=GIVES_UP))
    assert [stage.solver for stage in result.stages] == ["amp", "lattice"]
    assert (result.solver, result.certified) == ("lattice", True)
    assert result.stages[1].why == "its digits tell the signs"


def test_of_few_measurements_it_comes_first():
    result = solve(gaussian_instance(30, 1.1, seed=0), solver=FrontDoor(iid=GIVES_UP))
    assert [stage.solver for stage in result.stages] == ["lattice"]


def test_where_it_takes_long_small_populations_come_before_it():
    problem = gaussian_instance(150, 1.3, seed=0)
    assert names(problem) == ["amp", "pa", "pa", "lattice", "guided", "pa"]


def test_a_guided_lattice_comes_before_the_last_population():
    """Digits alone do not reach so far."""
    problem = gaussian_instance(100, 103 / 100, seed=1)
    door = FrontDoor(iid=GIVES_UP, ladder=populations((2, 4)), guided=stage_of(GuidedLattice(replicas=256)))
    assert names(problem, door) == ["amp", "pa", "guided", "pa"]
    with pytest.warns(DataWarning, match="expected to fail"):
        result = solve(problem, solver=door)
    assert [stage.solver for stage in result.stages] == ["amp", "pa", "guided"]
    assert (result.solver, result.certified, result.truth["O"]) == ("guided", True, 1)
    assert result.trace["known"][-1] > 0


def test_data_that_are_not_exact_signs_are_not_for_a_lattice():
    problem = gaussian_instance(30, 1.1, seed=0)
    lattices = {"lattice", "guided"}
    assert lattices <= set(names(problem))
    rng = np.random.default_rng(0)
    A = rng.standard_normal((70, 30)) + 1j * rng.standard_normal((70, 30))
    for other in (
        problem.with_noise(1e-6),
        problem.with_noise(np.full(problem.m_rows, 1e-6)),
        Instance(A, np.abs(A @ rng.standard_normal(30))),
        Instance(problem.A, problem.y, rounding=1e-3),
    ):
        assert not lattices & set(names(other))
    assert not lattices & set(names(problem, FrontDoor(prior=as_prior("sparse"))))


def test_a_time_limit_ends_a_lattice():
    """It takes two seconds; what there is comes back soon after."""
    problem = gaussian_instance(150, 162 / 150, seed=0)
    result = solve(problem, solver=FrontDoor(iid=GIVES_UP, ladder=populations((2, 4))), time_limit=0.6)
    assert result.status is Status.TIME_LIMIT
    assert (result.stages[-1].solver, result.stages[-1].ended) == ("lattice", "time is out")
    assert result.stages[-1].attempts == 1
    assert np.isfinite(result.x).all()


@pytest.mark.parametrize("solver", ["lattice", FrontDoor(iid=GIVES_UP, ladder=populations((2, 4)))])
def test_ctrl_c_ends_a_lattice(solver):
    """A signal that comes while compiled code reduces."""
    problem = gaussian_instance(200, 222 / 200, seed=0)
    soon = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    soon.start()
    result = solve(problem, solver=solver)
    soon.join()
    assert result.status is Status.INTERRUPTED
    assert np.isfinite(result.x).all()
    assert result.seconds < 5

import os
import time
from pathlib import Path

import numba
import numpy as np
import pytest

from phaselect import (
    AMP,
    AlternatingMinimisation,
    InputError,
    Instance,
    PopulationAnnealing,
    Status,
    gaussian_instance,
    solve,
)
from phaselect.equations.signs import mse_x, overlap
from phaselect.solvers import front_door
from phaselect.solvers.front_door import LADDER, FrontDoor, stage_of
from phaselect.solvers.registry import REGISTRY


def correlated(n, alpha, seed, correlation=0.9):
    """Rows with an AR(1) covariance: neighbouring columns nearly parallel."""
    problem = gaussian_instance(n, alpha, seed=seed)
    covariance = correlation ** np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    A = problem.A @ np.linalg.cholesky(covariance).T
    return Instance(A, np.abs(A @ problem.x0), problem.x0)


def shifted(n, alpha, seed):
    """A common mean in all entries: message passing diverges."""
    problem = gaussian_instance(n, alpha, seed=seed)
    A = problem.A + 1.0
    return Instance(A, np.abs(A @ problem.x0), problem.x0)


def with_outliers(n, alpha, seed):
    """Five rows thirty times larger than the rest."""
    problem = gaussian_instance(n, alpha, seed=seed)
    A = problem.A.copy()
    A[:5] *= 30
    return Instance(A, np.abs(A @ problem.x0), problem.x0)


@pytest.mark.parametrize("make", [correlated, shifted, with_outliers])
def test_matrices_that_are_not_iid(make):
    problem = make(80, 2.0, 0)
    result = solve(problem.A, problem.y)
    assert result.status is Status.RECOVERED
    sign = np.sign(problem.x0 @ result.x)
    np.testing.assert_allclose(sign * result.x, problem.x0, atol=1e-7)


def test_a_matrix_that_is_not_iid_gets_vector_message_passing():
    """Where AMP would diverge."""
    problem = shifted(60, 1.8, seed=0)
    result = solve(problem)
    assert (result.solver, result.certified) == ("vmp", True)
    assert result.truth["m"] == pytest.approx(1)
    assert [stage.why for stage in result.stages] == [
        "A is not a matrix of iid entries: its entries have a mean, or its columns are alike"
    ]
    assert AMP().run(problem).status is Status.DIVERGED


def test_below_message_passing_the_annealers_take_over(monkeypatch):
    """Before they do, message passing has had all its restarts; the result tells of every stage."""
    monkeypatch.setattr(front_door, "LARGEST_LATTICE", 0)
    problem = gaussian_instance(60, 1.15, seed=0)
    result = solve(problem)
    assert (result.solver, result.certified) == ("pa", True)
    first, second = result.stages
    assert (first.solver, first.attempts, first.ended) == ("amp", 5, "the schedule is over")
    assert (second.solver, second.attempts) == ("pa", 1)
    assert first.mse_y > 1e-6 > second.mse_y
    assert first.seconds + second.seconds <= result.seconds


def test_the_ladder(monkeypatch):
    problem = gaussian_instance(20, 1.5, seed=0)
    names = [(stage.solver.name, getattr(stage.solver, "replicas", None)) for stage in FrontDoor().plan(problem, False)]
    populations = [("pa", replicas) for replicas in LADDER]
    assert names == [("amp", None), ("lattice", None), *populations[:-1], ("guided", 1024), populations[-1]]
    few = gaussian_instance(20, 1.1, seed=0)
    assert [stage.solver.name for stage in FrontDoor().plan(few, False)][:2] == ["lattice", "amp"]
    monkeypatch.setattr(front_door, "LARGEST_LATTICE", 0)
    monkeypatch.setattr(front_door, "LARGEST_GUIDED", 0)
    operator = Instance((lambda x: problem.A @ x, lambda z: problem.A.T @ z), problem.y)
    assert [stage.solver.name for stage in FrontDoor().plan(operator, False)][:2] == ["amp", "pa"]
    timed = iter(FrontDoor().plan(problem, True))
    assert [next(timed).solver.name for _ in range(7)] == ["amp", *["pa"] * 6]  # without end, until time is out
    noisy = list(FrontDoor().plan(problem.with_noise(0.01), True))
    assert len(noisy) == 1 + len(LADDER)
    for stage in noisy:
        assert stage.schedule.mu[-1] == pytest.approx(np.mean(problem.y**2) / 0.02)


def test_rows_of_zeros_take_no_room(monkeypatch):
    problem = gaussian_instance(20, 1.5, seed=0)
    padded = Instance(np.vstack([problem.A, np.zeros((10, 20))]), np.append(problem.y, np.zeros(10)))
    for most, last in ((30, "pa"), (29, "vmp")):
        monkeypatch.setattr(front_door, "MOST_ROWS", most)
        plans = [[stage.solver.name for stage in FrontDoor().plan(one, False)] for one in (problem, padded)]
        assert plans[0] == plans[1]
        assert plans[0][-1] == last


def test_an_instance_or_arrays():
    problem = gaussian_instance(60, 1.6, seed=0)
    by_arrays, by_instance = solve(problem.A, problem.y), solve(problem)
    np.testing.assert_array_equal(by_arrays.x, by_instance.x)
    assert by_arrays.truth == {}
    assert by_instance.truth["m"] == pytest.approx(1)
    for names in (("A.csv", "y.csv"), (Path("data.npz"),), (problem.A, "y.csv")):
        with pytest.raises(InputError, match=r"\w+\.\w+': solve takes arrays; .*phaselect.load\("):
            solve(*names)
    for arguments in ((problem, problem.y), (problem.A,)):
        with pytest.raises(InputError, match=r"solve takes an Instance, or|solve needs y"):
            solve(*arguments)


def test_seeds():
    problem = gaussian_instance(60, 1.6, seed=0)
    same = [solve(problem, seed=seed) for seed in (3, 3, np.int64(3))]
    for result in same:
        np.testing.assert_array_equal(result.x, same[0].x)
        assert result.sweeps == same[0].sweeps
    drawn = [solve(problem, seed=np.random.default_rng(3)) for _ in range(2)]
    assert drawn[0].seed == drawn[1].seed != 3
    np.testing.assert_array_equal(drawn[0].x, drawn[1].x)
    again = solve(problem, seed=drawn[0].seed)  # what was drawn is in the result
    np.testing.assert_array_equal(again.x, drawn[0].x)


@pytest.mark.parametrize("name", [name for name in REGISTRY if "-" not in name and name != "auto"])
def test_a_solver_of_one_s_choice(name):
    problem = gaussian_instance(30, 4.0, seed=1)
    result = solve(problem, solver=name)
    assert result.solver == name
    assert result.certified


def test_a_solver_with_options_and_a_start():
    problem = gaussian_instance(40, 1.6, seed=0)
    result = solve(problem, solver=PopulationAnnealing(16), init=problem.signs, seed=2)
    own = PopulationAnnealing(16).run(problem, init=problem.signs, seed=2)
    np.testing.assert_array_equal(result.x, own.x)
    hard = gaussian_instance(60, 1.05, seed=0)
    near = hard.x0 + 1e-3 * np.random.default_rng(0).standard_normal(60)
    assert solve(hard, init=near).mse_y < 1e-20  # a good start is taken by message passing, the first to try
    with pytest.raises(InputError, match="name its solver"):
        solve(problem, init=own.state)
    assert solve(problem, solver="pa", init=PopulationAnnealing().run(problem).state).certified
    with pytest.raises(InputError, match="solver 'magic': use one of amp"):
        solve(problem, solver="magic")


def test_units_are_the_user_s():
    problem = gaussian_instance(60, 1.6, seed=0)
    result = solve(1e-7 * problem.A, 1e5 * problem.y)
    assert result.certified
    assert overlap(1e12 * problem.x0, result.x) == pytest.approx(1)


def test_lists_integers_and_other_orders_are_fine():
    rng = np.random.default_rng(0)
    A, x0 = rng.integers(-9, 10, (30, 12)), rng.integers(-5, 6, 12)
    for matrix in (A, A.tolist(), np.asfortranarray(A), A.astype(np.float32), A.astype(">f8")):
        result = solve(matrix, np.abs(A @ x0))
        assert result.certified
        assert mse_x(x0, result.x) < 1e-20


@pytest.mark.parametrize("noise", [1e-4, 1e-3])
def test_noisy_data(noise):
    """No certificate, and an error in x of the order of the noise: sigma^2/(alpha - 1) for known signs."""
    for seed in range(3):
        problem = gaussian_instance(100, 1.8, seed=seed, noise=noise)
        result = solve(problem.A, problem.y, seed=seed, noise=noise)
        assert result.status is Status.ESTIMATE
        assert not result.certified
        assert mse_x(problem.x0, result.x) < 2 * noise / 0.8
        assert result.schedule.mu[-1] == pytest.approx(np.mean(problem.y**2) / (2 * noise))


def test_ignoring_noise_gives_no_certificate():
    problem = gaussian_instance(60, 1.5, seed=0, noise=1e-4)
    assert not solve(problem.A, problem.y, time_limit=0.5).certified


@pytest.mark.filterwarnings("ignore::phaselect.DataWarning")
def test_what_cannot_be_determined_is_not_claimed():
    problem = gaussian_instance(50, 1.8, seed=0)
    twins = problem.A.copy()
    twins[:, 1] = twins[:, 0]
    blocks = np.kron(np.eye(2), problem.A)
    for A, x0 in ((twins, problem.x0), (blocks, np.tile(problem.x0, 2))):
        result = solve(A, np.abs(A @ x0))
        assert result.status is Status.AMBIGUOUS
        assert not result.certified
        assert result.mse_y < 1e-20


def test_zeros_in_the_data_do_no_harm_but_to_the_certificate():
    problem = gaussian_instance(60, 1.8, seed=0)
    A = problem.A.copy()
    A[3] -= (A[3] @ problem.x0) * problem.x0 / (problem.x0 @ problem.x0)
    A[5] = 0
    y = np.abs(A @ problem.x0)
    y[3] = 0
    result = solve(A, y, time_limit=5)
    assert mse_x(problem.x0, result.x) < 1e-20
    assert result.status is Status.UNCERTIFIED
    assert result.reason.startswith("1 measurement of zero")


def test_the_smallest_problems():
    rng = np.random.default_rng(0)
    for m_rows, n in ((2, 1), (3, 2), (5, 2), (7, 5)):
        A, x0 = rng.standard_normal((m_rows, n)), rng.standard_normal(n)
        result = solve(A, np.abs(A @ x0))
        assert result.mse_y < 1e-20
        if result.certified:
            assert mse_x(x0, result.x) < 1e-12


@pytest.mark.parametrize("noise", [1e-10, 1e-12, 1e-14])
def test_tiny_noise(noise):
    problem = gaussian_instance(100, 1.6, seed=0, noise=noise)
    result = solve(problem.A, problem.y, noise=noise)
    assert result.status is Status.ESTIMATE
    assert result.solver == "amp"  # followed to the end of its schedule, it needs no population to rescue it
    assert mse_x(problem.x0, result.x) < 3 * noise / 0.6


def test_rounded_data_are_recognised():
    problem = gaussian_instance(100, 1.5, seed=0)
    result = solve(problem.A, np.round(problem.y, 3))
    assert result.status is Status.INEXACT
    assert mse_x(problem.x0, result.x) < 1e-5


def test_an_interrupt_in_the_svd_keeps_what_message_passing_had(monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(front_door, "LARGEST_LATTICE", 0)
    problem = gaussian_instance(60, 1.05, seed=0)
    monkeypatch.setattr(np.linalg, "svd", interrupted)
    result = solve(problem.A, problem.y)
    assert result.status is Status.INTERRUPTED
    assert result.solver == "amp"


@pytest.mark.filterwarnings("ignore::phaselect.DataWarning")
def test_time_limit_and_interrupt():
    problem = gaussian_instance(200, 1.02, seed=0)
    began = time.process_time()
    result = solve(problem.A, problem.y, time_limit=0.6)
    assert result.status is Status.TIME_LIMIT
    assert result.seconds >= 0.6
    assert time.process_time() - began < 3.0 * os.cpu_count()  # of all cores: less of them where others are busy
    assert solve(problem.A, problem.y, time_limit=0.05).status is Status.TIME_LIMIT

    def interrupt(event):
        if event.solver == "pa":
            raise KeyboardInterrupt

    result = solve(problem.A, problem.y, progress=interrupt)
    assert result.status is Status.INTERRUPTED
    assert np.isfinite(result.x).all()


def test_same_seed_same_answer_on_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(front_door, "LARGEST_LATTICE", 0)
    problem = gaussian_instance(60, 1.15, seed=0)
    threads = numba.get_num_threads()
    answers = []
    try:
        for count in (1, threads):
            numba.set_num_threads(count)
            answers.append(solve(problem, seed=4))
    finally:
        numba.set_num_threads(threads)
    np.testing.assert_array_equal(answers[0].x, answers[1].x)
    assert answers[0].sweeps == answers[1].sweeps
    assert answers[0].solver == "pa"  # both stages were there


def test_bad_arguments():
    problem = gaussian_instance(10, 1.5, seed=0)
    for options in (
        {"noise": -1},
        {"noise": np.nan},
        {"noise": 100.0},
        {"noise": [1]},
        {"time_limit": 0},
        {"time_limit": [1]},
        {"seed": 1.5},
    ):
        with pytest.raises(InputError):
            solve(problem.A, problem.y, **options)
    with pytest.raises(InputError, match="complex"):
        solve(problem.A * 1j, problem.y)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"solver": None}, "give a name, or a solver"),
        ({"solver": AMP}, "give a name, or a solver"),
        ({"progress": "yes"}, "give True for a bar, or a function"),
        ({"solver": "sa-fixed", "noise": 1e-3}, "with noise use sa"),
    ],
)
def test_what_is_no_solver_gets_one_line(options, line):
    with pytest.raises(InputError, match=line):
        solve(gaussian_instance(10, 1.5, seed=0), **options)


def test_repeated_rows_are_no_reason_to_stop():
    """Copies of measurements make a poor fit look better than chance; the search goes on all the same."""
    problem = gaussian_instance(60, 1.3, seed=1)
    result = solve(np.vstack([problem.A] * 3), np.tile(problem.y, 3), time_limit=60)
    assert result.certified
    assert mse_x(problem.x0, result.x) < 1e-18


def test_masked_entries_are_refused():
    problem = gaussian_instance(10, 1.5, seed=0)
    with pytest.raises(InputError, match="A has masked entries"):
        solve(np.ma.masked_greater(problem.A, 0.3), problem.y)


@pytest.mark.parametrize("seed", [0, 2])
def test_a_fit_that_only_beats_chance_does_not_end_the_search(seed, monkeypatch):
    """Two halves that are weakly joined, one of them turned: chance does not explain the fit, and it is wrong."""
    monkeypatch.setattr(front_door, "LARGEST_LATTICE", 0)  # which would find it too
    rng = np.random.default_rng(seed)
    A, x0 = rng.standard_normal((150, 100)), rng.standard_normal(100)
    A[:75, 50:] *= 0.01
    A[75:, :50] *= 0.01
    y, turned = np.abs(A @ x0), np.concatenate([x0[:50], -x0[50:]])
    alternating = AlternatingMinimisation()
    assert alternating.run(Instance(A, y), init=turned).status is Status.INEXACT
    first = stage_of(alternating)
    result = solve(A, y, init=turned, solver=FrontDoor(iid=first, sparse=first, other=first))
    assert result.stages[0].solver == "altmin"
    assert result.status is Status.RECOVERED
    assert mse_x(x0, result.x) < 1e-20

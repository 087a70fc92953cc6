"""What run is given, and that it means what it means to solve: noise above all."""

import numpy as np
import pytest

from phaselect import (
    AMP,
    InputError,
    Instance,
    Langevin,
    PopulationAnnealing,
    Schedule,
    SimulatedAnnealing,
    Status,
    gaussian_instance,
    solve,
)

NOISE = 1e-3
PROBLEM = gaussian_instance(60, 2.0, seed=0, noise=NOISE)
LEVEL = NOISE / np.mean(PROBLEM.y**2)
PER_ROW = np.linspace(0.5, 1.5, 120) * NOISE


@pytest.mark.parametrize("noise", [NOISE, PER_ROW], ids=["one", "per row"])
def test_noise_means_the_same_wherever_it_is_given(noise):
    """To run, to solve, or with the instance."""
    noisy = Instance(PROBLEM.A, PROBLEM.y, PROBLEM.x0, noise=noise)
    results = [
        AMP().run(PROBLEM, noise=noise),
        AMP().run(noisy),
        solve(PROBLEM.A, PROBLEM.y, noise=noise),
        solve(noisy),
        solve(PROBLEM, noise=noise, solver="amp"),
        solve(noisy, solver=AMP()),
    ]
    for result in results:
        np.testing.assert_array_equal(result.x, results[0].x)
        assert result.status is Status.ESTIMATE
        assert result.schedule == results[0].schedule
        assert not result.certified


def test_noise_given_to_run_replaces_that_of_the_instance():
    noisy = Instance(PROBLEM.A, PROBLEM.y, noise=1e-5)
    assert AMP().run(noisy, noise=NOISE).schedule == AMP().run(PROBLEM, noise=NOISE).schedule
    assert AMP().run(noisy, noise=0).schedule == AMP().default_schedule()  # exact after all


@pytest.mark.parametrize("solver", [AMP(), SimulatedAnnealing(), PopulationAnnealing(), Langevin()])
@pytest.mark.parametrize("level", [1e-4, 0.05, 0.6])
def test_default_schedules_end_at_the_noise(solver, level):
    schedule = solver.default_schedule(level)
    assert schedule.mu[-1] == pytest.approx(1 / (2 * level))
    assert schedule.mu[0] <= schedule.mu[-1]
    assert solver.default_schedule().mu[-1] > 500  # and without noise go on


@pytest.mark.parametrize("solver", [AMP(), PopulationAnnealing(16)])
def test_a_run_on_noisy_data_ends_there(solver):
    result = solver.run(PROBLEM, noise=NOISE)
    assert result.schedule.mu[-1] == pytest.approx(1 / (2 * LEVEL))
    assert result.status is Status.ESTIMATE
    assert result.mse_y < 2 * LEVEL
    assert result.truth["mse_x"] < 2 * NOISE  # sigma^2/(alpha - 1) for known signs


@pytest.mark.parametrize("solver", [SimulatedAnnealing(), PopulationAnnealing(8), Langevin(), AMP(restarts=0)])
def test_a_poor_fit_to_noisy_data_is_called_so(solver):
    """A single hot temperature: nothing has been found."""
    hot = Schedule([0.1], [10.0], steps=1, unit="iterations")
    result = solver.run(PROBLEM, hot, noise=NOISE)
    assert result.mse_y > 2 * LEVEL
    assert result.status is Status.POOR_ESTIMATE
    assert not result.certified


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        (-1.0, "noise = -1.0: give a variance, 0 or more"),
        (np.nan, "noise = nan: give a variance"),
        (np.inf, "noise = inf: give a variance"),
        (True, "noise = True: give a variance"),
        ("loud", "noise = 'loud': give a variance"),
        ([1e-3], r"noise has shape \(1,\): give one variance, or 120, one per measurement"),
        (np.zeros(120), "every variance must be positive"),
        (np.where(np.arange(120) == 3, np.nan, NOISE), "every variance must be positive and finite"),
        (100.0, r"noise = 100 is not below mean\(y\^2\)"),
        (np.full(120, 100.0), r"noise = 100 is not below mean\(y\^2\)"),
    ],
)
def test_bad_noise_gets_one_line(noise, message):
    for use in (
        lambda: AMP().run(PROBLEM, noise=noise),
        lambda: solve(PROBLEM.A, PROBLEM.y, noise=noise),
        lambda: solve(Instance(PROBLEM.A, PROBLEM.y, noise=noise)),
    ):
        with pytest.raises(InputError, match=message) as caught:
            use()
        assert "\n" not in str(caught.value)


def test_signs_and_an_estimate_to_start_from_are_told_apart_by_their_length():
    problem = gaussian_instance(40, 2.0, seed=1)
    cold = Schedule([1e6], [1e-6], steps=1)
    for init in (problem.x0, -problem.signs, problem.A @ problem.x0):  # signs of any numbers
        assert PopulationAnnealing(4).run(problem, cold, init=init).certified
    with pytest.raises(InputError, match=r"init has shape \(41,\): give an estimate of x \(40 numbers\), signs \(80\)"):
        AMP().run(problem, init=np.ones(41))


def test_single_proposals_are_for_single_flips():
    proposals = Schedule.matched(unit="proposals")
    for solver in (AMP(), Langevin()):
        with pytest.raises(InputError, match=f"{solver.name} updates all signs at once"):
            solver.run(PROBLEM, proposals)

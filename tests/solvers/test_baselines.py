import numpy as np
import pytest

from phaselect import AlternatingMinimisation, InputError, Instance, ReweightedAmplitudeFlow, gaussian_instance
from phaselect.equations.signs import overlap
from phaselect.solvers.baselines import spectral_initialisation

START = np.random.default_rng(0).standard_normal(400)


def recovered(solver, alpha, seeds=range(3)):
    problems = [gaussian_instance(150, alpha, seed=seed) for seed in seeds]
    return sum(solver.run(problem, seed=seed).certified for seed, problem in zip(seeds, problems, strict=True))


def test_spectral_estimate_against_a_dense_eigensolver():
    problem = gaussian_instance(60, 3, seed=0)
    y2 = problem.normalised.y**2
    weight = (y2 - 1) / (y2 + np.sqrt(6) - 1)
    leading = np.linalg.eigh(problem.A.T @ (weight[:, None] * problem.A))[1][:, -1]
    x = spectral_initialisation(problem.normalised, START[:60])
    assert abs(x @ leading) / np.linalg.norm(x) == pytest.approx(1, abs=1e-6)
    assert x @ x == pytest.approx(60)


def test_spectral_estimate_finds_the_direction():
    found = [
        overlap(p.x0, spectral_initialisation(p.normalised, START))
        for p in (gaussian_instance(400, 4, seed=seed) for seed in range(3))
    ]
    assert min(found) > 0.6


def test_equal_magnitudes_tell_nothing_and_do_no_harm():
    problem = Instance(np.vstack([np.eye(30), np.eye(30)]), np.ones(60))
    for solver in (AlternatingMinimisation(), ReweightedAmplitudeFlow()):
        assert np.isfinite(solver.run(problem).x).all()


def test_bad_options():
    for options in ({"step_size": np.nan}, {"beta": 0}, {"step_size": "a"}):
        with pytest.raises(InputError, match="ReweightedAmplitudeFlow"):
            ReweightedAmplitudeFlow(**options)


@pytest.mark.parametrize(
    ("solver", "enough", "too_few"),
    [(AlternatingMinimisation(), 5.0, 1.5), (ReweightedAmplitudeFlow(), 2.5, 1.2)],
)
def test_works_with_many_measurements_and_fails_with_few(solver, enough, too_few):
    assert recovered(solver, enough) == 3
    assert recovered(solver, too_few) == 0

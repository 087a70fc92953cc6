"""Warnings before, or while, the search goes on: too few measurements, noise that was not given."""

import warnings

import numpy as np
import pytest

from phaselect import DataWarning, Instance, Status, ensemble_instance, gaussian_instance, operators, solve, theory
from phaselect.backends.host import in_memory
from phaselect.equations.fields import COMPLEX, REAL, REAL_SIGNAL
from phaselect.solvers import front_door
from phaselect.solvers.front_door import FrontDoor
from phaselect.solvers.prospects import HIGHEST, OF_IID, poor_prospects, threshold
from phaselect.theory.bayes import channel_precision, recovery_threshold
from phaselect.theory.spectra import as_spectrum


def test_the_thresholds_are_those_of_the_theory():
    for spectrum, known in (("gaussian", OF_IID), ("orthogonal", HIGHEST)):
        for field in (REAL, COMPLEX, REAL_SIGNAL):
            expected = recovery_threshold(as_spectrum(spectrum), field.beta) / field.fold
            assert expected == pytest.approx(known[field], abs=1e-3)


@pytest.mark.parametrize(("alpha", "recovers"), [(1.11, False), (1.15, True)])
def test_a_real_signal_behind_orthogonal_columns(alpha, recovers):
    """State evolution, all eigenvalues being alpha, each belief about a measurement counting twice."""
    g1 = 1.02
    for _ in range(3000):
        g2 = channel_precision(g1, 2)
        g1 = min(2 * g2 * alpha + 1 - g2, 1e8)
    assert (g1 > 1e7) == recovers == (alpha > theory.critical_alpha(spectrum="orthogonal", field="real signal"))


def test_a_real_signal_of_which_too_little_is_measured():
    rng = np.random.default_rng(0)
    A, x0 = rng.standard_normal((2, 101, 100)), rng.standard_normal(100)
    (line,) = poor_prospects(Instance(A[0] + 1j * A[1], np.abs((A[0] + 1j * A[1]) @ x0), real=True))
    assert "needs M/N above 1.01, and has" in line.replace(" for message passing", "")
    patterns = operators.coded_diffraction((12, 12), 2)
    problem = Instance(patterns, np.abs(patterns @ rng.standard_normal(144)), real=True)
    assert threshold(problem) == pytest.approx(HIGHEST[REAL_SIGNAL], abs=1e-3)


@pytest.mark.parametrize("kind", ["toeplitz", "spectrum", "orthogonal"])
def test_the_threshold_of_any_spectrum(kind, monkeypatch):
    problem = ensemble_instance(kind, 120, 1.3, seed=0)
    exact = theory.critical_alpha(spectrum=np.linalg.svd(problem.A, compute_uv=False) ** 2)
    assert threshold(problem) == pytest.approx(exact, abs=0.01)
    monkeypatch.setattr(in_memory, "WORTH_AN_SVD", 0)
    operator = Instance((problem.measure, problem.backproject), problem.y)
    assert threshold(operator) == pytest.approx(exact, abs=0.03)
    assert threshold(operator) <= HIGHEST[REAL] + 1e-3


def test_a_matrix_that_needs_more_measurements():
    (line,) = poor_prospects(ensemble_instance("orthogonal", 400, 1.4, seed=0))
    assert "needs M/N above 1.58" in line
    assert poor_prospects(ensemble_instance("toeplitz", 400, 1.4, seed=0)) == ()
    assert poor_prospects(gaussian_instance(100, 1.15, seed=0)) == ()
    assert poor_prospects(gaussian_instance(60, 1.1, seed=0)) == ()  # small ones are searched through
    assert poor_prospects(gaussian_instance(100, 1.1, seed=0).with_noise(0.1)) == ()


def test_warnings_are_told_and_kept():
    problem = gaussian_instance(100, 1.02, seed=0)
    with pytest.warns(DataWarning, match="expected to fail: this matrix needs M/N above 1.13"):
        result = solve(problem, time_limit=0.05)
    assert len(result.warnings) == len(result.to_dict()["warnings"]) == 1


def test_nothing_is_said_of_good_data():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert solve(gaussian_instance(100, 1.5, seed=0)).warnings == ()


def test_noise_that_was_not_given_is_noticed_before_the_longer_search(monkeypatch):
    monkeypatch.setattr(front_door, "LARGEST_LATTICE", 0)
    noisy = gaussian_instance(60, 2.0, seed=0, noise=0.01)
    with pytest.warns(DataWarning, match="y looks noisy"):
        result = solve(noisy, solver=FrontDoor(ladder=()))
    assert result.status in (Status.INEXACT, Status.NOT_RECOVERED)
    assert 'solve(A, y, noise="auto")' in result.message
    told = float(result.reason.split("variance of ")[1].split(")")[0])
    assert told == pytest.approx(0.01, rel=0.5)


def test_exact_data_that_resist_are_not_called_noisy(monkeypatch):
    monkeypatch.setattr(front_door, "LARGEST_LATTICE", 0)
    twice = gaussian_instance(60, 1.3, seed=1)
    repeated = Instance(np.vstack([twice.A] * 3), np.tile(twice.y, 3))
    for problem in (ensemble_instance("orthogonal", 120, 1.45, seed=1), repeated):
        result = solve(problem, solver=FrontDoor(ladder=()))
        assert result.status is not Status.RECOVERED
        assert result.warnings == ()

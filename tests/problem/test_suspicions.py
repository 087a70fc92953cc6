"""Mistakes that the data give away are named, and ordinary data, of any kind of matrix, are not suspected."""

import numpy as np
import pytest

from phaselect import Instance, ensemble_instance
from phaselect.problem.matrix_kinds import KINDS
from phaselect.problem.suspicions import suspicions

PROBLEM = ensemble_instance("toeplitz", 150, 2.0, seed=0)


def suspected(A, y):
    return " ".join(suspicions(Instance(A, y)))


def with_one(y, place, value):
    changed = y.copy()
    changed[place] = value
    return changed


@pytest.mark.parametrize("kind", KINDS)
def test_ordinary_data_are_not_suspected(kind):
    for n, alpha, seed in ((40, 1.5, 0), (40, 1.5, 1), (150, 1.4, 2), (150, 1.4, 3)):
        problem = ensemble_instance(kind, n, alpha, seed=seed)
        rng, x = np.random.default_rng(seed), problem.x0
        signals = x, x * (rng.random(n) < 0.3), np.abs(x), x * np.exp(-np.arange(n) / n * 3), rng.integers(-2, 3, n)
        for signal in signals:
            assert suspected(problem.A, np.abs(problem.measure(1.0 * signal))) == ""


@pytest.mark.parametrize("kind", ["gaussian", "uneven_rows"])
def test_noise_is_no_mistake(kind):
    for seed in range(5):
        assert suspicions(ensemble_instance(kind, 100, 3.0, seed=seed, noise=0.1)) == ()


@pytest.mark.parametrize("kind", ["gaussian", "orthogonal", "toeplitz", "uneven_rows", "sparse"])
def test_intensities(kind):
    problem = ensemble_instance(kind, 150, 2.0, seed=0)
    assert "intensities" in suspected(problem.A, problem.y**2)
    assert "intensities" in suspected(1e3 * problem.A, 1e-90 * problem.y**2)  # whatever the units


def test_clipped_values():
    limit = np.quantile(PROBLEM.y, 0.97)
    assert "9 of 300 values of y equal the largest" in suspected(PROBLEM.A, np.minimum(PROBLEM.y, limit))
    assert suspected(PROBLEM.A, np.ceil(4 * PROBLEM.y)) == ""  # coarse, but not clipped


def test_outliers_over_the_norms_of_their_rows():
    largest = 15 * np.sqrt(np.mean(PROBLEM.y**2))
    assert "y[7] above all" in suspected(PROBLEM.A, with_one(PROBLEM.y, 7, largest))
    strong = PROBLEM.A.copy()
    strong[7] *= largest / PROBLEM.y[7]
    assert suspected(strong, with_one(PROBLEM.y, 7, largest)) == ""  # as its row is


def test_one_measurement_that_is_not_zero_is_no_outlier():
    assert suspected(PROBLEM.A, with_one(0 * PROBLEM.y, 7, 1.0)) == ""


def test_few_measurements_give_nothing_away():
    assert suspected(PROBLEM.A[:40, :20], PROBLEM.y[:40] ** 2) == ""

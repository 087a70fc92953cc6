"""Sign vectors at fixed overlap: against enumeration, and against the theory of the gaps."""

import numpy as np
import pytest

from phaselect import InputError, Instance, gaussian_instance
from phaselect.backends.host.random import random_chains
from phaselect.experiments.fixed_overlap import exchange_kernel, predicted_measurements, sample_signs
from phaselect.theory import saddle_point_at_sign_overlap
from tests import exact

MU, LAM, OVERLAP = 1.5, 0.3, 0.5


@pytest.fixture(scope="module")
def small():
    """Twelve signs, three of them wrong: 220 states."""
    return gaussian_instance(8, 1.5, seed=3)


def exact_at_overlap(problem):
    """Place in `all_signs`, energy and probability of the sign vectors with that overlap."""
    A, y = exact.normalised(problem)
    kept = np.flatnonzero(np.isclose(exact.all_signs(y.size) @ problem.signs, OVERLAP * y.size))
    energy = exact.energies(A, y, LAM)[kept]
    weight = np.exp(-MU * (energy - energy.min()))
    return kept, energy, weight / weight.sum()


def test_every_state_is_drawn_as_often_as_it_should(small):
    """Chi-square over the states expected at least 20 times, samples a few sweeps apart: mean 1 a state, 4 sigma."""
    kept, energy, probability = exact_at_overlap(small)
    assert kept.size == 220
    signs = sample_signs(small, MU, LAM, OVERLAP, samples=20_000, sweeps=4, seed=1)
    drawn = exact.state_index(signs)
    assert set(drawn) <= set(kept)
    seen = np.bincount(np.searchsorted(kept, drawn), minlength=kept.size)
    expected = probability * drawn.size
    often = expected > 20
    chi2 = np.sum((seen[often] - expected[often]) ** 2 / expected[often])
    assert often.sum() > 50
    assert chi2 == pytest.approx(often.sum(), abs=4 * np.sqrt(2 * often.sum()))
    mean = energy[np.searchsorted(kept, drawn)].mean()
    spread = np.sqrt(probability @ energy**2 - (probability @ energy) ** 2)
    assert mean == pytest.approx(probability @ energy, abs=4 * spread / np.sqrt(drawn.size))


def test_overlap_and_fields_are_conserved():
    problem = gaussian_instance(40, 1.7, seed=0)
    own = problem.normalised
    G = own.ridge.at(0.1).couplings()
    wrong, right = np.arange(17), np.arange(17, 68)
    v = problem.signs * own.y
    v[wrong] *= -1
    h = G @ v
    accepted = exchange_kernel(G, v, h, right, wrong, 2.0, 20_000, random_chains(np.random.default_rng(0), 1)[0])
    assert accepted > 500
    signs = np.sign(v)
    assert set(np.flatnonzero(signs != problem.signs)) == set(wrong)
    assert sorted([*wrong, *right]) == list(range(68))
    np.testing.assert_allclose(np.abs(v), own.y)
    np.testing.assert_allclose(h, G @ v, atol=1e-10)


def test_every_sample_has_the_overlap_and_seeds_repeat():
    problem = gaussian_instance(40, 1.7, seed=0)
    signs = sample_signs(problem, 2.0, 0.0, 0.5, samples=6, sweeps=3, seed=5)
    np.testing.assert_array_equal(signs @ problem.signs, 34)
    np.testing.assert_array_equal(signs, sample_signs(problem, 2.0, 0.0, 0.5, samples=6, sweeps=3, seed=5))
    assert (signs != sample_signs(problem, 2.0, 0.0, 0.5, samples=6, sweeps=3, seed=6)).any()


@pytest.mark.parametrize("lam", [0.0, 0.5])
def test_gaps_are_the_ridge_prediction(lam):
    problem = gaussian_instance(20, 1.6, seed=2)
    A, y = exact.normalised(problem)
    signs = np.array([problem.signs, -problem.signs])
    x = np.linalg.solve(A.T @ A + lam / 2 * np.eye(20), A.T @ (signs * y).T).T
    np.testing.assert_allclose(predicted_measurements(problem, signs, lam), x @ A.T, atol=1e-12)


@pytest.mark.parametrize(("mu", "lam"), [(2.5, 0.0), (2.5, 0.5)])
def test_residual_agrees_with_theory(mu, lam):
    """mse_y at fixed overlap, N = 200: the mean of 14 instances within 4 standard errors, some 1 %, and 1/N."""
    found = []
    for seed in range(14):
        problem = gaussian_instance(200, 1.7, seed=seed)
        signs = sample_signs(problem, mu, lam, 0.5, samples=5, sweeps=10, seed=seed)
        gaps = predicted_measurements(problem, signs, lam)
        found.append(np.mean((signs * problem.normalised.y - gaps) ** 2))
    predicted = saddle_point_at_sign_overlap(1.7, mu, lam, sign_overlap=0.5).mse_y
    error = np.std(found) / np.sqrt(len(found))
    assert error < 0.03 * predicted
    assert np.mean(found) == pytest.approx(predicted, abs=4 * error + predicted / 200)


def test_bad_input():
    problem = gaussian_instance(10, 1.5, seed=0)
    with pytest.raises(InputError, match="at least one must be right"):
        sample_signs(problem, 1.0, 0.0, 1.0, samples=1, sweeps=1, seed=0)
    with pytest.raises(InputError, match="x0 is known"):
        sample_signs(Instance(problem.A, problem.y), 1.0, 0.0, 0.5, samples=1, sweeps=1, seed=0)

"""The regression by Cholesky factors against the inverse, and its Metropolis chain against enumeration."""

import jax
import numpy as np
import pytest
from scipy import stats

from phaselect import Instance, gaussian_instance
from phaselect.backends.jax import random
from tests.backends.shapes import PROBLEM, ROWS, N, random_signs, result_of, there
from tests.exact import all_signs, gibbs, normalised, state_index


def couplings(problem, lam):
    ridge = problem.ridge.at(lam)
    return ridge.K, ridge.pull("residual")


def exact_couplings(problem):
    return problem.ridge.exact_couplings()


@pytest.mark.parametrize("lam", [0.0, 0.3])
@pytest.mark.parametrize(("dtype", "error"), [("float64", 1e-12), ("float32", 2e-6)])
def test_couplings_against_the_inverse(lam, dtype, error):
    problem = Instance(37.0 * PROBLEM.A, 0.1 * PROBLEM.y)
    B, _ = normalised(problem)
    expected = B @ np.linalg.inv(B.T @ B + lam / 2 * np.eye(N)) @ B.T
    K, pull = result_of(there(problem, dtype), couplings, lam)
    assert K.dtype == pull.dtype == dtype
    np.testing.assert_allclose(K, expected, atol=error)
    rest = np.eye(ROWS) - expected
    np.testing.assert_allclose(pull, np.eye(ROWS) - rest @ rest, atol=error)


def test_what_judges_an_answer_is_wide():
    """The couplings at lam = 0 of a float32 matrix: a projector to the last digit."""
    K = result_of(there(PROBLEM, "float32"), exact_couplings)
    assert K.dtype == "float64"
    np.testing.assert_allclose(K @ K, K, atol=1e-12)


def quench(problem, signs):
    return problem.ridge.at(0.0).energies(problem.ridge.at(0.0).copies(signs))


def test_a_rank_deficient_matrix_shows_as_nan():
    A = PROBLEM.A.copy()
    A[:, 1] = A[:, 0]
    assert np.isnan(result_of(there(Instance(A, PROBLEM.y)), exact_couplings)).all()
    energies = result_of(there(Instance(A, PROBLEM.y)), quench, random_signs((3, ROWS)))
    assert np.isnan(energies).all()


def test_keys_are_not_used_twice():
    first = random.seeded(np.array([3, 7], "uint32"))
    second, used = first.next()
    third, used_next = second.next()
    keys = [first.key, second.key, third.key, *(jax.random.key_data(key) for key in (used, used_next))]
    assert len({tuple(np.asarray(key).tolist()) for key in keys}) == 5


def test_random_numbers():
    with jax.enable_x64(True):
        following, normal = random.normal(random.seeded(np.array([3, 7], "uint32")), 10_000)
        numbers = []
        for _ in range(100):
            following, number = random.uniform(following)
            numbers.append(float(number))
    assert normal.dtype == number.dtype == "float64"
    assert stats.kstest(normal, "norm").pvalue > 1e-3
    assert stats.kstest(numbers, "uniform").pvalue > 1e-3


# ----------------------------------------------------------------------------------------- the chain at equilibrium


COPIES, LEVELS = 5_000, 3
SMALL = gaussian_instance(5, 9 / 5, seed=4)


def chi_square_p_value(counts, probabilities):
    """p-value of the counts, states with few expected counts merged into one."""
    expected = counts.sum() * probabilities
    rare = expected < 8
    merged = np.append(counts[~rare], counts[rare].sum()), np.append(expected[~rare], expected[rare].sum())
    return stats.chisquare(*(bins[merged[1] > 0] for bins in merged)).pvalue


def penalised(problem, signs, key, mu, lam):
    return anneal(problem, signs, key, mu, lam, "penalised")


def residual(problem, signs, key, mu, lam):
    return anneal(problem, signs, key, mu, lam, "residual")


def anneal(problem, signs, key, mu, lam, energy):
    ridge, seed = problem.ridge, random.Randomness(key)
    copies, after, accepted = ridge.anneal(
        ridge.at(lam[0]).copies(signs), mu, lam, 12, seed, energy=energy, by_fields=True
    )
    return copies.signs, copies.h, after.key, accepted


@pytest.mark.parametrize(("energy", "dtype"), [(penalised, "float32"), (residual, "float64")])
def test_the_chain_of_simulated_annealing_is_at_equilibrium(energy, dtype):
    """Many copies, each sampled once, through temperatures of which the last one counts."""
    mu, lam = np.array([0.3, 0.6, 1.0]), np.array([2.0, 1.0, 0.3])
    A, y = normalised(SMALL)
    if energy is penalised:
        probabilities, _ = gibbs(A, y, mu[-1], lam[-1])
    else:
        rest = np.eye(9) - A @ np.linalg.solve(A.T @ A + lam[-1] / 2 * np.eye(5), A.T)
        weights = np.exp(-mu[-1] * np.sum(((all_signs(9) * y) @ rest) ** 2, axis=1))
        probabilities = weights / weights.sum()
    assert probabilities.max() > 10 * np.median(probabilities)  # not what the copies start from
    key = np.array([1, 2], "uint32")
    signs, fields, after, accepted = result_of(there(SMALL, dtype), energy, random_signs((COPIES, 9)), key, mu, lam)
    assert chi_square_p_value(np.bincount(state_index(signs), minlength=512), probabilities) > 1e-3
    assert fields.dtype == dtype
    assert (after != key).any()
    assert 0.1 < accepted / (LEVELS * 12 * 9 * COPIES) < 0.9


def test_a_segment_can_be_cut():
    """Random numbers go on where they stopped; every temperature has its own."""
    own, signs, key = there(SMALL), random_signs((7, 9)), np.array([1, 2], "uint32")
    mu, lam = np.linspace(0.2, 0.5, 4), np.linspace(1, 0.5, 4)
    whole = result_of(own, penalised, signs, key, mu, lam)
    first = result_of(own, penalised, signs, key, mu[:2], lam[:2])
    second = result_of(own, penalised, 1.0 * first[0], first[2], mu[2:], lam[2:])
    for one, other in zip(whole[:3], second[:3], strict=True):
        np.testing.assert_array_equal(one, other)
    assert whole[3] == first[3] + second[3]
    assert (first[0] != signs).any()
    again = result_of(own, penalised, 1.0 * first[0], key, mu[2:], lam[2:])
    assert (again[0] != second[0]).any()

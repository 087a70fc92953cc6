"""The compiled kernels against enumeration, against the paper's pseudo-code, and against each other."""

import numpy as np
import pytest
from scipy import stats

from phaselect import Instance, Schedule, gaussian_instance
from phaselect.backends.host.flips import field_kernel, flip_energy, local_field, self_coupling, spectral_kernel
from phaselect.backends.host.random import next_random, proposal, random_chains, seeded
from phaselect.equations.signs import signs_of
from phaselect.experiments.pseudo_code import simulated_annealing
from tests.exact import all_signs, gibbs, normalised, state_index


def chi_square_p_value(counts, probabilities):
    """p-value of the counts, states with few expected counts merged into one."""
    expected = counts.sum() * probabilities
    rare = expected < 8
    merged = np.append(counts[~rare], counts[rare].sum()), np.append(expected[~rare], expected[rare].sum())
    return stats.chisquare(*(bins[merged[1] > 0] for bins in merged)).pvalue


def chain(seed):
    return random_chains(np.random.default_rng(seed), 1)[0]


def sample_spectral(problem, mu, lam, samples, thin, residual=False, in_order=False):
    spectral, state = problem.normalised.ridge, chain(1)
    v = problem.normalised.y.copy()
    c = spectral.coordinates(v)
    seen = np.empty((samples, v.size))
    for k in range(samples):
        one = np.array([mu]), np.array([lam])
        spectral_kernel(spectral.U, spectral.s2, spectral.leverage, v, c, *one, thin, residual, state, in_order)
        seen[k] = v
    return seen


def sample_fields(problem, mu, lam, samples, thin, in_order=False):
    G, state = problem.normalised.ridge.couplings(lam), chain(1)
    v = problem.normalised.y.astype(np.float32)
    h, self_energy = G @ v, v**2 * np.diag(G)
    seen = np.empty((samples, v.size))
    for k in range(samples):
        field_kernel(G, self_energy, v, h, mu, thin, state, in_order)
        seen[k] = v
    return seen


@pytest.mark.parametrize("sample", [sample_spectral, sample_fields])
@pytest.mark.parametrize(("mu", "lam", "in_order"), [(0.4, 0.7, False), (1.5, 0.3, True)])
def test_stationary_distribution(sample, mu, lam, in_order):
    problem = gaussian_instance(5, 9 / 5, seed=4)
    probabilities, _ = gibbs(*normalised(problem), mu, lam)
    seen = sample(problem, mu, lam, samples=12_000, thin=63, in_order=in_order)
    counts = np.bincount(state_index(seen), minlength=probabilities.size)
    assert chi_square_p_value(counts, probabilities) > 1e-3


def test_a_whole_number_of_sweeps_goes_in_order():
    """Very cold, from all the wrong signs of one diagonal coupling: every sign is asked once per sweep."""
    A = np.vstack([np.eye(30), np.eye(30)[:1]])
    ridge = Instance(A, np.abs(A @ np.ones(30))).normalised.ridge
    copies = ridge.at(0.0).copies(-np.ones((1, 31)))
    hot, lam = np.array([1e-9]), np.array([1.0])  # whatever is proposed is accepted
    for sweeps, order in ((1, True), (1.0, False)):
        random = seeded([1], chains=1)
        found = ridge.anneal(copies, hot, lam, sweeps, random, energy="penalised", by_fields=False)[0]
        assert (found.signs == 1).all() == order


def test_stationary_distribution_of_the_residual_energy():
    problem = gaussian_instance(4, 2.0, seed=5)
    A, y = normalised(problem)
    mu, lam = 1.0, 0.8
    I_minus_K = np.eye(8) - A @ np.linalg.solve(A.T @ A + lam / 2 * np.eye(4), A.T)
    weights = np.exp(-mu * np.sum(((all_signs(8) * y) @ I_minus_K) ** 2, axis=1))
    seen = sample_spectral(problem, mu, lam, 20_000, 60, residual=True)
    counts = np.bincount(state_index(seen), minlength=256)
    assert chi_square_p_value(counts, weights / weights.sum()) > 1e-3


@pytest.mark.parametrize("n", [20, 100])
def test_spectral_kernel_makes_the_moves_of_the_pseudo_code(n):
    problem = gaussian_instance(n, 1.3, seed=2)
    A, y = normalised(problem)
    spectral = problem.normalised.ridge
    mu = Schedule.matched(mu_max=50, eps=0.2).mu
    S = signs_of(np.random.default_rng(0).standard_normal(y.size))
    v = S * problem.normalised.y
    c = spectral.coordinates(v)
    ours, theirs = chain(7), chain(7)
    expected = simulated_annealing(A, y, mu, 1 / mu, 200, S, theirs)
    accepted = []
    for mu_t in mu:
        for _ in range(200):
            one = np.array([mu_t])
            arrays = spectral.U, spectral.s2, spectral.leverage, v, c
            accepted.append(bool(spectral_kernel(*arrays, one, 1 / one, 1, False, ours)))
    assert accepted == expected
    assert 0.1 < np.mean(expected) < 0.9
    np.testing.assert_array_equal(signs_of(v), S)
    np.testing.assert_allclose(c, spectral.coordinates(v), atol=1e-10)


def test_both_kernels_run_the_same_chain():
    problem = gaussian_instance(60, 1.3, seed=3)
    runs = [seen(problem, 3.0, 0.4, samples=300, thin=20) for seen in (sample_spectral, sample_fields)]
    np.testing.assert_array_equal(*(np.sign(run) for run in runs))


def test_flip_energy_is_the_difference_of_energies():
    problem = gaussian_instance(15, 1.4, seed=0)
    spectral = problem.normalised.ridge
    v = problem.normalised.y.copy()
    w = spectral.weights(0.3)
    c = spectral.coordinates(v)
    for i in range(v.size):
        flipped = v.copy()
        flipped[i] *= -1
        after, before = spectral.at(0.3).regress(np.stack([flipped, v])).energy
        change = flip_energy(v[i], local_field(spectral.U, i, w * c), self_coupling(spectral.U, i, w))
        assert change == pytest.approx(after - before, abs=1e-10)


def test_random_numbers():
    """The first outputs of xoshiro256++ from the state (1, 2, 3, 4), as its authors' code gives them."""
    state = np.array([1, 2, 3, 4], dtype=np.uint64)
    assert [int(next_random(state)) for _ in range(4)] == [
        41943041,
        58720359,
        3588806011781223,
        3591011842654386,
    ]
    state = chain(0)
    index, u = np.array([proposal(state, 7) for _ in range(20_000)]).T
    assert stats.chisquare(np.bincount(index.astype(int), minlength=7)).pvalue > 1e-3
    assert stats.kstest(u, "uniform").pvalue > 1e-3
    assert abs(np.corrcoef(index, u)[0, 1]) < 4 / np.sqrt(index.size)

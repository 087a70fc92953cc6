"""The compiled kernels against enumeration, against the paper's pseudo-code, and against each other."""

import numpy as np
import pytest
from phaselect.problem.spectrum import spectrum
from phaselect.solvers._metropolis import (
    field_kernel,
    flip_energy,
    local_field,
    next_random,
    proposal,
    random_state,
    self_coupling,
    spectral_kernel,
)
from scipy import stats

from phaselect import Schedule, SimulatedAnnealing, gaussian_instance
from phaselect.problem.instance import signs_of
from tests.exact import all_signs, gibbs, normalised, state_index
from tests.pseudo_code import simulated_annealing


def chi_square_p_value(counts, probabilities):
    """p-value of the counts, states with few expected counts merged into one."""
    expected = counts.sum() * probabilities
    rare = expected < 8
    merged = np.append(counts[~rare], counts[rare].sum()), np.append(expected[~rare], expected[rare].sum())
    return stats.chisquare(*(bins[merged[1] > 0] for bins in merged)).pvalue


def sample_spectral(problem, mu, lam, samples, thin, residual=False):
    spectral, state = spectrum(problem), random_state(np.random.default_rng(1))
    v = problem.target.copy()
    c = spectral.coordinates(v)
    seen = np.empty((samples, v.size))
    for k in range(samples):
        one = np.array([mu]), np.array([lam])
        spectral_kernel(spectral.U, spectral.s2, spectral.leverage, v, c, *one, thin, residual, state)
        seen[k] = v
    return seen


def sample_fields(problem, mu, lam, samples, thin):
    G, state = spectrum(problem).couplings(lam), random_state(np.random.default_rng(1))
    v = problem.target.astype(np.float32)
    h, self_energy = G @ v, v**2 * np.diag(G)
    seen = np.empty((samples, v.size))
    for k in range(samples):
        field_kernel(G, self_energy, v, h, mu, thin, state)
        seen[k] = v
    return seen


@pytest.mark.parametrize("sample", [sample_spectral, sample_fields])
@pytest.mark.parametrize(("mu", "lam"), [(0.4, 0.7), (1.5, 0.3)])
def test_stationary_distribution(sample, mu, lam):
    problem = gaussian_instance(5, 9 / 5, seed=4)
    probabilities, _ = gibbs(*normalised(problem), mu, lam)
    seen = sample(problem, mu, lam, samples=40_000, thin=100)
    counts = np.bincount(state_index(seen), minlength=probabilities.size)
    assert chi_square_p_value(counts, probabilities) > 1e-3


def test_stationary_distribution_of_the_residual_energy():
    problem = gaussian_instance(4, 2.0, seed=5)
    A, y = normalised(problem)
    mu, lam = 1.0, 0.8
    I_minus_K = np.eye(8) - A @ np.linalg.solve(A.T @ A + lam / 2 * np.eye(4), A.T)
    weights = np.exp(-mu * np.sum(((all_signs(8) * y) @ I_minus_K) ** 2, axis=1))
    seen = sample_spectral(problem, mu, lam, 40_000, 80, residual=True)
    counts = np.bincount(state_index(seen), minlength=256)
    assert chi_square_p_value(counts, weights / weights.sum()) > 1e-3


@pytest.mark.parametrize("n", [20, 100])
def test_spectral_kernel_makes_the_moves_of_the_pseudo_code(n):
    problem = gaussian_instance(n, 1.3, seed=2)
    A, y = normalised(problem)
    spectral = spectrum(problem)
    mu = Schedule.matched(mu_max=50, eps=0.2).mu
    S = signs_of(np.random.default_rng(0).standard_normal(y.size))
    v = S * problem.target
    c = spectral.coordinates(v)
    ours, theirs = (random_state(np.random.default_rng(7)) for _ in range(2))
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
    spectral = spectrum(problem)
    v = problem.target.copy()
    w = spectral.weights(0.3)
    c = spectral.coordinates(v)
    for i in range(v.size):
        flipped = v.copy()
        flipped[i] *= -1
        exact = spectral.energy(spectral.coordinates(flipped), 0.3) - spectral.energy(c, 0.3)
        assert flip_energy(v[i], local_field(spectral.U, i, w * c), self_coupling(spectral.U, i, w)) == pytest.approx(
            float(exact), abs=1e-10
        )


def test_random_numbers():
    """The first outputs of xoshiro256++ from the state (1, 2, 3, 4), as its authors' code gives them."""
    state = np.array([1, 2, 3, 4], dtype=np.uint64)
    assert [int(next_random(state)) for _ in range(4)] == [
        41943041,
        58720359,
        3588806011781223,
        3591011842654386,
    ]
    draws = [proposal(random_state(np.random.default_rng(0)), 7) for _ in range(1)]
    assert 0 <= draws[0][0] < 7
    state = random_state(np.random.default_rng(0))
    index, u = np.array([proposal(state, 7) for _ in range(70_000)]).T
    assert stats.chisquare(np.bincount(index.astype(int), minlength=7)).pvalue > 1e-3
    assert stats.kstest(u, "uniform").pvalue > 1e-3
    assert abs(np.corrcoef(index, u)[0, 1]) < 0.02


def test_the_kernel_follows_the_time_spent_at_each_lam():
    problem = gaussian_instance(20, 1.5, seed=0)
    solver, rng = SimulatedAnnealing(), np.random.default_rng(0)

    def uses_fields(schedule):
        return solver.start(problem, schedule, rng, None).use_fields

    assert uses_fields(Schedule.matched(steps=100))
    assert not uses_fields(Schedule.matched(steps=1))
    assert not uses_fields(Schedule.matched(steps=100, unit="proposals"))
    assert uses_fields(Schedule.fixed_lambda(0.1, steps=1))  # one lam for all its sweeps


def test_literal_proposals_are_counted_as_such():
    problem = gaussian_instance(20, 1.5, seed=0)
    schedule = Schedule.matched(mu_max=10, steps=100, unit="proposals")
    result = SimulatedAnnealing(eager=False).run(problem, schedule)
    assert result.steps == 100 * len(schedule)

import numpy as np
import pytest
from phaselect.problem.spectrum import spectrum
from phaselect.solvers.least_squares import least_squares, looks_full_rank

from phaselect import Instance, gaussian_instance
from phaselect.solvers.finish import finish_signs, finish_x, greedy, quenched
from tests.exact import all_signs, energies, normalised, state_index


def test_greedy_ends_in_a_local_minimum_by_enumeration():
    problem = gaussian_instance(6, 12 / 6, seed=0)
    energy = energies(*normalised(problem), 0.0)
    for start in all_signs(12)[::500]:
        end = greedy(spectrum(problem), start)
        neighbours = end * (1 - 2 * np.eye(12))
        here = energy[state_index(end)[0]]
        assert here <= energy[state_index(start)[0]]
        assert here <= energy[state_index(neighbours)].min() + 1e-12


def test_greedy_repairs_a_few_wrong_signs():
    problem = gaussian_instance(100, 1.4, seed=0)
    signs = problem.signs.copy()
    signs[np.argsort(problem.y)[:5]] *= -1
    np.testing.assert_array_equal(greedy(spectrum(problem), signs), problem.signs)
    estimate = finish_signs(problem, signs, 0.0, noiseless=True)
    np.testing.assert_allclose(estimate.x * problem.x_scale, problem.x0, rtol=1e-10)


def test_least_squares_against_numpy():
    problem = gaussian_instance(80, 1.2, seed=0)
    A, _ = normalised(problem)
    v = np.random.default_rng(0).standard_normal(problem.m_rows)
    x = least_squares(problem, v, np.zeros(80))
    np.testing.assert_allclose(x, np.linalg.lstsq(A, v, rcond=None)[0], rtol=1e-9, atol=1e-11)


def test_an_estimate_near_the_truth_is_refined_to_full_precision():
    problem = gaussian_instance(100, 1.3, seed=0)
    near = problem.target_x0 + 1e-4 * np.random.default_rng(0).standard_normal(100)
    estimate = finish_x(problem, near, noiseless=True)
    np.testing.assert_allclose(estimate.x, problem.target_x0, atol=1e-12)
    assert estimate.rank == 100


def test_a_wrong_sign_at_a_tiny_magnitude_is_repaired_without_an_svd():
    rng = np.random.default_rng(0)
    A, x0 = rng.standard_normal((130, 100)) / 10, rng.standard_normal(100)
    A[7] -= (A[7] @ x0 - 1e-5) * x0 / (x0 @ x0)  # measurement 7 is 1e-5
    problem = Instance(A, np.abs(A @ x0), x0)
    near = problem.target_x0 - 1e-4 * problem.A[7]
    assert problem.A[7] @ near < 0 < problem.A[7] @ x0
    estimate = finish_x(problem, near, noiseless=True)
    np.testing.assert_allclose(estimate.x, problem.target_x0, atol=1e-11)


def test_rank_deficiency_is_noticed_without_an_svd():
    problem = gaussian_instance(50, 1.5, seed=0)
    A = problem.A.copy()
    A[:, 3] = A[:, 4]
    twin = Instance(A, np.abs(A @ problem.x0), problem.x0)
    assert finish_x(twin, twin.target_x0, noiseless=True).rank == 49
    assert not looks_full_rank(twin)
    assert looks_full_rank(problem)


def test_rank_deficiency_is_noticed_for_every_pair_of_twin_columns():
    problem = gaussian_instance(200, 1.5, seed=0)
    for k in range(0, 200, 10):
        A = problem.A.copy()
        A[:, k] = A[:, (7 * k + 3) % 200]
        assert not looks_full_rank(Instance(A, np.abs(A @ problem.x0)))


def test_nearly_parallel_columns_are_told_apart():
    problem = gaussian_instance(100, 1.5, seed=0)
    A = problem.A.copy()
    A[:, 1] = A[:, 0] + 1e-6 * A[:, 1]
    near = Instance(A, np.abs(A @ problem.x0), problem.x0)
    merged = near.target_x0.copy()
    merged[:2] = merged[:2].mean()  # what cannot be seen at a residual of 1e-6
    estimate = finish_x(near, merged, noiseless=True)
    np.testing.assert_allclose(estimate.x, near.target_x0, atol=1e-6)


def test_a_column_in_tiny_units_is_found_all_the_same():
    problem = gaussian_instance(400, 1.5, seed=0)
    A = problem.A.copy()
    A[:, 1] *= 1e-7
    tiny = Instance(A, np.abs(A @ problem.x0), problem.x0)
    estimate = finish_x(tiny, tiny.target_x0 * (1 - np.eye(400)[1]), noiseless=True)
    np.testing.assert_allclose(estimate.x, tiny.target_x0, rtol=1e-6)


def test_quenched_is_looked_at_now_and_then():
    problem = gaussian_instance(20, 1.5, seed=0)
    assert np.isnan(quenched(problem, problem.signs, 1.0, 1.9))
    assert np.isnan(quenched(problem, problem.signs, 3.10, 3.11))
    assert quenched(problem, problem.signs, 2.9, 5.0) == pytest.approx(0, abs=1e-14)

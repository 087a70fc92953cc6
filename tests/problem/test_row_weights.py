"""Row weights: 1/|a_i| where exact data have uneven rows, 1/sigma_i where noise is given per row, else one."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

from phaselect import AMP, InputError, Instance, PopulationAnnealing, Schedule, Status, gaussian_instance, solve
from phaselect.equations.signs import mse_x

PROBLEM = gaussian_instance(100, 1.6, seed=0)
SPREAD = 10.0 ** np.random.default_rng(1).uniform(-4, 4, 160)


def scaled(factors, problem=PROBLEM):
    """Rows times factors, and the readings with them: the same x0."""
    A = factors[:, None] * problem.A
    return Instance(A, np.abs(A @ problem.x0), problem.x0)


@pytest.mark.parametrize("n", [20, 50, 200])
def test_even_rows_have_weight_one(n):
    for seed in range(20):
        assert (gaussian_instance(n, 1.3, seed=seed).weights == 1).all()


@pytest.mark.parametrize("unit", [1e-120, 1e-90, 1e90, 1e120])
def test_units_far_from_one_do_not_decide_what_is_even(unit):
    """The fourth powers of such entries are not numbers of float64."""
    assert (Instance(unit * PROBLEM.A, unit * PROBLEM.y).weights == 1).all()
    uneven = scaled(unit * np.where(np.arange(160) % 2, 30.0, 1.0))
    np.testing.assert_allclose(uneven.weights, 1 / np.linalg.norm(uneven.A / unit, axis=1) / unit, rtol=1e-9)


def test_rows_too_small_for_their_squares_count_as_zeros():
    problem = scaled(np.where(np.arange(160) < 10, 10.0 ** -(150 + 2 * np.arange(160)), SPREAD))
    assert problem.normalised.m_rows == 150
    assert solve(problem).certified


def test_uneven_rows_of_exact_data_are_divided_by_their_norms():
    problem = scaled(SPREAD)
    np.testing.assert_allclose(problem.weights, 1 / np.linalg.norm(problem.A, axis=1), rtol=1e-12)
    rows = problem.units.scale[:, None] * problem.A
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-12)
    own = problem.normalised
    np.testing.assert_allclose(np.abs(own.forward(own.x0)), own.y, rtol=1e-9)
    np.testing.assert_allclose(own.x0 * problem.units.x_scale, PROBLEM.x0, rtol=1e-12)


def test_what_the_rows_were_multiplied_by_makes_no_difference():
    """The normalised problem is that of rows of norm one, up to rounding."""
    by_spread, by_one = scaled(SPREAD).normalised, scaled(1 / np.linalg.norm(PROBLEM.A, axis=1)).normalised
    np.testing.assert_allclose(by_spread.y, by_one.y, rtol=1e-10)
    np.testing.assert_allclose(by_spread.x0, by_one.x0, rtol=1e-12)


@pytest.mark.parametrize("find", [solve, AMP().run], ids=["solve", "amp"])
@pytest.mark.parametrize("factors", [SPREAD, np.where(np.arange(160) % 2, 1e3, 1e-3)], ids=["spread", "two kinds"])
def test_uneven_rows_are_recovered(find, factors):
    found = find(scaled(factors))
    assert found.status is Status.RECOVERED
    assert found.solver == "amp"
    assert mse_x(PROBLEM.x0, found.x) < 1e-18  # x in the units of the data
    np.testing.assert_array_equal(found.signs * found.signs[0], PROBLEM.signs * PROBLEM.signs[0])
    assert found.truth["m"] == pytest.approx(1)


def test_a_start_is_in_the_units_of_the_data_too():
    cold = Schedule([1e6], [1e-6], steps=1, unit="iterations")
    for init in (PROBLEM.x0, PROBLEM.signs):
        assert PopulationAnnealing(4).run(scaled(SPREAD), cold, init=init).certified
    assert AMP(restarts=0).run(scaled(SPREAD), cold, init=PROBLEM.x0).certified


def test_uneven_rows_in_single_precision():
    A = (SPREAD[:, None] * PROBLEM.A).astype(np.float32)
    found = solve(A, np.abs(A.astype(np.float64) @ PROBLEM.x0))
    assert found.certified
    assert mse_x(PROBLEM.x0, found.x) < 1e-18


def test_operators_have_weight_one():
    """Their rows cannot be told apart."""
    A = SPREAD[:, None] * PROBLEM.A
    assert (Instance(aslinearoperator(A), np.abs(A @ PROBLEM.x0)).weights == 1).all()


def test_one_noise_for_all_leaves_rows_as_they_are():
    problem = scaled(np.where(np.arange(160) < 5, 30.0, 1.0))
    assert not (problem.weights == 1).all()
    assert (problem.with_noise(1e-3).weights == 1).all()


def test_noise_per_row_weights_by_its_inverse():
    variance = 10.0 ** np.random.default_rng(2).uniform(-7, -3, 160)
    problem = Instance(PROBLEM.A, PROBLEM.y, noise=variance)
    np.testing.assert_allclose(problem.weights, np.sqrt(variance.min() / variance), rtol=1e-12)
    # every weighted measurement has noise of variance one, so its level is that over the weighted power
    assert problem.noise_level == pytest.approx(1 / np.mean(PROBLEM.y**2 / variance))


def test_the_noisy_estimate_is_that_of_weighted_least_squares():
    """With the signs known, the best estimate weights by 1/sigma; even weights are far worse at this spread."""
    variance = 10.0 ** np.random.default_rng(2).uniform(-8, -3, 160)
    z = PROBLEM.A @ PROBLEM.x0
    y = np.abs(z + np.sqrt(variance) * np.random.default_rng(3).standard_normal(160))
    signs, weight = np.sign(z), 1 / np.sqrt(variance)
    best = np.linalg.lstsq(weight[:, None] * PROBLEM.A, weight * signs * y, rcond=None)[0]
    even = np.linalg.lstsq(PROBLEM.A, signs * y, rcond=None)[0]
    found = solve(Instance(PROBLEM.A, y, PROBLEM.x0), noise=variance)
    assert found.status is Status.ESTIMATE
    assert mse_x(best, found.x) < 0.2 * mse_x(PROBLEM.x0, best)  # up to the prior and signs at small y
    assert mse_x(PROBLEM.x0, found.x) < 0.2 * mse_x(PROBLEM.x0, even)


def with_rows_of_zeros(factors=None):
    A = np.insert(PROBLEM.A if factors is None else factors[:, None] * PROBLEM.A, [0, 7, 160], 0.0, axis=0)
    return Instance(A, np.abs(A @ PROBLEM.x0), PROBLEM.x0), np.flatnonzero(~A.any(axis=1))


@pytest.mark.parametrize("factors", [None, SPREAD], ids=["even", "uneven"])
def test_rows_of_zeros_are_left_out(factors):
    problem, zeros = with_rows_of_zeros(factors)
    assert (problem.m_rows, problem.normalised.m_rows) == (163, 160)
    assert problem.weights.shape == (160,)
    found = solve(problem)
    assert found.certified
    assert found.signs.shape == (163,)
    assert (found.signs[zeros] == 1).all()
    assert mse_x(PROBLEM.x0, found.x) < 1e-18
    without = solve(PROBLEM if factors is None else scaled(factors))
    np.testing.assert_allclose(found.x, without.x, rtol=1e-9)


def test_signs_to_start_from_may_have_places_for_rows_of_zeros():
    problem, _ = with_rows_of_zeros()
    cold = Schedule([1e6], [1e-6], steps=1)
    assert PopulationAnnealing(4).run(problem, cold, init=problem.signs).certified


def test_rows_of_zeros_in_other_data():
    problem, zeros = with_rows_of_zeros()
    y = problem.y.copy()
    y[zeros[1]] = 0.1
    with pytest.raises(InputError, match=rf"row {zeros[1]} of A is all zeros, but y\[{zeros[1]}\] = 0.1") as caught:
        Instance(problem.A, y)
    assert "\n" not in str(caught.value)
    assert Instance(problem.A, y, noise=1e-2).normalised.m_rows == 160  # that is what noise looks like
    with pytest.raises(InputError, match=r"100 measurements, rows of zeros aside, for 100 unknowns.*alpha"):
        solve(np.where(np.arange(160)[:, None] < 100, PROBLEM.A, 0), PROBLEM.y * (np.arange(160) < 100))


def test_rows_of_zeros_with_noise_per_row():
    problem, _ = with_rows_of_zeros()
    noisy = problem.with_noise(np.linspace(1e-5, 1e-4, 163))
    kept = noisy.noise[problem.kept]
    np.testing.assert_allclose(noisy.weights, np.sqrt(kept.min() / kept))
    assert solve(noisy).status is Status.ESTIMATE


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array])
def test_sparse_matrices_are_weighted_as_dense_ones(kind):
    problem = gaussian_instance(40, 1.8, seed=0)
    A = problem.A * np.random.default_rng(0).lognormal(0, 2, 72)[:, None]
    A[5] = 0
    y = np.abs(A @ problem.x0)
    dense, thin = Instance(A, y), Instance(kind(A), y)
    np.testing.assert_allclose(thin.weights, dense.weights)
    np.testing.assert_array_equal(thin.kept, dense.kept)
    result = AMP().run(thin, seed=1)
    assert result.certified
    np.testing.assert_allclose(np.abs(result.x), np.abs(problem.x0), atol=1e-8)
    with pytest.raises(InputError, match="row 5 of A is all zeros"):
        Instance(kind(A), y + np.eye(72)[5])


def test_an_svd_is_not_shared_between_weightings():
    problem = gaussian_instance(20, 1.8, seed=0)
    before = problem.normalised.ridge.s2
    noisy = problem.with_noise(np.linspace(1e-3, 1e-1, 36))
    assert not np.allclose(noisy.normalised.ridge.s2, before)
    assert problem.with_noise(1e-3).normalised.ridge is problem.normalised.ridge


def test_an_svd_is_of_the_data_it_was_made_for():
    problem = gaussian_instance(20, 1.8, seed=0)
    first = Instance((problem.measure, problem.backproject), problem.y).with_noise(1e-3)
    _ = first.normalised.ridge
    other = replace(first, y=np.abs(problem.A @ np.arange(20.0)), noise=None)
    np.testing.assert_array_equal(other.normalised.ridge.y, other.normalised.y)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_an_instance_is_pickled_without_its_svd(kind):
    problem = gaussian_instance(20, 1.8, seed=0)
    before = Instance(kind(problem.A), problem.y)
    _ = before.normalised.ridge
    after = pickle.loads(pickle.dumps(before))
    np.testing.assert_array_equal(AMP().run(after).x, AMP().run(Instance(kind(problem.A), problem.y)).x)

import numpy as np
import pytest

from phaselect import gaussian_instance
from phaselect.equations.signs import against_truth, estimate_columns, excess, mse_x, overlap, sign_overlap, signs_of


def test_zero_counts_as_plus():
    assert signs_of(np.array([-0.0, 0.0, -1e-300, 3.0])).tolist() == [1, 1, -1, 1]


def test_observables_ignore_the_global_sign_and_the_units():
    problem = gaussian_instance(50, 1.5, seed=0)
    x = problem.x0 + 0.1 * np.random.default_rng(1).standard_normal(50)
    signs = np.sign(problem.A @ x)
    for factor in (1, -1):
        assert overlap(problem.x0, factor * x) == pytest.approx(problem.x0 @ x / 50)
        assert mse_x(problem.x0, factor * x) == pytest.approx(np.sum((problem.x0 - x) ** 2) / 50)
        assert sign_overlap(problem.signs, factor * signs) == pytest.approx(problem.signs @ signs / 75)
    found = against_truth(problem.x0, problem.signs, x, signs)
    assert against_truth(2 * problem.x0, problem.signs, 2 * x, -signs) == pytest.approx(found)
    assert np.isnan(sign_overlap(np.float64(np.nan), np.stack([signs, signs]))).tolist() == [True, True]
    assert np.isnan(list(against_truth(*np.full((2, 1), np.nan)[:, 0], x, signs).values())).all()


def test_columns_of_an_estimate_are_the_energies_of_the_paper():
    """eq:energies: min over S of `|S*y - A x|^2 + lam/2 |x|^2`, over N."""
    rng = np.random.default_rng(0)
    A, x0, x, lam = rng.standard_normal((9, 4)), rng.standard_normal(4), rng.standard_normal(4), 0.7
    y, z = np.abs(A @ x0), A @ x
    row = estimate_columns(y, x0, np.sign(A @ x0), x, z, lam)
    best = np.sign(z)
    assert row["mse_y"] == pytest.approx(np.mean((best * y - z) ** 2))
    assert row["energy"] == pytest.approx((np.sum((best * y - z) ** 2) + lam / 2 * x @ x) / 4)
    assert row["q1"] == pytest.approx(x @ x / 4)
    assert row["m"] == pytest.approx(abs(x0 @ x) / (x0 @ x0))
    assert row["O"] == pytest.approx(abs(np.sign(A @ x0) @ best) / 9)


def test_the_worst_measurement_counts_by_its_own_rounding():
    sizes = np.array([1.0, 1e-6, 2.0])
    assert excess(np.array([3e-16, -6e-22, 2e-16]), sizes, 1e-16) == pytest.approx(6)
    assert excess(np.zeros(3), 0 * sizes, 1e-16) == 0

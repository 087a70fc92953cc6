"""Columns in units far apart, coarse data and rounded zeros: no certificate that is wrong, no rival that is none."""

import numpy as np
import pytest

from phaselect import Status, solve


def in_other_units(factor, dtype="float64"):
    rng = np.random.default_rng(1)
    A = rng.standard_normal((40, 20))
    A[:, 2] *= factor
    A = A.astype(dtype)
    return A, rng.standard_normal(20)


@pytest.mark.parametrize(("factor", "dtype"), [(1e18, "float64"), (1e7, "float32"), (1e6, "float32")])
def test_entries_that_rounding_hides_are_not_certified(factor, dtype):
    """A long column makes entries behind the others rounding errors, though the fit is exact."""
    A, x0 = in_other_units(factor, dtype)
    result = solve(A, np.abs(A.astype(float) @ x0).astype(dtype), time_limit=3)
    assert not result.certified


def test_powers_of_large_numbers_are_not_certified():
    rng = np.random.default_rng(0)
    A = np.vander(np.sort(rng.uniform(-1e4, 1e4, 30)), 6)
    result = solve(A, np.abs(A @ rng.standard_normal(6)))
    assert result.status is Status.UNCERTIFIED
    assert "similar lengths" in result.reason


def test_units_that_leave_every_entry_known_are_certified():
    A, x0 = in_other_units(1e6)
    result = solve(A, np.abs(A @ x0))
    assert result.certified
    np.testing.assert_allclose(np.abs(result.x), np.abs(x0), rtol=1e-6)


@pytest.mark.parametrize("rounding", [0.02, 0.3])
def test_data_may_be_too_coarse_to_look_at(rounding):
    rng = np.random.default_rng(1)
    A, x0 = rng.standard_normal((60, 20)), rng.standard_normal(20)
    result = solve(A, np.abs(A @ x0) * (1 + rounding * rng.uniform(-0.5, 0.5, 60)), rounding=rounding, time_limit=5)
    assert not result.certified
    assert result.rival is None


def test_an_answer_is_no_rival_of_itself():
    """Where a measurement is a rounded zero, its sign means nothing."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        A, x0 = rng.standard_normal((3, 2)), rng.standard_normal(2)
        A[0] -= A[0] @ x0 / (x0 @ x0) * x0
        result = solve(A, np.abs(A @ x0), time_limit=2)
        if result.rival is not None:
            turned = np.sign(result.rival @ result.x) * result.rival
            assert np.abs(turned - result.x).max() > 1e-6 * np.abs(result.x).max()


def test_one_measurement_that_is_not_zero():
    A = np.random.default_rng(1).standard_normal((40, 8))
    assert not solve(A, np.eye(40)[0], time_limit=2).certified


def test_complex_data_with_many_zeros_begin_with_a_solver_that_knows_phases():
    rng = np.random.default_rng(0)
    A, x0 = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape) for shape in ((120, 30), 30))
    A *= rng.random(A.shape) < 0.2
    result = solve(A, np.abs(A @ x0), time_limit=10)
    assert result.stages[0].solver == "vmp"
    assert result.mse_y < 1e-20

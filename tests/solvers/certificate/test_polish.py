"""Answers that all but fit come out to all digits."""

import jax
import numpy as np
import pytest

from phaselect import AMP, Instance, gaussian_instance
from phaselect.problem.instance_batches import as_batch
from phaselect.solvers.certificate.digits import cleaned
from phaselect.solvers.certificate.polish import polished, worth_polishing
from phaselect.solvers.cohort import Cohort, Together
from phaselect.solvers.endings import polish_signs
from phaselect.solvers.finish import EXACT, take_as_it_is

rng = np.random.default_rng(0)


def uneven_columns():
    A = rng.standard_normal((90, 60)) * 10.0 ** rng.uniform(-8, 8, 60)
    x0 = rng.standard_normal(60)
    return Instance(A, np.abs(A @ x0), x0)


def sparse_signal():
    """A row that sees nothing but what is zero forgives nothing."""
    A, x0 = np.kron(np.eye(2), rng.standard_normal((40, 30))), np.zeros(60)
    x0[:30] = rng.standard_normal(30)
    return Instance(A, np.abs(A @ x0), x0)


@pytest.mark.parametrize("make", [uneven_columns, sparse_signal])
def test_the_right_answer_is_computed_to_all_digits(make):
    own = make().normalised
    near = own.x0 + 1e-15 * np.abs(own.x0).max() * rng.standard_normal(60)
    near = np.where(own.x0 == 0, near, own.x0 * (1 + 1e-12 * rng.standard_normal(60)))
    given = take_as_it_is(own, near)
    assert given.excess > 100 * EXACT
    assert worth_polishing(given)
    better = polished(own, given)
    assert better.excess < EXACT
    np.testing.assert_array_equal(better.x == 0, own.x0 == 0)


def test_no_polish_makes_noisy_data_fit():
    problem = gaussian_instance(60, 1.5, seed=0)
    own = Instance(problem.A, problem.y * (1 + 1e-6 * rng.standard_normal(90)), problem.x0).normalised
    given = take_as_it_is(own, own.x0)
    assert worth_polishing(given)
    assert polished(own, given).excess > 1e6


def test_groups_that_hardly_hang_together_are_flipped():
    """Two blocks, joined by a single entry: with the wrong relative sign hardly anything is left."""
    A, x0 = np.kron(np.eye(2), rng.standard_normal((60, 45))), rng.standard_normal(90)
    A[0, 45] = 1e-3
    problem = Instance(A, np.abs(A @ x0), x0)
    own = problem.normalised
    wrong = take_as_it_is(own, np.where(np.arange(90) < 45, own.x0, -own.x0))
    assert 1e-20 < wrong.fit < 1e-6
    assert polished(own, wrong).excess < EXACT


def test_members_of_a_batch_are_polished_one_by_one():
    """What comes from a device cannot be written to."""
    device = jax.devices("cpu")[0]
    stacked, _ = as_batch([gaussian_instance(60, 1.5, seed=seed) for seed in range(3)]).stacked(
        [0, 1, 2], device, "float64"
    )
    cohort = Cohort(AMP(), stacked, Together(device))
    x0 = np.asarray(stacked.x0)
    answers = cohort.take_as_it_is(x0 * np.array([[1.0], [1 + 1e-9], [1 + 1e-2]]))
    better = polish_signs(cohort, answers)
    assert (answers.excess < EXACT).tolist() == [True, False, False]
    assert (better.excess < EXACT).tolist() == [True, True, False]
    np.testing.assert_array_equal(better.x[[0, 2]], answers.x[[0, 2]])
    np.testing.assert_allclose(better.x[1], x0[1], rtol=1e-12)


def test_only_what_is_nothing_is_cleaned():
    A = rng.standard_normal((20, 4)) * [1.0, 1e-8, 1e8, 1.0]
    x = np.array([1.0, 1e8, 1e-8, 1e-17])
    np.testing.assert_array_equal(cleaned(A, x), [1.0, 1e8, 1e-8, 0.0])

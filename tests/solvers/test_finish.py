import numpy as np

from phaselect import Instance, gaussian_instance
from phaselect.solvers.certificate.judge import probes
from phaselect.solvers.finish import (
    WORTH_REFINING,
    examine,
    refine_estimate,
    refine_signs,
    settle_estimate,
    take_as_it_is,
)


def full_rank(problem):
    own = problem.normalised
    return examine(own, probes(0, own.m_rows, own.n)).full_rank


def refined(problem, x):
    return refine_estimate(problem.normalised, x).x


def test_true_signs_give_the_signal():
    problem = gaussian_instance(100, 1.4, seed=0)
    own = problem.normalised
    answer = refine_signs(own, own.signs)
    np.testing.assert_allclose(answer.x * problem.units.x_scale, problem.x0, rtol=1e-10)
    assert answer.fit < 1e-25
    assert answer.excess < 4


def test_an_estimate_near_the_truth_is_refined_to_full_precision():
    problem = gaussian_instance(100, 1.3, seed=0)
    own = problem.normalised
    near = own.x0 + 1e-4 * np.random.default_rng(0).standard_normal(100)
    answer = refine_estimate(own, near)
    np.testing.assert_allclose(answer.x, own.x0, atol=1e-12)
    np.testing.assert_array_equal(answer.signs, own.signs)
    assert full_rank(problem)


def test_a_failure_is_left_as_it_is():
    own = gaussian_instance(100, 1.3, seed=0).normalised
    far = own.x0 + np.random.default_rng(0).standard_normal(100)
    answer, given = refine_estimate(own, far), take_as_it_is(own, far)
    assert given.fit > WORTH_REFINING
    np.testing.assert_array_equal(answer.x, far)
    np.testing.assert_allclose(given.fit, np.mean((own.y - np.abs(own.forward(far))) ** 2))


def test_the_answer_and_its_support_are_those_of_each_alone():
    """With the steps of the longer of both."""
    own = gaussian_instance(100, 1.3, seed=0).normalised
    near, probe = own.x0 + 1e-4 * np.random.default_rng(0).standard_normal(100), probes(0, own.m_rows, own.n)
    answer, support = settle_estimate(own, near, probe)
    np.testing.assert_allclose(answer.x, refine_estimate(own, near).x, atol=1e-12)
    alone = examine(own, probe)
    np.testing.assert_allclose(support.unseen, alone.unseen, atol=1e-5)
    np.testing.assert_array_equal(support.images, alone.images)
    assert all(getattr(one, name) for one in (support, alone) for name in ("full_rank", "linked", "firm", "asked"))
    assert alone.steps <= support.steps < 1.7 * alone.steps


def test_nothing_is_asked_for_a_failure():
    own = gaussian_instance(100, 1.3, seed=0).normalised
    far = own.x0 + np.random.default_rng(0).standard_normal(100)
    answer, support = settle_estimate(own, far, probes(0, own.m_rows, own.n))
    np.testing.assert_array_equal(answer.x, far)
    assert not support.asked
    assert support.steps == 0


def test_a_wrong_sign_at_a_tiny_magnitude_is_repaired_without_an_svd():
    rng = np.random.default_rng(0)
    A, x0 = rng.standard_normal((130, 100)) / 10, rng.standard_normal(100)
    A[7] -= (A[7] @ x0 - 1e-5) * x0 / (x0 @ x0)  # measurement 7 is 1e-5
    problem = Instance(A, np.abs(A @ x0), x0)
    near = problem.normalised.x0 - 1e-4 * problem.A[7]
    assert problem.A[7] @ near < 0 < problem.A[7] @ x0
    np.testing.assert_allclose(refined(problem, near), problem.normalised.x0, atol=1e-11)
    assert not problem.matrix.decomposed


def test_rank_deficiency_is_noticed_without_an_svd():
    problem = gaussian_instance(100, 1.5, seed=0)
    assert full_rank(problem)
    for k in range(0, 100, 10):
        A = problem.A.copy()
        A[:, k] = A[:, (7 * k + 3) % 100]
        twin = Instance(A, np.abs(A @ problem.x0))
        assert not full_rank(twin)
        assert not twin.matrix.decomposed


def test_nearly_parallel_columns_are_told_apart():
    problem = gaussian_instance(100, 1.5, seed=0)
    A = problem.A.copy()
    A[:, 1] = A[:, 0] + 1e-6 * A[:, 1]
    near = Instance(A, np.abs(A @ problem.x0), problem.x0)
    merged = near.normalised.x0.copy()
    merged[:2] = merged[:2].mean()  # what cannot be seen at a residual of 1e-6
    np.testing.assert_allclose(refined(near, merged), near.normalised.x0, atol=1e-6)


def test_a_column_in_tiny_units_is_found_all_the_same():
    problem = gaussian_instance(200, 1.5, seed=0)
    A = problem.A.copy()
    A[:, 1] *= 1e-7
    truth = problem.x0.copy()
    truth[1] = 1.0
    tiny = Instance(A, np.abs(A @ truth), truth)
    x0 = tiny.normalised.x0
    np.testing.assert_allclose(refined(tiny, x0 * (1 - np.eye(200)[1])), x0, rtol=1e-6)


def test_measurements_that_hang_together():
    rng = np.random.default_rng(0)
    blocks = np.kron(np.eye(2), rng.standard_normal((20, 10)))
    for A, linked in ((rng.standard_normal((40, 20)), True), (blocks, False)):
        own = Instance(A, np.abs(A @ np.ones(20))).normalised
        assert examine(own, probes(0, own.m_rows, own.n)).linked == linked

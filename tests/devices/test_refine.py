"""Least squares in float64 with signs that mend themselves, and the evidence for the certificate."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from phaselect.devices import finish
from phaselect.devices.products import Copy
from phaselect.devices.refine import Answer, Part, refine
from phaselect.problem.spectrum import spectrum

from phaselect import AMP, Instance, Status, gaussian_instance
from phaselect.solvers.certificate import WEAK
from tests.devices.test_couplings import members_of, random_signs
from tests.exact import normalised

BATCH = 24
rng = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _same_numbers_in_any_order():
    global rng
    rng = np.random.default_rng(0)


def whole(member):
    return Part(jnp.ones(member.y.size), jnp.ones(member.A.shape[1]))


def in_half(A):
    rms = jnp.sqrt((A.astype("float64") ** 2).mean())
    return Copy((A / rms).astype("float16"), rms)


def from_estimate(member, x):
    return refine(member, Copy(member.A), whole(member), x)


def for_signs(member, signs):
    """By way of a half-precision copy, the worst to begin with."""
    return refine(member, in_half(member.A), whole(member), jnp.zeros(member.A.shape[1]), signs)


def narrowed(problem, scale=1.0):
    """A in float32, in other units, with the measurements that this A makes."""
    A = (scale * problem.A).astype(np.float32)
    return Instance(A, np.abs(A.astype(float) @ problem.x0), problem.x0)


BATCHED = {function: jax.jit(jax.vmap(function)) for function in (from_estimate, for_signs)}


def refined(function, problems, starts, dtype="float64"):
    """The answers of a batch of the one size that is compiled: the problems are repeated to fill it."""
    fill = -(-BATCH // len(problems))
    problems, starts = ([*many, *many * (fill - 1)][:BATCH] for many in (list(problems), list(starts)))
    with jax.enable_x64(True):
        return jax.tree.map(np.asarray, BATCHED[function](members_of(problems, dtype), jnp.asarray(np.stack(starts))))


# --------------------------------------------------------------------------------------------------- least squares


def test_least_squares_of_given_signs(problems):
    """True ones, and random ones, which no x fits: a float64 answer for a float32 A and a half-precision copy of it."""
    few = [narrowed(problem, 3.0) for problem in problems[:4]]
    signs = [problems[0].signs, *random_signs((3, 81))]
    answers = refined(for_signs, few, signs, "float32")
    for k, problem in enumerate(few):
        A, y = normalised(Instance(problem.A.astype(float), problem.y))
        x, _, rank, _ = np.linalg.lstsq(A, signs[k] * y, rcond=None)
        np.testing.assert_allclose(answers.x[k], x, atol=1e-7)
        np.testing.assert_array_equal(answers.signs[k], signs[k])
        assert answers.fit[k] == pytest.approx(np.mean((signs[k] * y - A @ x) ** 2), rel=1e-9, abs=1e-18)
        assert answers.full_rank[k] == (rank == 60)
        assert answers.linked[k]
        assert answers.missed[k] == (k > 0)
    assert answers.fit[0] < 1e-18


def test_given_signs_are_left_alone(problems):
    """Wrong ones too: annealing has done its own greedy flips."""
    few = [narrowed(problem) for problem in problems]
    signs = [flipped(problem, 3) for problem in few]
    answers = refined(for_signs, few, signs, "float32")
    np.testing.assert_array_equal(answers.signs, signs)
    assert answers.missed.all()


def test_the_sign_of_a_vanishing_measurement_is_the_given_one(problems):
    problem = replace(problems[0], y=problems[0].y * (np.arange(81) > 1), x0=None)
    signs = np.where(np.arange(81) < 1, -1.0, 1.0)
    np.testing.assert_array_equal(refined(for_signs, [problem], [signs]).signs[0], signs)


# ------------------------------------------------------------------------------------------------ signs that are wrong


def tight(seed):
    """So few measurements that most of a measurement's fit comes from itself: N/M = 0.87."""
    return gaussian_instance(60, 69 / 60, seed=seed)


def tiny(problem, smallest):
    """The smallest measurements, of those whose share in their own fit is not far above the mean, N/M.

    That share is taken at its mean where signs are mended, so as to need no factorisation.
    """
    U = np.linalg.svd(problem.A, full_matrices=False)[0]
    common = np.sum(U**2, axis=1) < 60 / problem.m_rows + 0.05
    return np.argsort(np.where(common, problem.y, np.inf))[:smallest]


def flipped(problem, smallest):
    """The true signs, but for those of tiny measurements."""
    signs = problem.signs.copy()
    signs[tiny(problem, smallest)] *= -1
    return signs


def crossed(problem, smallest):
    """The nearest x to the truth whose tiny measurements have the wrong sign."""
    A, _ = normalised(problem)
    rows = tiny(problem, smallest)
    return problem.target_x0 - 2 * np.linalg.pinv(A[rows]) @ (A[rows] @ problem.target_x0)


def fitted(problem, smallest):
    """Least squares for wrong signs of tiny measurements."""
    A, y = normalised(problem)
    return np.linalg.lstsq(A, flipped(problem, smallest) * y, rcond=None)[0]


def recovers(problem, answers, k):
    side = np.sign(answers.x[k] @ problem.target_x0)
    right = np.abs(side * answers.x[k] - problem.target_x0).max() < 1e-8
    return right and (side * answers.signs[k] == problem.signs).all() and not answers.missed[k]


@pytest.mark.parametrize("start", [crossed, fitted])
@pytest.mark.parametrize(("alpha", "smallest"), [(1.35, 1), (1.35, 3), (1.15, 1)])
def test_wrong_signs_at_tiny_measurements_are_mended(alpha, smallest, start, problems):
    """Also where the fit has followed the wrong sign, so that nothing in z itself shows it."""
    few = problems if alpha == 1.35 else [tight(seed) for seed in range(BATCH)]
    starts = [start(problem, smallest) for problem in few]
    wrong = [np.sum(np.sign(problem.forward(x)) != problem.signs) for problem, x in zip(few, starts, strict=True)]
    assert sum(wrong) >= BATCH * smallest / 2
    answers = refined(from_estimate, few, starts)
    failures = sum(not recovers(problem, answers, k) for k, problem in enumerate(few))
    assert failures <= {(1.35, 1): 0, (1.35, 3): 1, (1.15, 1): 2}[alpha, smallest]


@pytest.mark.parametrize(("level", "failures"), [(1e-6, 0), (1e-4, 1)])
def test_where_message_passing_leaves_off_is_close_enough(level, failures):
    """Errors in all measurements: at 1e-6, where it hands over, and at 1e-4, where a time limit may have cut it."""
    few, starts = [tight(seed) for seed in range(BATCH)], []
    for problem in few:
        error = np.random.default_rng(0).standard_normal(60)
        error *= np.sqrt(level / np.mean(problem.forward(error) ** 2))
        starts.append(problem.target_x0 + error)
    answers = refined(from_estimate, few, starts)
    assert sum(not recovers(problem, answers, k) for k, problem in enumerate(few)) <= failures


# ------------------------------------------------------------------------------------------------------- the evidence


def gauss(rows, columns):
    return rng.standard_normal((rows, columns))


def any_matrix():
    return gauss(81, 60)


def twins():
    A = gauss(81, 60)
    A[:, 4] = A[:, 17]
    return A


def nearly_twins():
    A = gauss(81, 60)
    A[:, 4] = A[:, 17] + 1e-13 * A[:, 3]
    return A


def few_independent_columns():
    return gauss(81, 50) @ gauss(50, 60)


def blocks():
    A = np.zeros((81, 60))
    A[:41, :30], A[41:, 30:] = gauss(41, 30), gauss(40, 30)
    return A


def rotated_blocks():
    return blocks() @ np.linalg.qr(gauss(60, 60))[0]


def inner_block():
    """The first and the last measurement hang together; some between them do not."""
    A = np.zeros((81, 60))
    outer = np.r_[:20, 60:81]
    A[outer[:, None], np.arange(30)], A[20:60, 30:] = gauss(41, 30), gauss(40, 30)
    return A


def lonely_measurement():
    """One unknown that is seen by one measurement alone."""
    A = gauss(81, 60)
    A[:, 7] = 0
    A[40] = np.eye(60)[7]
    return A


def ring(seen, seed):
    """Each measurement sees a few unknowns in a ring: all hang together, but far ones only through those between."""
    own = np.random.default_rng(seed)
    A = np.zeros((81, 60))
    for i in range(81):
        A[i, (i * 60 // 81 + np.arange(seen)) % 60] = own.standard_normal(seen) + 2 * (np.arange(seen) == 1)
    return A, own.standard_normal(60)


def neighbours():
    return ring(2, 1)


def uneven_neighbours():
    """Measurements weigh very unequally in their own fit."""
    return ring(3, 0)


@pytest.mark.parametrize("make", [any_matrix, twins, nearly_twins, few_independent_columns])
def test_a_null_space_is_seen(make):
    A, x0 = make(), rng.standard_normal(60)
    problem = Instance(A, np.abs(A @ x0))
    answers = refined(from_estimate, [problem], [x0 / problem.x_scale])
    assert (answers.full_rank == (make is any_matrix)).all()
    assert (answers.fit < 1e-12).all()


@pytest.mark.parametrize(
    ("make", "linked"),
    [(any_matrix, True), (blocks, False), (rotated_blocks, False), (inner_block, False), (lonely_measurement, False)],
)
def test_groups_of_measurements_are_seen(make, linked):
    A, x0 = make(), rng.standard_normal(60)
    problem = Instance(A, np.abs(A @ x0))
    answers = refined(from_estimate, [problem], [x0 / problem.x_scale])
    assert (answers.linked == linked).all()
    assert answers.full_rank.all()


def sparse_signal():
    return gauss(81, 60), rng.standard_normal(60) * (rng.random(60) < 0.5)


def vanishing_measurements():
    A, x0 = gauss(81, 60), rng.standard_normal(60)
    A[:3] -= np.outer(A[:3] @ x0, x0) / (x0 @ x0)
    return A, x0


def bridge_of_zero():
    """Two blocks tied together by a column where the signal is zero."""
    A, x0 = blocks(), rng.standard_normal(60)
    A[:, 0], x0[0] = gauss(1, 81), 0
    return A, x0


def bridge():
    """The same with a signal that crosses it."""
    A, x0 = bridge_of_zero()
    x0[0] = 1
    return A, x0


def repeated():
    square = gauss(60, 60)
    return np.vstack([square, square[:21]]), rng.standard_normal(60)


RECOVERED = [any_matrix, sparse_signal, vanishing_measurements, bridge, neighbours, uneven_neighbours]
AMBIGUOUS = [twins, blocks, rotated_blocks, inner_block, lonely_measurement, bridge_of_zero, repeated]
CASES = dict.fromkeys(RECOVERED, Status.RECOVERED) | dict.fromkeys(AMBIGUOUS, Status.AMBIGUOUS)


@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
def test_the_verdict_is_that_of_numpy(make):
    """Started at its solution, since message passing does not find all of these."""
    made = make()
    A, x0 = made if isinstance(made, tuple) else (made, rng.standard_normal(60))
    problem = Instance(A, np.abs(A @ x0), x0)
    single, device = (AMP(restarts=0).run(one, init=x0) for one in (problem, problem.to_device("cpu", "float64")))
    assert single.status is CASES[make]
    assert device.status is CASES[make]
    assert device.mse_y < 1e-18
    assert device.certified == (CASES[make] is Status.RECOVERED)


def hidden_groups(seed):
    """Two groups of measurements behind a rotation: rounding A to float32 ties them together, by a little."""
    own = np.random.default_rng(seed)
    A = np.kron(np.eye(2), np.ones((80, 50))) * own.standard_normal((160, 100))
    return A @ np.linalg.qr(own.standard_normal((100, 100)))[0], own.standard_normal(100)


def test_rounding_ties_nothing_together():
    for seed in range(4):
        A, x0 = hidden_groups(seed)
        problem = Instance(A.astype(np.float32), np.abs(A @ x0), x0)
        U = spectrum(problem).U
        assert 1e-8 < np.abs(U[:80] @ U[80:].T).max() * np.sqrt(160) < WEAK / 10
        sent = Instance(A, np.abs(A @ x0), x0).to_device("cpu", "float32")
        for one in (problem, sent):
            assert AMP(restarts=0).run(one, init=x0).status is Status.AMBIGUOUS


FEW = np.array([[0, 0, 1], [1, -1, 1], [0, 0, 1], [0, -1, -1], [1, 0, 0], [0, 1, 0], [-1, 1, -1]], float)
"""Measurements that all hang together; by a coincidence two different x fit those of COINCIDENT."""
COINCIDENT = [-2.0, 1.0, 1.0]


@pytest.mark.parametrize(("x0", "unique"), [(COINCIDENT, False), ([3.0, 0.7, 2.0], True)])
def test_few_measurements_are_enumerated(x0, unique):
    problem = Instance(FEW, np.abs(FEW @ x0), x0)
    answer = Answer(problem.target_x0, problem.signs, 0.0, missed=False, full_rank=True, linked=True)
    assert finish._determined(problem.to_device("cpu", "float64"), answer) == unique
    assert AMP(restarts=0).run(problem, init=x0).certified == unique

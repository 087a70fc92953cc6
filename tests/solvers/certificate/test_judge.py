"""What cannot be determined is never certified; what can be, is; and a rival is another answer indeed."""

import numpy as np
import pytest
from scipy.linalg import hadamard

from phaselect import AMP, Certificate, Instance, Status, gaussian_instance, solve
from phaselect.equations.signs import excess, mse_x
from phaselect.solvers.certificate.judge import judge, probes
from phaselect.solvers.finish import Answer, examine
from phaselect.solvers.verdict import Grade
from tests.exact import all_signs

rng = np.random.default_rng(0)


def given(problem, x, signs):
    """An answer, in the units of the data."""
    own = problem.normalised
    x = x / problem.units.x_scale
    residual = signs * own.y - own.forward(x)
    return Answer(x, signs, np.mean(residual**2), excess(residual, own.magnitudes(x) + own.y, own.rounding))


def judged(problem, x, signs):
    own = problem.normalised
    support = examine(own, probes(0, own.m_rows, own.n))
    return judge(lambda: own, own.y, given(problem, x, signs), support)


def grade(problem, x, signs):
    return judged(problem, x, signs).grade


def is_a_rival(problem, x, rival):
    """It fits the data as well, and is not the same up to its sign."""
    np.testing.assert_allclose(np.abs(problem.A @ rival), problem.y, atol=1e-9 * np.abs(problem.y).max())
    return min(mse_x(x, rival), mse_x(rival, x)) > 1e-6


def gauss(m_rows, n):
    return rng.standard_normal((m_rows, n))


def repeated():
    square = gauss(20, 20)
    return np.vstack([square, square]), rng.standard_normal(20)


def nearly_repeated():
    square = gauss(20, 20)
    return np.vstack([square, -2 * square + 1e-10 * gauss(20, 20)]), rng.standard_normal(20)


def blocks():
    return np.kron(np.eye(2), gauss(40, 20)), rng.standard_normal(40)


def rotated_blocks():
    rotation = np.linalg.qr(gauss(40, 40))[0]
    return np.kron(np.eye(2), gauss(40, 20)) @ rotation, rng.standard_normal(40)


def lonely_columns():
    """Ten columns that only ten measurements see."""
    A = gauss(50, 30)
    A[:40, 20:] = 0
    return A, rng.standard_normal(30)


def bridge_of_zero():
    """Two blocks tied together by a column where the signal is zero."""
    A = np.zeros((60, 31))
    A[:30, :15], A[30:, 15:30], A[:, 30] = gauss(30, 15), gauss(30, 15), rng.standard_normal(60)
    x0 = rng.standard_normal(31)
    x0[30] = 0
    return A, x0


def row_of_zero():
    """Two blocks and rows across both that see nothing of either."""
    A, x0 = np.zeros((62, 30)), rng.standard_normal(30)
    A[:30, :15], A[30:60, 15:] = gauss(30, 15), gauss(30, 15)
    for part in (slice(0, 15), slice(15, 30)):
        across = gauss(2, 15)
        A[60:, part] = across - np.outer(across @ x0[part], x0[part]) / (x0[part] @ x0[part])
    return A, x0


def twins():
    A = gauss(60, 30)
    A[:, 4] = A[:, 17]
    return A, rng.standard_normal(30)


@pytest.mark.parametrize("make", [repeated, blocks, rotated_blocks, lonely_columns, bridge_of_zero, row_of_zero, twins])
def test_what_the_data_leave_open_is_not_certified(make):
    A, x0 = make()
    problem = Instance(A, np.abs(A @ x0), x0)
    assert grade(problem, x0, problem.signs) is Grade.AMBIGUOUS
    result = AMP(restarts=0).run(problem, AMP().default_schedule()[-1:], init=x0)
    assert result.mse_y < 1e-20
    assert result.status is Status.AMBIGUOUS
    assert not result.certified


def mirrored():
    """On the columns that x leaves out another x does the same."""
    B, C = gauss(60, 30), gauss(60, 30)
    return np.block([[B, B], [C, -C]]), np.r_[rng.standard_normal(30), np.zeros(30)]


def linked_in_vain():
    """Two blocks, and rows across both that see nothing of the second."""
    A, x0 = np.zeros((323, 80)), rng.standard_normal(80)
    A[:160, :40], A[160:320, 40:], A[320:] = gauss(160, 40), gauss(160, 40), gauss(3, 80)
    A[320:, 40:] -= np.outer(A[320:, 40:] @ x0[40:], x0[40:]) / (x0[40:] @ x0[40:])
    return A, x0


def tiny_measurement():
    return np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1e-8]]), np.ones(2)


def ill_conditioned_hidden_blocks():
    """So ill-conditioned that rounding makes up influences between two blocks, behind a rotation."""
    parts = [
        np.linalg.qr(gauss(120, 60))[0] * np.logspace(0, -9, 60) @ np.linalg.qr(gauss(60, 60))[0] for _ in range(2)
    ]
    A = np.zeros((240, 120))
    A[:120, :60], A[120:, 60:] = parts
    return rng.permutation(A) @ np.linalg.qr(gauss(120, 120))[0], rng.standard_normal(120)


def column_seen_by_two_rows():
    A, x0 = gauss(201, 150), rng.choice([1.0, 2.0, 3.0], 150)
    A[:, -1] = A[5] = A[9] = 0
    A[5, [0, -1]] = A[9, [1, -1]] = 1
    x0[[0, 1, -1]] = 1, 1, 2
    return A, x0


def some_columns_of_hadamard():
    """Scaled; x on columns whose partners are there too, which would do as well."""
    columns = np.arange(100) + 20
    paired = np.isin(columns ^ 7, columns)
    return hadamard(256)[:, columns] * rng.uniform(0.5, 2.0, 100), rng.standard_normal(100) * paired


MORE = [
    some_columns_of_hadamard,
    mirrored,
    linked_in_vain,
    tiny_measurement,
    ill_conditioned_hidden_blocks,
    column_seen_by_two_rows,
]


@pytest.mark.parametrize(
    "make",
    [repeated, blocks, rotated_blocks, lonely_columns, bridge_of_zero, row_of_zero, twins, *MORE],
)
def test_another_answer_is_shown(make):
    A, x0 = make()
    problem = Instance(A, np.abs(A @ x0), x0)
    found = judged(problem, x0, problem.signs)
    assert found.grade is Grade.AMBIGUOUS
    assert found.certificate is None
    assert is_a_rival(problem, x0, found.rival * problem.units.x_scale)


def masks_and_one_spike():
    return rng.choice([-1.0, 1.0], (240, 60)), np.eye(60)[3]


def masks_and_zeros():
    return rng.choice([-1.0, 1.0], (240, 60)), rng.standard_normal(60) * (np.arange(60) % 3 == 0)


def masks_behind_gains_and_a_window():
    """Scales of rows and columns hide that magnitudes repeat."""
    A, x0 = masks_and_zeros()
    return A * rng.uniform(0.8, 1.2, (240, 1)) * rng.uniform(0.5, 1.5, 60), x0


def sparse_and_zeros():
    return gauss(240, 60) * (rng.random((240, 60)) < 0.7), rng.standard_normal(60) * (np.arange(60) % 3 == 0)


def zero_measured():
    A, x0 = gauss(90, 60), rng.standard_normal(60)
    A[:4] -= np.outer(A[:4] @ x0, x0) / (x0 @ x0)
    return A, x0


def nearly_nothing_measured():
    A, x0 = gauss(90, 60), rng.standard_normal(60)
    A[0] -= (A[0] @ x0 - 1e-10) * x0 / (x0 @ x0)
    return A, x0


def hardly_more_than_unknowns():
    return gauss(61, 60), rng.standard_normal(60)


def repeated_but_for_one():
    """Twice the same measurements tell nothing new."""
    A = gauss(61, 60)
    return np.vstack([A, 3 * A]), rng.standard_normal(60)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (masks_and_one_spike, "few distinct values"),
        (masks_and_zeros, "x has 40 exact zeros"),
        (sparse_and_zeros, "x has 40 exact zeros"),
        (masks_behind_gains_and_a_window, "x has 40 exact zeros"),
        (zero_measured, "4 measurements of zero"),
        (nearly_nothing_measured, "1 measurement of zero, or nearly"),
        (hardly_more_than_unknowns, "wrong sign vectors are expected"),
        (repeated_but_for_one, "wrong sign vectors are expected"),
    ],
)
def test_what_is_not_shown_to_be_unique_says_why(make, reason):
    A, x0 = make()
    problem = Instance(A, np.abs(A @ x0), x0)
    found = judged(problem, x0, problem.signs)
    assert found.grade is Grade.UNCERTIFIED
    assert reason in found.reason
    assert found.rival is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("with_svd", [True, False])
def test_what_is_in_general_position_is_certified(with_svd, dtype):
    problems = [gaussian_instance(60, 1.3, seed=0), gaussian_instance(60, 1.5, seed=1, density=0.2)]
    sparse = gauss(180, 60) * (rng.random((180, 60)) < 0.2)
    masks = rng.choice([-1.0, 1.0], (180, 60))
    problems += [Instance(A, np.abs(A @ x0), x0) for A in (sparse, masks) for x0 in [rng.standard_normal(60)]]
    for problem in problems:
        A = problem.A.astype(dtype)
        narrow = Instance(A, np.abs(A @ problem.x0.astype(dtype)), problem.x0.astype(dtype))
        if with_svd:
            narrow.normalised.ridge  # noqa: B018
        found = judged(narrow, narrow.x0, narrow.signs)
        assert found.certificate is Certificate.GENERAL_POSITION


@pytest.mark.parametrize("scale", [1e-8, 1e8])
@pytest.mark.parametrize("axis", [0, 1])
def test_rows_and_columns_of_any_size(scale, axis):
    A, x0 = gauss(120, 60), rng.standard_normal(60)
    A *= np.where(rng.random((1, 60) if axis else (120, 1)) < 0.3, scale, 1.0)
    problem = Instance(A, np.abs(A @ x0), x0)
    assert grade(problem, x0, problem.signs) is Grade.CERTIFIED


def test_nearly_repeated_rows_are_not_repeated():
    """A difference of 1e-10 is far above rounding, and tells signs apart."""
    A, x0 = nearly_repeated()
    problem = Instance(A, np.abs(A @ x0), x0)
    assert judged(problem, x0, problem.signs).certificate is Certificate.ENUMERATED


def test_one_measurement_more_than_unknowns_is_enough_if_every_sign_vector_is_tried():
    for n in (1, 2, 5, 20, 30):
        A, x0 = gauss(n + 1, n), rng.standard_normal(n)
        problem = Instance(A, np.abs(A @ x0), x0)
        assert judged(problem, x0, problem.signs).certificate is Certificate.ENUMERATED


def test_an_impostor_at_one_measurement_more_does_not_fit():
    """At N = 14 the best of 2^14 wrong sign vectors fits to 1e-9 or so: far from rounding."""
    A, x0 = gauss(15, 14), rng.standard_normal(14)
    problem = Instance(A, np.abs(A @ x0), x0)
    left = np.linalg.qr(A, mode="complete")[0][:, -1]
    wrong = [S for S in all_signs(15)[: 2**14] if abs(S @ problem.signs) < 15]
    best = min(wrong, key=lambda S: abs(left @ (S * problem.y)))
    fitted = np.linalg.lstsq(A, best * problem.y, rcond=None)[0]
    assert given(problem, fitted, best).fit < 1e-6
    assert grade(problem, fitted, best) is Grade.OPEN


def test_a_wrong_sign_at_a_tiny_magnitude_is_not_certified():
    """All together its residuals are below 1e-12; only that one measurement tells."""
    A, x0 = gauss(130, 100) / 10, rng.standard_normal(100)
    A[7] -= (A[7] @ x0 - 1e-6) * x0 / (x0 @ x0)
    problem = Instance(A, np.abs(A @ x0), x0)
    signs = problem.signs * (1 - 2 * np.eye(130)[7])
    fitted = np.linalg.lstsq(A, signs * problem.y, rcond=None)[0]
    assert given(problem, fitted, signs).fit < 1e-12
    assert grade(problem, fitted, signs) is Grade.INEXACT
    assert grade(problem, x0, problem.signs) is Grade.CERTIFIED


def test_a_close_fit_is_not_an_exact_one():
    """Every measurement met to 1e-5, and no impostor could: the right signs, but not the exact x."""
    problem = gaussian_instance(100, 1.3, seed=0)
    assert grade(problem, 1.00001 * problem.x0, problem.signs) is Grade.INEXACT


def test_the_truth_is_certified_and_a_wrong_sign_never():
    """One wrong sign, at the smallest y too, or several; with the true x or with the best x for those signs."""
    for seed in range(4):
        problem = gaussian_instance(60, 1.25, seed=seed)
        assert grade(problem, problem.x0, problem.signs) is Grade.CERTIFIED
        smallest = np.argsort(problem.y)
        for wrong in ([smallest[0]], smallest[:2], [smallest[40]], smallest[-10:]):
            signs = problem.signs.copy()
            signs[wrong] *= -1
            fitted = np.linalg.lstsq(problem.A, signs * problem.y, rcond=None)[0]
            for x in (problem.x0, fitted):
                assert grade(problem, x, signs) is not Grade.CERTIFIED


def test_small_discrete_problems_by_enumeration():
    """Certified exactly when no other sign vector fits: entries +-1, integer signals, where coincidences abound."""
    seen = set()
    for _ in range(40):
        n = int(rng.integers(2, 6))
        A = rng.choice([-1.0, 1.0], (int(rng.integers(n + 1, 10)), n))
        x0 = rng.integers(-3, 4, n).astype(float)
        if not (A @ x0).any() or np.linalg.matrix_rank(A) < n:
            continue
        y = np.abs(A @ x0)
        signed = all_signs(y.size) * y
        x = signed @ np.linalg.pinv(A).T
        fits = np.round(x[np.linalg.norm(x @ A.T - signed, axis=1) < 1e-9], 6)
        distinct = {min(tuple(x), tuple(-x)) for x in fits + 0.0}
        result = solve(A, y)
        if result.certified:
            assert len(distinct) == 1
            assert mse_x(x0, result.x) < 1e-12
        seen.add((result.certified, len(distinct) == 1))
    assert {(True, True), (False, False)} <= seen


@pytest.mark.parametrize(("seed", "digits", "rounding"), [(290, ".5g", 5e-5), (301, ".3e", 5e-4)])
def test_rivals_of_coarse_data_may_leave_as_much_as_rounding_does(seed, digits, rounding):
    """Two x fit these rounded numbers; both came to be certified while a rival had to fit to six digits."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 22))
    m_rows = n + int(rng.integers(1, 8))
    rng.choice([3, 4, 5, 6, 9, 12])
    rng.standard_normal((m_rows, n))
    rng.choice([1, n**-0.5, 30])
    x0 = rng.standard_normal(n) * rng.choice([1, 1, 10])
    if rng.random() < 0.3:
        rng.standard_normal((m_rows, 1))
    assert rng.random() < 0.2
    A = rng.choice([-1.0, 1.0], (m_rows, n))
    y = np.array([float(f"{value:{digits}}") for value in np.abs(A @ x0)])
    result = solve(A, y, rounding=rounding, time_limit=20)
    assert result.status is Status.AMBIGUOUS
    for x in (result.x, result.rival):
        assert (np.abs(np.abs(A @ x) - y) <= 64 * rounding * (np.abs(A) @ np.abs(x) + y)).all()

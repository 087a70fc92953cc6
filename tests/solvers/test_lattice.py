"""The lattice: signs that digits tell, of any matrix, down to one measurement more than unknowns."""

import itertools
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from phaselect import (
    InputError,
    Instance,
    Lattice,
    Status,
    ensemble_instance,
    gaussian_instance,
    load,
    solve,
    solve_sign_equations,
)
from phaselect.base.errors import Unsuitable
from phaselect.problem.all_digits import as_fraction
from phaselect.solvers.certificate.coarse_data import log10_coincidences
from phaselect.solvers.certificate.impostors import log10_impostors
from phaselect.solvers.cohort import functions_of
from phaselect.solvers.guided_lattice import surest
from phaselect.solvers.lattice import EXACT, Drawn
from phaselect.solvers.lattice_reach import tolerance, within_reach
from phaselect.solvers.protocol import Start


def whole_numbers(n, m_rows, size, seed=0):
    """A, x and |A x|, exactly."""
    rng = np.random.default_rng(seed)

    def draw(*shape):
        numbers = [int(a) * 2**30 + int(b) for a, b in rng.integers(-(2**30), 2**30, (np.prod(shape), 2))]
        return np.array([number >> (61 - size) for number in numbers], dtype=object).reshape(shape)

    A, x = draw(m_rows, n), draw(n)
    return A, x, np.abs(A @ x)


def same_up_to_sign(x, wanted):
    wanted = np.asarray(wanted, dtype=float)
    scale = np.linalg.norm(wanted)
    return min(np.linalg.norm(x - wanted), np.linalg.norm(x + wanted)) < 1e-9 * scale


@pytest.mark.parametrize(("n", "m_rows"), [(30, 31), (40, 42), (60, 63), (80, 84)])
@pytest.mark.parametrize("seed", range(2))
def test_one_or_a_few_measurements_more_than_unknowns_are_enough(n, m_rows, seed):
    problem = gaussian_instance(n, m_rows / n, seed=seed)
    result = Lattice().run(problem, seed=seed)
    assert result.certified
    assert same_up_to_sign(result.x, problem.x0)
    assert result.solver == "lattice"


def test_any_matrix():
    """Columns that are orthogonal, which neither message passing nor populations manage here."""
    problem = ensemble_instance("orthogonal", 100, 1.2, seed=0)
    result = Lattice().run(problem)
    assert result.certified
    assert same_up_to_sign(result.x, problem.x0)


@pytest.mark.parametrize("seed", range(6))
def test_small_systems_against_all_sign_vectors(seed):
    """Whole numbers so small that some have several solutions: what is found solves it, and is unique only if it is."""
    rng = np.random.default_rng(seed)
    A = rng.integers(-3, 4, (9, 6))
    A[:6] += 9 * np.eye(6, dtype=int)
    y = np.abs(A @ rng.integers(-2, 3, 6))
    if not y.any():
        pytest.skip("nothing to recover")
    project = np.eye(9) - A @ np.linalg.pinv(A)
    signs = np.array(list(itertools.product([-1, 1], repeat=8)))
    all_signs = np.hstack([np.ones((len(signs), 1)), signs])
    solving = all_signs[np.linalg.norm(all_signs * y @ project, axis=1) < 1e-9]
    answers = np.unique(np.round((solving * y) @ np.linalg.pinv(A).T, 6), axis=0)
    answers = [x for k, x in enumerate(answers) if not any(np.allclose(x, -other) for other in answers[:k])]
    result = Lattice().run(Instance(A, y))
    assert any(np.allclose(result.x, x, atol=1e-6) or np.allclose(result.x, -x, atol=1e-6) for x in answers)
    assert result.certified == (len(answers) == 1)
    assert (result.status is Status.AMBIGUOUS) == (len(answers) > 1)


def test_a_system_with_two_solutions_returns_both():
    """Each row sees nothing of the sum or of the difference of two x, so that both have its magnitude."""
    rng = np.random.default_rng(1)
    one, other = rng.standard_normal((2, 50))
    A = rng.standard_normal((60, 50))
    for row, direction in zip(A, itertools.cycle([one - other, one + other]), strict=False):
        row -= direction * (row @ direction) / (direction @ direction)
    problem = Instance(A, np.abs(A @ one))
    result = Lattice().run(problem)
    assert result.status is Status.AMBIGUOUS
    assert not result.certified
    found = [result.x, result.rival]
    assert any(same_up_to_sign(x, one) for x in found)
    assert any(same_up_to_sign(x, other) for x in found)


@pytest.mark.parametrize(("n", "alpha", "noise"), [(40, 1.2, 1e-4), (60, 1.2, 1e-6), (40, 6.0, 1e-2)])
def test_noise_that_leaves_digits_enough(n, alpha, noise):
    exact = gaussian_instance(n, alpha, seed=2)
    variance = noise**2 * np.mean(exact.y**2)
    y = np.abs(exact.y + np.sqrt(variance) * np.random.default_rng(0).standard_normal(exact.m_rows))
    result = Lattice().run(Instance(exact.A, y, exact.x0), noise=variance)
    assert result.status is Status.ESTIMATE
    assert result.truth["O"] == 1
    assert result.truth["mse_x"] < 1e3 * noise**2
    assert result.x_std is not None


def test_noise_above_what_the_digits_allow_is_refused_with_what_would_do():
    problem = gaussian_instance(40, 1.1, seed=0)
    with pytest.raises(InputError, match="a lattice needs ") as refused:
        Lattice().run(problem, noise=1e-4 * np.mean(problem.y**2))
    enough = float(str(refused.value).split("noise=")[1].split("*")[0])
    assert tolerance(44, 40, np.sqrt(enough)) >= 4
    enough *= 0.01  # within reach, too
    assert 1e-14 < enough < 1e-4
    result = Lattice().run(problem, noise=enough * np.mean(problem.y**2))
    assert result.truth["O"] == 1
    with pytest.raises(InputError, match="more digits"):
        Lattice().run(gaussian_instance(120, 121 / 120, seed=0))
    with pytest.raises(InputError, match="too long beyond 500"):
        Lattice().run(gaussian_instance(700, 1.2, seed=0))


@pytest.mark.parametrize("block", [1, 101, 2.5, "a"])
def test_a_block_is_a_whole_number(block):
    with pytest.raises(InputError, match="block"):
        Lattice(block=block)


# ------------------------------------------------------------------ more digits than float64 has


@pytest.mark.parametrize("digits", [24, 60])
def test_more_digits_make_up_for_measurements(digits):
    """N = 50 and M = 51 is out of reach of float64: 2^50 signs for 52 binary digits."""
    A, x, y = whole_numbers(50, 51, 60)
    with localcontext(prec=digits):
        decimals = [str(Decimal(int(value)) / 2**70) for value in y]
    result = Lattice().run(Instance.exact(A, decimals))
    assert result.certified
    assert same_up_to_sign(result.x * 2.0**70, x)
    assert result.mse_y < 10.0 ** (1 - 2 * digits)


@pytest.mark.parametrize("kind", ["whole", "fractions", "mpmath", "decimals"])
def test_numbers_of_all_kinds(kind):
    A, x, y = whole_numbers(45, 46, 40)
    with mpmath.workdps(60):
        of_kind = {
            "whole": int,
            "fractions": lambda value: Fraction(int(value), 7),
            "mpmath": lambda value: mpmath.mpf(int(value)),
            "decimals": lambda value: Decimal(int(value)).scaleb(-3, Context(prec=60)),
        }[kind]
        problem = Instance.exact([[of_kind(v) for v in row] for row in A], [of_kind(v) for v in y])
    result = Lattice().run(problem)
    assert result.certified
    assert same_up_to_sign(result.x, x)


def test_an_answer_that_fits_in_float64_alone_is_none():
    """With M = N + 1 there are wrong signs that fit to 16 digits: the 60 that are known speak against them."""
    A, _, y = whole_numbers(50, 51, 60)
    problem = Instance.exact(A, y)
    left, fits, _ = problem.all_digits.left_by(np.sign((A @ whole_numbers(50, 51, 60)[1]).astype(float)))
    assert fits
    wrong = np.sign(np.random.default_rng(0).standard_normal(51))
    assert not problem.all_digits.left_by(wrong).fits
    assert problem.all_digits.left_by(wrong).mse_y > 1e20 * left
    assert not solve(A.astype(float), y.astype(float), time_limit=0.5).certified


def test_the_front_door_uses_a_lattice_where_it_pays():
    result = solve(gaussian_instance(60, 64 / 60, seed=3))
    assert (result.solver, result.certified) == ("lattice", True)
    A, x, y = whole_numbers(50, 51, 60)
    assert same_up_to_sign(solve(Instance.exact(A, y)).x, x)
    assert solve(gaussian_instance(200, 1.4, seed=0)).solver == "amp"


def test_what_is_within_reach():
    assert within_reach(106, 6, 2.0**-52, 40)
    assert not within_reach(103, 3, 2.0**-52, 40)
    assert not within_reach(106, 6, 2.0**-24, 40)
    assert within_reach(103, 3, 2.0**-100, 40)


def test_digits_survive_a_file(tmp_path):
    A, x, y = whole_numbers(45, 46, 60)
    problem = Instance.exact(A, y, x0=x.astype(float))
    problem.save(tmp_path / "exact.npz")
    again = load(tmp_path / "exact.npz")
    assert (again.all_digits.A == problem.all_digits.A).all()
    assert (again.all_digits.y == problem.all_digits.y).all()
    assert Lattice().run(again).certified
    for name, table in (("A", A), ("y", y[:, None])):
        (tmp_path / f"{name}.csv").write_text("\n".join(", ".join(map(str, row)) for row in table))
    assert (load(tmp_path / "A.csv", tmp_path / "y.csv", exact=True).all_digits.A == A).all()


@pytest.mark.parametrize(
    ("value", "number", "unit"),
    [
        ("3/7", Fraction(3, 7), 0),
        (" -12 ", -12, 0),
        (Decimal(-12), -12, 0),
        ("0.25", Fraction(1, 4), Fraction(1, 200)),
        ("1.5e-3", Fraction(3, 2000), Fraction(1, 20000)),
        (np.int64(5), 5, 0),
        (0.5, Fraction(1, 2), Fraction(1, 2**54)),
        (np.float32(0.5), Fraction(1, 2), Fraction(1, 2**25)),
    ],
)
def test_a_number_and_half_a_unit_of_its_last_digit(value, number, unit):
    assert as_fraction(value) == (number, unit)


@pytest.mark.parametrize(
    "bad", ["1e99999999", "x", None, float("nan"), "1/0", True, mpmath.mpf("inf"), 1j, "nan", Decimal("inf")]
)
def test_what_is_no_number_is_named(bad):
    with pytest.raises(InputError, match=r"A\[1, 0\] = .*give whole numbers"):
        Instance.exact([[1, 2], [bad, 3], [1, 1]], [1, 2, 3])


def test_exact_data_of_a_bad_shape_are_refused(tmp_path):
    with pytest.raises(InputError, match="negative"):
        Instance.exact([[1], [2]], [1, -2])
    with pytest.raises(InputError, match="masked"):
        Instance.exact([[1], [2]], np.ma.array([1, 2], mask=[True, False]))
    with pytest.raises(InputError, match="2-D"):
        Instance.exact([1, 2], [1, 2])
    with pytest.raises(InputError, match="digits"):
        Instance.exact([[1], [2]], [1, 2], digits=0)
    with pytest.raises(InputError, match="rescale"):
        Instance.exact([[10**400], [2]], [1, 2])
    with pytest.raises(InputError, match="from two"):
        load(tmp_path / "A.npz", exact=True)
    (tmp_path / "A.csv").write_text("1,2\n3\n")
    with pytest.raises(InputError, match="ragged"):
        load(tmp_path / "A.csv", tmp_path / "A.csv", exact=True)


def test_whole_numbers_on_a_matrix_of_small_ones_have_fewer_digits_than_they_look():
    """39 sign vectors fit: of magnitudes up to 400 and four sums of them, nothing is determined."""
    rng = np.random.default_rng(2)
    sums = rng.choice([-1, 1], (4, 44))
    A = np.vstack([np.eye(44, dtype=int), sums])
    y = np.abs(A @ rng.permutation(np.arange(1, 401))[:44])
    solutions = list(solve_sign_equations(np.vstack([y[:44, None] * sums.T, -np.diag(y[44:])])))
    assert len(solutions) == 39
    assert not solve(A, y, time_limit=0.5).certified
    assert log10_coincidences(Instance(A, y).normalised) == pytest.approx(np.log10(38), abs=1.5)
    random = gaussian_instance(60, 64 / 60, seed=0)
    assert log10_coincidences(random.normalised) == pytest.approx(log10_impostors(0.0, random.m_rows, random.n), abs=3)


def test_some_of_the_measurements_are_enough_to_count_coincidences():
    """What fits all of them fits these: fewer wrong sign vectors do."""
    rng = np.random.default_rng(3)
    A, x0 = rng.choice([-1.0, 1.0], (44, 20)), rng.standard_normal(20)
    problem = Instance(A, np.abs(A @ x0)).normalised
    assert log10_coincidences(problem) < log10_coincidences(problem, enough=-6.0) < -6.0


def test_columns_and_rows_of_any_scale():
    problem, rng = gaussian_instance(60, 64 / 60, seed=1), np.random.default_rng(0)
    columns, rows = 10.0 ** rng.uniform(-8, 8, 60), 10.0 ** rng.uniform(-9, 9, 64)
    assert Lattice().run(Instance(problem.A * columns, problem.y)).certified
    assert Lattice().run(Instance(problem.A * rows[:, None], problem.y * rows)).certified


def test_decimals_are_off_by_as_much_in_every_row():
    A, x, _ = whole_numbers(45, 47, 40)
    A[::2] *= 10**6
    with localcontext(prec=60):
        y = [str((Decimal(int(abs(value))) / 7).quantize(Decimal("1e-6"))) for value in A @ x]
    result = Lattice().run(Instance.exact(A, y))
    assert result.certified
    assert same_up_to_sign(result.x * 7, x)


def test_measurements_of_zero_have_no_sign_to_differ_in():
    assert solve([[0, 2], [0, 2], [1, -1.0]], [2.0, 2, 0], solver="lattice").certified
    assert solve([[1.0, 0], [0, 1], [0, 1]], [1.0, 0, 0], solver="lattice").certified


def test_fewer_digits_are_taken_into_account_by_all():
    rng = np.random.default_rng(3)
    A = rng.integers(-999, 999, (31, 30))
    exact = Instance.exact(A, np.abs(A @ rng.integers(1, 999, 30)))
    assert Lattice().run(exact).certified
    with pytest.raises(InputError, match="more digits"):
        solve(exact, solver="lattice", rounding=1e-6)
    single = gaussian_instance(22, 23 / 22, seed=0)
    A, x = single.A.astype("float32"), single.x0.astype("float32")
    assert solve(A, np.abs(A @ x), time_limit=1).status is not None  # goes on without a lattice


def test_what_a_lattice_refuses_others_search(monkeypatch):
    def refuse(*_):
        raise Unsuitable("not for a lattice")

    problem = gaussian_instance(60, 1.2, seed=0)
    monkeypatch.setattr(Lattice, "start", refuse)
    functions_of.cache_clear()
    try:
        result = solve(problem)
        assert result.certified
        assert "lattice" not in [stage.solver for stage in result.stages]
        with pytest.raises(InputError, match="not for a lattice"):
            Lattice().run(problem)
    finally:
        functions_of.cache_clear()


def test_signs_that_are_given_are_a_row_from_the_start():
    problem = gaussian_instance(60, 63 / 60, seed=0)
    own = problem.normalised
    drawn = Drawn(np.arange(problem.m_rows), 0)
    given = Lattice().start(own, drawn, EXACT, 0.0, Start(own.x0, own.signs))
    assert np.array_equal(given.signs, [own.signs[given.chosen]] * 2)
    assert not Lattice().start(own, drawn, EXACT, 0.0, None).signs.any()


# ------------------------------------------------------------------ guided by a population


def test_the_surest_signs_are_those_that_copies_share_and_of_these_the_largest():
    means = np.array([0.1, -1.0, 0.9, 1.0, -0.5, 0.2, 0.3, 1.0])
    y = np.array([9.0, 0.5, 1.0, 0.1, 1.0, 1.0, 1.0, 2.0])
    assert np.flatnonzero(surest(means, y, 0.25)).tolist() == [1, 7]
    assert np.flatnonzero(surest(means, y, 0.0)).tolist() == [7]

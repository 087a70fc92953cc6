"""Lattices of some of the measurements: as many as are needed, more where those do not tell, and all to check with."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from phaselect import Instance, Lattice, Status, gaussian_instance, solve
from phaselect.solvers.lattice import EXACT, Drawn
from phaselect.solvers.lattice_reach import measurements_enough, noise_allowed, strength
from phaselect.solvers.some_measurements import signs_of_all, some_measurements


def test_many_measurements_are_no_burden():
    """Of 2000 a lattice would take hours."""
    problem = gaussian_instance(45, 2000 / 45, seed=0)
    result = Lattice().run(problem)
    assert result.certified
    assert result.truth["O"] == 1
    assert result.trace["signs"][-1] == 47
    assert result.log10_impostors < -1000  # all of them count


def test_how_many_are_enough():
    for n, noise in ((60, 2.0**-52), (100, 2.0**-52), (40, 2.0**-20)):
        few = measurements_enough(1000, n, noise)
        for count, wanted in ((few, True), (few - 1, False)):
            told = 16 * noise <= noise_allowed(count, n) and strength(-np.log2(noise) * (count - n), count) >= 0.045
            assert told == wanted
    assert measurements_enough(44, 40, 2.0**-20) == 44
    assert measurements_enough(10**9, 10**6, 2.0**-52) == 10**9


def test_those_that_fix_x_are_among_them_and_tell_the_signs_of_all():
    problem = gaussian_instance(20, 4.0, seed=0)
    A = problem.A.copy()
    A[20:, 0] *= 1e-9  # the first column is seen by the first rows
    own = Instance(A, np.abs(A @ problem.x0), problem.x0).normalised
    chosen = some_measurements(own, 22)
    assert chosen.sum() == 22
    assert np.linalg.cond(own.dense()[0][chosen]) < 1e3
    right = own.signs[chosen]
    wrong = np.where(np.arange(22) == 3, -right, right)
    found = signs_of_all(own, chosen, np.stack([wrong, -right]))
    np.testing.assert_array_equal(found[0], -own.signs)
    np.testing.assert_array_equal(found[1][chosen], wrong)


def test_a_measurement_that_contradicts_is_not_overlooked():
    problem = gaussian_instance(20, 3.0, seed=0)
    chosen = Lattice().run(problem).state.chosen
    y = problem.y.copy()
    y[np.flatnonzero(~chosen)[0]] *= 1.01
    result = Lattice().run(Instance(problem.A, y))
    assert not result.certified
    assert result.mse_y > 1e-8


def test_where_they_do_not_tell_more_are_taken():
    """Copies of one that is there say nothing new."""
    problem = gaussian_instance(20, 1.5, seed=1)
    A = np.vstack([problem.A, np.repeat(problem.A[1:2], 150, axis=0)])
    result = Lattice().run(Instance(A, np.abs(A @ problem.x0), problem.x0))
    assert result.certified
    assert result.truth["O"] == 1
    assert result.stages[0].attempts > 1
    assert result.trace["signs"][-1] > 21


def test_a_state_with_more_of_them_goes_on():
    problem = gaussian_instance(20, 3.0, seed=0)
    state = Lattice().start(problem.normalised, Drawn(np.arange(60), 2), EXACT, 0.0, None)
    result = Lattice().run(problem, init=state)
    assert result.certified
    assert result.trace["signs"][-1] == len(state.rows) == 36


def nearly_two(n, m_rows, digits):
    """Fractions, and two x: the magnitudes are those of the first, and of the other but for so many digits."""
    rng = np.random.default_rng(0)

    def draw(*shape):
        return rng.integers(-(10**6), 10**6, shape).astype(object)

    one, other, A = draw(n), draw(n), draw(m_rows, n) * Fraction(1)
    for row, direction in zip(A, itertools.cycle([one - other, one + other]), strict=False):
        row -= direction * (row @ direction) / Fraction(direction @ direction)
    A += draw(m_rows, n) * Fraction(1, 10 ** (6 + digits))
    return A, one.astype(float), other.astype(float), np.abs(A @ one)


@pytest.mark.parametrize("solver", ["lattice", "amp", "sa"])
def test_exact_numbers_are_exact_to_the_last_digit(solver):
    """Two x that differ in the 25th digit of what is measured: nothing but the right one is an answer."""
    A, one, other, y = nearly_two(20, 30, 25)
    floats = solve(A.astype(float), y.astype(float), solver=solver, init=other)
    assert floats.status is Status.AMBIGUOUS  # in 16 digits both are
    wrong = solve(Instance.exact(A, y), solver=solver, init=other, time_limit=1)
    right = solve(Instance.exact(A, y), solver=solver, init=one)
    assert right.certified
    np.testing.assert_allclose(np.abs(right.x), np.abs(one), rtol=1e-9)
    assert not wrong.certified or np.allclose(np.abs(wrong.x), np.abs(one))

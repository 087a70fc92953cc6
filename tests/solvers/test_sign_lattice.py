"""All signs that solve equations in whole numbers, against all of them one by one."""

import random

import numpy as np
import pytest

from phaselect import InputError, gaussian_instance, solve_sign_equations
from phaselect.solvers.lattice import EXACT, equations_of
from phaselect.solvers.sign_lattice import all_signs
from tests.exact import all_signs as every


def one_by_one(W):
    signs = np.array([s for s in every(len(W)) if s[0] > 0])
    return sorted(map(tuple, signs[~(signs @ W).any(axis=1)]))


def solved(W):
    return sorted(map(tuple, solve_sign_equations(W)))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("unknowns", "equations", "most"), [(1, 1, 3), (2, 1, 2), (7, 1, 9), (10, 2, 9), (12, 3, 3)])
def test_all_are_found(unknowns, equations, most, seed):
    W = np.random.default_rng(seed).integers(-most, most + 1, (unknowns, equations)) | np.eye(
        unknowns, equations, dtype=int
    )
    assert solved(W) == one_by_one(W)


def with_two_solutions(rng, unknowns, equations, digits):
    """Equations for two sign vectors, that large numbers leave no chance for a third."""
    two = np.concatenate([np.ones((2, 1)), rng.choice([-1, 1], (2, unknowns - 1))], axis=1).astype(int)
    same, other = (np.flatnonzero(two[0] == sign * two[1])[-1] for sign in (1, -1))
    W = 2 * rng.integers(-(10**digits), 10**digits, (unknowns, equations))
    W[[same, other]] = 0
    for place, sign in ((same, 1), (other, -1)):
        W[place] = -two[0, place] * (two[0] + sign * two[1]) // 2 @ W
    return W, sorted(map(tuple, two))


@pytest.mark.parametrize(("unknowns", "equations", "digits"), [(20, 2, 8), (30, 3, 6), (40, 8, 17)])
def test_two_solutions_are_both_returned(unknowns, equations, digits):
    W, two = with_two_solutions(np.random.default_rng(3), unknowns, equations, digits)
    assert solved(W) == two


def test_none_is_none():
    W, _ = with_two_solutions(np.random.default_rng(1), 30, 3, 6)
    W[0, 0] += 2
    assert solved(W) == []
    W[0, 0] -= 1  # an odd sum
    assert solved(W) == []


@pytest.mark.parametrize(("unknowns", "equations", "digits"), [(2, 1, 40), (4, 1, 60), (12, 2, 40), (30, 5, 60)])
def test_numbers_of_any_size(unknowns, equations, digits):
    rng = random.Random(0)
    signs = [1, *rng.choices([-1, 1], k=unknowns - 1)]
    W = np.array([[rng.randrange(10**digits) for _ in range(equations)] for _ in signs], dtype=object)
    W[-1] -= signs[-1] * (np.array(signs, dtype=object) @ W)
    assert solved(W) == [tuple(signs)]
    W[0] += 1  # a part of 10^-60 is wrong
    assert solved(W) == []


def test_what_is_not_whole_is_refused():
    with pytest.raises(InputError, match="whole numbers"):
        solve_sign_equations([[0.5], [0.5]])
    with pytest.raises(InputError, match="not all zero"):
        solve_sign_equations([[0], [0]])
    with pytest.raises(InputError, match="a matrix"):
        solve_sign_equations([1, 2])


def test_exact_data_leave_one():
    """The signs of measurements, of which enumeration knows that they are the only ones."""
    problem = gaussian_instance(24, 25 / 24, seed=0)
    (signs,) = all_signs(equations_of(problem.normalised, EXACT)._replace(fits=8.0))
    assert abs(signs @ np.sign(problem.A @ problem.x0)) == 25

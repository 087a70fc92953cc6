import numpy as np
import pytest

from phaselect import gaussian_instance
from phaselect.backends.host import loops
from phaselect.equations.greedy import greedy_flips
from tests.exact import all_signs, energies, normalised, state_index


def greedy(problem, start):
    own = problem.normalised
    return greedy_flips(own.ridge.exact_couplings(), own.y, start, loops)


def test_ends_in_a_local_minimum_by_enumeration():
    problem = gaussian_instance(6, 12 / 6, seed=0)
    energy = energies(*normalised(problem), 0.0)
    for start in all_signs(12)[::500]:
        end, fit = greedy(problem, start)
        neighbours = end * (1 - 2 * np.eye(12))
        here = energy[state_index(end)[0]]
        assert here <= energy[state_index(start)[0]]
        assert here <= energy[state_index(neighbours)].min() + 1e-12
        assert fit == pytest.approx(here / 12, abs=1e-12)


def test_repairs_a_few_wrong_signs():
    problem = gaussian_instance(100, 1.4, seed=0)
    signs = problem.signs.copy()
    signs[np.argsort(problem.y)[:5]] *= -1
    found, fit = greedy(problem, signs)
    np.testing.assert_array_equal(found, problem.signs)
    assert fit < 1e-25


def test_signs_of_measurements_that_are_zero_stay():
    """They cost nothing either way; flipping them for ever would be no descent."""
    problem = gaussian_instance(6, 2.0, seed=0)
    K, y = problem.normalised.ridge.exact_couplings(), problem.normalised.y * (np.arange(12) != 3)
    for sign in (-1.0, 1.0):
        start = np.where(np.arange(12) == 3, sign, 1.0)
        assert greedy_flips(K, y, start, loops)[0][3] == sign

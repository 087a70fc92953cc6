"""The range of exact numbers, to the last digit."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from phaselect.equations.exact_range import in_range


def drawn(seed, *shape):
    rng = Random(seed)
    numbers = [Fraction(rng.randrange(-(10**30), 10**30), rng.randrange(1, 10**9)) for _ in range(int(np.prod(shape)))]
    return np.array(numbers, dtype=object).reshape(shape)


@pytest.mark.parametrize(("m_rows", "n"), [(2, 1), (7, 5), (31, 30), (60, 20)])
def test_what_is_in_it_and_what_is_all_but(m_rows, n):
    A = drawn(0, m_rows, n)
    v = A @ drawn(1, n)
    assert in_range(A, v)
    v[m_rows // 2] += Fraction(1, 10**40)
    assert not in_range(A, v)


def test_columns_that_depend_on_others():
    A = drawn(0, 8, 4)
    A[:, 2] = 2 * A[:, 0] - A[:, 1]
    assert in_range(A, A @ drawn(1, 4))
    assert not in_range(A, drawn(2, 8))
    zero = np.zeros((3, 2), dtype=object)
    assert in_range(zero, np.array([0, 0, 0], dtype=object))
    assert not in_range(zero, np.array([0, 1, 0], dtype=object))


def test_a_prime_that_divides_everything_does_not_decide():
    """In whole numbers times a prime everything is zero modulo that prime: the two others decide."""
    A = np.array([[1], [1]], dtype=object)
    assert not in_range(A, np.array([1, 1 + 2147483647], dtype=object))
    assert in_range(A * Fraction(1, 2147483647), np.array([1, 1], dtype=object))

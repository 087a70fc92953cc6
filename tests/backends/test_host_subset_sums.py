"""All sign vectors by meeting in the middle, against all of them one by one."""

import numpy as np
import pytest

from phaselect.backends.host import subset_sums
from phaselect.backends.host.subset_sums import signs_that_cancel, sorted_sums
from tests.exact import all_signs

rng = np.random.default_rng(0)


def rows(signs):
    return {tuple(one) for one in np.asarray(signs, dtype=float)}


@pytest.mark.parametrize("size", range(1, 8))
def test_sums_come_sorted_with_their_signs(size):
    numbers = rng.standard_normal(size)
    sums, codes = sorted_sums(numbers)
    assert len(set(codes.tolist())) == 2**size
    assert (np.diff(sums) >= 0).all()
    np.testing.assert_allclose((1.0 - 2.0 * (codes[:, None] >> np.arange(size) & 1)) @ numbers, sums, atol=1e-12)


@pytest.mark.parametrize("size", range(1, 13))
@pytest.mark.parametrize("width", [0.0, 0.05, 1.0])
def test_those_that_cancel_are_all_found(size, width):
    for numbers in (rng.standard_normal(size), rng.integers(-3, 4, size).astype(float)):
        every = np.array([S for S in all_signs(size) if S[0] > 0])
        assert rows(signs_that_cancel(numbers, width)) == rows(every[np.abs(every @ numbers) <= width])


def test_a_single_one_among_2_to_the_33():
    numbers, signs = rng.standard_normal(34), np.r_[1.0, rng.choice([-1.0, 1.0], 33)]
    numbers[-1] -= signs[-1] * (signs @ numbers)
    np.testing.assert_array_equal(signs_that_cancel(numbers, 1e-12), [signs])


def test_too_many_are_not_listed(monkeypatch):
    monkeypatch.setattr(subset_sums, "MOST_PAIRS", 100)
    assert signs_that_cancel(np.ones(20), 0.1) is None
    assert len(signs_that_cancel(np.ones(8), 0.1)) == 35

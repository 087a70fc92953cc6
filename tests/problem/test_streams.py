import numpy as np
import pytest

from phaselect import InputError
from phaselect.problem.streams import Purpose, check_seed, stream


def test_every_purpose_has_numbers_of_its_own():
    drawn = [stream(0, purpose, *more).standard_normal(4) for purpose in Purpose for more in ((), (0,), (1,))]
    drawn.append(np.random.default_rng(0).standard_normal(4))
    assert len(np.unique(np.round(drawn, 12))) == 4 * len(drawn)


def test_what_a_seed_means_stays():
    """Numbers of a purpose are part of every stored result: a change here is a change of all of them."""
    assert {purpose.name: int(purpose) for purpose in Purpose} == {
        "MATRIX": 1, "SIGNAL": 2, "NOISE": 3, "TEST_SET": 4, "RUN": 5, "CHAIN": 6, "RANK_PROBE": 7,
        "ENUMERATION": 8, "ROWS": 9, "LIKENESS": 10, "TRACE": 11,
    }  # fmt: skip
    expected = np.random.default_rng(np.random.SeedSequence(3, spawn_key=(5, 2))).random(3)
    np.testing.assert_array_equal(stream(3, Purpose.RUN, 2).random(3), expected)


def test_seeds():
    assert check_seed(np.int32(3)) == 3
    drawn = [check_seed(np.random.default_rng(1)) for _ in range(2)]
    assert drawn[0] == drawn[1]
    generator = np.random.default_rng(1)
    assert check_seed(generator) != check_seed(generator)


@pytest.mark.parametrize("seed", [-1, 1.0, True, "0", None, np.random.RandomState(0)])
def test_what_is_no_seed(seed):
    with pytest.raises(InputError, match=r"seed = .* or a numpy\.random\.Generator"):
        check_seed(seed)

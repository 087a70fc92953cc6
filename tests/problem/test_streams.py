import numpy as np
import pytest

from phaselect import InputError
from phaselect.base.kernels import numba
from phaselect.problem import streams
from phaselect.problem.streams import Purpose, check_seed, random_numbers, random_signs, stream


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


def test_very_many_numbers_are_rough_and_do_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr(streams, "MANY", 1000)
    monkeypatch.setattr(streams, "PIECE", 4000)
    many = random_numbers(np.random.default_rng(0), 30_001)
    assert many.dtype == np.float32
    assert np.mean(many) == pytest.approx(0, abs=0.03)
    assert np.var(many) == pytest.approx(1, abs=0.03)
    assert np.unique(many).size > 29_900
    threads = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        np.testing.assert_array_equal(random_numbers(np.random.default_rng(0), 30_001), many)
    finally:
        numba.set_num_threads(threads)
    signs = random_signs(np.random.default_rng(0), 10_000, 1)
    assert signs.shape == (1, 10_000)
    assert set(signs.ravel().tolist()) == {-1, 1}
    assert np.mean(signs) == pytest.approx(0, abs=0.05)

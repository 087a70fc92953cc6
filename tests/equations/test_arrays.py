import numpy as np
import pytest

from phaselect.equations.arrays import BLOCK, by_blocks, like


@pytest.mark.parametrize("size", [10, 3 * BLOCK + 7])
def test_blocks_are_the_whole(size):
    """Of vectors and numbers, with one result and with two, into fresh memory and into that of the first."""
    a, b = np.random.default_rng(0).standard_normal((2, size))
    both = by_blocks(lambda a, b, c: (a + b * c, a * 1j), a, b, np.float64(2))
    np.testing.assert_array_equal(both[0], a + 2 * b)
    np.testing.assert_array_equal(both[1], 1j * a)
    parts, total = by_blocks(lambda a, b: (a * b, (a * b).sum()), a, b)
    np.testing.assert_array_equal(parts, a * b)
    assert total == pytest.approx(a @ b)
    whole = a - b
    np.testing.assert_array_equal(by_blocks(lambda a, b: a - b, a, b, spare=True), whole)


@pytest.mark.parametrize(
    ("dtype", "made"), [("complex64", "complex64"), ("float32", "float32"), ("float64", "float64")]
)
def test_numbers_take_the_precision_of_an_array(dtype, made):
    array = np.ones(3, dtype)
    assert (array * like(array, np.float64(0.1))).dtype == made
    assert like(array, np.ones(3)).dtype == array.real.dtype

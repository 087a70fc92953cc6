import numpy as np
import pytest

from phaselect.equations.coincidences import distinct_rows, share_repeated, uncommon

rng = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("magnitudes", "share"),
    [
        ([3.0, 1.0, 2.0], 0.0),
        ([3.0, 1.0, 3.0], 2 / 3),
        ([3.0, 1.0, 3.0 * (1 + 1e-13), 3.0], 3 / 4),
        ([3.0, 1.0, 3.0 * (1 + 1e-11)], 0.0),
        ([0.0, 0.0, 1.0, 1.0], 1 / 2),  # zeros are counted elsewhere
        ([5.0], 0.0),
    ],
)
def test_share_that_is_repeated(magnitudes, share):
    assert share_repeated(np.array(magnitudes)) == share
    two = np.stack([magnitudes, np.arange(1.0, 1 + len(magnitudes))])
    np.testing.assert_array_equal(share_repeated(two), [share, 0.0])


def test_what_is_uncommon():
    gauss = rng.standard_normal((8, 100))
    assert not uncommon(gauss)
    assert not uncommon(gauss.astype(np.float32))
    assert uncommon(np.sign(gauss))
    assert uncommon(np.where(rng.random((8, 100)) < 0.2, 0.0, gauss))
    assert uncommon(np.hstack([gauss[:, :50], -gauss[:, :50]]))
    one = gauss.copy()
    one[3] = np.round(one[3], 1)
    assert uncommon(one)


def test_multiples_of_rows_count_once():
    A, points = rng.standard_normal((30, 10)), rng.standard_normal((2, 10))
    assert distinct_rows(points @ A.T, 2e-16).all()
    again = np.vstack([A, 3 * A[:5], -1e-8 * A[3:7], A[:1]])
    assert distinct_rows(points @ again.T, 2e-16).sum() == 30
    narrow = again.astype(np.float32).astype(float)
    assert distinct_rows(points @ narrow.T, float(np.finfo(np.float32).eps)).sum() == 30

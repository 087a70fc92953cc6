import numpy as np
import pytest

from phaselect.equations.coincidences import share_repeated, structured

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


def test_what_is_structured():
    gauss = rng.standard_normal((8, 100))
    assert not structured(gauss)
    assert not structured(gauss.astype(np.float32))
    assert structured(np.sign(gauss))
    assert structured(np.where(rng.random((8, 100)) < 0.2, 0.0, gauss))
    assert structured(np.hstack([gauss[:, :50], -gauss[:, :50]]))
    one = gauss.copy()
    one[3] = np.round(one[3], 1)
    assert structured(one)

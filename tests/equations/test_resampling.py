import numpy as np
import pytest

from phaselect.equations.resampling import systematic_resampling

LOG_WEIGHTS = 3 * np.random.default_rng(0).standard_normal(50)


@pytest.mark.parametrize("offset", [0.0, 0.3, 1 - 1e-12])
def test_each_copy_gets_the_floor_or_the_ceiling_of_its_share(offset):
    heirs, log_mean = systematic_resampling(LOG_WEIGHTS, offset)
    weights = np.exp(LOG_WEIGHTS)
    children = np.bincount(heirs, minlength=50)
    assert children.sum() == 50
    assert (np.abs(children - 50 * weights / weights.sum()) < 1).all()
    assert log_mean == pytest.approx(np.log(weights.mean()))


def test_weights_far_beyond_the_range_of_numbers():
    heirs, log_mean = systematic_resampling(np.array([-1e5, -1e5 + np.log(3), -2e5, -2e5]), 0.5)
    assert np.bincount(heirs, minlength=4).tolist() == [1, 3, 0, 0]
    assert log_mean == pytest.approx(-1e5)

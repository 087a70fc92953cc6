"""Intervals hold the truth as often as they say, on fewer instances than the published table has."""

import pytest
from benchmarks.calibration import calibration


@pytest.mark.parametrize("noise", [0.01, "auto"])
def test_intervals_and_noise(noise):
    found = calibration("toeplitz", "real", 3.0, 0.01, noise, range(6))
    assert 0.6 < found.covered[0] < 0.76
    assert 0.9 < found.covered[1] < 0.99
    assert found.noise == pytest.approx(1, abs=0.15)
    assert found.deviations < 2

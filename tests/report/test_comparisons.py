import numpy as np
import pytest

from phaselect.experiments.limits import Interval
from phaselect.report.comparisons import gains, mean_gain


def test_mean_gain_of_many_draws():
    """Its interval covers the gain that was put in; wide sizes weigh little."""
    rng = np.random.default_rng(0)
    spread, gain = np.array([0.01, 0.02, 0.1]), 0.03

    def drawn(middle):
        values = middle + spread * rng.standard_normal(3)
        return {n: Interval(v, v - 1.96 * s, v + 1.96 * s) for n, v, s in zip((1, 2, 3), values, spread, strict=True)}

    found = [mean_gain(drawn(1.2), drawn(1.2 - gain)) for _ in range(400)]
    assert 367 <= sum(it.low <= gain <= it.high for it in found) <= 393  # 380 and three standard deviations
    assert np.std([it.value for it in found]) == pytest.approx((np.sum(1 / (2 * spread**2))) ** -0.5, rel=0.15)


def test_open_intervals_count_against_but_not_in_the_mean():
    fast = {100: Interval(1.25, 1.24, 1.26), 200: Interval(1.2, 1.19, 1.21)}
    slow = {100: Interval(1.2, 1.19, 1.21), 200: Interval(np.nan, 1.5, np.inf)}
    assert mean_gain(fast, slow).value == pytest.approx(0.05)
    assert gains(fast, slow) is None
    assert gains({100: fast[100]}, {100: slow[100]}) is True

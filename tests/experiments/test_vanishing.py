"""Where rates vanish, from rates that are made up."""

import math

import numpy as np
import pytest
from scipy.optimize import curve_fit

from phaselect.experiments.limits import Interval
from phaselect.experiments.vanishing import POWERS, vanishing

ALPHAS = [1.04, 1.06, 1.08, 1.1]


def close(value, error=0.003):
    return Interval(value, value - 1.96 * error, value + 1.96 * error)


@pytest.mark.parametrize(("place", "power"), list(enumerate(POWERS)))
def test_each_power_finds_the_end_of_its_own_law(place, power):
    found = vanishing(ALPHAS, [close(3.0 * (1.15 - alpha) ** power, 0.01 * 0.1**power) for alpha in ALPHAS])
    law = found[place]
    assert (law.power, law.doubt, law.least) == (power, "", 1.04)
    assert law.end.value == pytest.approx(1.15, abs=1e-3)
    assert law.end.low < 1.15 < law.end.high < law.end.low + 0.03
    assert law.scale == pytest.approx(3.0, rel=0.05)
    assert law.at(np.array([1.1, 1.2])) == pytest.approx([3.0 * 0.05**power, 0.0], rel=0.1)
    others = [other.end.value for other in found]
    assert others == sorted(others)  # the higher the power, the later the end


def test_the_fit_is_that_of_scipy():
    rates = [0.16, 0.09, 0.07, 0.03]
    (_, law, _) = vanishing(ALPHAS, [close(rate, 0.01) for rate in rates])
    (scale, end), _ = curve_fit(lambda alpha, c, end: c * (end - alpha) ** 2, ALPHAS, rates, p0=(5.0, 1.2))
    assert law.end.value == pytest.approx(end, abs=5e-4)
    assert law.scale == pytest.approx(scale, rel=0.02)


def test_rates_that_do_not_fall_have_no_end():
    for level in (0.1, 0.0):
        line, *bent = vanishing(ALPHAS, [close(level)] * 4)
        assert line.doubt.startswith("no end up to alpha = 2.06" if level else "no rates above zero")
        assert math.isnan(line.end.low)
        assert all(law.doubt for law in bent)
    assert vanishing(ALPHAS[:1], [close(0.1)]) == []


def test_rates_that_fall_but_not_to_zero_within_reach():
    """And rates below zero, and one rate alone above it: laws through one point end anywhere."""
    slow = vanishing(ALPHAS, [close(rate) for rate in (0.1, 0.097, 0.094, 0.091)])
    assert all(law.doubt.startswith("no end up to alpha = ") for law in slow)
    below = vanishing(ALPHAS, [close(rate) for rate in (-0.09, -0.07, -0.05, -0.03)])
    assert all(law.doubt == "no rates above zero" for law in below[:1])
    alone = vanishing(ALPHAS, [close(rate) for rate in (0.1, 0.0, 0.0, 0.0)])
    assert all(law.doubt or law.end.value > ALPHAS[1] for law in alone)


def test_a_law_is_one_near_its_end():
    """What is far below is left out where it does not fit, but not beyond three."""
    alphas = [1.12, 1.04, 1.06, 1.08, 1.1]
    line, *_ = vanishing(alphas, [close(1.3 * (1.13 - alpha) + (0.05 if alpha < 1.05 else 0.0)) for alpha in alphas])
    assert (line.doubt, line.least, line.dof) == ("", 1.06, 2)
    assert line.end.low < 1.13 < line.end.high
    for wild in vanishing(alphas, [close(0.5 - 0.2 * place % 0.3) for place in range(5)]):
        assert wild.doubt.startswith("χ² = ")
        assert (wild.least, wild.dof) == (1.08, 1)

"""The fit over sizes and rates finds the law it is given, and doubts what it is not given."""

import numpy as np
import pytest

from phaselect import InputError
from phaselect.experiments import limits
from phaselect.experiments.joint_limit import joint_limit
from phaselect.experiments.limits import Interval

SIZES, RATES = (it.ravel() for it in np.meshgrid([200, 400, 800, 1600, 3200], [30.0, 100.0, 300.0, 1000.0, 3000.0]))


@pytest.fixture(autouse=True)
def few_replicates(monkeypatch):
    monkeypatch.setattr(limits, "REPLICATES", 200)


def measured(values, error=0.003):
    """Thresholds with errors of this size."""
    noisy = values + np.random.default_rng(0).normal(0, error, np.shape(values))
    return [Interval(value, value - 1.96 * error, value + 1.96 * error) for value in noisy]


def law(limit, n=SIZES, tau=RATES, by_size=0.9):
    return limit + by_size * n**-0.5 + 0.8 * tau**-0.5


@pytest.mark.parametrize("limit", [1.128, 1.18])
def test_finds_the_limit(limit):
    fit = joint_limit(SIZES, RATES, measured(law(limit)))
    assert not fit.doubt
    assert fit.limit.low < limit < fit.limit.high
    assert fit.limit.high - fit.limit.low < 0.04
    assert (fit.slower_than, fit.dof) == (30.0, 20)
    assert fit.at(800, 300.0) == pytest.approx(law(limit, 800, 300.0), abs=0.005)
    assert f"χ² = {fit.chi2:.1f} for 20 degrees" in str(fit)


def test_rates_that_do_not_fit_are_left_out():
    values = law(1.128) + np.where(RATES == 30, 0.2 * (SIZES / 800) ** 0.5, 0)
    fit = joint_limit(SIZES, RATES, measured(values))
    assert not fit.doubt
    assert (fit.slower_than, fit.dof) == (100.0, 15)


def test_another_law_is_in_doubt():
    values = law(1.128) + 0.05 * np.log(SIZES) * np.log(RATES) ** 0.5
    fit = joint_limit(SIZES, RATES, measured(values))
    assert "χ²" in fit.doubt
    assert np.isnan(fit.limit.low)
    assert str(fit).startswith("none")


@pytest.mark.parametrize("limit", [1.128, 1.16])
def test_sizes_that_do_not_differ(limit):
    fit = joint_limit(SIZES, RATES, measured(law(limit, by_size=0.0)))
    assert not fit.doubt
    assert fit.limit.low < limit < fit.limit.high < fit.limit.low + 0.03
    assert (fit.slower_than, fit.dof, fit.size_amplitude) == (30.0, 22, 0.0)
    assert fit.at(800, 300.0) == pytest.approx(law(limit, 800, 300.0, by_size=0.0), abs=0.005)
    assert "the same at all sizes" in str(fit)


@pytest.mark.parametrize(("by_size", "error"), [(0.2, 0.003), (0.9, 0.05)])
def test_too_little_to_tell(by_size, error):
    """An exponent that is not determined is no reason to leave rates out."""
    fit = joint_limit(SIZES, RATES, measured(law(1.128, by_size=by_size), error))
    assert "not determined" in fit.doubt
    assert fit.slower_than == 30.0


def test_too_few():
    one_size = SIZES == 200
    assert joint_limit(SIZES[one_size], RATES[one_size], measured(law(1.1)[one_size])) is None
    unknown = [Interval(np.nan, 1.0, np.inf)] * SIZES.size
    assert joint_limit(SIZES, RATES, unknown) is None
    with pytest.raises(InputError, match="each curve"):
        joint_limit(SIZES, RATES[1:], unknown)

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
    fit = joint_limit(SIZES, RATES, measured(law(limit), error=0.001))
    assert not fit.doubt
    assert fit.limit.low < limit < fit.limit.high
    assert fit.limit.high - fit.limit.low < 0.04
    assert (fit.slower_than, fit.rate_dof, fit.large.dof) == (30.0, 18, 2)
    assert fit.at(800, 300.0) == pytest.approx(law(limit, 800, 300.0), abs=0.002)
    assert f"χ² = {fit.rate_chi2:.1f} for 18 degrees" in str(fit)


def test_levels_are_what_slow_anneals_tend_to():
    fit = joint_limit(SIZES, RATES, measured(law(1.128)))
    for n, level in fit.levels.items():
        assert level.low < law(1.128, n, np.inf) < level.high < level.low + 0.02
        assert f"{level} (N = {n})" in str(fit)


def test_what_the_rates_of_a_size_share_is_no_misfit():
    """Instances that are hard by chance, at all rates: a law in N would be doubted, that of the rates is not."""
    shared = np.random.default_rng(1).normal(0, 0.02, 5)[np.searchsorted([200, 400, 800, 1600, 3200], SIZES)]
    fit = joint_limit(SIZES, RATES, measured(law(1.128) + shared))
    assert not fit.rate_doubt
    assert "χ²" in fit.doubt
    for n, level in fit.levels.items():
        assert level.value == pytest.approx(law(1.128, n, np.inf) + shared[n == SIZES][0], abs=0.007)


def test_levels_are_no_surer_than_the_instances_that_rates_share():
    levels = joint_limit(SIZES, RATES, measured(law(1.128), error=0.003)).levels.values()
    assert np.mean([level.high - level.low for level in levels]) > 0.9 * (2 * 1.96 * 0.003)  # of 200 replicates


def test_rates_that_do_not_fit_are_left_out():
    values = law(1.128) + np.where(RATES == 30, 0.2 * (SIZES / 800) ** 0.5, 0)
    fit = joint_limit(SIZES, RATES, measured(values))
    assert not fit.rate_doubt
    assert (fit.slower_than, fit.rate_dof) == (100.0, 13)


def test_another_law_is_in_doubt():
    values = law(1.128) + 0.05 * np.log(SIZES) * np.log(RATES) ** 0.5
    fit = joint_limit(SIZES, RATES, measured(values))
    assert "χ²" in fit.rate_doubt
    assert np.isnan([fit.levels[800].low, fit.limit.low]).all()
    assert fit.large.doubt == fit.rate_doubt
    assert str(fit).startswith("none")


@pytest.mark.parametrize(("by_size", "error"), [(0.0, 0.003), (0.2, 0.003), (0.9, 0.05)])
def test_too_little_to_tell(by_size, error):
    """An exponent that is not determined is no reason to leave rates out."""
    fit = joint_limit(SIZES, RATES, measured(law(1.128, by_size=by_size), error))
    assert "not determined" in fit.doubt
    assert np.isnan(fit.limit.low)
    assert fit.slower_than == 30.0


def test_too_few():
    one_size = SIZES == 200
    assert joint_limit(SIZES[one_size], RATES[one_size], measured(law(1.1)[one_size])) is None
    unknown = [Interval(np.nan, 1.0, np.inf)] * SIZES.size
    assert joint_limit(SIZES, RATES, unknown) is None
    with pytest.raises(InputError, match="each curve"):
        joint_limit(SIZES, RATES[1:], unknown)

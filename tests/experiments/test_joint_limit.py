"""The fit over sizes and rates finds the law it is given, and doubts what it is not given."""

import numpy as np
import pytest
from scipy.optimize import curve_fit

from phaselect import InputError
from phaselect.experiments import fits, limits
from phaselect.experiments import joint_limit as joint
from phaselect.experiments.joint_limit import cuts, ending_at_theory, joint_limit
from phaselect.experiments.limits import Interval

SIZES, RATES = (it.ravel() for it in np.meshgrid([200, 400, 800, 1600, 3200], [30.0, 100.0, 300.0, 1000.0, 3000.0]))


@pytest.fixture(autouse=True)
def few_replicates(monkeypatch):
    monkeypatch.setattr(fits, "REPLICATES", 200)


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
    assert (fit.rates.from_tau, fit.rates.dof, fit.large.dof) == (30.0, 18, 2)
    assert fit.at(800, 300.0) == pytest.approx(law(limit, 800, 300.0), abs=0.002)
    assert f"χ² = {fit.rates.chi2:.1f} for 18 degrees" in str(fit)
    assert fit.rates.exponent.low < 0.5 < fit.rates.exponent.high < fit.rates.exponent.low + 0.1


def test_levels_are_what_slow_anneals_tend_to():
    fit = joint_limit(SIZES, RATES, measured(law(1.128)))
    for n, level in fit.levels.items():
        assert level.low < law(1.128, n, np.inf) < level.high < level.low + 0.02
        assert f"{level} (N = {n})" in str(fit)


def test_intervals_hold_those_of_either_kind_of_errors():
    """Of rates that are independent, and of rates that share theirs."""
    found = measured(law(1.128), error=0.001)
    fit = joint_limit(SIZES, RATES, found)
    values, spread = np.array([half.value for half in found]), np.array([half.standard_error for half in found])
    sizes, place = np.unique(SIZES, return_inverse=True)
    rng = np.random.default_rng(1)
    widths = []
    for errors in (rng.normal(size=(400, values.size)), rng.normal(size=(400, sizes.size))[:, place]):
        rows = np.vstack([values, values + spread * errors])
        levels = fits.power_fits(place, RATES, rows, spread, joint.EXPONENTS).coefficients[:, :-1]
        own = limits.extrapolated(sizes, levels, np.full(sizes.size, spread[0])).limit
        widths.append(own.high - own.low)
        assert fit.limit.low < own.low + 0.15 * widths[-1]  # ends of 400 draws, and of 200, are off by a twentieth
        assert fit.limit.high > own.high - 0.15 * widths[-1]
    assert fit.limit.high - fit.limit.low > 0.85 * max(widths)
    assert max(widths) > 1.4 * min(widths)


def test_chi2_of_the_limit_counts_levels_by_the_errors_of_their_size():
    fit = joint_limit(SIZES, RATES, measured(law(1.128), error=0.003))
    n, levels = np.array(list(fit.levels)), np.array([level.value for level in fit.levels.values()])
    misses = levels - (fit.large.limit.value + fit.large.amplitude * n**-fit.large.exponent)
    assert fit.large.chi2 == pytest.approx(np.sum(misses**2) / 0.003**2, rel=1e-3)  # 1.96 is rounded


def test_what_the_rates_of_a_size_share_is_no_misfit():
    """Instances that are hard by chance, at all rates: a law in N would be doubted, that of the rates is not."""
    shared = np.random.default_rng(1).normal(0, 0.02, 5)[np.searchsorted([200, 400, 800, 1600, 3200], SIZES)]
    fit = joint_limit(SIZES, RATES, measured(law(1.128) + shared))
    assert not fit.rates.doubt
    assert "χ²" in fit.doubt
    for n, level in fit.levels.items():
        assert level.value == pytest.approx(law(1.128, n, np.inf) + shared[n == SIZES][0], abs=0.007)


def test_levels_are_no_surer_than_the_instances_that_rates_share():
    levels = joint_limit(SIZES, RATES, measured(law(1.128), error=0.003)).levels.values()
    assert np.mean([level.high - level.low for level in levels]) > 0.9 * (2 * 1.96 * 0.003)  # of 200 replicates


def test_rates_that_do_not_fit_are_left_out():
    values = law(1.128) + np.where(RATES == 30, 0.2 * (SIZES / 800) ** 0.5, 0)
    fit = joint_limit(SIZES, RATES, measured(values))
    assert not fit.rates.doubt
    assert (fit.rates.from_tau, fit.rates.dof) == (100.0, 13)


def test_another_law_is_in_doubt():
    values = law(1.128) + 0.05 * np.log(SIZES) * np.log(RATES) ** 0.5
    fit = joint_limit(SIZES, RATES, measured(values))
    assert "χ²" in fit.rates.doubt
    assert np.isnan([fit.levels[800].low, fit.limit.low]).all()
    assert fit.large.doubt == fit.rates.doubt
    assert str(fit).startswith("no law of rates: χ² = ")


def test_levels_without_a_trend_have_a_limit():
    fit = joint_limit(SIZES, RATES, measured(law(1.16, by_size=0.0), error=0.001))
    assert (fit.large.amplitude, fit.large.dof, fit.doubt) == (0.0, 4, "")
    assert 1.128 < fit.limit.low < 1.16 < fit.limit.high < 1.19


@pytest.mark.parametrize("shared", [False, True])
def test_levels_cover_the_truth(shared):
    """Of 40 draws at least 34 intervals, at 95 % nominal, whether or not rates share their errors."""
    rng, place, covered = np.random.default_rng(2), np.unique(SIZES, return_inverse=True)[1], 0
    for _ in range(40):
        errors = rng.normal(size=5)[place] if shared else rng.normal(size=SIZES.size)
        values = law(1.128) + 0.003 * errors
        fit = joint_limit(SIZES, RATES, [Interval(it, it - 1.96 * 0.003, it + 1.96 * 0.003) for it in values])
        covered += fit.levels[3200].low < law(1.128, 3200, np.inf) < fit.levels[3200].high
    assert covered >= 34


@pytest.mark.parametrize(("by_size", "error"), [(0.3, 0.001), (0.9, 0.006)])
def test_too_little_to_tell(by_size, error):
    """An exponent that is not determined is no reason to leave rates out."""
    fit = joint_limit(SIZES, RATES, measured(law(1.128, by_size=by_size), error))
    assert "not determined" in fit.doubt
    assert np.isnan(fit.limit.low)
    assert fit.rates.from_tau == 30.0


def towards(end, n=SIZES, tau=RATES):
    return end + 0.2 * n**0.1 * tau**-0.3


def test_the_rival_finds_its_law():
    fit = ending_at_theory(1.128, SIZES, RATES, measured(towards(1.128)))
    assert not fit.rates.doubt
    assert fit.rates.exponent.low < 0.3 < fit.rates.exponent.high < fit.rates.exponent.low + 0.05
    assert (fit.rates.from_tau, fit.rates.dof) == (30.0, 19)
    assert fit.at(1600, 300.0) == pytest.approx(towards(1.128, 1600, 300.0), abs=0.003)
    assert str(fit).startswith("a law that ends at 1.128 at every size fits the slow rates too (tau^-0.")


def test_the_rival_is_in_doubt_where_slow_anneals_end_elsewhere():
    fit = ending_at_theory(1.128, SIZES, RATES, measured(law(1.2)))
    assert "at the end, 0.10, of the range tried" in fit.rates.doubt
    assert "fits the slow rates too (tau^-0.10" in str(fit)  # by chi^2
    fit = ending_at_theory(1.128, SIZES, RATES, measured(law(1.2), error=0.001))
    assert "χ²" in fit.rates.doubt
    assert fit.rates.from_tau == 300.0  # three rates are left
    assert "at every size does not fit (tau^-0.10" in str(fit)


def test_both_laws_fit_where_errors_are_large():
    found = measured(towards(1.128), error=0.02)
    assert not joint_limit(SIZES, RATES, found).rates.doubt
    assert not ending_at_theory(1.128, SIZES, RATES, found).rates.doubt


def test_cuts_compare_both_laws_on_the_same_rates():
    found = measured(law(1.2))
    every, slower, slowest = cuts(1.128, SIZES, RATES, found)
    assert [it.from_tau for it in (every, slower, slowest)] == [30.0, 100.0, 300.0]
    own, rival = joint_limit(SIZES, RATES, found), ending_at_theory(1.128, SIZES, RATES, found)
    assert every.levels == pytest.approx((own.rates.chi2, own.rates.dof, own.rates.exponent.value))
    assert slowest.rival == pytest.approx((rival.rates.chi2, rival.rates.dof, rival.rates.exponent.value))
    assert every.rival.chi2 > 10 * every.levels.chi2  # the rival is wrong, and all rates show it
    assert str(slower).startswith(f"from 100 on {slower.levels.chi2:.1f} for {slower.levels.dof}, ")


@pytest.mark.parametrize("end", [1.128, 1.16])
def test_one_level_for_all_sizes_tests_theory(end):
    """What the rival leaves more of chi^2 is a chi^2 of one degree of freedom, if theory is right."""
    every, *_ = cuts(1.128, SIZES, RATES, measured(towards(end)))
    assert every.level.low < end < every.level.high < every.level.low + 0.02
    assert (every.common.dof, every.rival.dof) == (18, 19)
    assert (every.rival.chi2 - every.common.chi2 < 4) == (end == 1.128)
    assert str(every).endswith(f" at {every.level}")


def test_the_fit_of_one_level_is_that_of_scipy():
    found = measured(towards(1.15))
    values = np.array([half.value for half in found])

    def one_level(_, level, e, *amplitudes):
        return level + np.array(amplitudes)[np.unique(SIZES, return_inverse=True)[1]] * RATES**-e

    start = (1.1, 0.4, *5 * [0.2])
    (level, e, *_), _ = curve_fit(one_level, None, values, p0=start)
    every, *_ = cuts(1.128, SIZES, RATES, found)
    assert (every.level.value, every.common.exponent) == pytest.approx((level, e), abs=0.005)


def test_a_level_that_the_range_of_exponents_decides_is_unknown():
    every, *_ = cuts(1.128, SIZES, RATES, measured(1.4 - 0.03 * np.log(RATES)))
    assert every.common.exponent == joint.EXPONENTS[0]
    assert str(every).endswith(" at unknown")


@pytest.mark.parametrize(
    ("sizes", "rates"),
    [
        ([200, 400, 800], [30, 100, 300]),  # each size at a rate of its own
        ([200, 200, 400, 400, 800, 800], [30, 300, 30, 100, 30, 1000]),
        ([200, 200, 200, 400, 800], [30, 100, 300, 30, 30]),  # as many as there are parameters
    ],
)
def test_curves_that_leave_no_degree_of_freedom(sizes, rates):
    n, tau = np.array(sizes), 1.0 * np.array(rates)
    found = measured(law(1.128, n, tau))
    parts = (joint_limit(n, tau, found), ending_at_theory(1.128, n, tau, found))
    assert all(fit is None or fit.rates.dof > 0 for fit in parts)
    assert all(min(cut.levels.dof, cut.rival.dof, cut.common.dof) > 0 for cut in cuts(1.128, n, tau, found))


def test_too_few():
    one_size = SIZES == 200
    assert joint_limit(SIZES[one_size], RATES[one_size], measured(law(1.1)[one_size])) is None
    unknown = [Interval(np.nan, 1.0, np.inf)] * SIZES.size
    assert joint_limit(SIZES, RATES, unknown) is None
    assert ending_at_theory(1.128, SIZES, RATES, unknown) is None
    with pytest.raises(InputError, match="each curve"):
        joint_limit(SIZES, RATES[1:], unknown)

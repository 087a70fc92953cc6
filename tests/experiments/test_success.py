import math

import numpy as np
import pytest
from scipy.optimize import curve_fit, minimize
from scipy.special import expit
from scipy.stats import norm

from phaselect import InputError
from phaselect.base.tables import Table
from phaselect.experiments import fits, limits
from phaselect.experiments.limits import (
    Interval,
    alpha_50,
    alpha_50_of_shares,
    alpha_50_table,
    large_n_limit,
    logistic_midpoint,
)
from phaselect.experiments.success import success_table, time_to_solution, timed_on_one_core, wilson
from phaselect.solvers.registry import OPTIONS

ALPHAS = np.round(np.arange(1.1, 1.476, 0.025), 3)


def rows(outcomes, alphas=ALPHAS, seconds=1.0, **parameters):
    """A table as a store gives it; `outcomes` has a line for each instance and a column for each alpha."""
    count = outcomes.size
    fixed = {"solver": "amp", "ensemble": "gaussian", "field": "real", "n": 100, "plan": "plan-0", "device": ""}
    fixed |= dict.fromkeys(OPTIONS, math.nan) | {"eps": 0.1, "product": 1.0} | parameters
    columns = {name: np.array([value] * count) for name, value in fixed.items()}
    columns["alpha"] = np.tile(alphas, len(outcomes))
    columns["seed"] = np.repeat(np.arange(len(outcomes)), alphas.size)
    columns["m"] = np.where(outcomes.ravel(), 1.0, 0.2)
    columns["mse_x"] = np.where(outcomes.ravel(), 1e-14, 0.8)
    columns["mse_y"] = np.where(outcomes.ravel(), 1e-30, 1e-3)
    columns["status"] = np.where(outcomes.ravel(), "RECOVERED", "NOT_RECOVERED")
    columns["seconds"] = np.full(count, seconds)
    return Table(columns)


def together(parts):
    return Table({name: np.concatenate([part[name] for part in parts]) for name in parts[0].columns})


def draw(rng, middle, width, instances=100):
    return rng.random((instances, ALPHAS.size)) < expit((ALPHAS - middle) / width)


def test_ends_of_wilsons_interval_are_shares_that_just_allow_what_was_seen():
    """p with |k/n - p| of 1.96 standard errors sqrt(p (1 - p)/n), those of p itself; clipped, and (0, 1) of nothing."""
    k, n = np.array([0, 3, 10, 57, 999]), np.array([10, 10, 10, 100, 2000])
    for ends, outside in zip(wilson(k, n), (k == 0, k == n), strict=True):
        errors = np.abs(k / n - ends) - norm.ppf(0.975) * np.sqrt(ends * (1 - ends) / n)
        assert np.allclose(errors[~outside], 0, atol=1e-12)
    low, high = wilson(k, n)
    assert (low[0], high[2]) == (0, 1)
    assert all(low <= k / n)
    assert all(k / n <= high)
    assert wilson(0, 0) == (0, 1)


def test_success_needs_every_condition_and_crashes_are_no_runs():
    table = rows(np.ones((5, 1), dtype=bool), alphas=np.array([1.2]), seconds=2.0)
    table["mse_y"][0] = 1e-5
    table["m"][1] = 0.98
    table["mse_x"][2] = 0.09  # a long x that is not the signal, as population annealing met at N = 50, alpha = 1.04
    table["status"][3] = "FAILED"
    found = success_table(table)
    assert (found["trials"][0], found["crashed"][0], found["successes"][0]) == (4, 1, 1)
    assert found["p"][0] == pytest.approx(1 / 4)
    assert found["seconds"][0] == 2.0


def test_times_of_devices_are_kept_apart_and_successes_are_not():
    one = np.array([1.2])
    core = rows(np.array([[True], [False]]), alphas=one, seconds=4.0)
    gpu = rows(np.array([[True], [True]]), alphas=one, seconds=0.5, device="gpu")
    found = success_table(together([core, gpu]))
    assert found["device"].tolist() == ["", "gpu"]
    assert found["seconds"].tolist() == [4.0, 0.5]
    assert found["timed"].tolist() == [2, 2]
    assert found["p"].tolist() == [0.75, 0.75]
    assert found["tts_99"].tolist() == [time_to_solution(0.75, seconds, 0.99) for seconds in (4.0, 0.5)]
    core_only = success_table(timed_on_one_core(together([core, gpu])))
    assert {name: column.tolist() for name, column in core_only.items() if name not in OPTIONS} == {
        name: column[:1].tolist() for name, column in found.items() if name not in OPTIONS
    }
    assert np.isnan(success_table(timed_on_one_core(gpu))["seconds"][0])


def test_runs_of_another_plan_are_another_curve():
    """As when a solver's default was changed between two sweeps into one store."""
    old, new = (rows(np.full((3, 1), good), alphas=np.array([1.2]), plan=plan) for good, plan in ((0, "a"), (1, "b")))
    found = success_table(together([old, new]))
    assert dict(zip(found["plan"], found["p"], strict=True)) == {"a": 0.0, "b": 1.0}
    assert len(alpha_50_table(together([old, new]))["plan"]) == 2


def test_runs_of_another_ensemble_are_another_curve():
    gaussian = rows(np.zeros((4, 1), dtype=bool), alphas=np.array([1.2]))
    other = rows(np.ones((4, 1), dtype=bool), alphas=np.array([1.2]), ensemble="toeplitz")
    found = success_table(together([gaussian, other]))
    assert dict(zip(found["ensemble"], found["p"], strict=True)) == {"gaussian": 0.0, "toeplitz": 1.0}


def test_runs_in_another_field_are_another_curve():
    real, other = (
        rows(np.full((4, 1), it == "complex"), alphas=np.array([2.2]), field=it) for it in ("real", "complex")
    )
    found = success_table(together([real, other]))
    assert dict(zip(found["field"], found["p"], strict=True)) == {"real": 0.0, "complex": 1.0}


def test_midpoint_is_the_maximum_of_the_likelihood():
    rng = np.random.default_rng(0)
    hits, trials = draw(rng, 1.23, 0.03).sum(axis=0), np.full(ALPHAS.size, 100)

    def cost(parameters):
        middle, log_width = parameters
        p = expit((ALPHAS - middle) / math.exp(log_width)).clip(1e-12, 1 - 1e-12)
        return -np.sum(hits * np.log(p) + (trials - hits) * np.log(1 - p))

    best = minimize(cost, [1.2, math.log(0.05)], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10})
    found = logistic_midpoint(ALPHAS, hits[None].astype(float), trials[None].astype(float))
    assert found[0] == pytest.approx(best.x[0], abs=1e-4)  # the weak prior on the slope moves it by less


def test_midpoint_of_a_steep_curve_on_an_uneven_grid():
    """Most alphas lie far above the transition, where the likelihood is flat."""
    alphas = np.array([1.05, 1.1, 1.15, 1.2, 1.25, 1.3, 1.4, 1.5, 1.6, 1.8, 2.0, 2.5, 3.0, 4.0])
    hits = np.array([[0.0, 2, 9, 9, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10]])
    (found,) = logistic_midpoint(alphas, hits, np.full((1, 14), 10.0))
    assert 1.1 < found < 1.15


@pytest.fixture
def quick(monkeypatch):
    """Fewer replicates: the ends of an interval are rougher, at the fifth of 200, and the coverage is the same."""
    for module in (fits, limits):
        monkeypatch.setattr(module, "REPLICATES", 200)


def counted(alphas, successes, trials):
    """Shares of a table."""
    return Table({"alpha": alphas, "successes": successes, "trials": np.full(alphas.size, trials)})


def levelling_off(rng, middle, width, instances):
    """Success that is logistic in the logarithm of alpha - 1."""
    return rng.random((instances, ALPHAS.size)) < expit(np.log((ALPHAS - 1) / (middle - 1)) / width)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("law", "width"), [(draw, 0.03), (levelling_off, 0.3)])
def test_interval_of_alpha_50_covers_the_truth(law, width):
    """95 % nominal: of 100 intervals at least 88 must cover (within three standard deviations), whatever the law."""
    rng = np.random.default_rng(1)
    middle, covered, from_counts = 1.21, 0, 0
    for _ in range(100):
        outcomes = law(rng, middle, width, 50)
        _, low, high = alpha_50(rows(outcomes)).interval
        covered += low <= middle <= high
        _, low, high = alpha_50_of_shares(counted(ALPHAS, outcomes.sum(axis=0), 50))
        from_counts += low <= middle <= high
    assert 88 <= covered < 100
    assert 88 <= from_counts < 100


def test_curves_below_one_measurement_per_unknown():
    """Of sparse signals: half of 100 at alpha = 0.5; what is not above the least counts for nothing."""
    alphas = np.array([0.3, 0.4, 0.5, 0.6, 0.7])
    shares = np.array([0.02, 0.2, 0.5, 0.8, 0.98])
    table = rows(np.arange(100)[:, None] < 100 * shares, alphas=alphas)
    assert alpha_50(table, least=0.0).interval.value == pytest.approx(0.5, abs=0.01)
    assert str(alpha_50(table).interval) == "unknown"
    assert str(alpha_50_of_shares(counted(alphas, 100 * shares, 100))) == "unknown"


def test_bootstrap_is_over_instances():
    """If an instance fails or succeeds at all alphas alike, a hundred runs of it count as one."""
    rng = np.random.default_rng(2)
    alphas = np.linspace(1.1, 1.4, 31)
    own = rng.normal(1.25, 0.05, 20)  # each instance has a threshold of its own
    interval = alpha_50(rows(alphas >= own[:, None], alphas=alphas)).interval
    assert interval.high - interval.low > 2 * 1.96 * 0.05 / math.sqrt(20) * 0.7


def test_a_jump_between_two_alphas_is_known_to_the_gap():
    value, low, high = alpha_50(rows(np.repeat(ALPHAS[None] > 1.21, 30, axis=0))).interval
    assert (low, high) == (1.2, 1.225)
    assert value == pytest.approx(1.2125, abs=1e-3)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("instances", [1, 5])
def test_few_instances_of_a_steep_curve_are_covered_too(instances):
    """Nominal 95 %; of 100 intervals at least 88 must cover."""
    rng = np.random.default_rng(instances)
    covered = 0
    for middle in rng.uniform(1.15, 1.4, 100):
        _, low, high = alpha_50(rows(draw(rng, middle, 0.004, instances))).interval
        covered += low <= middle <= high
    assert covered >= 88


@pytest.mark.usefixtures("quick")
def test_intervals_are_in_order_whatever_the_data():
    rng = np.random.default_rng(7)
    for _ in range(100):
        value, low, high = alpha_50(rows(rng.random((int(rng.integers(1, 4)), ALPHAS.size)) < rng.random())).interval
        assert math.isnan(value) or low <= value <= high
        assert low <= high


def test_a_falling_curve_has_no_threshold():
    interval = alpha_50(rows(np.repeat(ALPHAS[None] < 1.3, 20, axis=0))).interval
    assert str(interval) == "unknown"


def test_midpoints_that_the_data_do_not_reach():
    alphas, trials = np.array([1.1, 1.2, 1.3]), np.full((3, 3), 100.0)
    hits = np.array([[10.0, 10.1, 10.2], [90.0, 90.1, 90.2], [60.0, 50.0, 40.0]])
    flat_low, flat_high, falling = logistic_midpoint(alphas, hits, trials)
    assert (flat_low, flat_high) == (math.inf, -math.inf)
    assert math.isnan(falling)


def test_curves_that_do_not_cross_one_half():
    value, low, high = alpha_50(rows(np.zeros((10, ALPHAS.size), dtype=bool))).interval
    assert math.isnan(value)
    assert (low, high) == (1.475, math.inf)  # ten times nothing excludes one half
    assert alpha_50(rows(np.zeros((2, ALPHAS.size), dtype=bool))).interval.low == 1.0  # twice nothing does not
    value, low, high = alpha_50(rows(np.ones((10, ALPHAS.size), dtype=bool))).interval
    assert math.isnan(value)
    assert (low, high) == (1.0, 1.1)


def test_a_crossing_beyond_the_alphas_tried_is_a_bound():
    """Half at the second but last alpha, less at the last: the fit crosses beyond it; and the mirror image."""
    alphas, hits = np.array([1.8, 2.2, 2.6, 2.8, 3.0]), np.array([2, 8, 18, 25, 17])
    outcomes = np.arange(50)[:, None] < hits
    counts = {"alpha": alphas, "trials": np.full(5, 50)}
    for found in (alpha_50(rows(outcomes, alphas)).interval, alpha_50_of_shares(Table(counts | {"successes": hits}))):
        assert np.isnan(found.value)
        assert 2.6 < found.low < 3.0
        assert found.high == math.inf
    mirrored = 50 - hits[::-1]
    low = alpha_50_of_shares(Table(counts | {"successes": mirrored}))
    assert np.isnan(low.value)
    assert (low.low, low.high < 2.2) == (1.0, True)


def test_runs_that_crashed_are_no_alphas_tried():
    """Half at the last alpha at which any run ended: what the fit says beyond is a guess, as if they were not there."""
    alphas = np.array([1.1, 1.2, 1.3])
    ended = rows(np.arange(20)[:, None] < np.array([2, 6, 10]), alphas)
    crashed = rows(np.zeros((20, 1), dtype=bool), np.array([1.5]))
    crashed = Table(crashed.columns | {"status": np.full(20, "FAILED")})
    found = alpha_50(together([ended, crashed])).interval
    assert str(found) == str(alpha_50(ended).interval)
    assert np.isnan(found.value)


def test_the_table_of_alpha_50_tells_curves_apart():
    rng = np.random.default_rng(3)
    parts = [rows(draw(rng, middle, 0.02), n=n) for n, middle in ((100, 1.25), (200, 1.2))]
    table = together(parts)
    found = alpha_50_table(table)
    assert found["n"].tolist() == [100, 200]
    assert np.allclose(found["alpha_50"], [1.25, 1.2], atol=0.01)
    assert found["instances"].tolist() == [100, 100]
    assert found["kind"].tolist() == ["threshold", "threshold"]


SIZES = [100, 200, 400, 800, 1600, 3200]


def thresholds(values, spread):
    """Intervals of 95 % around values whose standard error is known."""
    return [Interval(value, value - 1.96 * spread, value + 1.96 * spread) for value in values]


def test_the_standard_error_of_an_interval():
    """scipy's normal law has 95 % within it; an interval without width has that of the digits given."""
    half = Interval(1.2, 1.15, 1.25)
    assert norm(1.2, half.standard_error).interval(0.95) == pytest.approx((half.low, half.high))
    assert Interval(1.2, 1.2, 1.2).standard_error == 1e-4


def law(n, limit, amplitude, exponent):
    return limit + amplitude * np.asarray(n, dtype=float) ** -exponent


def test_large_n_limit_is_that_of_scipys_curve_fit():
    rng = np.random.default_rng(4)
    spread = np.array([0.002, 0.003, 0.001, 0.002, 0.004, 0.003])
    values = law(SIZES, 1.13, 2.0, 0.7) + spread * rng.standard_normal(6)
    fit = large_n_limit(SIZES, [Interval(v, v - 1.96 * s, v + 1.96 * s) for v, s in zip(values, spread, strict=True)])
    best, covariance = curve_fit(law, SIZES, values, [1.1, 2.0, 0.6], spread, absolute_sigma=True)
    assert fit.limit.value == pytest.approx(best[0], abs=2e-4)  # the exponents tried are 0.0125 apart
    assert fit.exponent == pytest.approx(best[2], abs=0.0125)
    assert fit.chi2 == pytest.approx(np.sum(((law(SIZES, *best) - values) / spread) ** 2), abs=0.02)
    assert fit.limit.high - fit.limit.low == pytest.approx(2 * 1.96 * covariance[0, 0] ** 0.5, rel=0.25)
    assert (fit.dof, fit.doubt) == (3, "")


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("limit", "amplitude", "exponent", "spread", "usual"),
    [(1.128, 3.0, 0.7, 0.002, True), (1.2, -8.0, 1.0, 0.003, True), (1.128, 0.7, 1 / 3, 0.003, False)],
    ids=["from above", "from below", "hardly determined"],
)
def test_limits_cover_the_truth(limit, amplitude, exponent, spread, usual):
    """95 % nominal: of 200 fits at most 16 may have a limit that excludes the truth (three standard deviations)."""
    rng = np.random.default_rng(9)
    drawn = law(SIZES, limit, amplitude, exponent) + spread * rng.standard_normal((200, 6))
    fits = [large_n_limit(SIZES, thresholds(values, spread)) for values in drawn]
    trusted = [fit.limit for fit in fits if not fit.doubt]
    assert sum(not low <= limit <= high for _, low, high in trusted) <= 16
    assert (len(trusted) > 180) is usual  # nearly all, less the chi^2 that is bad by chance; or seldom


@pytest.mark.parametrize(
    ("values", "spread", "doubt"),
    [
        (law(SIZES[:3], 1.13, 2.0, 0.7), 0.002, "no degree of freedom left"),
        ([1.18, 1.21, 1.19, 1.17, 1.2, 1.18], 0.003, "χ² = "),
        (law(SIZES, 1.0, 0.5, 0.1), 0.004, "exponent of N not determined, 0.25 to"),
        (law(SIZES, 1.2, 1e5, 3.0), 0.01, "to 2.00"),
    ],
    ids=["three sizes", "no such law", "slower than the range", "faster than the range"],
)
def test_a_fit_in_doubt_has_no_interval(values, spread, doubt):
    fit = large_n_limit(SIZES[: len(values)], thresholds(values, spread))
    assert doubt in fit.doubt
    assert np.isnan([fit.limit.low, fit.limit.high]).all()
    assert str(fit) == f"none: {fit.doubt}"


def test_without_a_trend_the_mean_is_the_limit():
    spread = np.array([0.002, 0.003, 0.001, 0.002, 0.004, 0.003])
    values = 1.2 + spread * np.random.default_rng(4).standard_normal(6)
    fit = large_n_limit(SIZES, [Interval(v, v - 1.96 * s, v + 1.96 * s) for v, s in zip(values, spread, strict=True)])
    assert fit.limit.value == pytest.approx(np.average(values, weights=spread**-2), rel=1e-6)
    assert fit.chi2 == pytest.approx(np.sum(((values - fit.limit.value) / spread) ** 2), rel=1e-3)
    assert (fit.amplitude, fit.dof, fit.doubt) == (0.0, 5, "")
    assert "], no trend with N, χ² = " in str(fit)


@pytest.mark.usefixtures("quick")
def test_limits_without_a_trend_cover_the_truth():
    """Of equal sizes nearly all have one, and at 95 % nominal at most 16 of 200 miss; none where sizes differ by chi^2.

    They are far wider than the error of the mean: a law with a small exponent may hide in the errors.
    """
    drawn = 1.16 + 0.005 * np.random.default_rng(9).standard_normal((200, 6))
    fits = [large_n_limit(SIZES, thresholds(values, 0.005)) for values in drawn]
    trusted = [fit.limit for fit in fits if not fit.doubt]
    assert len(trusted) > 170
    assert sum(not low <= 1.16 <= high for _, low, high in trusted) <= 16
    assert np.median([high - low for _, low, high in trusted]) > 2 * (2 * 1.96 * 0.005 / 6**0.5)


@pytest.mark.usefixtures("quick")
def test_limits_cover_the_truth_less_often_where_a_trend_is_not_seen():
    """That none was seen is not in the interval: of those where errors hide it still four in five have the limit."""
    drawn = law(SIZES, 1.128, 0.3, 0.5) + 0.01 * np.random.default_rng(9).standard_normal((200, 6))
    fits = [large_n_limit(SIZES, thresholds(values, 0.01)) for values in drawn]
    trusted = [fit.limit for fit in fits if not fit.doubt and fit.amplitude == 0]
    assert len(trusted) > 30
    assert np.mean([low <= 1.128 <= high for _, low, high in trusted]) > 0.8


def test_three_sizes_have_no_limit_even_without_a_trend():
    fit = large_n_limit(SIZES[:3], thresholds([1.129, 1.127, 1.128], 0.003))
    assert fit.doubt == "no degree of freedom left"


def test_large_n_limit_leaves_out_sizes_that_say_nothing():
    known = thresholds(law(SIZES, 1.13, 2.0, 0.7), 0.002)
    openended = [Interval(math.nan, 1.1, math.inf), Interval(1.2, 1.1, math.inf)]
    assert large_n_limit([*SIZES, 50, 6400], [*known, *openended]) == large_n_limit(SIZES, known)
    assert large_n_limit(SIZES[:2], known[:2]) is None
    with pytest.raises(InputError, match="of each size"):
        large_n_limit([100, 200], known)


def test_one_more_size_of_few_instances_hardly_moves_the_limit():
    known = thresholds(law(SIZES, 1.13, 2.0, 0.7), 0.002)
    before, after = large_n_limit(SIZES, known), large_n_limit([*SIZES, 6400], [*known, Interval(1.2, 1.0, 1.4)])
    assert after.limit.value == pytest.approx(before.limit.value, abs=1e-3)


def test_limits_are_in_the_table_of_alpha_50():
    rng = np.random.default_rng(8)
    parts = [rows(draw(rng, 1.13 + 15 / n, 0.01), n=n) for n in (50, 100, 200, 400, 800)]
    table = together(parts)
    found = Table(alpha_50_table(table)).where(kind="limit")
    assert found["n"].tolist() == [0]
    assert found["doubt"].tolist() == [""]
    assert found["dof"].tolist() == [2]
    assert found["low"][0] < 1.13 < found["high"][0]


def test_intervals_print_themselves():
    assert str(Interval(1.2, 1.19, 1.21)) == "1.200 [1.190, 1.210]"
    assert str(Interval(1.2, 1.19, math.inf)) == "1.200 [1.190, ∞)"
    assert str(Interval(math.nan, 1.475, math.inf)) == "above 1.475"  # not 1.48, which was not tried
    assert str(Interval(math.nan, 1.0, 1.125)) == "below 1.125"
    assert str(Interval(math.nan, 1.0, math.inf)) == "unknown"


def test_time_to_solution_is_that_of_repeated_runs():
    rng = np.random.default_rng(5)
    runs = rng.geometric(0.2, 100_000)
    assert time_to_solution(0.2, 3.0, 0.99) == pytest.approx(3.0 * math.log(0.01) / math.log(0.8))
    assert np.mean(runs * 3.0 <= time_to_solution(0.2, 3.0, 0.99)) == pytest.approx(0.99, abs=0.003)
    assert time_to_solution(1.0, 3.0, 0.99) == time_to_solution(0.999, 3.0, 0.5) == 3.0
    assert time_to_solution(0.0, 3.0, 0.5) == math.inf

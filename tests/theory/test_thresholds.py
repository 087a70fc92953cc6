"""Published and independently computed thresholds."""

import math

import numpy as np
import pytest

from phaselect import InputError, theory
from phaselect.theory.control import Control
from phaselect.theory.flow import growth_rates, paramagnet

slow = pytest.mark.slow


@pytest.mark.parametrize(
    ("product", "alpha"), [(0.5, 1.1595), pytest.param(1.0, 1.1283, marks=slow), pytest.param(2.0, 1.1475, marks=slow)]
)
def test_critical_alpha(product, alpha):
    assert theory.critical_alpha(product, tolerance=1e-4) == pytest.approx(alpha, abs=5e-4)


@pytest.mark.parametrize(
    ("product", "low", "high"),
    [
        (0.3, 1.20, 1.25),
        (10, 1.25, 1.30),
        pytest.param(3, 1.17, 1.20, marks=slow),
        pytest.param(6, 1.20, 1.25, marks=slow),
    ],
)
def test_critical_alpha_of_bad_products(product, low, high):
    assert low < theory.critical_alpha(product, tolerance=1e-2) < high


def test_matched_threshold_is_the_bayes_optimal_one():
    """By the scalar equation at mu = infinity: the largest alpha with a root. Another algorithm, another limit."""
    low, high = 1.1, 1.2
    while high - low > 1e-6:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if theory.bayes_optimal(middle).phase == "easy" else (middle, high)
    assert low == pytest.approx(1.12847, abs=1e-5)
    assert theory.critical_alpha() == pytest.approx(low, abs=2e-5)


@pytest.fixture(scope="module")
def diagram():
    return theory.phase_diagram([1.2, 1.5, 1.6, 1.7])


def test_merging_without_regulariser(diagram):
    assert diagram.alpha_merge == pytest.approx(1.6800, abs=1e-4)
    assert diagram.alpha_recovery == pytest.approx(1.5839, abs=2e-4)
    assert np.isnan(diagram.lines["mu_spinodal"][3])


def test_lines_without_regulariser(diagram):
    lines = diagram.lines
    assert lines["mu_spinodal"][2] == pytest.approx(4.1289, abs=1e-3)
    assert lines["mu_uninformed_end"][2] == pytest.approx(9.3455, abs=1e-3)
    assert math.isinf(lines["mu_uninformed_end"][0])
    assert math.isinf(lines["mu_uninformed_end"][1])
    for alpha, spinodal, first in zip(lines["alpha"][:3], lines["mu_spinodal"], lines["mu_first_order"], strict=False):
        assert spinodal < first
        assert theory.saddle_point(alpha, spinodal * 1.001, start="informed").m > 0.7
        assert theory.saddle_point(alpha, spinodal * 0.999, start="informed").m < 0.2
        gap = [theory.saddle_point(alpha, first, start=s).free_entropy for s in ("informed", "uninformed")]
        assert gap[0] == pytest.approx(gap[1], abs=1e-7)


def test_first_order_line_is_smooth_where_the_uninformed_branch_begins_to_end():
    line = [theory.transitions(alpha).mu_first_order for alpha in (1.57, 1.58, 1.59)]
    assert line == pytest.approx([5.585, 5.211, 4.869], abs=1e-3)


@slow
def test_thresholds_with_a_little_regulariser():
    assert theory.alpha_merge(0.005) == pytest.approx(1.6316, abs=1e-4)
    assert theory.alpha_recovery(0.005) == pytest.approx(1.1302, abs=2e-4)


def test_first_order_line_with_a_little_regulariser():
    assert theory.transitions(1.15, 0.005).mu_first_order == pytest.approx(115.78, rel=1e-3)


@slow
def test_one_branch_computed_twice_is_no_crossing():
    """Beyond the island that the informed branch of alpha = 1.108 is, two equal numbers differ by rounding."""
    island = theory.transitions(1.1082, 0.005)
    assert island.mu_spinodal == pytest.approx(331.6, rel=1e-3)
    assert math.isnan(island.mu_first_order)


@pytest.mark.parametrize("alpha", [1.1, 1.3, 1.5])
def test_no_overlap_grows_without_regulariser_up_to_one_and_a_half(alpha):
    """2 alpha V/s2^2 -> 2 (alpha - 1) as mu -> infinity."""
    for mu in np.geomspace(0.1, 1e6, 20):
        control = Control(alpha, mu)
        assert growth_rates(paramagnet(control), control).m < 1
    assert theory.max_overlap(alpha) == (0.0, pytest.approx(math.nan, nan_ok=True))
    assert math.isinf(theory.mu_at_overlap(alpha))


def test_a_little_regulariser_recovers_with_few_measurements():
    """The paper's lam = 0.005: recovery near the Bayes-optimal ratio, at the price of m < 1."""
    assert theory.alpha_recovery(0.005, tolerance=1e-2) < 1.2
    for alpha in (1.2, 1.3):
        assert math.isfinite(theory.transitions(alpha, 0.005).mu_uninformed_end)
    m, mu = theory.max_overlap(1.3, 0.005)
    assert 0.9 < m < 0.999
    assert theory.saddle_point(1.3, mu, 0.005, start="informed").m == pytest.approx(m, abs=1e-6)
    assert theory.mu_at_overlap(1.3, 0.05) < theory.mu_at_overlap(1.3, 0.005)


def test_an_island_is_not_an_end_of_the_uninformed_branch():
    island = theory.transitions(1.12, 0.005)
    assert island.mu_spinodal == pytest.approx(194.81, abs=0.01)
    assert math.isinf(island.mu_uninformed_end)
    assert theory.max_overlap(1.12, 0.005).m < 0.8


@slow
def test_branches_never_separate_at_large_lam():
    assert math.isnan(theory.alpha_merge(0.05))


def test_mu_at_overlap_is_where_it_says():
    mu = theory.mu_at_overlap(1.7, 0.0, m=0.1)
    assert theory.saddle_point(1.7, mu).m == pytest.approx(0.1, abs=1e-6)


def test_entropy_crisis():
    mu = theory.entropy_crisis(1.5)
    assert mu == pytest.approx(70, abs=3)
    assert theory.saddle_point(1.5, mu).complexity == pytest.approx(0, abs=1e-8)
    assert math.isinf(theory.entropy_crisis(1.7))


def test_local_instability():
    for alpha in (1.2, 1.4):
        mu = theory.local_instability(alpha, 0.05)
        below, above = (theory.saddle_point(alpha, mu * factor, 0.05).replicon for factor in (0.999, 1.001))
        assert below < 1 < above
    assert math.isinf(theory.local_instability(1.3))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.critical_alpha(0.0), "product = 0 must be a positive"),
        (lambda: theory.critical_alpha(tolerance=0.0), "tolerance = 0 must lie between"),
        (lambda: theory.alpha_recovery(tolerance=math.nan), "tolerance = nan must lie between"),
        (lambda: theory.phase_diagram([1.0]), "recovery needs more measurements than unknowns"),
        (lambda: theory.phase_diagram([1.2], -1.0), "lam = -1 must be 0 or more"),
        (lambda: theory.mu_at_overlap(0.9, 0.1), "recovery needs"),
        (lambda: theory.mu_at_overlap(1.2, 0.1, m=1.5), "m = 1.5 must lie between 0 and 1"),
        (lambda: theory.entropy_crisis(0.5), "recovery needs"),
        (lambda: theory.max_overlap(0.5), "alpha must exceed 1"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()

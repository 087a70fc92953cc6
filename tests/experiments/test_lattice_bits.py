"""Exact data of any precision, and the rule that lattices follow."""

import math

import numpy as np
import pytest
from scipy.special import expit

from phaselect.experiments.lattice_bits import (
    SPREAD,
    equations_of,
    exact_data,
    fit_rule,
    rows_for,
    trial,
    whole_gaussian,
)
from phaselect.solvers.lattice_reach import strength


@pytest.mark.parametrize("bits", [24, 53, 200])
def test_gaussian_numbers_have_so_many_digits(bits):
    drawn = whole_gaussian(np.random.default_rng(0), (4000,), bits)
    assert drawn.astype(float).std() * 2.0 ** (SPREAD - bits) == pytest.approx(1, abs=0.05)
    assert max(int(abs(number)).bit_length() for number in drawn) == pytest.approx(bits, abs=1)
    assert np.mean([number % 2 for number in drawn]) == pytest.approx(0.5, abs=0.05)  # down to the last of them
    assert (np.abs(np.diff(np.sort(drawn))) > 0).sum() > 3900


@pytest.mark.parametrize("bits", [24, 53, 120])
def test_data_are_rounded_to_their_digits_and_no_further(bits):
    data = exact_data(12, 15, bits, seed=1)
    x = np.linalg.lstsq(data.A.astype(float), data.signs * data.y.astype(float), rcond=None)[0]
    np.testing.assert_allclose(data.A.astype(float) @ x, data.signs * data.y.astype(float), rtol=1e-5)
    equations = equations_of(data)
    assert equations.bits / 3 == pytest.approx(bits, abs=1.5)
    right, wrong = equations.values(data.signs[None]), equations.values(np.ones((1, 15)))
    assert np.abs(right).max() < 4
    assert np.abs(right).max() > 0.05  # rounding is there
    assert np.abs(wrong).max() > 2.0 ** (bits - 6)


@pytest.mark.slow
def test_more_digits_for_fewer_measurements():
    """One equation for 50 signs: enough in 200 bits, in LLL at once; and not in 24, where wrong signs fit as well."""
    enough, few = (trial(49, 50, bits, seed=0, block=10) for bits in (200, 24))
    assert enough["found_at"] == 2
    assert few["found_at"] == math.inf
    assert enough["digits"] == pytest.approx(200, abs=2)


def test_sizes_of_a_strength():
    for bits, k in ((24, 4), (200, 1)):
        m_rows = rows_for(bits, k, 0.03)
        assert strength(k * bits, m_rows) == pytest.approx(0.03, rel=0.02)


def test_the_rule_is_recovered_with_its_uncertainty():
    rng, trials = np.random.default_rng(0), np.full(60, 20)
    x = np.geomspace(0.02, 0.06, 60)
    found = fit_rule(x, rng.binomial(20, expit(np.log(x / 0.035) / 0.06)), trials)
    assert found.low < 0.035 < found.high
    assert found.high / found.low < 1.1
    assert found.width == pytest.approx(0.06, rel=0.4)
    assert found.chi2 / found.freedom == pytest.approx(1, abs=0.7)


def test_points_that_follow_no_rule_widen_the_interval():
    rng, x = np.random.default_rng(0), np.tile(np.geomspace(0.02, 0.06, 30), 2)
    c = np.repeat([0.03, 0.04], 30)
    one, two = (
        fit_rule(x, rng.binomial(20, expit(np.log(x / centre) / 0.03)), np.full(60, 20)) for centre in (0.035, c)
    )
    assert two.chi2 / two.freedom > 2
    assert two.high / two.low > 1.06 > one.high / one.low

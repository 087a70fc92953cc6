"""Copies for half of the instances, and their growth, from runs that are made up."""

import numpy as np
import pytest

from phaselect.base.tables import Table, stack
from phaselect.experiments.copies_needed import copies_50, growth, hard_phase_rows, vanishing
from phaselect.experiments.limits import Interval

REPLICAS = 2.0 ** np.arange(2, 14, 2)


def runs(n, alpha, middle, instances=100):
    """Runs of which half succeed with 2^middle copies."""
    rng = np.random.default_rng([n, int(1000 * alpha)])
    copies, seeds = (it.ravel() for it in np.meshgrid(REPLICAS, np.arange(instances)))
    good = rng.random(copies.size) < 1 / (1 + np.exp(-(np.log2(copies) - middle)))
    columns = {"n": n, "alpha": alpha, "replicas": copies, "seed": seeds, "status": "SCHEDULE_DONE"}
    return columns | {"m": np.where(good, 1.0, 0.3), "mse_y": np.where(good, 1e-20, 1e-3)}


def test_copies():
    found = copies_50(Table(stack([runs(50, 1.1, 6.5)]), {}))
    assert found.low < 6.5 < found.high
    assert found.high - found.low < 0.6
    never = copies_50(Table(stack([runs(50, 1.1, 40.0)]), {}))
    assert (never.low, never.high) == (12.0, np.inf)


def close(value, error=0.1):
    return Interval(value, value - 1.96 * error, value + 1.96 * error)


SIZES = [50, 100, 200, 400]


def test_the_law_of_growth_is_told():
    exponential = [close(2 + 0.02 * n) for n in SIZES]
    assert growth(SIZES, exponential, "exponential").rate.value == pytest.approx(0.02, abs=0.002)
    assert not growth(SIZES, exponential, "exponential").doubt
    assert growth(SIZES, exponential, "power").doubt
    power = [close(2 + 1.5 * np.log2(n)) for n in SIZES]
    assert growth(SIZES, power, "exponential").doubt
    assert not growth(SIZES, power, "power").doubt
    assert growth(SIZES[:1], power[:1], "power") is None
    assert "freedom" in growth(SIZES[:2], power[:2], "power").doubt


def test_where_it_vanishes():
    alphas = [1.04, 1.06, 1.08, 1.1]
    end = vanishing(alphas, [close(1.3 * (1.13 - alpha), 0.003) for alpha in alphas])
    assert not end.doubt
    assert end.alpha.low < 1.13 < end.alpha.high
    assert end.alpha.high - end.alpha.low < 0.02
    assert vanishing(alphas, [close(0.1, 0.003)] * 4).doubt == "no decrease"
    assert vanishing(alphas[:1], [close(0.1)]) is None


SOME = (50, 100, 150)


def test_the_rows_of_the_figure():
    sweep = [runs(n, alpha, 2.5 + (1.2 - alpha) * n / 3) for n in SOME for alpha in (1.03, 1.06, 1.09, 1.12)]
    table = Table(stack(hard_phase_rows(Table(stack(sweep), {}))), {})
    assert [len(table.where(kind=kind)) for kind in ("copies", "exponential", "power", "vanishing")] == [12, 4, 4, 1]
    end = table.where(kind="vanishing")
    assert end["low"][0] < 1.2 < end["high"][0]
    assert not end["doubt"][0]


def test_no_fewer_copies_than_one():
    rows = runs(50, 1.1, 2.0, instances=12)
    assert copies_50(Table(stack([rows]), {})).low >= 0.0

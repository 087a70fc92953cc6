"""Copies for half of the instances, and their growth, from runs that are made up."""

import math

import numpy as np
import pytest

from phaselect.base.tables import Table, stack
from phaselect.experiments import copies_needed
from phaselect.experiments.copies_needed import copies_50, growth, hard_phase_rows, vanishing
from phaselect.experiments.limits import Interval

REPLICAS = 2.0 ** np.arange(2, 14, 2)


def runs(n, alpha, middle, instances=100, power=6.0):
    """Runs of which half succeed with 2^middle copies; their odds are this power of log2(copies) over the middle."""
    rng = np.random.default_rng([n, int(1000 * alpha)])
    copies, seeds = (it.ravel() for it in np.meshgrid(REPLICAS, np.arange(instances)))
    good = rng.random(copies.size) < 1 / (1 + (np.log2(copies) / middle) ** -power)
    columns = {"n": n, "alpha": alpha, "replicas": copies, "seed": seeds, "status": "SCHEDULE_DONE"}
    return columns | {
        "m": np.where(good, 1.0, 0.3),
        "mse_x": np.where(good, 0.0, 1.0),
        "mse_y": np.where(good, 1e-20, 1e-3),
    }


def of_one_need(rng, sizes, instances=40, power=2.0):
    """Runs of instances that succeed from a number of copies on: with one number all is said of those above."""
    parts = []
    for n in sizes:
        need = exponential(n) * np.exp(rng.logistic(size=instances) / power)
        good = (np.log2(REPLICAS)[:, None] > need).ravel()
        copies, seeds = (it.ravel() for it in np.meshgrid(REPLICAS, np.arange(instances), indexing="ij"))
        columns = {"n": n, "alpha": 1.1, "replicas": copies, "seed": seeds, "status": "SCHEDULE_DONE"}
        parts.append(columns | {"m": 1.0 * good, "mse_x": 1.0 - good, "mse_y": 1.0 - good})
    return Table(stack(parts), {})


def test_the_right_law_is_doubted_no_more_often_than_it_should_be(monkeypatch):
    """At the 5 % level, by 60 sweeps in which all runs of an instance hang together: within three deviations, 8."""
    monkeypatch.setattr(copies_needed, "REPLICATES", 200)
    rng = np.random.default_rng(0)
    doubts = [growth(of_one_need(rng, SIZES))[0]["exponential"].doubt for _ in range(60)]
    assert sum(map(bool, doubts)) <= 8


def test_copies():
    found = copies_50(Table(stack([runs(50, 1.1, 6.5)]), {}))
    assert found.low < 6.5 < found.high
    assert found.high - found.low < 0.8  # four standard errors of 0.15 are 0.6 by Fisher; a bootstrap is a little wider
    never = copies_50(Table(stack([runs(50, 1.1, 40.0)]), {}))
    assert (never.low, never.high) == (pytest.approx(12.0), np.inf)


def sweep(middle, sizes, alpha=1.1, **options):
    """Runs at some sizes, of which half succeed with 2^middle(n) copies."""
    return Table(stack([runs(n, alpha, middle(n), **options) for n in sizes]), {})


def exponential(n):
    return 2 + 0.04 * n


def power(n):
    return 4 + 4 * np.log2(n / 50)


SIZES = [50, 75, 100, 150, 200, 400]
"""Half of the instances are beyond the largest population at 400, and by the exponential law at 200 nearly so."""


def test_the_law_of_growth_is_told():
    laws, gain = growth(sweep(exponential, SIZES))
    rate = laws["exponential"].rate
    assert rate.low < 0.04 < rate.high < rate.low + 0.01
    assert not laws["exponential"].doubt
    assert laws["power"].doubt
    assert gain.low > 0
    laws, gain = growth(sweep(power, SIZES))
    assert laws["power"].rate.low < 4 < laws["power"].rate.high
    assert laws["power"].offset + laws["power"].rate.value * np.log2(50) == pytest.approx(4, abs=0.5)
    assert not laws["power"].doubt
    assert laws["exponential"].doubt
    assert gain.high < 0


def test_steps_may_be_sharper_for_larger_sizes():
    parts = [runs(n, 1.1, exponential(n), power=6 * n / 100) for n in SIZES]
    assert not growth(Table(stack(parts), {}))[0]["exponential"].doubt


def test_a_size_that_is_never_solved_counts():
    laws, _ = growth(sweep(lambda n: exponential(n) if n < 200 else 60.0, SIZES[:5]))
    assert "χ²" in laws["exponential"].doubt


def test_too_little_to_tell():
    laws, gain = growth(sweep(exponential, SIZES[:2]))
    assert all("freedom" in fit.doubt for fit in laws.values())
    laws, gain = growth(sweep(exponential, SIZES[:3], instances=10))
    assert not any(fit.doubt for fit in laws.values())
    assert gain.low < 0 < gain.high
    assert growth(sweep(exponential, SIZES[:1])) is None
    assert growth(sweep(lambda n: 60.0, SIZES)) is None


def close(value, error=0.1):
    return Interval(value, value - 1.96 * error, value + 1.96 * error)


def test_where_it_vanishes():
    alphas = [1.04, 1.06, 1.08, 1.1]
    end = vanishing(alphas, [close(1.3 * (1.13 - alpha), 0.003) for alpha in alphas])
    assert not end.doubt
    assert end.alpha.low < 1.13 < end.alpha.high
    assert end.alpha.high - end.alpha.low < 0.02
    for level in (0.1, 0.0):
        flat = vanishing(alphas, [close(level, 0.003)] * 4)
        assert flat.doubt == "no decrease"
        assert math.isnan(flat.alpha.value)
    assert vanishing(alphas[:1], [close(0.1)]) is None


def test_the_rows_of_the_figure():
    alphas = (1.03, 1.07, 1.11)
    parts = [runs(n, alpha, 2.5 + (1.2 - alpha) * n / 3) for n in (50, 100, 150) for alpha in alphas]
    table = Table(stack(hard_phase_rows(Table(stack(parts), {}))), {})
    kinds = ("copies", "exponential", "power", "gain", "vanishing")
    assert [len(table.where(kind=kind)) for kind in kinds] == [9, 3, 3, 3, 1]
    end = table.where(kind="vanishing")
    assert end["low"][0] < 1.2 < end["high"][0]
    assert not end["doubt"][0]


def test_no_fewer_copies_than_one():
    rows = runs(50, 1.1, 2.0, instances=12)
    assert copies_50(Table(stack([rows]), {})).low >= 0.0

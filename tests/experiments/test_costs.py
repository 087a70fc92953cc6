"""Exponents of power laws, and timings of work whose length is known."""

import time

import numpy as np
import pytest

from phaselect import InputError
from phaselect.experiments import costs
from phaselect.experiments.costs import microseconds, power_law, units_of_work


def test_exponents_of_power_laws():
    sizes = [100, 200, 400, 800]
    law = power_law(sizes, [3e-6 * n**1.75 for n in sizes])
    assert law.exponent == pytest.approx(1.75)
    assert law.standard_error == pytest.approx(0, abs=1e-12)
    rng = np.random.default_rng(0)
    noisy = [power_law(sizes, [n**2 * np.exp(0.1 * rng.standard_normal()) for n in sizes]) for _ in range(2000)]
    spread = np.std([one.exponent for one in noisy])
    assert np.sqrt(np.mean([one.standard_error**2 for one in noisy])) == pytest.approx(spread, rel=0.05)
    with pytest.raises(InputError, match="three sizes"):
        power_law([1, 2], [1.0, 2.0])


def test_microseconds_are_of_one_unit(monkeypatch):
    """By a clock of our own: 3 and 50 us a unit, the first call a second more, now and then a delay."""
    clock, delays = [0.0], np.random.default_rng(0)
    monkeypatch.setattr(time, "thread_time", lambda: clock[0])

    timed = {}

    def lasting(each):
        calls = timed[each] = []

        def work(count):
            clock[0] += each * count + (1.0 if not calls else 0.0) + 0.01 * (delays.random() < 0.3)
            calls.append(count)

        return work

    np.testing.assert_allclose(microseconds([lasting(3e-6), lasting(50e-6)]), [3, 50], rtol=1e-6)
    assert all(each * calls[-1] > costs.LEAST_SECONDS / 2 for each, calls in timed.items())


def test_every_unit_of_work_is_done_as_often_as_asked(monkeypatch):
    """Calls of what does the work: the paper's regression once a unit, our SVD once a unit, an iteration each."""
    counts = dict.fromkeys(("regression", "iteration", "langevin_step"), 0)

    def counting(name, function):
        def counted(*arguments, **options):
            counts[name] += 1
            return function(*arguments, **options)

        return counted

    for name in counts:
        monkeypatch.setattr(costs, name, counting(name, getattr(costs, name)))
    works = units_of_work(20)
    before = dict(counts)
    for work in works.values():
        work(3)
    assert {name: counts[name] - before[name] for name in counts} == dict.fromkeys(counts, 3)
    assert len(works[("paper", "proposal")](5)) == 5
    assert len(works[("paper", "message passing")](5)) == 5

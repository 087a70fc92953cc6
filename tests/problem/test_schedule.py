import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaselect import InputError, Schedule


def test_matched_is_geometric_at_unit_product():
    schedule = Schedule.matched()
    assert schedule.mu[0] == 1
    assert schedule.mu[-1] == 3e4
    np.testing.assert_allclose(schedule.mu[1:-1] / schedule.mu[:-2], 1.1)
    assert 1 < schedule.mu[-1] / schedule.mu[-2] <= 1.1 + 1e-12
    np.testing.assert_allclose(schedule.mu * schedule.lam, 1)
    assert (schedule.steps, schedule.unit) == (100, "sweeps")


def test_steps_per_e_fold():
    assert Schedule.matched(eps=np.e - 1, steps=7).steps_per_e_fold == pytest.approx(7)
    for still in ([2.0], [2.0, 2.0]):
        assert Schedule(still, np.ones(len(still))).steps_per_e_fold == np.inf


def test_other_families():
    np.testing.assert_allclose(Schedule.fixed_product(0.75).mu * Schedule.fixed_product(0.75).lam, 0.75)
    assert set(Schedule.fixed_lambda(0.005).lam) == {0.005}
    paper = Schedule.paper_amp(hold=0)
    assert paper.mu[0] == 1000
    np.testing.assert_allclose(paper.mu * paper.lam, 1000 / paper.mu)  # product 1, decaying like 1/mu
    assert len(Schedule.matched(mu0=5, mu_max=5, hold=7)) == 8


@pytest.mark.parametrize("noise", [1e-4, 0.2, 0.9])
def test_an_anneal_for_noise_ends_where_the_posterior_is(noise):
    """At mu = 1/(2 noise); the signal has the power that the noise leaves, and its precision is the product."""
    schedule = Schedule.noisy(noise)
    assert schedule.mu[-1] == pytest.approx(1 / (2 * noise))
    np.testing.assert_allclose(schedule.mu * schedule.lam, 1 / (1 - noise))


def test_slices_and_iteration():
    schedule = Schedule.matched()
    assert schedule[:10].mu.tolist() + schedule[10:].mu.tolist() == schedule.mu.tolist()
    assert schedule[3] == (schedule.mu[3], schedule.lam[3])
    assert list(schedule)[3] == schedule[3]
    pieces = list(schedule.segments(7))
    assert sum(len(piece) for piece in pieces) == len(schedule)
    np.testing.assert_array_equal(np.concatenate([piece.mu for piece in pieces]), schedule.mu)


def test_equality_and_hash():
    assert Schedule.matched() == Schedule.matched()
    assert hash(Schedule.matched()) == hash(Schedule.matched())
    assert Schedule.matched() != Schedule.matched(eps=0.2)
    assert Schedule.matched() != Schedule.matched(unit="iterations")
    assert Schedule.matched() == Schedule.fixed_product(1.0)


def test_it_prints_itself():
    assert str(Schedule.matched()) == "Schedule(110 temperatures x 100 sweeps, mu 1 to 3e+04, mu*lam = 1)"
    assert "lam = 0.005" in str(Schedule.fixed_lambda(0.005))
    assert "lam 1 to 3" in str(Schedule([1, 2], [1, 3]))


def test_a_schedule_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        Schedule.matched().mu[0] = 2


@given(
    st.lists(st.tuples(st.floats(1e-3, 1e12), st.floats(0, 1e3)), min_size=1, max_size=20),
    st.integers(1, 1000),
    st.sampled_from(["sweeps", "proposals", "iterations"]),
)
def test_json_round_trip(levels, steps, unit):
    mu, lam = zip(*levels, strict=True)
    schedule = Schedule(mu, lam, steps, unit)
    assert Schedule.from_json(schedule.to_json()) == schedule


def test_units():
    """A sweep is M proposals; solvers are told sweeps, however the schedule counts."""
    by_sweeps, by_proposals = (Schedule.matched(steps=3, unit=unit).stretch(50) for unit in ("sweeps", "proposals"))
    assert by_sweeps.sweeps == 3
    assert by_proposals.sweeps == 3 / 50
    assert by_sweeps.total == 3 * len(Schedule.matched())
    with pytest.raises(InputError, match="updates all signs at once"):
        Schedule.matched(unit="proposals").iterations("AMP")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Schedule([], []),
        lambda: Schedule([1, 2], [1]),
        lambda: Schedule([0], [1]),
        lambda: Schedule([1], [-1]),
        lambda: Schedule([np.nan], [1]),
        lambda: Schedule(["a"], [1]),
        lambda: Schedule([1], [1], steps=0),
        lambda: Schedule([1], [1], unit="hours"),
        lambda: Schedule.matched(mu0=2, mu_max=1),
        lambda: Schedule.matched(eps=0),
        lambda: Schedule.matched(eps=1e-9),
        lambda: Schedule.matched(hold=-1),
        lambda: Schedule.from_json("{"),
        lambda: Schedule.from_json('{"mu": [1]}'),
        lambda: Schedule.from_json("[1]"),
    ],
)
def test_bad_schedules(make):
    with pytest.raises(InputError, match="schedule"):
        make()

"""Attempts, one after the other: how they are counted, what is kept of them, and what their ends add up to."""

import time
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from phaselect import AMP, AlternatingMinimisation, PopulationAnnealing, Schedule, Status, gaussian_instance, solve
from phaselect.problem.streams import Purpose, stream
from phaselect.solvers import front_door, loop, restarts
from phaselect.solvers.cohort import Cohort
from phaselect.solvers.restarts import Stage, attempts_of

SHORT = Schedule.matched(mu0=1e3, mu_max=1e12, steps=1, unit="iterations")
EASY = gaussian_instance(60, 2.0, seed=0)
HARD = gaussian_instance(60, 1.05, seed=0)


def test_attempts_are_counted_in_one_sequence():
    other = Schedule.matched()
    stages = [Stage(AMP(restarts=2), SHORT), Stage(PopulationAnnealing(), other), Stage(AMP(restarts=1), SHORT)]
    found = [(attempt.solver.name, attempt.number, attempt.stream) for attempt in attempts_of(stages)]
    assert found == [("amp", 0, 0), ("amp", 1, 1), ("amp", 2, 2), ("pa", 0, 3), ("amp", 0, 4), ("amp", 1, 5)]
    assert [attempt.schedule for attempt in attempts_of(stages)][3] is other


@dataclass(frozen=True)
class Recording(AMP):
    """Keeps what it draws, and whether it is given a start."""

    def draw(self, *arguments):
        """And keep it."""
        found = super().draw(*arguments)
        RECORD.append(found.x)
        return found

    def start(self, problem, drawn, mu, lam, init):
        """And keep whether there was an init."""
        GIVEN.append(init is not None)
        return super().start(problem, drawn, mu, lam, init)


RECORD, GIVEN = [], []


def test_every_attempt_draws_from_a_stream_of_its_own():
    RECORD.clear()
    Recording(restarts=2).run(HARD, SHORT, seed=3)
    assert len(RECORD) == 3
    for k, x in enumerate(RECORD):
        np.testing.assert_array_equal(x, stream(3, Purpose.RUN, k).standard_normal(60))


def test_a_start_that_fits_is_examined_though_nothing_came_of_it(monkeypatch):
    """What was found is hopeless, so that nothing was asked of A for it."""
    calls, examine = [], Cohort.examine

    def counted(self, x):
        calls.append(None)
        return examine(self, x)

    monkeypatch.setattr(Cohort, "examine", counted)
    hot = Schedule([1e-2], [1e2], steps=1, unit="iterations")
    result = AMP(restarts=0).run(EASY, hot, init=EASY.x0)
    assert np.mean((result.state.beliefs.x - EASY.normalised.x0) ** 2) > 0.1  # it left
    assert result.certified
    assert len(calls) == 1
    assert AMP().run(EASY, seed=0).certified
    assert len(calls) == 1


def is_first(state):
    """The first attempt alone has the product of the schedule."""
    return state.factor == 1


@dataclass(frozen=True)
class FirstDiverges(AMP):
    """Breaks down in its first attempt; the others are those of message passing."""

    def measure(self, problem, state):
        """Infinite at first."""
        row = super().measure(problem, state)
        return row | ({"mse_y": np.inf} if is_first(state) else {})


def test_a_failure_that_is_made_good_is_no_failure(monkeypatch):
    monkeypatch.setattr(loop, "EARLY", 0.0)  # a look after the first iteration, when x is not yet good
    result = FirstDiverges(restarts=4).run(EASY, SHORT)
    assert result.status is Status.RECOVERED
    assert FirstDiverges(restarts=0).run(EASY, SHORT).status is Status.DIVERGED


def test_diverged_is_what_all_attempts_did():
    """One that came to the end of its schedule is enough for 'not recovered'."""
    assert FirstDiverges(restarts=1).run(HARD, SHORT).status is Status.NOT_RECOVERED
    assert AMP(restarts=1).run(HARD, SHORT).status is Status.NOT_RECOVERED


@dataclass(frozen=True)
class FirstIsBest(AMP):
    """Whatever comes after the first attempt finds nothing."""

    def candidate(self, problem, state):
        """Zero later."""
        x, floor = super().candidate(problem, state)
        return (x if is_first(state) else 0 * x), floor


def in_the_second_attempt(act):
    """A progress callback that acts when the fraction done falls back; the first attempt has been whole then."""
    seen = []

    def watch(event):
        if event.fraction > 0:
            seen.append(event.fraction)
        if len(seen) > 1 and seen[-1] < seen[-2]:
            act()

    return watch


def kept_from_the_first(result):
    alone = AMP(restarts=0).run(HARD, SHORT)
    np.testing.assert_array_equal(result.x, alone.x)
    assert result.mse_y == alone.mse_y
    np.testing.assert_array_equal(result.trace["mse_y"], alone.trace["mse_y"])
    assert alone.sweeps < result.sweeps < 2 * alone.sweeps  # the work of both is counted


def test_an_interrupt_in_the_second_attempt_keeps_the_best_of_the_first():
    def interrupt():
        raise KeyboardInterrupt

    result = FirstIsBest(restarts=5).run(HARD, SHORT, progress=in_the_second_attempt(interrupt))
    assert result.status is Status.INTERRUPTED
    kept_from_the_first(result)


def test_the_time_limit_in_the_second_attempt_keeps_the_best_of_the_first(monkeypatch):
    ahead = [0.0]
    clock = SimpleNamespace(perf_counter=lambda: time.perf_counter() + ahead[0])
    monkeypatch.setattr(loop, "time", clock)
    monkeypatch.setattr(restarts, "time", clock)
    late = in_the_second_attempt(lambda: ahead.__setitem__(0, 1e6))
    result = FirstIsBest(restarts=5).run(HARD, SHORT, time_limit=1e3, progress=late)
    assert result.status is Status.TIME_LIMIT
    kept_from_the_first(result)


def test_a_better_attempt_is_kept_whichever_it_is():
    each = [AMP(restarts=count).run(HARD, SHORT) for count in range(5)]
    fits = [result.mse_y for result in each]
    assert fits == sorted(fits, reverse=True)
    assert fits[-1] < fits[0]
    assert (np.diff([result.sweeps for result in each]) > 0).all()


def test_a_start_is_for_the_first_attempt_and_a_state_for_the_only_one():
    GIVEN.clear()
    bad = np.random.default_rng(1).standard_normal(60)
    Recording(restarts=2).run(HARD, SHORT, init=bad, seed=3)
    assert GIVEN == [True, False, False]
    RECORD.clear()
    state = AMP(restarts=0).run(HARD, SHORT[:20]).state
    on = Recording(restarts=2).run(HARD, SHORT[20:], init=state)
    assert len(RECORD) == 1
    assert on.status is Status.NOT_RECOVERED
    np.testing.assert_array_equal(on.x, AMP(restarts=0).run(HARD, SHORT).x)


def test_stages_share_the_clock_and_the_count_of_work(monkeypatch):
    monkeypatch.setattr(front_door, "LARGEST_LATTICE", 0)
    events = []
    result = solve(HARD, time_limit=1e3, progress=lambda event: _stop_at(event, events))
    assert result.status is Status.INTERRUPTED
    assert [name for k, name in enumerate(events) if k == 0 or events[k - 1] != name] == ["amp", "pa"]
    first = AMP().run(HARD)
    assert result.sweeps > first.sweeps
    assert result.mse_y <= first.mse_y


def _stop_at(event, events):
    events.append(event.solver)
    if events.count("pa") == 2:
        raise KeyboardInterrupt


@pytest.mark.parametrize("count", [0, 3])
def test_a_settled_answer_ends_the_search(count):
    RECORD.clear()
    assert Recording(restarts=count).run(EASY, SHORT, seed=1).certified
    assert len(RECORD) == 1


def test_members_that_had_come_to_their_end_are_not_called_interrupted():
    """Ctrl-C at the second of three, which run one by one and have no restarts: the first keeps its status."""
    problems = [gaussian_instance(30, 1.2, seed=seed) for seed in range(3)]
    whole = AlternatingMinimisation().run_batch(problems)
    seen = []

    def interrupt(event):
        seen.append(event)
        if len(seen) == 4:  # two of the first
            raise KeyboardInterrupt

    found = AlternatingMinimisation().run_batch(problems, progress=interrupt)
    assert found[0].status is whole[0].status is Status.NOT_RECOVERED
    assert found[1].status is found[2].status is Status.INTERRUPTED

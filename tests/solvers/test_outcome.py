"""When more attempts are in vain, and what several of them tell together."""

import numpy as np
import pytest

from phaselect import Status
from phaselect.solvers.finish import Answer
from phaselect.solvers.outcome import AGREEING, LOOKS_ELSEWHERE, Outcome, Seen
from phaselect.solvers.verdict import Ended, Grade, Judged

X = np.array([1.0, 2.0, -3.0])
ELSEWHERE = np.array([1.0, -2.0, 3.0])


def outcome(grade, x=X, mse_y=0.0, log10=-20.0, reason=""):
    answer = Answer(x, np.sign(x), mse_y, 0.0)
    return Outcome(None, answer, Judged(grade, mse_y, log10, reason=reason), Ended.SCHEDULE, [], {}, 1.0, 1.0)


def after(*outcomes):
    seen = Seen()
    for one in outcomes:
        seen.note(one)
    return seen


def test_nothing_seen_settles_nothing():
    assert not Seen().settled(0.0)


@pytest.mark.parametrize("grade", Grade)
def test_one_attempt_settles_what_is_certain(grade):
    assert after(outcome(grade)).settled(0.0) == (grade in (Grade.CERTIFIED, Grade.LOCALLY_UNIQUE, Grade.AMBIGUOUS))


@pytest.mark.parametrize("grade", Grade)
def test_noisy_data_are_settled_by_their_fit(grade):
    assert after(outcome(grade, mse_y=0.09)).settled(0.1)
    assert not after(outcome(grade, mse_y=0.11)).settled(0.1)


def test_the_best_is_kept():
    order = [
        outcome(Grade.OPEN, mse_y=np.nan), outcome(Grade.OPEN, mse_y=1e-2), outcome(Grade.INEXACT, mse_y=1e-7),
        outcome(Grade.UNCERTIFIED), outcome(Grade.AMBIGUOUS), outcome(Grade.CERTIFIED),
    ]  # fmt: skip
    for k, better in enumerate(order):
        for worse in order[:k]:
            assert after(worse, better).best is better
            assert after(better, worse).best is better


def test_an_exact_fit_that_is_not_shown_to_be_the_only_one_is_looked_at_from_elsewhere():
    once, fails = outcome(Grade.UNCERTIFIED, reason="why"), outcome(Grade.OPEN, mse_y=0.1)
    assert not after(once, *[fails] * (LOOKS_ELSEWHERE - 1)).settled(0.0)
    assert after(once, *[fails] * LOOKS_ELSEWHERE).settled(0.0)
    assert after(once, *[outcome(Grade.UNCERTIFIED, -X)] * LOOKS_ELSEWHERE).best is once
    assert after(once, fails).reason(Status.UNCERTIFIED) == "why"


def test_where_impostors_are_expected_another_answer_tells_nothing():
    assert after(outcome(Grade.UNCERTIFIED, log10=3.0)).settled(0.0)


def test_another_exact_fit_is_a_rival():
    seen = after(outcome(Grade.UNCERTIFIED, reason="why"), outcome(Grade.UNCERTIFIED, ELSEWHERE))
    assert seen.best.grade is Grade.AMBIGUOUS
    np.testing.assert_array_equal(seen.best.answer.x, X)
    np.testing.assert_array_equal(seen.best.judged.rival, ELSEWHERE)
    assert seen.reason(Status.AMBIGUOUS) == ""
    assert seen.settled(0.0)


@pytest.mark.parametrize("first", [Grade.UNCERTIFIED, Grade.CERTIFIED])
@pytest.mark.parametrize("second", [Grade.UNCERTIFIED, Grade.CERTIFIED])
def test_two_exact_answers_are_never_certified(first, second):
    """Whatever each was called by itself."""
    seen = after(outcome(first), outcome(second, ELSEWHERE))
    assert seen.best.grade is Grade.AMBIGUOUS
    assert seen.best.judged.certificate is None


def test_rounding_does_not_make_a_rival():
    """The same signs, in a badly conditioned problem."""
    seen = after(outcome(Grade.UNCERTIFIED), outcome(Grade.UNCERTIFIED, -1.001 * X))
    assert seen.best.grade is Grade.UNCERTIFIED


def test_a_near_fit_is_noise_only_if_several_attempts_came_to_it():
    near = [outcome(Grade.INEXACT, sign * (1 + 1e-4 * k) * X, mse_y=1e-9) for k, sign in enumerate((1, -1, 1, 1))]
    other = outcome(Grade.INEXACT, ELSEWHERE, mse_y=1e-8)
    assert not after(*near[: AGREEING - 1]).settled(0.0)
    assert after(*near[:AGREEING]).settled(0.0)
    assert after(other, near[0], other, *near[1:AGREEING]).settled(0.0)
    assert not after(other, near[0], other, other).settled(0.0)
    text = after(other, near[0], near[1]).reason(Status.INEXACT)
    assert "1.0e-09" in text
    assert "2 of 3 searches" in text


def test_a_fit_that_only_beats_chance_never_ends_the_search():
    assert not after(*[outcome(Grade.INEXACT, mse_y=1e-4)] * 10).settled(0.0)

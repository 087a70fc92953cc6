"""The one place that decides what a result is called: every combination of grade, end and noise."""

import itertools

import pytest

from phaselect import Status
from phaselect.solvers.verdict import Ended, Grade, Judged, status_of

NOISE = 0.1
EXACT = {  # how the search ended matters for an open answer alone
    Grade.CERTIFIED: dict.fromkeys(Ended, Status.RECOVERED),
    Grade.LOCALLY_UNIQUE: dict.fromkeys(Ended, Status.LOCALLY_UNIQUE),
    Grade.UNCERTIFIED: dict.fromkeys(Ended, Status.UNCERTIFIED),
    Grade.AMBIGUOUS: dict.fromkeys(Ended, Status.AMBIGUOUS),
    Grade.INEXACT: dict.fromkeys(Ended, Status.INEXACT)
    | {Ended.TIME_LIMIT: Status.TIME_LIMIT, Ended.INTERRUPTED: Status.INTERRUPTED},
    Grade.OPEN: {
        Ended.SETTLED: Status.NOT_RECOVERED,
        Ended.SCHEDULE: Status.NOT_RECOVERED,
        Ended.DIVERGED: Status.DIVERGED,
        Ended.TIME_LIMIT: Status.TIME_LIMIT,
        Ended.INTERRUPTED: Status.INTERRUPTED,
    },
}
CUT = {Ended.TIME_LIMIT: Status.TIME_LIMIT, Ended.INTERRUPTED: Status.INTERRUPTED}


@pytest.mark.parametrize(("grade", "ended"), list(itertools.product(Grade, Ended)))
def test_exact_data(grade, ended):
    assert status_of(Judged(grade, 1e-3, 0.0), ended, 0.0) is EXACT[grade][ended]


@pytest.mark.parametrize(("grade", "ended"), list(itertools.product(Grade, Ended)))
@pytest.mark.parametrize(
    ("mse_y", "status"),
    [(0.5 * NOISE, Status.ESTIMATE), (1.9 * NOISE, Status.ESTIMATE), (2.1 * NOISE, Status.POOR_ESTIMATE)],
)
def test_noisy_data(grade, ended, mse_y, status):
    """No certificate is claimed, whatever the grade; twice the noise is the limit of a good fit."""
    assert status_of(Judged(grade, mse_y, 0.0), ended, NOISE) is CUT.get(ended, status)


def test_the_table_has_every_grade_and_every_end():
    assert set(EXACT) == set(Grade)
    assert all(set(row) == set(Ended) for row in EXACT.values())

"""What has not been tried is not proved."""

import numpy as np
import pytest

from phaselect import Instance
from phaselect.solvers.certificate import enumeration, groups
from phaselect.solvers.certificate.close_look import looks
from phaselect.solvers.verdict import Grade
from tests.solvers.certificate.test_judge import judged

FEW = np.array([[0, 0, 1], [1, -1, 1], [0, 0, 1], [0, -1, -1], [1, 0, 0], [0, 1, 0], [-1, 1, -1]], float)
X0 = np.array([-2.0, 1.0, 1.0])  # by a coincidence another x fits, and measurements do not fall into groups
PROBLEM = Instance(FEW, np.abs(FEW @ X0), X0)


def test_the_rival_is_among_the_candidates():
    own = PROBLEM.normalised
    look = next(looks(own, own.x0))
    assert look.first_rival(enumeration.rivals(look, 0)) is not None


@pytest.mark.parametrize("most", [0, 50])
def test_candidates_that_are_left_over_are_no_proof(most, monkeypatch):
    monkeypatch.setattr(groups, "rivals", lambda look: iter(()))
    monkeypatch.setattr(enumeration, "MOST_RIVALS", most)
    found = judged(PROBLEM, X0, PROBLEM.signs)
    assert found.grade is (Grade.AMBIGUOUS if most else Grade.UNCERTIFIED)
    assert found.certificate is None


def test_too_many_coincidences_are_no_proof(monkeypatch):
    monkeypatch.setattr(enumeration, "signs_that_cancel", lambda numbers, width: None)
    own = PROBLEM.normalised
    with pytest.raises(enumeration.TooManyCoincidences):
        next(enumeration.rivals(next(looks(own, own.x0)), 0))

"""A few hundred small instances of `make fuzz`; each is made again from its name."""

from collections import Counter
from itertools import islice

import numpy as np
import pytest

from tests.fuzz.__main__ import main
from tests.fuzz.cases import all_cases, case_of, data_of
from tests.fuzz.kinds import GENERAL, NAMES
from tests.fuzz.signals import EVERYWHERE_SEEN, SIGNALS
from tests.fuzz.trial import outcome_of

SMALL = 12
INSTANCES = 300


def small_cases(count, kinds=NAMES, signals=SIGNALS):
    cases = all_cases(10 * count, kinds, signals, seed=1)
    return islice((case for case in cases if data_of(case).x.size <= SMALL), count)


def test_no_certificate_is_wrong():
    counts = Counter()
    for case in small_cases(INSTANCES):
        outcome = outcome_of(case)
        assert not outcome.failed, outcome.remarks
        counts.update(outcome.counts)
    assert counts["enumerated"] > INSTANCES / 4
    assert counts["ambiguous answers"] > INSTANCES / 4


def test_right_answers_in_general_position_keep_theirs():
    cases = small_cases(80, GENERAL, EVERYWHERE_SEEN)
    counts = sum((outcome_of(case).counts for case in cases), Counter())
    assert counts["due"] > 60
    assert counts["refused"] <= 0.01 * counts["due"]


@pytest.mark.parametrize("kind", NAMES)
def test_data_are_as_they_say(kind):
    for signal in SIGNALS:
        A, y, x = data_of(case_of(f"{kind}:{signal}:5"))
        m, n = A.shape
        assert m > n > 1
        assert A.any(axis=0).all()
        assert y.any()
        assert np.all(np.abs(np.abs(A @ x) - y) <= 20 * np.finfo(y.dtype).eps * (np.abs(A) @ np.abs(x)))


def test_the_same_name_is_the_same_instance():
    first, second = (data_of(case_of("waves:padded:7")) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def test_there_are_enough_kinds():
    assert len(NAMES) >= 25
    assert len(SIGNALS) >= 8


def test_kinds_and_signals_come_equally_often():
    cases = list(all_cases(3 * len(NAMES) * len(SIGNALS), NAMES, SIGNALS, seed=0))
    assert len(set(cases)) == len(cases)
    assert set(Counter((case.kind, case.signal) for case in cases).values()) == {3}


def test_one_instance_by_its_name(capsys):
    assert main(["--only", "gaussian:gaussian:1", "--processes", "1"]) == 0
    assert "gaussian" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["--only", "gaussian:1"], ["--kinds", "none"], ["--only", "none:gaussian:1"]])
def test_what_there_is_not(arguments, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert "Traceback" not in capsys.readouterr().err

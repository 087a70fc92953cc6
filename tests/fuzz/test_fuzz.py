"""A hundred instances of `make fuzz`, small ones and some larger; each is made again from its name."""

import os
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from itertools import islice
from signal import SIGINT, SIGKILL

import numpy as np
import pytest

from tests.fuzz import __main__ as fuzz
from tests.fuzz.__main__ import main
from tests.fuzz.cases import all_cases, case_of, data_of
from tests.fuzz.kinds import GENERAL, NAMES
from tests.fuzz.signals import EVERYWHERE_SEEN, SIGNALS
from tests.fuzz.trial import Outcome, outcome_of

SMALL, LARGE = range(2, 13), range(42, 61)


def counts_of(count, sizes, kinds=NAMES, signals=SIGNALS):
    """Of so many instances with numbers of unknowns among `sizes`, none of which fails."""
    cases = (case for case in all_cases(20 * count, kinds, signals, seed=1) if data_of(case).x.size in sizes)
    counts = Counter()
    for case in islice(cases, count):
        outcome = outcome_of(case)
        assert not outcome.failed, outcome.remarks
        counts.update(outcome.counts)
    assert counts["instances"] == count
    return counts


def test_no_certificate_is_wrong():
    counts = counts_of(50, SMALL)
    assert counts["enumerated"] > 12
    assert counts["ambiguous answers"] > 12


def test_nor_where_there_are_too_many_signs_to_try():
    counts = counts_of(6, LARGE)
    assert counts["general position"] > 1
    assert counts["ambiguous answers"] > 1


def test_right_answers_to_small_problems_in_general_position_are_certified():
    counts = counts_of(25, SMALL, GENERAL, EVERYWHERE_SEEN)
    assert counts["due"] > 17
    assert counts["refused"] == 0


def test_right_answers_to_larger_ones_are_certified():
    counts = counts_of(5, LARGE, GENERAL, EVERYWHERE_SEEN)
    assert counts["general position"] >= counts["due"] > 2
    assert counts["refused"] == 0


@pytest.mark.parametrize(("due", "refused", "code"), [(1000, 10, 0), (1000, 11, 1), (99, 50, 0), (100, 2, 1)])
def test_a_certificate_that_is_refused_too_often_fails(due, refused, code, monkeypatch):
    outcome = Outcome("gaussian", Counter(due=due, refused=refused), [])
    monkeypatch.setattr(fuzz, "outcomes", lambda cases, processes: [outcome])
    assert main([]) == code


@pytest.mark.parametrize("word", fuzz.FAILURES)
def test_one_failure_fails(word, monkeypatch):
    outcome = Outcome("gaussian", Counter([word]), [])
    monkeypatch.setattr(fuzz, "outcomes", lambda cases, processes: [outcome])
    assert main([]) == 1


IDLE = """
import sys
from collections import Counter
from tests.fuzz import __main__ as fuzz, trial

def outcome_of(case):
    return trial.Outcome(case.kind, Counter(), [])

fuzz.outcome_of = outcome_of
sys.exit(fuzz.main(["--processes", "4"]))
"""


def test_interrupted():
    command = [sys.executable, "-c", IDLE]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)
    try:
        started = process.stderr.read(1)
        os.killpg(process.pid, SIGINT)
        said = process.communicate(timeout=30)[1].decode()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, SIGKILL)
    assert process.returncode == 128 + SIGINT
    assert started == b"\r"
    assert said.splitlines()[-1] == "interrupted"
    assert "Traceback" not in said


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

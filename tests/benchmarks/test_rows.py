"""Rows: their arithmetic, their targets, the file that keeps them."""

import time

import numpy as np
import pytest
from benchmarks.rows import Measurement, Report, Row, load_report
from benchmarks.table import line, markdown

from benchmarks import (
    timing,
)
from phaselect import InputError
from tests.benchmarks.conftest import MACHINE, RATE, ROW


def test_better_means_more_of_a_rate_and_less_of_a_time():
    assert RATE.ratio == pytest.approx(1.5)
    assert RATE.of_bound == pytest.approx(1 / 3)
    seconds = Measurement(3.0, "s", "", 6.0, 1.5)
    assert (seconds.ratio, seconds.of_bound) == (2.0, 0.5)
    assert Measurement(0.0, "s", "", 6.0).ratio == np.inf
    assert Measurement(None, "s", "", 6.0, 1.5).ratio is None


@pytest.mark.parametrize(
    ("found", "missed"),
    [
        (RATE, False),
        (RATE._replace(least_ratio=1.6), True),
        (RATE._replace(reference=None), False),  # the rival is not installed
        (Measurement(3.0, "s", limit=3.1), False),
        (Measurement(3.0, "s", limit=2.9), True),
        (Measurement(0.9, "of all", more_is_better=True, limit=0.95), True),
        (Measurement(0.96, "of all", more_is_better=True, limit=0.95), False),
        (Measurement(None, "s", limit=2.9, least_ratio=2.0), False),
    ],
)
def test_a_target_is_missed_when_it_is(found, missed):
    assert found.missed == missed
    assert ("MISSED" in line(Row("", "", "", found))) == missed
    assert ("**missed**" in markdown([Row("", "", "", found)])[-1]) == missed


def test_a_report_survives_its_file(tmp_path):
    nothing = Row("theory", "none", "", Measurement(None, "", "naïve | not measured"))
    report = Report("cpu", True, MACHINE, [ROW, nothing])
    report.save(tmp_path / "report.json")
    assert load_report(tmp_path / "report.json") == report
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"rows": [{"what": 1}]}', '{"rows": []}', '{"rows": 3}'])
def test_what_is_no_report_is_said_in_one_line(tmp_path, text):
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(InputError, match="not a report"):
        load_report(tmp_path / "bad.json")
    with pytest.raises(InputError, match="no such file"):
        load_report(tmp_path / "none.json")


def test_functions_are_timed_in_turn(monkeypatch):
    monkeypatch.setattr(timing, "PAUSE", 0.0)
    calls = []
    fast, slow = timing.in_turn(lambda: calls.append("a"), lambda: (calls.append("b"), time.sleep(0.002)), repeat=3)
    assert "".join(calls) == "ab" * 4  # once to warm up
    assert fast < 0.002 <= slow

"""The runner survives what is missing and what fails, and says so."""

from dataclasses import replace

import pytest
from benchmarks.rows import Measurement, Task, load_report, measured

from benchmarks import (
    fresh,
    metropolis,
    rivals,
    run,
)
from phaselect import ReweightedAmplitudeFlow, Status, gaussian_instance
from tests.benchmarks.conftest import MACHINE


@pytest.mark.parametrize("section", ["solutions", "growth"])
def test_a_section_prints_and_writes_whole_rows(tiny, tmp_path, capsys, section):
    path = tmp_path / "report.json"
    assert run.main(["--quick", "--only", section, "--json", str(path)]) == 0
    report = load_report(path)
    assert set(report.machine) == set(MACHINE)
    assert {row.section for row in report.rows} == {section}
    for row in report.rows:
        assert all(number is None or number >= 0 for number in (row.found.value, row.found.reference, row.found.bound))
        assert row.found.value is not None or "certified" in row.found.detail or "installed" in row.found.detail, row
    head, *printed = capsys.readouterr().out.splitlines()
    assert head.split()[:5] == ["what", "size", "value", "reference", "ratio"]
    for text, row in zip(printed, report.rows, strict=True):
        assert text.startswith(row.what)
        assert row.found.detail in text


def test_a_measurement_that_fails_is_a_row_and_the_others_go_on(tiny, monkeypatch, tmp_path):
    broken = [
        Task("metropolis", "broken", "", lambda: Measurement(1 / 0, "s")),
        Task("metropolis", "gone", "", lambda: __import__("phaselect.no_such_room")),
        Task("metropolis", "whole", "", lambda: Measurement(float("nan"), "s", "fine")),
        Task("metropolis", "missing", "", lambda: __import__("no_such_rival")),
    ]
    monkeypatch.setattr(metropolis, "tasks", lambda machine, plan: broken)
    path = tmp_path / "report.json"
    assert run.main(["--quick", "--only", "metropolis", "--json", str(path)]) == 1
    first, gone, whole, missing = load_report(path).rows
    assert first.found.detail == "failed: division by zero"
    assert gone.failed
    assert (whole.found.value, whole.found.detail) == (None, "fine")
    assert missing.found.detail == "no_such_rival is not installed"
    monkeypatch.setattr(metropolis, "tasks", lambda machine, plan: broken[2:])
    assert run.main(["--quick", "--only", "metropolis"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "dance"], "use some of metropolis,message_passing,solutions"),
        (["--only", ""], "use some of"),
        (["--json", "never.txt"], "name the file .json"),
        (["--json", "no/such/folder/never.json"], "cannot write"),
        (["--quick", "--write"], "leave out --quick"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, message, capsys):
    assert run.main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert message in said.err


def test_without_a_gpu_it_says_so_in_one_line(capsys):
    jax = pytest.importorskip("jax")
    if jax.default_backend() == "gpu":
        pytest.skip("there is a GPU")
    assert run.main(["--device", "gpu"]) == 2
    assert "no GPU" in capsys.readouterr().err


def test_it_runs_with_little_more_than_numpy():
    """A machine for measuring may have neither the packages of the command line nor rivals."""
    absent = ["click", "rich", "matplotlib", "dwave", "dimod", "threadpoolctl", "psutil", "distributed"]
    code = f"""
import sys
sys.modules.update(dict.fromkeys({absent}))
from benchmarks import run, timing, on_cpu
assert "jax" not in sys.modules
for quick in (False, True):
    assert len(run.planned(run.machine_on("cpu"), quick, list(run.SECTIONS))) > 30
"""
    assert fresh.printed("-c", code) == ""


def test_ctrl_c_ends_the_benchmarks():
    def press():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measured(Task("metropolis", "", "", press))
    result = ReweightedAmplitudeFlow().run(gaussian_instance(30, 2.0, seed=0))
    assert rivals.outcome(result, 1.0).seconds == 1.0
    with pytest.raises(KeyboardInterrupt):  # solvers swallow it and return the best so far
        rivals.outcome(replace(result, status=Status.INTERRUPTED), 1.0)

"""What a search tells the log, and that it keeps quiet unless asked."""

import logging
from pathlib import Path

import numpy as np

import phaselect
from phaselect import AMP, Schedule, gaussian_instance, solve

SOURCE = Path(phaselect.__file__).parent


def lines(caplog, level):
    return [record.getMessage() for record in caplog.records if record.levelno == level]


def test_stages_restarts_and_results_are_in_the_log(caplog):
    caplog.set_level(logging.DEBUG, logger="phaselect")
    problem = gaussian_instance(20, 1.1, seed=3)
    useless = Schedule([1e-3], [1e3], steps=1, unit="iterations")  # nothing is found so warm
    failed = AMP(restarts=2).run(problem, useless)
    told, more = lines(caplog, logging.INFO), lines(caplog, logging.DEBUG)
    assert told[0] == "stage 1: amp begins on 1 instance"
    assert [line.split(" after")[0] for line in told[1:-1]] == [f"stage 1: amp ended attempt {k}" for k in (1, 2, 3)]
    assert told[-1].startswith(failed.message)
    assert [line for line in more if "afresh" in line] == [f"stage 1: amp starts afresh, restart {k}" for k in (1, 2)]
    assert {record.name for record in caplog.records} == {"phaselect"}


def test_the_reason_of_a_stage_and_the_certificate_are_in_the_log(caplog):
    caplog.set_level(logging.DEBUG, logger="phaselect")
    result = solve(gaussian_instance(20, 2.0, seed=0))
    assert lines(caplog, logging.INFO)[0].endswith(f": {result.stages[0].why}")
    assert any(line.endswith(f"; {result.certificate}") for line in lines(caplog, logging.DEBUG))
    assert result.message in lines(caplog, logging.INFO)[-1]


def test_the_noise_that_was_learned_is_in_the_log(caplog):
    caplog.set_level(logging.INFO, logger="phaselect")
    problem = gaussian_instance(40, 4.0, seed=0)
    y = np.abs(problem.y + 0.1 * np.random.default_rng(0).standard_normal(problem.y.size))
    result = solve(problem.A, y, noise="auto")
    assert any(
        line.startswith(f"noise learned: variance {result.noise:.4g} +- ") for line in lines(caplog, logging.INFO)
    )


def test_nothing_is_written_unless_asked_for(capfd):
    solve(gaussian_instance(20, 2.0, seed=0))
    assert capfd.readouterr() == ("", "")
    assert any(isinstance(handler, logging.NullHandler) for handler in logging.getLogger("phaselect").handlers)


def test_the_library_prints_nothing():
    own = [path for path in SOURCE.rglob("*.py") if path.parent.name != "cli"]
    assert len(own) > 100
    printing = [path for path in own for line in path.read_text().splitlines() if line.lstrip().startswith("print(")]
    assert printing == []

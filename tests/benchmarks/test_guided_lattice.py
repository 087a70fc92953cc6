"""What the table of guided lattices rests on."""

import numpy as np
from benchmarks.guided_lattice import Point, begun, by_populations, finish, page, trial
from benchmarks.internals import surest_signs, true_signs

from benchmarks import guided_lattice
from phaselect import gaussian_instance
from tests.benchmarks.conftest import MACHINE


def test_the_most_confident_have_the_largest_means_and_among_those_the_largest_y():
    problem = gaussian_instance(10, 1.2, seed=0)
    mean = np.array([0.1, -0.9, 1.0, -1.0, *[0.0] * 8])
    assert np.flatnonzero(surest_signs(problem, mean, 0.25)).tolist() == [1, 2, 3]
    assert np.flatnonzero(surest_signs(problem, mean, 0.0))[0] == 2 + (problem.y[3] > problem.y[2])


def test_right_signs_help_and_a_wrong_one_spoils():
    """With half of the signs known the others follow; with one of them wrong they cannot."""
    problem = gaussian_instance(50, 52 / 50, seed=0)
    exact = -true_signs(problem) * np.linspace(1.0, 0.1, 52)
    assert trial(problem, exact, 0.5, 0)[:3] == (0.5, True, True)
    exact[3] *= -1
    assert trial(problem, exact, 0.5, 0)[:3] == (0.5, False, False)


def test_a_population_is_given_its_time():
    found, seconds = by_populations(gaussian_instance(20, 2.0, seed=0), 0.0)
    assert found
    assert seconds > 0


def test_a_line_for_each_share_and_no_instance_is_measured_twice(monkeypatch, tmp_path):
    monkeypatch.setattr(guided_lattice, "COPIES", 16)
    path, shares = tmp_path / "report.json", (0.0, 0.2)
    finish(begun(path, MACHINE), [Point(20, 40, 1, shares)], path)
    report = begun(path, MACHINE)
    before = report["instances"][0]
    finish(report, [Point(20, 40, 2, shares)], path)
    assert begun(path, MACHINE) == report
    assert report["instances"][0] is before
    assert [one["seed"] for one in report["instances"]] == [0, 1]
    assert begun(path, MACHINE | {"processor": "Another"})["instances"] == []
    lines = page(report)
    assert [line.split(" | ")[2:5] for line in lines[-2:]] == [["0%", "2 of 2", "2 of 2"], ["20%", "2 of 2", "2 of 2"]]

"""What the tables of lattice reduction rest on."""

import math

import numpy as np
import pytest
from benchmarks.internals import least_flops, reduction, sign_lattice
from benchmarks.lattice import (
    POINTS,
    Point,
    begun,
    by_flint,
    by_lattice,
    by_populations,
    certified_within,
    judged,
    page,
)
from benchmarks.rivals import Outcome
from benchmarks.rows import Measurement, Report, Row

from benchmarks import lattice
from phaselect import InputError, gaussian_instance
from tests.benchmarks.conftest import MACHINE


def test_a_share_is_certified_within_seconds():
    outcomes = [Outcome(True, 3.0), Outcome(False, 0.1), Outcome(True, 1.0), Outcome(True, 2.0)]
    assert certified_within(outcomes, 0.5) == 2.0
    assert certified_within(outcomes, 0.75) == 3.0
    assert certified_within(outcomes, 0.9) == math.inf


def test_points_are_instances_of_their_size():
    for point in POINTS:
        assert point.instance(0).A.shape == (point.m_rows, point.n)
    A = Point(20, 24, kind="orthogonal").instance(0).A
    np.testing.assert_allclose(A.T @ A, 1.2 * np.eye(20), atol=1e-12)


@pytest.mark.slow
def test_contenders():
    problem = gaussian_instance(24, 1.5, seed=0)
    assert by_lattice(problem, 0).certified
    assert [one.certified for one in by_populations(problem, 0)] == [True]


def test_both_reduce_the_same_lattice():
    """To the same first row, the signs, but for rounding; ours counts its work."""
    pytest.importorskip("flint")
    problem = gaussian_instance(20, 1.2, seed=0)
    given, reduce = sign_lattice(problem), reduction(problem)
    ours, theirs = judged(1.0, reduce()), by_flint(problem)
    assert ours.first == pytest.approx(theirs.first, rel=0.05)
    assert ours.first == pytest.approx(math.sqrt(24), rel=0.2)
    assert ours.slope == pytest.approx(theirs.slope, abs=0.05)
    assert least_flops(reduce) > 4 * given.shape[1] * sum(range(24))


def test_without_flint_its_rows_say_so(monkeypatch):
    def no_such_module(name):
        raise ImportError(name)

    monkeypatch.setattr(lattice, "import_module", no_such_module)
    with pytest.raises(InputError, match=r"phaselect\[bench\]"):
        by_flint(gaussian_instance(20, 1.2, seed=0))


def test_a_report_of_the_same_machine_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(lattice.host, "host", lambda: MACHINE)
    rows = [Row("targets", "certified", "N = 30", Measurement(1.0, "s", "how"))]
    path = tmp_path / "report.json"
    assert begun(path, False).rows == []
    Report("cpu", False, MACHINE, rows).save(path)
    assert begun(path, False).rows == rows
    assert begun(path, True).rows == []
    monkeypatch.setattr(lattice.host, "host", lambda: MACHINE | {"processor": "Another"})
    assert begun(path, False).rows == []


def test_the_page_has_a_table_for_each_section():
    found = Measurement(1.0, "s", "how", limit=20.0)
    rows = [Row(name, name, "N = 30", found) for name in lattice.TEXTS]
    lines = page(Report("cpu", False, MACHINE, rows))
    assert [line.split(" | ")[0] for line in lines if line.endswith("| how |")] == [
        f"| {name}" for name in lattice.TEXTS
    ]

"""What the table of many measurements rests on."""

from benchmarks.internals import all_measurements
from benchmarks.lattice import Point
from benchmarks.many_measurements import many_measurements, page
from benchmarks.rows import Report, Row

from phaselect import Lattice, gaussian_instance
from tests.benchmarks.conftest import MACHINE


def test_all_of_them_are_taken_where_that_is_asked_for():
    problem = gaussian_instance(20, 3.0, seed=0)
    with all_measurements():
        assert Lattice().run(problem).trace["signs"][-1] == 60
    assert Lattice().run(problem).trace["signs"][-1] == 21


def test_a_row_has_both():
    found = many_measurements(Point(20, 40))
    assert found.detail.startswith("lattice 5 of 5")
    assert "of all measurements 1 of 1" in found.detail
    assert found.value < found.reference
    assert (
        "N = 20, M = 40" in page(Report("cpu", False, MACHINE, [Row("many", "certified", "N = 20, M = 40", found)]))[-1]
    )

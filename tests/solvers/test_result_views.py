"""A result to look at: what is drawn is what is there, and no text is taken for markup."""

import sys
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

import phaselect
from phaselect import InputError, Schedule, theory
from phaselect.solvers.result_views import HEIGHT, MARGIN, MOST, WIDTH, sparkline
from tests.solvers.test_result_files import CASES


@pytest.fixture(scope="module")
def result():
    problem = phaselect.gaussian_instance(20, 2.0, seed=0)
    return phaselect.AMP(restarts=0).run(problem, Schedule.matched(mu_max=1e4, steps=1, unit="iterations"))


def titles(figure):
    return [axes.get_ylabel().split()[0] for axes in figure.axes]


def test_the_figure_of_a_run_over_its_theory(result):
    branch = theory.follow(2.0, result.schedule[::10])
    figure = result.plot(theory=branch)
    assert titles(figure) == ["residual", "overlap", "$x$"]
    for axes, name in zip(figure.axes, ("mse_y", "m"), strict=False):
        expected, run = axes.lines
        np.testing.assert_array_equal(expected.get_xydata(), np.transpose([branch["mu"], branch[name]]))
        np.testing.assert_array_equal(run.get_xydata(), np.transpose([result.trace["mu"], result.trace[name]]))
    assert figure.axes[0].get_yscale() == "log"
    np.testing.assert_array_equal(figure.axes[2].lines[0].get_ydata(), result.x)
    assert figure.get_suptitle().startswith("amp, ")
    assert [text.get_text() for text in figure.legends[0].texts] == ["theory", "this run", "x"]
    figure.canvas.draw()


def test_what_is_not_known_is_not_drawn(result):
    steady = result.trace | {"mu": np.ones_like(result.trace["mu"]), "m": np.full_like(result.trace["mu"], np.nan)}
    figure = replace(result, trace=steady).plot()
    assert titles(figure) == ["residual", "$x$"]
    assert figure.axes[0].get_xlabel() == "sweeps"
    assert not figure.legends
    assert titles(replace(result, trace={}).plot()) == ["$x$"]


def test_complex_numbers_have_a_magnitude_and_a_phase():
    x = np.array([2j, -3.0, 0.0])
    figure = replace(CASES[1], x=x, x_std=np.array([0.2, 0.3, 0.1]), rival=None, trace={}).plot()
    assert titles(figure) == ["magnitude", "phase"]
    expected = (([2, 3, 0], [0.2, 0.3, 0.1]), ([np.pi / 2, np.pi, 0], [0.1, 0.1, np.pi]))
    for axes, (values, bars) in zip(figure.axes, expected, strict=True):
        ((points, _, (sticks,)),) = axes.containers
        np.testing.assert_allclose(points.get_ydata(), values)
        lengths = [stick[1, 1] - stick[0, 1] for stick in sticks.get_segments()]
        np.testing.assert_allclose(lengths, 2 * np.array(bars))
    figure.canvas.draw()


def test_of_many_entries_some_are_drawn(result):
    many = np.arange(50.0 * MOST)
    figure = replace(result, x=many, rival=-many, trace={}).plot()
    x, rival = figure.axes[0].lines
    assert x.get_xdata().size == rival.get_xdata().size == MOST
    np.testing.assert_array_equal(x.get_xdata(), x.get_ydata())
    assert x.get_xdata()[-1] == many[-1]
    assert f"{MOST} of {many.size}" in figure.axes[0].get_xlabel()


def test_a_notebook_shows_a_table_and_a_line(result):
    shown = replace(result, reason="<b>bold</b> & more", warnings=("<script>",), certificate=None)._repr_html_()
    root = ElementTree.fromstring(shown)
    cells = {row[0].text: row[1] for row in root}
    assert cells["status"].text.endswith("<b>bold</b> & more")
    assert cells["warnings"].text == "<script>"
    assert cells["x"].text == "20 real numbers from 40 magnitudes"
    assert cells["mse_y"][0].tag == "svg"
    assert "noise" not in cells
    for case in CASES:
        own = {row[0].text: row[1].text for row in ElementTree.fromstring(case._repr_html_())}
        assert own["status"] == case.message
        assert ("x_std" in own) == (case.x_std is not None)
        assert ("rival" in own) == (case.rival is not None)


def test_print_says_what_a_notebook_shows(result):
    for case in (result, *CASES):
        lines = [(line[:10].rstrip(), line[10:]) for line in str(case).splitlines()]
        rows = ElementTree.fromstring(case._repr_html_())
        assert lines == [(row[0].text, row[1].text) for row in rows if row[0].text != "mse_y"]
    assert f"{result.status}" == str(result.status) == result.status.value
    assert str(result) != repr(result)


def test_the_line_falls_where_the_fit_improves():
    drawn = ElementTree.fromstring(sparkline(np.array([1.0, np.nan, 1e-2, 0.0, 1e-4])))[1].get("points")
    points = np.array([pair.split(",") for pair in drawn.split()], dtype=float)
    np.testing.assert_allclose(points[:, 0], [MARGIN, WIDTH / 2, WIDTH - MARGIN], atol=0.1)
    np.testing.assert_allclose(points[:, 1], [MARGIN, HEIGHT / 2, HEIGHT - MARGIN], atol=0.1)
    assert "nan" not in sparkline(np.ones(3))
    assert sparkline(np.array([np.inf, 1.0])) == sparkline(np.empty(0)) == ""


def test_the_trace_as_a_frame_of_pandas(result, monkeypatch):
    own = result.to_frame()
    assert own.columns.tolist() == list(result.trace)
    np.testing.assert_array_equal(own["mse_y"], result.trace["mse_y"])
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match="pandas is not installed"):
        result.to_frame()

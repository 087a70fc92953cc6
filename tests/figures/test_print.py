"""Every figure as it is printed from its committed table: what is drawn can be read, and says what it lacks."""

import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from matplotlib.legend import Legend
from matplotlib.path import Path as Outline
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from phaselect.base.style import COLUMN, RED, panels
from phaselect.base.tables import load_table
from phaselect.experiments.grid import all_tasks, preset
from phaselect.figures.gallery import FIGURES, draw, missing_runs

TABLES = Path(__file__).parents[2] / "docs" / "tables"
SMALLEST = 7
"""Points."""
TOUCH = 1.5
"""Pixels by which the boxes of two words may overlap: letters do not fill them."""


def table_of(name):
    return load_table(TABLES / f"{name}.csv")


def texts(figure):
    """What is written, ticks outside of their axis left out."""
    axes = [axis for panel in figure.axes for axis in (panel.xaxis, panel.yaxis)]
    ticks = [(axis, tick) for axis in axes for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())]
    outside = {
        label
        for axis, tick in ticks
        for label in (tick.label1, tick.label2)
        if not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
    }
    found = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    return [text for text in found if text not in outside]


def outlines(axes):
    """Curves, markers, bars and bands of a panel, in pixels."""
    for line in axes.get_lines():
        points = line.get_transform().transform(line.get_xydata().astype(float))
        if line.get_linestyle() != "None":
            yield Outline(points)
        if line.get_marker() != "None":
            yield from (Outline([point, point]) for point in points[np.isfinite(points).all(axis=1)])
    for collection in axes.collections:
        yield from (path.transformed(collection.get_transform()) for path in collection.get_paths())


def hidden(figure):
    """Panels in which a legend or a word lies over something that is shown."""
    boxes = [found.get_window_extent() for found in figure.findobj(Legend)]
    boxes += [Text.get_window_extent(text) for panel in figure.axes for text in panel.texts]  # without its arrow
    places = [(panel, Bbox.intersection(box, panel.bbox)) for panel in figure.axes for box in boxes]
    return [
        panel.get_title(loc="left")
        for panel, place in places
        if place is not None and any(path.intersects_bbox(place, filled=False) for path in outlines(panel))
    ]


@pytest.mark.parametrize("name", FIGURES)
def test_a_referee_can_read_it(name):
    figure = draw(name, table_of(name))
    figure.draw_without_rendering()
    assert figure.get_figwidth() <= 2 * COLUMN
    assert figure.findobj(Legend)
    assert hidden(figure) == []
    written = texts(figure)
    assert min(text.get_fontsize() for text in written) >= SMALLEST
    assert {text.get_fontname() for text in written} == {"DejaVu Serif"}
    boxes = [(text.get_text(), text.get_window_extent().padded(-TOUCH)) for text in written]
    assert [
        text for text, box in boxes if Bbox.union([box, figure.bbox]).size.tolist() != figure.bbox.size.tolist()
    ] == []
    assert [(a, b) for (a, one), (b, other) in combinations(boxes, 2) if one.overlaps(other)] == []


@pytest.mark.parametrize("mark", ["-", "o"])
def test_what_a_legend_hides_is_noticed(mark):
    for place, hides in (("upper left", ["(a)"]), ("lower right", [])):
        figure, (axes,) = panels(1)
        axes.set_title("(a)", loc="left")
        axes.plot([0, 0.2, np.nan, 1], [0, 1, np.nan, 1], mark, label="curve")
        axes.legend(loc=place)
        figure.draw_without_rendering()
        assert hidden(figure) == hides


def remarks(figure):
    return [text.get_text() for text in figure.findobj(Text) if text.get_color() == RED and " runs" in text.get_text()]


def test_a_partial_store_says_so_in_the_picture():
    table = table_of("population")
    for runs, said in (
        ("3300 of the 3300 of preset pa, 6000 of the 6000 of preset baselines", []),
        (
            "3300 of the 3300 of preset pa, 2 crashed, 1 of the 6000 of preset baselines",
            ["3300 of 3300 runs of preset pa, 2 crashed, 1 of 6000 runs of preset baselines"],
        ),
        (
            "21 of the 3300 of preset pa, 1 of the 6000 of preset baselines, 1 crashed",
            ["21 of 3300 runs of preset pa, 1 of 6000 runs of preset baselines, 1 crashed"],
        ),
    ):
        assert remarks(draw("population", replace(table, provenance=table.provenance | {"runs": runs}))) == said
    assert missing_runs(table_of("complexity")) == ""


def test_a_table_that_lost_rows_says_so_in_the_picture():
    table = table_of("success_langevin")
    shares = table.where(kind="share")
    lost = table.take((table["kind"] != "share") | (table["n"] != shares["n"].max()))
    every = shares["trials"].sum()
    left = every - shares.where(n=shares["n"].max())["trials"].sum()
    assert remarks(draw("success_langevin", lost)) == [f"this table holds {left:.0f} of its {every:.0f} runs"]
    unknown = replace(table, provenance={})
    assert remarks(draw("success_langevin", unknown)) == [
        f"this table holds {every:.0f} runs and does not say how many were planned"
    ]


@pytest.mark.parametrize("name", FIGURES)
def test_a_table_says_how_many_runs_are_planned_today(name):
    """A preset that has grown leaves no table behind that calls itself whole."""
    provenance = table_of(name).provenance
    for planned, of in re.findall(r"\d+ of the (\d+) of preset ([^\s,;]+)", provenance.get("runs", "")):
        assert int(planned) == len(all_tasks(preset(of, "paper")))

"""The figure of the hard phase: what of it is not in its table."""

from pathlib import Path

import numpy as np
import pytest

from phaselect.base.style import between
from phaselect.base.tables import Table, load_table
from phaselect.figures import hard_phase

TABLES = Path(__file__).parents[2] / "docs" / "tables"


def test_lattices_stand_below_each_at_its_alpha():
    table = load_table(TABLES / "hard_phase.csv")
    found = table.where(kind="lattice")
    known = np.isfinite(found["value"])
    assert known.sum() > 2
    marked = [line for line in hard_phase.draw(table).axes[0].get_lines() if line.get_marker() == "|"]
    marked = [line for line in marked if len(line.get_xdata())]
    assert [line.get_xdata()[0] for line in marked] == pytest.approx(found["value"][known])
    heights = [line.get_ydata()[0] for line in marked]
    assert heights == sorted(set(heights))
    assert heights[-1] < 0.2


def test_each_law_of_the_rates_goes_through_them_to_its_end():
    table = load_table(TABLES / "hard_phase.csv")
    rates = table.where(kind="exponential", doubt="")
    lines = {str(line.get_label()): line for line in hard_phase.draw(table).axes[1].get_lines()}
    for law in hard_phase.vanishing_of(table):
        assert law.doubt == ""
        (line,) = (line for label, line in lines.items() if label.startswith(f"$p = {law.power:g}$"))
        assert (line.get_xdata()[-1], line.get_ydata()[-1]) == (law.end.value, 0.0)
        near = rates.take(rates["alpha"] >= law.least)
        on_the_line = np.interp(near["alpha"], line.get_xdata(), line.get_ydata())
        assert len(near) > 2
        misses = (on_the_line - near["value"]) / ((near["high"] - near["low"]) / (2 * 1.96))
        assert np.sum(misses**2) == pytest.approx(law.chi2, rel=0.02)


@pytest.mark.parametrize(
    ("kind", "doubt", "said"),
    [("exponential", "few", "no rate is known yet"), ("vanishing", "no decrease", "not $p = 1$: no decrease")],
)
def test_what_is_in_doubt_is_said_and_not_drawn(kind, doubt, said):
    table = load_table(TABLES / "hard_phase.csv")
    unsure = np.where(table["kind"] == kind, doubt, table["doubt"])
    axes = hard_phase.draw(Table(table.columns | {"doubt": unsure}, table.provenance)).axes[1]
    words = [*axes.get_legend_handles_labels()[1], *(text.get_text() for text in axes.texts)]
    assert any(word.startswith(said) for word in words)
    assert not any(word.startswith("$p =") for word in words) or kind == "exponential"


def test_hollow_are_points_beyond_all_copies_tried_and_lines_are_the_fits():
    table = load_table(TABLES / "hard_phase.csv")
    axes = hard_phase.draw(table).axes[0]
    points = [bars[0] for bars in axes.containers]
    found = {True: [], False: []}
    for line in points:
        found[line.get_markerfacecolor() == "white"] += line.get_ydata().tolist()
    copies = table.where(kind="copies")
    known = copies.take(np.isfinite(copies["value"]))
    most = [
        table.where(kind="share", solver="pa", alpha=alpha, n=n)["replicas"].max()
        for alpha, n in zip(known["alpha"], known["n"], strict=True)
    ]
    wanted = np.exp2(known["value"])
    assert sorted(found[True]) == pytest.approx(sorted(wanted[wanted > most]))
    assert len(found[True]) > 0
    assert set(np.round(wanted[wanted <= most], 6)) <= set(np.round(found[False], 6))
    fits = table.where(kind="exponential", doubt="")
    lines = [line for line in axes.get_lines() if len(line.get_xdata()) == 50]
    assert len(lines) == len(fits) == 5
    for place, (line, level, rate) in enumerate(zip(lines, fits["amplitude"], fits["value"], strict=True)):
        n = line.get_xdata() - hard_phase.SPREAD * between(place, 5)  # moved as its points are
        assert (n[0], n[-1]) == pytest.approx((50, 400))
        assert line.get_ydata() == pytest.approx(np.exp2(level + rate * n))

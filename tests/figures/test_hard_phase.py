"""The figure of the hard phase: what of it is not in its table."""

from pathlib import Path

import pytest

from phaselect.base.tables import load_table
from phaselect.experiments.lattice_bits import rows_for, unknowns_at
from phaselect.figures import hard_phase

TABLES = Path(__file__).parents[2] / "docs" / "tables"


def test_how_far_a_lattice_goes_is_the_rule_of_figure_bits():
    rule = load_table(TABLES / "bits.csv").where(kind="rule", block=40)
    assert rule["value"][0] == pytest.approx(hard_phase.LATTICE, rel=0.01)
    n = unknowns_at(1.1, hard_phase.BITS, hard_phase.LATTICE)
    assert rows_for(hard_phase.BITS, round(0.1 * n), hard_phase.LATTICE) == pytest.approx(1.1 * n, rel=0.02)


def test_a_bar_for_each_alpha_at_that_size():
    axes = hard_phase.draw(load_table(TABLES / "hard_phase.csv")).axes[0]
    bars = sorted(
        line.get_xdata()[0] for line in axes.get_lines() if line.get_marker() == "|" and len(line.get_xdata())
    )
    assert bars == pytest.approx([unknowns_at(alpha, 52, 0.030) for alpha in (1.04, 1.06, 1.08, 1.1, 1.12)])

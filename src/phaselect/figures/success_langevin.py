"""Langevin dynamics on relaxed signs: success against alpha for all sizes and two rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaselect.base.tables import Columns, Table
from phaselect.figures.context import Context
from phaselect.figures.success_curves import analyse, caption, draw_success

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTION = caption(
    "Langevin dynamics on relaxed signs",
    "100 iterations at each temperature, mu from 1 to 1000 at mu*lam = 0.75, then greedy flips",
)


def compute(context: Context) -> Columns:
    """Success, thresholds and limits of the preset sweep."""
    return analyse(context.rows("langevin"))


def draw(table: Table) -> Figure:
    """Two rates, and the thresholds."""
    return draw_success(table, "langevin")

"""Simulated annealing of the signs: success against alpha for all sizes and two rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaselect.base.tables import Columns, Table
from phaselect.figures.context import Context
from phaselect.figures.success_curves import analyse, caption, draw_success

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTION = caption(
    "Simulated annealing of the signs",
    "100 sweeps at each temperature, mu from 1 at mu*lam = 1",
)


def compute(context: Context) -> Columns:
    """Success, thresholds and limits of the preset sweep."""
    return analyse(context.rows("sa"))


def draw(table: Table) -> Figure:
    """Two rates, and the thresholds."""
    return draw_success(table, "sa")

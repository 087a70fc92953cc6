"""Approximate message passing: success against alpha for all sizes and two rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaselect.base.tables import Columns, Table
from phaselect.figures.context import Context
from phaselect.figures.success_curves import analyse, caption, draw_success

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTION = caption(
    "Approximate message passing",
    "mu from 1000 at mu*lam = 1, one run of at most 3000 iterations; amp-paper: the paper's schedule to the letter",
)


def compute(context: Context) -> Columns:
    """Success, thresholds and limits of the preset sweep."""
    return analyse(context.rows("amp"))


def draw(table: Table) -> Figure:
    """Two rates, and the thresholds."""
    return draw_success(table, "amp")

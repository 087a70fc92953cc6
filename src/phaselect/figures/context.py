"""What a figure is, and what it is given to compute its table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from phaselect.base.tables import Columns, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Scale = Literal["small", "paper"]


@dataclass(frozen=True)
class Context:
    """What `compute` may ask for.

    scale: "small", minutes on a laptop, or "paper", the sizes of the paper.
    rows: the rows of the preset sweep of that name at this scale, computed where the store lacks them.
    progress: to be told the share done, from 0 to 1.
    earlier: a table of the figure to go on from; what `rows` has of it counts no more than once.
    """

    scale: Scale
    rows: Callable[[str], Table]
    progress: Callable[[float], None] = lambda share: None
    earlier: Table | None = None


class FigureModule(Protocol):
    """A module of this package: one figure."""

    CAPTION: str

    def compute(self, context: Context) -> Columns:
        """The numbers, as one flat table: curves one under the other, told apart by columns such as `panel`."""

    def draw(self, table: Table) -> Figure:
        """The figure, from the table alone."""

"""A figure that notebooks show."""

from __future__ import annotations

import io

from matplotlib.figure import Figure

DOTS_PER_INCH, FINER = 96, 2
"""On a screen; and by how much finer the picture is, for screens that can show it."""


class ShownFigure(Figure):
    """A figure without pyplot, so that nobody has to close it, which a notebook shows where it is the last value."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """The picture and the size to show it in, as IPython asks for them."""
        drawn = io.BytesIO()
        self.savefig(drawn, format="png", dpi=FINER * DOTS_PER_INCH)
        width, height = (int(DOTS_PER_INCH * inches) for inches in self.get_size_inches())
        return drawn.getvalue(), {"width": width, "height": height}

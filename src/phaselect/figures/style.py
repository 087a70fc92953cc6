"""How every figure looks: the style file, the colours, the words on the axes, and how a figure is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phaselect.base.files import atomic_write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLE_FILE = Path(__file__).parent / "print.mplstyle"
BLUE, RED, GREEN, PINK = "#0072B2", "#D55E00", "#009E73", "#CC79A7"  # Okabe and Ito, safe for the colour-blind
ORANGE, SKY, GREY = "#E69F00", "#56B4E9", "#777777"
ALPHA = r"measurements per unknown $\alpha$"
MU, OVERLAP, MSE_Y = r"inverse temperature $\mu$", "overlap with the signal $m$", r"residual $\mathrm{MSE}_y$"
COMPLEXITY, FREE_ENTROPY = r"complexity $\Sigma$", r"free entropy $\Phi$"
SUFFIXES = (".png", ".pdf", ".svg")


@contextmanager
def style() -> Iterator[None]:
    """Within this context matplotlib draws in our style."""
    from matplotlib import style as styles

    with styles.context(STYLE_FILE):
        yield


def save(figure: Figure, path: str | Path, dpi: float | None = None) -> None:
    """Write the figure in the format its name asks for, whole or not at all; the same figure gives the same bytes.

    dpi: dots per inch of a .png, 200 by default.
    """
    kind = Path(path).suffix.lstrip(".").lower() or "png"
    undated: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    options: dict[str, Any] = {} if dpi is None else {"dpi": dpi}
    with style(), atomic_write(path) as stream:
        figure.savefig(stream, format=kind, metadata=undated, **options)


def panels(columns: int, rows: int = 1) -> tuple[Figure, list[Axes]]:
    """An empty figure with a grid of panels, each as wide as a column of print."""
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(3.5 * columns, 2.8 * rows), layout="constrained")
        return figure, list(figure.subplots(rows, columns, squeeze=False).flat)


def shades(count: int) -> list[Any]:
    """Colours for an ordered parameter, dark to light, told apart in grey too."""
    from matplotlib import colormaps

    return [colormaps["viridis"](position) for position in np.linspace(0.0, 0.85, count)]


def logarithmic(axes: Axes, name: str, values: NDArray[Any]) -> None:
    """A logarithmic axis, with plain numbers where it spans few decades; linear if there is nothing to show."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    shown = values[np.isfinite(values) & (values > 0)]
    if shown.size == 0:
        return
    axes.set(**{f"{name}scale": "log"})
    axis = axes.xaxis if name == "x" else axes.yaxis
    axis.set_minor_formatter(NullFormatter())
    if shown.max() / shown.min() < 300:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(StrMethodFormatter("{x:g}"))


def letter(axes: list[Axes]) -> None:
    """(a), (b), ... above the panels, for a caption to refer to."""
    for panel, name in zip(axes, "abcdefgh", strict=False):
        panel.set_title(f"({name})", loc="left")

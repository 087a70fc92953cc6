"""How every figure looks: the style file, the colours, the words on the axes, and how a figure is written."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
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
DARK_TO_LIGHT = ("#000000", "#332288", "#882255", "#CC3311", "#CC79A7", "#E69F00")
"""Far apart for any eyes, and ever lighter, so that their order is seen in grey too."""
MARKERS = "osD^vPX"
COLUMN, ROW, LINE = 3.5, 2.8, 0.17
"""Inches: a panel is as wide as a column of print, a figure at most as wide as two; and a line of small print."""
SMALL_ROW, SMALL_COLUMNS = 1.5, 4
"""Inches, and how many, of small panels."""
COLOURS = 256
"""Of a picture."""
ALPHA = r"measurements per unknown $\alpha$"
MU, OVERLAP, MSE_Y = r"inverse temperature $\mu$", "overlap with the signal $m$", r"residual $\mathrm{MSE}_y$"
COMPLEXITY, FREE_ENTROPY = r"complexity $\Sigma$", r"free entropy $\Phi$"
RECOVERED, BARS = "share of instances recovered", "bars: 95 % intervals"
OPEN = "arrow: interval without end; no bar: a bound only"
ARROW = 26.0
"""Twice the length of such an arrow, in points."""
SUFFIXES = (".png", ".pdf", ".svg")


@contextmanager
def style() -> Iterator[None]:
    """Within this context matplotlib draws in our style."""
    from matplotlib import style as styles

    with styles.context(STYLE_FILE):
        yield


def save(figure: Figure, path: str | Path) -> None:
    """Write the figure in the format its name asks for, whole or not at all; the same figure gives the same bytes."""
    kind = Path(path).suffix.lstrip(".").lower() or "png"
    undated: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    with style(), atomic_write(path) as stream:
        if kind == "png" and not any(axes.images for axes in figure.axes):
            stream.write(_small_png(figure))
        else:
            figure.savefig(stream, format=kind, metadata=undated)


def _small_png(figure: Figure) -> bytes:
    """With a palette a drawing takes a third of the bytes, and looks the same; a photograph would not."""
    from PIL import Image

    drawn, small = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png")
    picture = Image.open(drawn).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    picture.save(small, "png", optimize=True)
    return small.getvalue()


def shown_size(png: Path) -> tuple[int, int]:
    """Width and height at which a picture that `save` wrote is to be shown, in pixels: half of what it has."""
    from PIL import Image

    with Image.open(png) as picture:
        return picture.width // 2, picture.height // 2


def panels(count: int) -> tuple[Figure, list[Axes]]:
    """An empty figure with so many panels, two in a row; an odd number leaves a place free, for the legend."""
    from phaselect.base.shown_figure import ShownFigure

    columns, rows = min(count, 2), math.ceil(count / 2)
    with style():
        figure = ShownFigure(figsize=(COLUMN * columns, ROW * rows), layout="constrained")
        cells = list(figure.subplots(rows, columns, squeeze=False).flat)
    for free in cells[count:]:
        free.remove()
    return figure, cells[:count]


def small_panels(count: int, x: str, y: str) -> tuple[Figure, list[Axes]]:
    """An empty figure with so many small panels, four in a row, which share their axes and what is written on them."""
    from matplotlib.figure import Figure

    rows = math.ceil(count / SMALL_COLUMNS)
    with style():
        figure = Figure(figsize=(2 * COLUMN, SMALL_ROW * rows), layout="constrained")
        cells = figure.subplots(rows, SMALL_COLUMNS, sharex=True, sharey=True, squeeze=False)
        figure.supxlabel(x, fontsize=9)
        figure.supylabel(y, fontsize=9)
    for free in cells.flat[count:]:
        free.remove()
    for lowest in cells.flat[max(0, count - SMALL_COLUMNS) : count]:
        lowest.tick_params(labelbottom=True)
    return figure, list(cells.flat[:count])


def legend(figure: Figure, *shown: Axes, columns: int = 4, title: str | None = None) -> None:
    """One legend for the panels shown, each label once: in the place that they leave free, or below them all.

    What a panel names alike is shown as one, the later over the earlier.
    """
    named: dict[str, Any] = {}
    for panel in shown:
        own: dict[str, tuple[Any, ...]] = {}
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            own[label] = (*own.get(label, ()), handle)
        named |= {label: handles for label, handles in own.items() if label not in named}
    if not named:
        return
    place: dict[str, Any] = {"loc": "outside lower center", "ncols": columns}
    rows, in_a_row = figure.axes[0].get_gridspec().get_geometry()  # type: ignore[union-attr]
    if free := (rows * in_a_row - len(figure.axes)) / in_a_row:
        place = {"loc": "center", "bbox_to_anchor": (1.01 - free, 0.0, free - 0.02, 1 / rows)}
        room = int(figure.get_figheight() / rows / LINE)
        _heighten(figure, rows * max(0, _lines_of(list(named), 1) - room))
    else:
        _heighten(figure, _lines_of(list(named), columns) + (title is not None))
    figure.legend(named.values(), named.keys(), title=title, alignment="left", **place)


def _lines_of(labels: list[str], columns: int) -> int:
    """Of the longest column of a legend."""
    each = math.ceil(len(labels) / columns)
    lines = [label.count("\n") + 1 for label in labels]
    return max(sum(lines[first : first + each]) for first in range(0, len(labels), each))


def legend_under(figure: Figure, *row: Axes, columns: int) -> None:
    """A legend of its own under each of the panels of a row."""
    lines = 0
    for panel in row:
        found = panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=columns, columnspacing=1.0)
        lines = max(lines, math.ceil(len(found.get_texts()) / columns))
    _heighten(figure, lines)


def remark(figure: Figure, text: str) -> None:
    """A line of small print above all panels."""
    _heighten(figure, 1)
    with style():
        figure.suptitle(text, x=0.01, ha="left", fontsize=7.5, color=RED)


def _heighten(figure: Figure, lines: int) -> None:
    """Make room for small print without taking it from the panels."""
    figure.set_figheight(figure.get_figheight() + LINE * lines)


def shades(count: int) -> list[Any]:
    """Colours for an ordered parameter, dark to light."""
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("dark to light", DARK_TO_LIGHT)
    return [colours(position) for position in np.linspace(0.0, 1.0, count)]


def looks(values: Sequence[Any]) -> dict[Any, dict[str, Any]]:
    """Colour and marker for each value of an ordered parameter."""
    drawn = zip(values, shades(len(values)), cycle(MARKERS), strict=False)
    return {value: {"color": colour, "marker": marker} for value, colour, marker in drawn}


def look_of_size(n: int) -> dict[str, Any]:
    """Colour and marker for N unknowns, those of the nearest 100 * 2^k: the same in all figures of sweeps."""
    colours = (*DARK_TO_LIGHT, SKY)
    place = round(math.log2(n / 100)) % len(colours)
    return {"color": colours[place], "marker": MARKERS[place]}


def with_bars(
    axes: Axes,
    at: NDArray[Any],
    value: NDArray[Any],
    low: NDArray[Any],
    high: NDArray[Any],
    along: str = "y",
    **look: Any,
) -> None:
    """Points with a bar from low to high through each, and an arrow where that interval has no end.

    Where the value is not known the point is at the end that is, and only a bound. along: the axis of the values.
    """
    ends = np.isfinite([low, high])
    shown = np.isfinite(value) | (ends[0] != ends[1])
    at, value, low, high, ends = at[shown], value[shown], low[shown], high[shown], ends[:, shown]
    value = np.where(np.isfinite(value), value, np.where(ends[0], low, high))
    lengths = np.where(ends, np.maximum([value - low, high - value], 0.0), 0.0)
    points = (at, value) if along == "y" else (value, at)
    bars: dict[str, Any] = {f"{along}err": lengths, "ms": 3, "lw": 1.0, "elinewidth": 0.7}
    drawn = axes.errorbar(*points, **bars | look)
    for end, turn in zip(ends, (180, 0), strict=True):
        if not end.all():
            arrow: dict[str, Any] = {"marker": _arrow(turn - 90 * (along == "x")), "ls": "none", "mfc": "none"}
            arrow |= {"ms": ARROW, "mec": drawn.lines[0].get_color(), "mew": 1.2, "zorder": 6}
            axes.plot(*(numbers[~end] for numbers in points), **arrow)
            axes.plot([], [], color=GREY, marker=r"$\uparrow$", ms=7, ls="none", label=OPEN)
            axes.set(**{f"{along}margin": 0.15})


def _arrow(degrees: float) -> Any:
    """A marker: an arrow from its point upwards, turned to the left by an angle."""
    from matplotlib.path import Path as Outline
    from matplotlib.transforms import Affine2D

    up = Outline([(0, 0), (0, 1), (-0.25, 0.65), (0, 1), (0.25, 0.65)], [1, 2, 1, 2, 2])
    return up.transformed(Affine2D().rotate_deg(degrees))


def between(place: int, count: int) -> float:
    """By how much of the way to the next point the bars of one of several curves are moved, so that all are seen."""
    return 0.6 * ((place + 0.5) / count - 0.5)


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
    """(a), (b), ... before the titles of the panels, for a caption to refer to."""
    for panel, name in zip(axes, "abcdefgh", strict=False):
        title = panel.get_title()
        panel.set_title("")
        panel.set_title(f"({name})  {title}".rstrip(), loc="left")

"""A photograph, one of its diffraction patterns, what was recovered from them all, and the error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phaselect.base.style import COLUMN, LINE, letter, style
from phaselect.experiments.photograph import Photographed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DECADES = 2
"""Of a pattern that are shown, from its brightest point down."""
BAR, TALLEST = 0.8, 4.0
"""Inches: what the scale of the error takes, and the height of a panel at most."""


def draw(taken: Photographed) -> Figure:
    """Before above, after below; phases too, where there are any."""
    from matplotlib.figure import Figure

    complex_light = np.iscomplexobj(taken.light)
    rows, columns = taken.light.shape
    across = 3 if complex_light else 2
    height = min((2 * COLUMN - BAR) / across * rows / columns, TALLEST) + 2 * LINE
    with style():
        figure = Figure(figsize=(2 * COLUMN, 2 * height), layout="constrained")
        cells = figure.subplots(2, across)
        white = abs(taken.light).max()
        _grey(cells[0, 0], "photograph", abs(taken.light), white)
        _grey(cells[1, 0], "recovered", taken.picture, white)
        if complex_light:
            _phase(cells[0, 1], "its phase", taken.light)
            _phase(cells[1, 1], "recovered phase", taken.estimate)
        _pattern(cells[0, -1], taken.patterns)
        _error(cells[1, -1], abs(taken.estimate - taken.light) / white, taken.error)
        for axes in cells.flat:
            axes.set(xticks=[], yticks=[])
        letter(list(cells.flat))
    return figure


def _grey(axes: Axes, title: str, picture: NDArray[Any], white: float) -> None:
    axes.imshow(picture, cmap="gray", vmin=0, vmax=white)
    axes.set_title(title)


def _phase(axes: Axes, title: str, light: NDArray[Any]) -> None:
    axes.imshow(np.angle(light), cmap="twilight", vmin=-np.pi, vmax=np.pi)
    axes.set_title(title)


def _pattern(axes: Axes, patterns: NDArray[Any]) -> None:
    """The first, with the frequency zero in the middle."""
    shown = np.fft.fftshift(patterns[0] / patterns[0].max())
    axes.imshow(np.log10(np.maximum(shown, 10.0**-DECADES)), cmap="gray", vmin=-DECADES, vmax=0)
    axes.set_title(f"pattern 1 of {len(patterns)}, log scale")


def _error(axes: Axes, error: NDArray[Any], relative: float) -> None:
    """Over the brightest of the photograph."""
    shown = axes.imshow(error, cmap="inferno", vmin=0)
    axes.figure.colorbar(shown, ax=axes)
    axes.set_title(f"relative error {relative:.1e}")

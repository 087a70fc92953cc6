"""A result to look at: the figure of a run and of what it found, and what a notebook shows of it."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.interface import Vector
from phaselect.base.style import BLUE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Columns = Mapping[str, NDArray[Any]]

MOST = 1000
"""Entries of x that are drawn; of more, so many at even distances."""
WIDTH, HEIGHT, MARGIN = 240, 36, 2
"""Of a sparkline, in pixels."""
CELL = "text-align:left;vertical-align:top"


def draw_result(
    trace: Columns, x: Vector, x_std: Vector | None, rival: Vector | None, theory: Columns | None, title: str
) -> Figure:
    """The trace, over what theory says, and x with its errors: real, or as magnitude and phase."""
    from phaselect.base.style import legend, panels, style

    names = [name for name in ("mse_y", "m") if name in trace and np.isfinite(trace[name]).any()]
    parts = (np.real,) if x.dtype.kind != "c" else (np.abs, np.angle)
    figure, axes = panels(len(names) + len(parts))
    across = "mu" if "mu" in trace and np.ptp(trace["mu"]) > 0 else "sweeps"
    with style():
        for panel, name in zip(axes, names, strict=False):
            _draw_trace(panel, trace, across, name, theory)
        for panel, part in zip(axes[len(names) :], parts, strict=True):
            _draw_x(panel, part, x, x_std, rival)
        several = theory is not None or rival is not None
        if several:
            legend(figure, *axes)
        figure.suptitle(title)
    return figure


def _draw_trace(axes: Axes, trace: Columns, across: str, name: str, theory: Columns | None) -> None:
    from phaselect.base.curves import draw_curve, label_axes
    from phaselect.base.style import GREY

    if theory is not None and {across, name} <= set(theory):
        draw_curve(axes, theory, across, name, color=GREY, ls="--", label="theory")
    draw_curve(axes, trace, across, name, marker=".", label="this run")
    label_axes(axes, trace, across, name)


def _draw_x(axes: Axes, part: Any, x: Vector, x_std: Vector | None, rival: Vector | None) -> None:
    """x, or its magnitude or phase; the error of a phase is that across x, in radians."""
    from phaselect.base.style import RED

    shown = np.unique(np.linspace(0, x.size - 1, MOST).astype(int)) if x.size > MOST else np.arange(x.size)
    values, bars = x[shown], None
    if x_std is not None:
        bars = x_std[shown]
        bars = np.minimum(bars / np.maximum(np.abs(values), 1e-300), np.pi) if part is np.angle else bars
    axes.errorbar(shown, part(values), bars, fmt=".", ms=4, elinewidth=0.7, color=BLUE, label="x")
    if rival is not None:
        axes.plot(shown, part(rival[shown]), "o", mfc="none", ms=5, mew=0.7, color=RED, label="rival")
    words = {np.real: "$x$", np.abs: "magnitude $|x|$", np.angle: "phase of $x$, radians"}[part]
    some = f", {shown.size} of {x.size}" if shown.size < x.size else ""
    axes.set(xlabel=f"entry{some}", ylabel=words)


def html(facts: Mapping[str, str], mse_y: Vector) -> str:
    """A table of facts and a line of how the fit went; nothing in it is taken for markup."""
    rows = [
        f'<tr><th style="{CELL}">{escape(name)}</th><td style="{CELL}">{escape(text)}</td></tr>'
        for name, text in facts.items()
    ]
    line = sparkline(mse_y)
    if line:
        rows.append(f'<tr><th style="{CELL}">mse_y</th><td style="{CELL}">{line}</td></tr>')
    return f"<table>{''.join(rows)}</table>"


def sparkline(values: Vector) -> str:
    """Positive numbers on a logarithmic scale as a small SVG picture; nothing if there are fewer than two."""
    known = np.isfinite(values) & (values > 0)
    if np.sum(known) < 2:
        return ""
    heights, places = np.log10(values[known]), np.flatnonzero(known).astype(float)
    x = MARGIN + (WIDTH - 2 * MARGIN) * (places - places[0]) / np.ptp(places)
    y = MARGIN + (HEIGHT - 2 * MARGIN) * (heights.max() - heights) / max(np.ptp(heights), 1e-9)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    label = f"mse_y from {values[known][0]:.2g} to {values[known][-1]:.2g}"
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{label}"><title>{label}</title>'
        f'<polyline points="{points}" fill="none" stroke="{BLUE}" stroke-width="1.5"/></svg>'
    )

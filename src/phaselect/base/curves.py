"""Columns drawn against each other, whoever has made them: a trace of a run, or a table of the theory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phaselect.base.style import (
    ALPHA,
    BLUE,
    COMPLEXITY,
    FREE_ENTROPY,
    MSE_Y,
    MU,
    OVERLAP,
    RED,
    legend,
    logarithmic,
    panels,
    style,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Column = NDArray[Any]

WORDS = {
    "alpha": ALPHA,
    "mu": MU,
    "m": OVERLAP,
    "mse_y": MSE_Y,
    "mse_x": r"error $\mathrm{MSE}_x$",
    "complexity": COMPLEXITY,
    "free_entropy": FREE_ENTROPY,
}
"""What is written on an axis; of other columns their name."""
LOGARITHMIC, SCALES = ("mu", "mse"), 10.0
"""How the names of columns begin that have a logarithmic axis, where the largest number is so many times the least."""


def draw_columns(columns: Mapping[str, Column], across: str, names: Sequence[str]) -> Figure:
    """A panel for each of the names, against the column `across`; what all rows have in common is the title."""
    figure, axes = panels(len(names))
    with style():
        for panel, name in zip(axes, names, strict=True):
            draw_curve(panel, columns, across, name)
            label_axes(panel, columns, across, name)
        if not _stable(columns).all():
            legend(figure, axes[0])
        figure.suptitle(_in_common(columns, {across, *names}))
    return figure


def draw_curve(axes: Axes, columns: Mapping[str, Column], across: str, name: str, **look: Any) -> None:
    """One column against another: a gap where a row did not converge, dashes where it is not stable."""
    x, stable = columns[across], _stable(columns)
    y = np.where(columns["converged"], columns[name], np.nan) if "converged" in columns else columns[name]
    marked = {"marker": "." if np.sum(np.isfinite(y)) < 3 else None}
    dashes = {"ls": "--", "color": RED, "label": "unstable", "marker": None}
    draw_split(axes, x, y, stable, dashes, **{"color": BLUE, "label": "stable"} | marked | look)


def draw_split(axes: Axes, x: Column, y: Column, solid: Column, other: dict[str, Any], **look: Any) -> None:
    """A curve, solid where told and elsewhere with the `other` look, which has a label only if it says so.

    The two touch: the other goes on to the points beside it.
    """
    axes.plot(x, np.where(solid, y, np.nan), **look)
    if not solid.all():
        shown = ~solid
        shown[1:] |= ~solid[:-1]
        shown[:-1] |= ~solid[1:]
        axes.plot(x, np.where(shown, y, np.nan), **look | {"label": None} | other)


def label_axes(axes: Axes, columns: Mapping[str, Column], across: str, name: str) -> None:
    """Words and scales of the axes."""
    axes.set(xlabel=WORDS.get(across, across), ylabel=WORDS.get(name, name))
    if name in ("m", "O"):
        axes.set_ylim(-0.03, 1.05)
    for axis, own in (("x", across), ("y", name)):
        values = columns[own][(columns[own] > 0) & np.isfinite(columns[own])]
        if own.startswith(LOGARITHMIC) and values.size and values.max() > SCALES * values.min():
            logarithmic(axes, axis, values)


def _stable(columns: Mapping[str, Column]) -> NDArray[np.bool_]:
    return np.asarray(columns.get("stable", np.ones(len(next(iter(columns.values()), ())), dtype=bool)))


def _in_common(columns: Mapping[str, Column], drawn: set[str]) -> str:
    """The control parameters that are the same in all rows."""
    letters = {"alpha": r"\alpha", "mu": r"\mu", "lam": r"\lambda", "product": r"\mu\lambda"}
    known = {name: columns[name] for name in letters if name in columns}
    if "mu" in known and "lam" in known and np.ptp(known["lam"]) > 0:
        known["product"] = known["mu"] * known["lam"]
    same = {name: column for name, column in known.items() if column.size and name not in drawn}
    same = {name: column for name, column in same.items() if np.allclose(column, column[0], rtol=1e-9, atol=0)}
    return ", ".join(f"${letters[name]} = {column[0]:.4g}$" for name, column in same.items())

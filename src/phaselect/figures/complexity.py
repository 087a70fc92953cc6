"""How many sign vectors have a given overlap with the truth, a given misfit and a given estimate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from phaselect.base.curves import draw_split
from phaselect.base.style import COMPLEXITY, MSE_Y, OVERLAP, legend, letter, panels, shades
from phaselect.base.tables import Columns, Table, stack
from phaselect.figures.context import Context
from phaselect.theory import complexity_curve
from phaselect.theory.at_sign_overlap import complexity_at_random

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTION = (
    "Complexity of the sign vectors at fixed overlap O of the signs, without regulariser, at 1.7 measurements per "
    "unknown, against (a) the residual and (b) the overlap of the estimate with the signal; mu grows from the top. "
    "Dashes end where signs drawn at random lie: binomial complexity, largest residual. Dotted: replica symmetry fails."
)
ALPHA_SHOWN = 1.7
SIGN_OVERLAPS = (0.2, 0.4, 0.6, 0.8)
MU_RANGE = (0.003, 1000.0)
COUNTS = {"small": 80, "paper": 160}


def compute(context: Context) -> Columns:
    """A curve for each overlap of the signs."""
    mus = np.geomspace(*MU_RANGE, COUNTS[context.scale])
    parts = []
    for count, overlap in enumerate(SIGN_OVERLAPS):
        context.progress(count / len(SIGN_OVERLAPS))
        parts.append(curve(overlap, mus.tolist()))
    return stack(parts)


def curve(overlap: float, mus: list[float]) -> dict[str, Any]:
    """Complexity, residual and overlap along mu, with the values of random signs: `(1 - 1/alpha)(1 - O^2)` remains."""
    found = complexity_curve(ALPHA_SHOWN, mus, sign_overlap=overlap)
    return {
        "sign_overlap": overlap,
        **{name: found[name] for name in ("mu", "mse_y", "m", "complexity", "replicon", "trusted")},
        "complexity_random": complexity_at_random(ALPHA_SHOWN, overlap),
        "mse_y_random": (1 - 1 / ALPHA_SHOWN) * (1 - overlap**2),
        "m_random": overlap,
    }


def draw(table: Table) -> Figure:
    """Complexity against residual, and against the overlap of the estimate."""
    figure, axes = panels(2)
    for panel, name, label in zip(axes, ("mse_y", "m"), (MSE_Y, OVERLAP), strict=True):
        panel.set(xlabel=label, ylabel=COMPLEXITY, ylim=(0, 1.05 * float(table["complexity_random"].max())))
        panel.set_title(rf"$\alpha = {ALPHA_SHOWN:g}$, $\lambda = 0$")
        for colour, overlap in zip(shades(len(SIGN_OVERLAPS)), table.values("sign_overlap"), strict=False):
            rows = table.where(sign_overlap=overlap)
            shown = rows.take(rows["complexity"] > -0.1)
            look = {"color": colour, "label": f"$O = {overlap:g}$"}
            draw_split(panel, shown[name], shown["complexity"], shown["trusted"], {"ls": ":"}, **look)
            top, corner = rows["complexity_random"][0], rows[f"{name}_random"][0]
            panel.hlines(top, 0, corner, color=colour, ls="--", lw=0.7)
            panel.vlines(corner, 0, top, color=colour, ls="--", lw=0.7)
    axes[0].set_xlim(0, 0.43)
    axes[1].set_xlim(0, 1.02)
    axes[0].plot([], [], "k--", lw=0.7, label="random signs")
    axes[0].plot([], [], "k:", label="replica symmetry fails")
    letter(axes)
    legend(figure, *axes, columns=6)
    return figure

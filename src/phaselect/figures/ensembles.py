"""Four solvers on every kind of matrix: success against alpha, over the threshold that the singular values predict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from phaselect.base.style import (
    ALPHA,
    BARS,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    RECOVERED,
    RED,
    between,
    legend,
    small_panels,
    with_bars,
)
from phaselect.base.tables import Columns, Table, stack
from phaselect.experiments.kind_thresholds import kind_threshold
from phaselect.experiments.success import success_table, timed_on_one_core
from phaselect.figures.comparison import mark_alphas
from phaselect.figures.context import Context
from phaselect.figures.success_curves import counts
from phaselect.solvers.registry import REGISTRY
from phaselect.solvers.result import Status

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTION = (
    "Share of the same instances recovered by one run of each solver (population annealing with 64 copies) against "
    "measurements per unknown, with 95 % Wilson intervals, on fourteen kinds of matrices; hollow: most of the failures "
    "diverged. Rows of uneven norms are weighted before any solver runs. Vertical lines: the threshold of message "
    "passing for N to infinity that the singular values of the kind predict, if singular vectors are random. They are "
    "in the panels with a solid line, or as good as (iid entries of mean zero); where it is dotted the vector of ones, "
    "empty entries or fast transforms leave traces in them, and the line is what it would be without. "
    "Points at one alpha are moved apart a little."
)
IID = {
    "gaussian": "Gaussian",
    "signs": "random signs",
    "student_t": "Student t, 2.5",
    "biased": "Gaussian, mean 1",
    "uniform": "uniform, 0 to 1",
    "binary": "0 or 1",
}
STRUCTURED = {
    "uneven_rows": "uneven rows",
    "uneven_columns": "uneven columns",
    "toeplitz": "correlated columns",
    "spectrum": "condition number 30",
    "orthogonal": "orthogonal columns",
    "dct": "masked cosines",
    "circulant": "circulant",
    "sparse": "10 entries a row",
}
NAMES = IID | STRUCTURED
"""What the panels call the kinds, in their order."""
ANY_VECTORS = ("biased", "uniform", "binary", "dct", "circulant", "sparse")
"""Kinds whose singular vectors are not as good as random."""
STYLES = {"vmp": ("-", "o", RED), "pa": ("-", "s", GREEN), "amp": ("--", "^", BLUE), "raf": (":", "P", ORANGE)}
TICKS = (1.0, 1.2, 1.5, 2.0)


def compute(context: Context) -> Columns:
    """A row for each kind, solver and alpha of the preset sweep."""
    rows = timed_on_one_core(context.rows("ensembles"))
    kinds = [kind for kind in NAMES if kind in rows.values("ensemble")]
    parts = []
    for count, kind in enumerate(kinds):
        context.progress(count / len(kinds))
        parts.append(outcomes(NAMES[kind], rows.where(ensemble=kind)) | described(kind))
    return stack(parts)


def described(kind: str) -> dict[str, Any]:
    """What is known of a kind before anything is run on it."""
    return {"iid": kind in IID, "random_vectors": kind not in ANY_VECTORS, "predicted": kind_threshold(kind)}


def outcomes(name: str, rows: Table) -> dict[str, Any]:
    """How often each solver recovers the signal of one kind of matrix, and how often it diverges."""
    found = success_table(rows)
    curves = zip(found["solver"].tolist(), found["alpha"].tolist(), strict=True)
    ended = [rows.where(solver=solver, alpha=alpha)["status"] for solver, alpha in curves]
    names = ("n", "solver", "alpha", "trials", "successes")
    ends = {"low": found["p_low"], "high": found["p_high"]}
    diverged = np.array([np.sum(status == Status.DIVERGED.name) for status in ended])
    return {"kind": name, **{it: found[it] for it in names}, **ends, "diverged": diverged}


def draw(table: Table) -> Figure:
    """A panel for each kind."""
    figure, axes = small_panels(len(table.values("kind")), ALPHA, RECOVERED)
    for panel, own in zip(axes, table.by("kind"), strict=True):
        for place, (solver, (dashes, marker, colour)) in enumerate(STYLES.items()):
            rows = own.where(solver=solver)
            share = rows["successes"] / rows["trials"]
            at = rows["alpha"] * 1.03 ** between(place, len(STYLES))
            look = {"ls": dashes, "marker": marker, "color": colour, "label": REGISTRY[solver].title}
            with_bars(panel, at, share, rows["low"], rows["high"], **look)
            hollow = rows["diverged"] > (rows["trials"] - rows["successes"]) / 2
            panel.plot(at[hollow], share[hollow], marker, ms=3, color=colour, mfc="white", zorder=3)
        line = "-" if own["random_vectors"][0] else ":"
        panel.axvline(own["predicted"][0], color=GREY, ls=line, lw=1.1)
        panel.set_title(own["kind"][0], fontsize=8)
        mark_alphas(panel, TICKS)
    last = axes[-1]
    last.plot([], [], "^", ms=3, color=BLUE, mfc="white", label="most failures diverged")
    for line, words in (("-", "predicted threshold"), (":", "predicted, were vectors random")):
        last.plot([], [], color=GREY, ls=line, lw=1.1, label=words)
    last.set(ylim=(-0.05, 1.08), xlim=(0.97, 1.04 * table["alpha"].max()))
    legend(figure, last, title=f"$N = {table['n'].max()}$, {counts(table['trials'])} instances; {BARS}")
    return figure

"""All solvers and baselines on the same instances: success against alpha, and the time it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from phaselect.base.errors import InputError
from phaselect.base.style import (
    ALPHA,
    BARS,
    BLUE,
    GREEN,
    ORANGE,
    PINK,
    RECOVERED,
    RED,
    SKY,
    between,
    legend,
    letter,
    logarithmic,
    panels,
    with_bars,
)
from phaselect.base.tables import Columns, Table
from phaselect.experiments.limits import BAYES_OPTIMAL
from phaselect.figures.comparison import draw_times, mark_alphas
from phaselect.figures.context import Context
from phaselect.figures.success_curves import BAYES, analyse, counts
from phaselect.solvers.registry import REGISTRY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CAPTION = (
    "Share of instances recovered by each solver, one run each on the same instances (the front door `solve` tries "
    "several in turn), at each N, with 95 % Wilson intervals. Then, for the largest N: the time of repeated runs on "
    "one core until one has succeeded with 99 % certainty, and the share recovered against the mean time of a run at "
    "1.2 (filled) and 1.3 (open) measurements per unknown. Points at one alpha are moved apart a little. Dashed: "
    "1.128, the Bayes-optimal threshold."
)
STYLES = {
    "auto": ("-", "o", "black"),
    "pa": ("-", "s", GREEN),
    "amp": ("--", "^", BLUE),
    "sa": ("-.", "v", RED),
    "langevin": (":", "D", PINK),
    "raf": ("--", "P", ORANGE),
    "altmin": (":", "X", SKY),
}
TICKS = (1.0, 1.2, 1.4, 1.6, 2.0, 3.0, 4.0)
TITLES = {name: REGISTRY[name].title for name in STYLES} | {"auto": "phaselect.solve"}


def compute(context: Context) -> Columns:
    """Success and time of the preset sweep, on the instances that every solver has been run on."""
    return analyse(on_common_instances(context.rows("solvers")))


def on_common_instances(rows: Table) -> Table:
    """The rows of the instances on which all solvers were run."""
    keys = np.array(
        [f"{n} {alpha} {seed}" for n, alpha, seed in zip(rows["n"], rows["alpha"], rows["seed"], strict=True)]
    )
    names, counts = np.unique(keys, return_counts=True)
    common = rows.take(np.isin(keys, names[counts == len(rows.values("solver"))]))
    if len(common) == 0:
        raise InputError("there is no instance yet that every solver was run on: let the sweep go on")
    return common


def draw(table: Table) -> Figure:
    """A panel for each N, and two for the time."""
    shares = table.where(kind="share")
    sizes = sorted(shares.values("n"))
    figure, axes = panels(len(sizes) + 2)
    for panel, n in zip(axes, sizes, strict=False):
        own = shares.where(n=n)
        _draw_success(panel, own)
        panel.set_title(f"$N = {n}$, {counts(own['trials'])} instances")
    _draw_time(axes[-2], shares.where(n=sizes[-1]))
    _draw_share_against_time(axes[-1], shares.where(n=sizes[-1]), "abcdefgh"[len(axes) - 1])
    for panel in axes[-2:]:
        panel.set_title(f"$N = {sizes[-1]}$, one core")
    letter(axes)
    legend(figure, *axes, columns=2, title=f"{BARS}")
    return figure


def _draw_success(axes: Axes, shares: Table) -> None:
    for place, (solver, (dashes, marker, colour)) in enumerate(STYLES.items()):
        own = shares.where(solver=solver)
        at = own["alpha"] * 1.06 ** between(place, len(STYLES))
        look = {"ls": dashes, "marker": marker, "color": colour, "label": _in_words(solver, own)}
        with_bars(axes, at, own["value"], own["low"], own["high"], **look)
    axes.set(xlabel=ALPHA, ylabel=RECOVERED, ylim=(-0.03, 1.05))
    _mark_alphas(axes)


def _in_words(solver: str, own: Table) -> str:
    """A solver, and what was fixed in its runs."""
    words = {"product": r"$\mu\lambda = {:g}$", "eps": r"$\epsilon = {:g}$", "replicas": "{:g} copies"}
    words |= {"iterations": r"$\leq {:g}$ iterations"}
    known = [text.format(own[name][0]) for name, text in words.items() if len(own) and np.isfinite(own[name][0])]
    return ", ".join([TITLES[solver], *known])


def _draw_time(axes: Axes, shares: Table) -> None:
    for place, (solver, (dashes, marker, colour)) in enumerate(STYLES.items()):
        own = shares.where(solver=solver)
        draw_times(axes, own["alpha"] * 1.06 ** between(place, len(STYLES)), own, fmt=marker, ls=dashes, color=colour)
    axes.set(xlabel=ALPHA, ylabel="seconds to 99 % certainty")
    logarithmic(axes, "y", shares["tts_99"])
    _mark_alphas(axes)


def _draw_share_against_time(axes: Axes, shares: Table, name: str) -> None:
    for solver, (_, marker, colour) in STYLES.items():
        for alpha, face in ((1.2, colour), (1.3, "white")):
            own = shares.where(solver=solver, alpha=alpha)
            look: dict[str, Any] = {"fmt": marker, "ms": 5, "color": colour, "mfc": face}
            with_bars(axes, own["seconds"], own["value"], own["low"], own["high"], **look)
    for alpha, face in ((1.2, "black"), (1.3, "white")):
        axes.plot([], [], "ko", ms=5, mfc=face, label=rf"$\alpha = {alpha:g}$ ({name})")
    axes.set(xlabel="mean seconds of a run", ylabel=RECOVERED, ylim=(-0.05, 1.05))
    logarithmic(axes, "x", shares["seconds"][np.isin(shares["alpha"], (1.2, 1.3))])


def _mark_alphas(axes: Axes) -> None:
    axes.axvline(BAYES_OPTIMAL, label=f"Bayes-optimal, {BAYES_OPTIMAL}", **BAYES)
    mark_alphas(axes, TICKS)

"""Message passing on matrices that are not iid Gaussian, with population annealing as a control."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from phaselect.base.tables import Columns, Table, stack
from phaselect.experiments.runs import one_thread, whole
from phaselect.experiments.success import at_the_signal, wilson
from phaselect.figures.context import Context
from phaselect.figures.style import BARS, BLUE, GREY, RECOVERED, RED, legend, letter, panels
from phaselect.problem.ensembles import ensemble_instance
from phaselect.solvers.message_passing import AMP
from phaselect.solvers.population_annealing import PopulationAnnealing
from phaselect.solvers.result import Status

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTION = (
    "Share of instances recovered, with 95 % Wilson intervals, on kinds of matrices, those above the line with iid "
    "entries: one run of message passing, and of population annealing with 64 copies, which shows that the instances "
    "can be solved. Hollow: most of the failures of message passing diverged. Rows of uneven norms are weighted before "
    "either runs. (a) 1.4, (b) 2 measurements per unknown, where iid Gaussian ones are easy."
)
Kind = tuple[str, dict[str, Any]]
"""An ensemble, and what it is told."""
IID: dict[str, Kind] = {
    "Gaussian": ("gaussian", {}),
    "random signs": ("signs", {}),
    "Student t, 2.5": ("student_t", {"degrees": 2.5}),
    "Student t, 1.5": ("student_t", {"degrees": 1.5}),
    "Gaussian, mean 0.1": ("biased", {"mean": 0.1}),
    "Gaussian, mean 1": ("biased", {"mean": 1.0}),
    "0 or 1": ("binary", {}),
}
STRUCTURED: dict[str, Kind] = {
    "10 entries a row": ("sparse", {"nonzeros": 10}),
    "uneven rows": ("uneven_rows", {"spread": 1.0}),
    "uneven columns": ("uneven_columns", {"spread": 1.0}),
    "circulant": ("circulant", {}),
    "correlated columns": ("toeplitz", {"rho": 0.9}),
    "condition number 30": ("spectrum", {"condition": 30.0}),
    "orthogonal columns": ("orthogonal", {}),
    "masked cosines": ("dct", {}),
}
ALPHAS = (1.4, 2.0)
SIZES = {"small": (100, 6), "paper": (200, 20)}
"""N, and instances."""
SOLVERS: dict[str, AMP | PopulationAnnealing] = {"amp": AMP(restarts=0), "pa": PopulationAnnealing()}
LOOK = {"amp": ("message passing", BLUE, "o", -0.14), "pa": ("population annealing", RED, "s", 0.14)}


def compute(context: Context) -> Columns:
    """A row for each kind, alpha and solver."""
    kinds = [(name, kind, alpha) for alpha in ALPHAS for name, kind in (IID | STRUCTURED).items()]
    parts: list[dict[str, Any]] = []
    for count, (name, kind, alpha) in enumerate(kinds):
        context.progress(count / len(kinds))
        parts += outcomes(name, kind, alpha, *SIZES[context.scale])
    return stack(parts)


def outcomes(name: str, kind: Kind, alpha: float, n: int, instances: int) -> list[dict[str, Any]]:
    """How often each solver recovers the signal, and how often it diverges, on the same instances."""
    ensemble, parameters = kind
    problems = [ensemble_instance(ensemble, n, alpha, seed=seed, **parameters) for seed in range(instances)]
    rows = []
    for solver, own in SOLVERS.items():
        with one_thread():
            results = [whole(own.run(problem, seed=seed)) for seed, problem in enumerate(problems)]
        hits = sum(at_the_signal(result.truth["m"], result.mse_y) for result in results)
        low, high = wilson(hits, instances)
        counts = {"trials": instances, "successes": hits, "low": float(low), "high": float(high)}
        diverged = sum(result.status is Status.DIVERGED for result in results)
        what = {"kind": name, "iid": name in IID, "n": n, "alpha": alpha, "solver": solver}
        rows.append(what | counts | {"diverged": diverged})
    return rows


def draw(table: Table) -> Figure:
    """A line for each kind, a panel for each alpha."""
    kinds = table.values("kind")
    figure, axes = panels(len(table.values("alpha")))
    figure.set_figheight(4.2)
    for panel, own in zip(axes, table.by("alpha"), strict=True):
        for solver, (label, colour, marker, shift) in LOOK.items():
            rows = own.where(solver=solver)
            places = np.array([kinds.index(kind) for kind in rows["kind"].tolist()]) + shift
            share = rows["successes"] / rows["trials"]
            panel.hlines(places, rows["low"], rows["high"], color=colour, lw=1)
            filled = rows["diverged"] <= (rows["trials"] - rows["successes"]) / 2
            for chosen, face in ((filled, colour), (~filled, "white")):
                panel.plot(share[chosen], places[chosen], marker, color=colour, mfc=face, ms=4, ls="")
            panel.plot([], [], marker, color=colour, ms=4, label=label)
        border = len(own.where(iid=True).values("kind")) - 0.5
        panel.axhline(border, color="k", lw=0.5)
        for text, side in (("iid entries", "bottom"), ("not iid", "top")):
            panel.text(0.5, border, text, fontsize=7.5, color=GREY, ha="center", va=side)
        panel.set_yticks(range(len(kinds)), kinds)
        panel.set(xlabel=RECOVERED, xlim=(-0.04, 1.04), ylim=(len(kinds) - 0.4, -0.6))
        fixed = rf"$N = {own['n'][0]}$, $\alpha = {own['alpha'][0]:g}$"
        panel.set_title(f"{fixed}, {own['trials'].max()} instances")
        panel.plot([], [], "o", color=BLUE, mfc="white", label="most failures diverged")
        panel.grid(axis="y", lw=0.3, alpha=0.5)
    for panel in axes[1:]:
        panel.tick_params(labelleft=False)
    letter(axes)
    legend(figure, *axes, title=BARS)
    return figure

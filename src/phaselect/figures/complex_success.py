"""Complex phases: success of message passing against alpha, and its error against state evolution and Bayes' rule."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phaselect.base.style import (
    ALPHA,
    BARS,
    BLUE,
    GREY,
    RECOVERED,
    between,
    legend,
    letter,
    looks,
    panels,
    with_bars,
)
from phaselect.base.tables import Columns, Table, stack
from phaselect.experiments.runs import one_thread
from phaselect.experiments.success import students_half, success_table, timed_on_one_core
from phaselect.figures.context import Context
from phaselect.figures.success_curves import BAYES, Looks, size_looks
from phaselect.problem.ensembles import gaussian_instance
from phaselect.problem.matrix_kinds import normal
from phaselect.problem.schedule import Schedule
from phaselect.problem.streams import Purpose, stream
from phaselect.solvers.registry import REGISTRY
from phaselect.solvers.vector_message_passing import VectorMessagePassing
from phaselect.theory import bayes_optimal, critical_alpha
from phaselect.theory.spectra import as_spectrum, degrees_of_freedom
from phaselect.theory.vector_evolution import evolve
from phaselect.theory.vector_nodes import Ensemble, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CAPTION = (
    "Complex A and x. (a), (b) Share of the instances recovered by one run of vector message passing, by up to nine "
    "of its starts (some points), and by one run of message passing, against measurements per unknown, with 95 % "
    "Wilson intervals; points at one alpha are moved apart a little. Vertical lines, and the numbers in the titles: "
    "the threshold of the theory, for N to infinity. (c) Squared error of x in runs of vector message passing on "
    "Gaussian matrices, annealed to mu = 1000 at mu*lam = 1: mean with its 95 % interval, over that of Bayes-optimal "
    "message passing. (d) The same error by iteration, over state evolution (thick). In (c) and (d) runs begin with "
    "a message that is z0 with noise of the same variance; both are damped, which theory treats by taking the noise "
    "of all iterations for one."
)
FIELD = "complex"
KINDS = {"gaussian": "Gaussian", "orthogonal": "orthogonal columns"}
LINES = {("vmp", 0): "-", ("amp", 0): "--", ("vmp", 8): ":"}
"""Of solvers, and of how often they start afresh."""
ALPHAS = (1.6, 1.8, 2.0, 2.1, 2.2, 2.4)
"""Of the runs that are followed, below the threshold and above."""
SIZES = {"small": (200, 4), "paper": (1000, 10)}
"""N of these, and runs."""
BAYES_ALPHAS = 1.4, 2.5
DAMPING = 0.3
SCHEDULE = Schedule.matched(mu0=5.0, mu_max=1e3, eps=0.1, steps=1, unit="iterations", hold=60)
SHOWN = slice(None, None, 4)
"""Of the iterations."""
THEORY: dict[str, Any] = {"lw": 3.0, "alpha": 0.5}
ERROR = r"error $|\hat x - x_0|^2 / |x_0|^2$"

Array = NDArray[np.float64]


def compute(context: Context) -> Columns:
    """Shares of the sweep, thresholds, errors of runs by iteration, and what theory says of these."""
    shares = success_table(timed_on_one_core(context.rows("complex_success")))
    names = ("ensemble", "solver", "restarts", "n", "alpha", "trials")
    ends = {"value": shares["p"], "low": shares["p_low"], "high": shares["p_high"]}
    parts: list[dict[str, Any]] = [_row("share", **{name: shares[name] for name in names}, **ends)]
    parts += [_row("threshold", ensemble=kind, value=_threshold(kind)) for kind in KINDS]
    parts += [*bayes(), *map(evolution, ALPHAS)]
    n, runs = SIZES[context.scale]
    for count, alpha in enumerate(ALPHAS):
        context.progress(count / len(ALPHAS))
        with one_thread():
            errors = np.array([trajectory(alpha, n, seed) for seed in range(runs)])
        iteration = np.arange(len(SCHEDULE))[SHOWN]
        parts.append(_row("run", alpha=alpha, n=n, trials=runs, iteration=iteration, **_mean(errors[:, SHOWN])))
    return stack(parts)


def _threshold(kind: str) -> float:
    return critical_alpha(spectrum=kind, field=FIELD)


def bayes() -> Iterator[dict[str, Any]]:
    """Error of Bayes-optimal message passing on Gaussian matrices, which jumps at the threshold."""
    jump = _threshold("gaussian")
    for alpha in sorted([*np.linspace(*BAYES_ALPHAS, 45).tolist(), jump - 1e-6, jump + 1e-6]):
        yield _row("bayes", alpha=alpha, value=bayes_optimal(alpha, field=FIELD).mse_x)


def evolution(alpha: float) -> dict[str, Any]:
    """The error that state evolution predicts, by iteration."""
    first = Message(*map(np.asarray, (1.0, 1.0, 1.0)))
    ensemble = Ensemble(alpha, as_spectrum("gaussian"), degrees_of_freedom(FIELD))
    found = evolve(ensemble, SCHEDULE, first=first, damping=DAMPING)
    return _row("evolution", alpha=alpha, iteration=found["sweeps"][SHOWN], value=found["mse_x"][SHOWN])


def trajectory(alpha: float, n: int, seed: int) -> Array:
    """The error of a run at each iteration, from a first message of precision 1: z0 with noise of variance 1."""
    problem = gaussian_instance(n, alpha, seed=seed, field=FIELD).normalised
    solver, rng = VectorMessagePassing(damping=DAMPING), stream(seed, Purpose.RUN)
    state = solver.start(problem, solver.draw(rng, problem.m_rows, n, SCHEDULE, 0), *SCHEDULE[0], None)
    told = problem.signs * problem.y + normal(rng, (problem.m_rows,), problem.field) / math.sqrt(problem.field.reals)
    state = state._replace(beliefs=state.beliefs._replace(h=told, g=np.asarray(1.0)))
    power, errors = np.mean(np.abs(problem.x0) ** 2), []
    for i in range(len(SCHEDULE)):
        state = solver.advance(problem, state, SCHEDULE[i : i + 1].stretch(problem.m_rows))
        row = solver.measure(problem, state)
        errors.append(1 - 2 * row["m"] + row["q1"] / power)
    return np.array(errors)


def _mean(errors: Array) -> dict[str, Array]:
    """Over runs, with its interval by Student's law."""
    mean, half = errors.mean(axis=0), students_half(errors)
    return {"value": mean, "low": mean - half, "high": mean + half}


def _row(source: str, **known: Any) -> dict[str, Any]:
    blank = {"ensemble": "gaussian", "solver": "vmp", "restarts": 0.0, "n": 0, "alpha": math.nan}
    rest = {"iteration": math.nan, "trials": 0, "value": math.nan, "low": math.nan, "high": math.nan}
    return {"source": source} | blank | rest | known


def draw(table: Table) -> Figure:
    """Shares on either kind of matrix; errors against alpha, and by iteration."""
    figure, axes = panels(4)
    sizes = size_looks(table.where(source="share"))
    for panel, kind in zip(axes[:2], KINDS, strict=True):
        _draw_shares(panel, table.where(ensemble=kind), kind, sizes)
    _draw_errors(axes[2], table)
    _draw_trajectories(axes[3], table)
    letter(axes)
    legend(figure, *axes, columns=3, title=f"(a), (b), (c): {BARS}")
    return figure


def _draw_shares(axes: Axes, table: Table, kind: str, sizes: Looks) -> None:
    shares = table.where(source="share")
    gap = np.diff(np.unique(shares["alpha"])).min(initial=0.1)
    curves = [(n, solver, restarts) for n in sizes for solver, restarts in LINES]
    for place, (n, solver, restarts) in enumerate(curves):
        own = shares.where(n=n, solver=solver, restarts=restarts)
        if len(own) == 0:
            continue
        face = sizes[n]["color"] if solver == "vmp" else "white"
        look = sizes[n] | {"ls": LINES[solver, restarts], "mfc": face, "label": ""}
        at = own["alpha"] + gap * between(place, len(curves))
        with_bars(axes, at, own["value"], own["low"], own["high"], **look)
    for look in sizes.values():
        axes.plot([], [], ls="none", ms=4, **look)
    for (solver, restarts), dashes in LINES.items():
        words = REGISTRY[solver].title + (f", {1 + restarts} starts" if restarts else "")
        face = "black" if solver == "vmp" else "white"
        axes.plot([], [], "o", ms=4, color="black", mfc=face, ls=dashes, label=words)
    threshold = table.where(source="threshold")["value"][0]
    axes.axvline(threshold, label=r"threshold, $N = \infty$", **BAYES)
    axes.set(xlabel=ALPHA, ylabel=RECOVERED, ylim=(-0.04, 1.06), title=f"{KINDS[kind]}, threshold {threshold:.3f}")


def _draw_errors(axes: Axes, table: Table) -> None:
    theory, runs = table.where(source="bayes"), table.where(source="run")
    axes.plot(theory["alpha"], theory["value"], color=GREY, label=r"Bayes-optimal, $N = \infty$ (c)", **THEORY)
    last = runs.where(iteration=runs["iteration"].max())
    words = f"mean of {last['trials'][0]} runs (c)"
    with_bars(axes, last["alpha"], last["value"], last["low"], last["high"], fmt="o", color=BLUE, label=words)
    axes.set(
        xlabel=ALPHA,
        ylabel=ERROR,
        ylim=(-0.02, None),
        title=f"Gaussian, $N = {last['n'][0]}$, $\\mu\\lambda = 1$, to $\\mu = 1000$",
    )


def _draw_trajectories(axes: Axes, table: Table) -> None:
    theory, runs = table.where(source="evolution"), table.where(source="run")
    for alpha, look in looks(sorted(theory.values("alpha"))).items():
        predicted, own, colour = theory.where(alpha=alpha), runs.where(alpha=alpha), look["color"]
        axes.plot(predicted["iteration"], predicted["value"], color=colour, **THEORY)
        axes.plot(own["iteration"], own["value"], color=colour, lw=0.8, label=rf"$\alpha = {alpha:g}$ (d)")
        axes.fill_between(own["iteration"], own["low"], own["high"], color=colour, alpha=0.2, lw=0)
    axes.plot([], [], color="black", label=r"state evolution, $N = \infty$ (d)", **THEORY)
    band = f"mean of {runs['trials'].max()} runs, 95 % band (d)"
    axes.fill_between([], [], [], color="black", alpha=0.2, lw=0, label=band)
    axes.plot([], [], color="black", lw=0.8, label=band)
    axes.set(xlabel="iteration", ylabel=ERROR, yscale="log", ylim=(1e-4, 1.2), title=f"Gaussian, $N = {runs['n'][0]}$")

"""Single runs at N = 1000 over what theory predicts for N = infinity: state evolution, and the branch of the anneal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from phaselect.base.style import MSE_Y, MU, OVERLAP, RED, SKY, legend, letter, logarithmic, panels
from phaselect.base.tables import Columns, Table, stack
from phaselect.experiments.runs import whole
from phaselect.figures.context import Context
from phaselect.problem.ensembles import gaussian_instance
from phaselect.problem.schedule import Schedule
from phaselect.solvers.message_passing import AMP
from phaselect.solvers.simulated_annealing import SimulatedAnnealing
from phaselect.theory import follow, state_evolution

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

N = 1000
AMP_ALPHAS, SA_ALPHAS = (1.15, 1.2, 1.4), (1.2, 1.4)
AMP_RATE, SA_RATE, SWEEPS = 0.05, 0.1, 20
"""By how much of itself mu grows at each step, and sweeps at each temperature."""
RUNS = {"small": (2, 4), "paper": (4, 128)}
"""How many runs are shown, and over how many the mean is taken."""
CAPTION = (
    "Single runs at N = 1000 (thin) and the theory of N = infinity (dashed), at mu*lam = 1. (a) Message passing, "
    "mu growing by 5 % per iteration from 1, over state evolution started at overlap 1/sqrt(N). (b), (c) Simulated "
    "annealing, at alpha = 1.2 and 1.4 only, 20 sweeps at each temperature, over the saddle point that an infinitely "
    "slow anneal follows. Thick: the mean of more runs than are shown, in (c) of their logarithms, in a band of two "
    "standard errors on either side."
)
ALONG = {"amp": "sweeps", "sa": "mu"}
"""What the runs of each solver are drawn against."""
COLOURS = dict(zip(AMP_ALPHAS, ("black", RED, SKY), strict=True))
RUN: dict[str, Any] = {"lw": 0.5, "marker": ".", "ms": 1.5, "alpha": 0.6}
MEAN: dict[str, Any] = {"lw": 1.8}
THEORY: dict[str, Any] = {"lw": 1.2, "ls": (0, (4, 2)), "zorder": 3}


def compute(context: Context) -> Columns:
    """Traces of the runs, and the two predictions."""
    shown, many = RUNS[context.scale]
    parts = [state_evolution_curve(alpha) for alpha in AMP_ALPHAS] + [branch_curve(alpha) for alpha in SA_ALPHAS]
    runs = [("amp", alpha, seed) for alpha in AMP_ALPHAS for seed in range(many)]
    runs += [("sa", alpha, seed) for alpha in SA_ALPHAS for seed in range(many)]
    curves: dict[tuple[str, float], list[Columns]] = {}
    for count, (solver, alpha, seed) in enumerate(runs):
        context.progress(count / len(runs))
        curves.setdefault((solver, alpha), []).append(run_curve(solver, alpha, seed))
    parts += [mean_curve(solver, alpha, own) for (solver, alpha), own in curves.items()]
    parts += [curve for some in curves.values() for curve in some[:shown]]
    return stack(parts)


def amp_schedule() -> Schedule:
    """mu from 1 to 10^5, one iteration at each, then some more at the end."""
    return Schedule.matched(mu_max=1e5, eps=AMP_RATE, steps=1, unit="iterations", hold=64)


def sa_schedule() -> Schedule:
    """mu from 0.5 to 300, 20 sweeps at each."""
    return Schedule.matched(mu0=0.5, mu_max=300.0, eps=SA_RATE, steps=SWEEPS)


def run_curve(solver: str, alpha: float, seed: int) -> dict[str, Any]:
    """The trace of one run, followed to its end."""
    problem = gaussian_instance(N, alpha, seed=seed)
    if solver == "amp":
        trace = whole(AMP(restarts=0).run(problem, amp_schedule(), seed=seed)).trace
    else:
        trace = whole(SimulatedAnnealing(eager=False).run(problem, sa_schedule(), seed=seed)).trace
    return _curve(solver, alpha, seed, trace["sweeps"], trace["mu"], trace["m"], trace["mse_y"])


def mean_curve(solver: str, alpha: float, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over runs with their standard errors, by iteration or temperature; of mse_y those of its logarithm."""
    x = ALONG[solver]
    m = np.array([np.interp(runs[0][x], run[x], run["m"]) for run in runs])
    log_mse_y = np.array([np.interp(runs[0][x], run[x], np.log(run["mse_y"])) for run in runs])
    at = {name: runs[0][name] for name in ("sweeps", "mu")}
    mean = _curve(f"mean of {solver}", alpha, -1, **at, m=m.mean(axis=0), mse_y=np.exp(log_mse_y.mean(axis=0)))
    errors = (values.std(axis=0, ddof=1) / np.sqrt(len(runs)) for values in (m, log_mse_y))
    return mean | dict(zip(("m_error", "log_mse_y_error"), errors, strict=True)) | {"runs": len(runs)}


def state_evolution_curve(alpha: float) -> dict[str, Any]:
    """What message passing does at this size."""
    found = state_evolution(alpha, amp_schedule(), n=N)
    return _curve("state evolution", alpha, -1, found["sweeps"], found["mu"], found["m"], np.nan)


def branch_curve(alpha: float) -> dict[str, Any]:
    """What an infinitely slow anneal does."""
    found = follow(alpha, sa_schedule())
    return _curve("branch", alpha, -1, np.nan, found["mu"], found["m"], found["mse_y"])


def _curve(source: str, alpha: float, seed: int, sweeps: Any, mu: Any, m: Any, mse_y: Any) -> dict[str, Any]:
    what = {"source": source, "alpha": alpha, "seed": seed, "sweeps": sweeps, "mu": mu}
    return what | {"m": m, "mse_y": mse_y} | dict.fromkeys(("m_error", "log_mse_y_error"), np.nan) | {"runs": 1}


def draw(table: Table) -> Figure:
    """Message passing by iteration; annealing by temperature."""
    figure, axes = panels(3)
    fixed = rf"$N = {N}$, $\mu\lambda = 1$"
    _draw(axes[0], table, "amp", "state evolution", "m", AMP_ALPHAS)
    axes[0].set(
        xlabel="iteration",
        ylabel=OVERLAP,
        ylim=(-0.03, 1.05),
        title=f"message passing, {fixed},\n$\\mu$ grows by {100 * AMP_RATE:g} % per iteration",
    )
    for panel, column, label in ((axes[1], "m", OVERLAP), (axes[2], "mse_y", MSE_Y)):
        _draw(panel, table, "sa", "branch", column, SA_ALPHAS)
        panel.set(
            xlabel=MU,
            ylabel=label,
            title=f"simulated annealing, {fixed},\n{SWEEPS} sweeps per $\\mu$, steps of {100 * SA_RATE:g} %",
        )
        logarithmic(panel, "x", table.where(source="branch")["mu"])
    axes[1].set_ylim(-0.03, 1.05)
    axes[2].set_yscale("log")
    _label(axes[0], table)
    letter(axes)
    legend(figure, *axes)
    return figure


def _draw(axes: Axes, table: Table, runs: str, theory: str, y: str, alphas: tuple[float, ...]) -> None:
    x = ALONG[runs]
    for alpha in alphas:
        colour = COLOURS[alpha]
        mean = table.where(source=f"mean of {runs}", alpha=alpha)
        error = 2 * mean["m_error" if y == "m" else "log_mse_y_error"]
        ends = (mean[y] - error, mean[y] + error) if y == "m" else (mean[y] * np.exp(-error), mean[y] * np.exp(error))
        axes.fill_between(mean[x], *ends, color=colour, alpha=0.25, lw=0)
        axes.plot(mean[x], mean[y], color=colour, **MEAN)
        for seed in table.where(source=runs, alpha=alpha).values("seed"):
            own = table.where(source=runs, alpha=alpha, seed=seed)
            axes.plot(own[x], own[y], color=colour, **RUN)
        own = table.where(source=theory, alpha=alpha)
        axes.plot(own[x], own[y], color=colour, path_effects=outlined(), **THEORY)


def outlined() -> list[Any]:
    """A white edge for lines that are drawn over others."""
    from matplotlib.patheffects import Normal, Stroke

    return [Stroke(linewidth=2.4, foreground="white"), Normal()]


def _label(axes: Axes, table: Table) -> None:
    """Legend entries: a colour for each alpha, and what the lines are."""
    for alpha in sorted(table.values("alpha")):
        axes.plot([], [], "s", ms=6, color=COLOURS[alpha], label=rf"$\alpha = {alpha:g}$")
    axes.plot([], [], color="black", label=r"theory, $N = \infty$", **THEORY)
    axes.plot([], [], color="black", label=f"mean of {table['runs'].max():.0f} runs", **MEAN)
    shown = len(table.where(source="sa").values("seed"))
    axes.plot([], [], color="black", label=rf"single runs, {shown} at each $\alpha$", **RUN)
    axes.fill_between([], [], [], color="black", alpha=0.25, lw=0, label="two standard errors around it")

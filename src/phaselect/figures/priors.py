"""What it is worth to know that x is sparse, or nonnegative: success against alpha, and the threshold of either."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from phaselect.base.style import (
    ALPHA,
    BARS,
    RECOVERED,
    RED,
    between,
    legend,
    letter,
    look_of_size,
    looks,
    panels,
    with_bars,
)
from phaselect.base.tables import Columns, Table, stack
from phaselect.equations.priors import Nonnegative, Prior, Sparse
from phaselect.experiments.runs import one_thread, whole
from phaselect.experiments.success import at_the_signal, wilson
from phaselect.experiments.trials import half_recovered
from phaselect.figures.context import Context
from phaselect.figures.success_curves import ends
from phaselect.problem.ensembles import gaussian_instance
from phaselect.solvers.front_door import knowing
from phaselect.solvers.result import Result
from phaselect.solvers.vector_message_passing import VectorMessagePassing
from phaselect.theory import critical_alpha

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CAPTION = (
    "Gaussian matrices, exact data, signals of which most entries are zero, or none is negative, and vector message "
    "passing that knows it. (a) Share of instances that are recovered by what solve does, up to 25 starts, with 95 % "
    "Wilson intervals; vertical lines: the threshold of state evolution for N to infinity. (b) Density of sparse "
    "signals: threshold (line), and alpha_50 of single runs with its 95 % interval (points, moved apart a little). "
    "Dotted: as many measurements as nonzeros, below which nothing can work. Below alpha = 1 there are fewer "
    "measurements than unknowns."
)
DENSITIES = (0.05, 0.1, 0.2, 0.5)
SIGNALS: dict[str, Prior] = {f"density {rho:g}": Sparse(rho) for rho in DENSITIES} | {"nonnegative": Nonnegative()}
CURVE = np.geomspace(0.03, 0.9, 18)
ALPHAS = {"small": np.linspace(0.4, 1.3, 10), "paper": np.linspace(0.4, 1.35, 20)}
SIZES = {"small": ((60,), 100, 3), "paper": ((100, 400), 400, 40)}
"""N of the single runs, N of the others, and instances."""
OFFSETS = (-0.05, 0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4)
"""Of the alphas of single runs, from the threshold."""
AROUND = -0.12, 0.35
"""Of the others: below all fail, above all are recovered."""


def compute(context: Context) -> Columns:
    """Shares of `signal` against alpha; half points, and the threshold, against density."""
    sizes, n, instances = SIZES[context.scale]
    thresholds = {name: critical_alpha(prior=prior, tolerance=1e-3) for name, prior in SIGNALS.items()}
    jobs: list[tuple[str, float | int]] = [
        (name, alpha)
        for name, threshold in thresholds.items()
        for alpha in ALPHAS[context.scale].round(2).tolist()
        if AROUND[0] <= alpha - threshold <= AROUND[1]
    ]
    jobs += [(f"density {rho:g}", size) for rho in DENSITIES for size in sizes]
    parts: list[dict[str, Any]] = []
    for count, (name, what) in enumerate(jobs):
        context.progress(count / len(jobs))
        with one_thread():
            if isinstance(what, int):
                parts.append(half(name, thresholds[name], what, instances))
            else:
                parts.append(share(name, what, n, instances) | {"predicted": thresholds[name]})
    return stack([*parts, *curve()])


def share(name: str, alpha: float, n: int, instances: int) -> dict[str, Any]:
    """How often what `solve` does with this prior finds the signal."""
    found = [run(SIGNALS[name], alpha, n, seed) for seed in range(instances)]
    hits = sum(at_the_signal(result.truth["m"], result.truth["mse_x"], result.mse_y) for result in found)
    low, high = wilson(hits, instances)
    return _row("starts", name, alpha, n, hits / instances, float(low), float(high), instances)


def half(name: str, threshold: float, n: int, instances: int) -> dict[str, Any]:
    """alpha_50 of single runs, around the threshold."""
    alphas = [threshold + offset for offset in OFFSETS]
    interval = half_recovered(
        lambda alpha, seed: run(SIGNALS[name], alpha, n, seed, single=True), alphas, instances, least=0.0
    )
    return _row("single", name, math.nan, n, *interval, instances)


def run(prior: Prior, alpha: float, n: int, seed: int, single: bool = False) -> Result:
    """Vector message passing that knows the prior; a seed draws the instance and the run."""
    density = prior.density if isinstance(prior, Sparse) else 1.0
    problem = gaussian_instance(n, alpha, seed=seed, density=float(density), nonnegative=prior == Nonnegative())
    solver = VectorMessagePassing(restarts=0, prior=prior) if single else knowing(prior)
    return whole(solver.run(problem, seed=seed))


def curve() -> Iterator[dict[str, Any]]:
    """The threshold of sparse signals; n is 0."""
    for rho in CURVE.tolist():
        yield _row("theory", f"density {rho:g}", math.nan, 0, critical_alpha(prior=Sparse(rho), tolerance=1e-3))


def _row(
    source: str,
    name: str,
    alpha: float,
    n: int,
    value: float,
    low: float = math.nan,
    high: float = math.nan,
    instances: int = 0,
) -> dict[str, Any]:
    density = float(name.removeprefix("density ")) if name.startswith("density") else math.nan
    what = {"source": source, "signal": name, "density": density, "alpha": alpha, "n": n}
    return what | {"value": value, "low": low, "high": high, "instances": instances, "predicted": math.nan}


def draw(table: Table) -> Figure:
    """Shares; half points."""
    figure, axes = panels(2)
    _draw_shares(axes[0], table.where(source="starts"))
    _draw_half_points(axes[1], table)
    letter(axes)
    legend(figure, *axes)
    return figure


def _draw_shares(axes: Axes, table: Table) -> None:
    signals = table.values("signal")
    for signal, look in looks(signals).items():
        own = table.where(signal=signal)
        with_bars(axes, own["alpha"], own["value"], own["low"], own["high"], label=signal, **look)
        axes.axvline(own["predicted"][0], color=look["color"], lw=0.9)
    fixed = f"$N = {table['n'][0]}$, {table['instances'].max()} instances"
    axes.set(xlabel=ALPHA, ylabel=RECOVERED, ylim=(-0.04, 1.06), title=f"{fixed}; {BARS}")


def _draw_half_points(axes: Axes, table: Table) -> None:
    theory, runs = (table.where(source=source) for source in ("theory", "single"))
    axes.plot(theory["density"], theory["value"], color="black", label=r"theory, $N = \infty$")
    axes.plot(theory["density"], theory["density"], ":", color="black", label="nonzeros")
    sizes = sorted(runs.values("n"))
    for place, n in enumerate(sizes):
        own = runs.where(n=n)
        at = own["density"] * 1.08 ** between(place, len(sizes))
        look = look_of_size(n) | {"ls": "none", "ms": 4, "label": f"$N = {n}$, one run"}
        with_bars(axes, at, *ends(own, least=0.0), **look)
    axes.axhline(1.0, color=RED, lw=0.7, label="$M = N$")
    axes.set(xlabel="density of $x_0$", ylabel=ALPHA, xscale="log", ylim=(0, None), title="half recovered")

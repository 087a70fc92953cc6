"""Which measurements should one take? Threshold, and error with noise, against the spread of the singular values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phaselect.base.style import (
    ALPHA,
    BLUE,
    RED,
    between,
    legend_under,
    letter,
    look_of_size,
    panels,
    with_bars,
)
from phaselect.base.tables import Columns, Table, stack
from phaselect.experiments.limits import BAYES_OPTIMAL
from phaselect.experiments.runs import one_thread, whole
from phaselect.experiments.trials import half_recovered
from phaselect.figures.context import Context
from phaselect.figures.success_curves import BAYES, ends
from phaselect.problem.ensembles import ensemble_instance
from phaselect.solvers.result import Result
from phaselect.solvers.vector_message_passing import VectorMessagePassing
from phaselect.theory import critical_alpha

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CAPTION = (
    "Matrices with singular values in geometric progression and random singular vectors, against their condition "
    "number. (a) Exact data: measurements per unknown from which vector message passing recovers the signal, as N goes "
    "to infinity (line) and alpha_50 of single runs with its 95 % interval (points, moved apart a little); dashed: "
    "Gaussian matrices. Condition number 1: orthogonal columns. (b) Noisy data, at two measurements per unknown: "
    "squared error of x, on average with the right signs given (lines), and in runs (medians and quartiles). "
    "Spread singular values save measurements where data are exact, and cost accuracy where they are not."
)
CURVE = np.geomspace(1.0, 1000.0, 46)
CONDITIONS = (1.0, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0)
OFFSETS = (-0.03, 0.0, 0.03, 0.06, 0.1, 0.15, 0.2, 0.28)
"""Of the alphas of the runs, from the threshold: runs at finite N need more."""
SIZES = {"small": ((100,), 8), "paper": ((100, 400), 50)}
"""N of the runs, and instances."""
NOISES = {1e-2: BLUE, 1e-4: RED}
"""Variances of the noise, over the power of the signal: 20 and 40 dB."""
PLENTY = 2.0
"""Measurements per unknown with noise."""
STEPS = 1000
"""Singular values that stand for all."""


def compute(context: Context) -> Columns:
    """Runs, then curves: `value` with its interval is a threshold, or an error at some `noise`."""
    sizes, instances = SIZES[context.scale]
    jobs = [(condition, n) for condition in CONDITIONS for n in sizes]
    parts: list[dict[str, Any]] = []
    for count, (condition, n) in enumerate(jobs):
        context.progress(count / len(jobs))
        with one_thread():
            parts.append(threshold(condition, n, instances))
            if n == sizes[-1]:
                parts += [error(condition, n, noise, instances) for noise in NOISES]
    return stack([*parts, *curves()])


def curves() -> Iterator[dict[str, Any]]:
    """What the theory says of each condition number; n is 0."""
    for condition in CURVE.tolist():
        spectrum = squares(condition)
        yield _row("theory", condition, 0, 0.0, critical_alpha(spectrum=spectrum))
        for noise in NOISES:
            yield _row("theory", condition, 0, noise, float(np.mean(noise / (PLENTY * spectrum + noise))))


def squares(condition: float) -> NDArray[np.float64]:
    """Squared singular values in geometric progression, of mean 1."""
    values = np.geomspace(1.0, condition**-2, STEPS)
    return np.asarray(values / values.mean())


def threshold(condition: float, n: int, instances: int) -> dict[str, Any]:
    """alpha_50 of single runs of vector message passing, around the predicted threshold."""
    predicted = critical_alpha(spectrum=squares(condition))
    alphas = [alpha for alpha in (predicted + offset for offset in OFFSETS) if round(alpha * n) > n]
    interval = half_recovered(lambda alpha, seed: run(condition, n, alpha, seed), alphas, instances)
    return _row("runs", condition, n, 0.0, *interval, instances)


def error(condition: float, n: int, noise: float, instances: int) -> dict[str, Any]:
    """Squared error of x in noisy runs: median and quartiles, as a run that fails is far off."""
    found = np.array([run(condition, n, PLENTY, seed, noise).truth["mse_x"] for seed in range(instances)])
    low, middle, high = np.percentile(found, [25, 50, 75]).tolist()
    return _row("runs", condition, n, noise, middle, low, high, instances)


def run(condition: float, n: int, alpha: float, seed: int, noise: float = 0.0) -> Result:
    """One start of vector message passing."""
    problem = ensemble_instance("spectrum", n, alpha, seed=seed, noise=noise, condition=condition)
    return whole(VectorMessagePassing(restarts=0).run(problem, seed=seed, noise=noise))


def _row(
    source: str,
    condition: float,
    n: int,
    noise: float,
    value: float,
    low: float = math.nan,
    high: float = math.nan,
    instances: int = 0,
) -> dict[str, Any]:
    what = {"source": source, "condition": condition, "n": n, "noise": noise}
    return what | {"value": value, "low": low, "high": high, "instances": instances}


def draw(table: Table) -> Figure:
    """Threshold; error."""
    figure, axes = panels(2)
    _draw_thresholds(axes[0], table.where(noise=0.0))
    _draw_errors(axes[1], table.take(table["noise"] > 0))
    for panel in axes:
        panel.set(xlabel="condition number", xscale="log")
    letter(axes)
    legend_under(figure, *axes, columns=2)
    return figure


def _draw_thresholds(axes: Axes, table: Table) -> None:
    theory, runs = (table.where(source=source) for source in ("theory", "runs"))
    axes.plot(theory["condition"], theory["value"], color="black", label=r"theory, $N = \infty$")
    sizes = sorted(runs.values("n"))
    for place, n in enumerate(sizes):
        own = runs.where(n=n)
        at = own["condition"] * 1.2 ** between(place, len(sizes))
        label = f"$N = {n}$, {own['instances'].max()} instances"
        with_bars(axes, at, *ends(own), **look_of_size(n) | {"ls": "none", "ms": 4, "label": label})
    axes.axhline(BAYES_OPTIMAL, label=f"Gaussian, {BAYES_OPTIMAL}", **BAYES)
    axes.set(ylabel=ALPHA, title="exact data, half recovered")


def _draw_errors(axes: Axes, table: Table) -> None:
    for noise, colour in NOISES.items():
        theory, runs = (table.where(source=source, noise=noise) for source in ("theory", "runs"))
        axes.plot(theory["condition"], theory["value"], color=colour, label=f"signs given, noise {noise:g}")
        words = f"median and quartiles of {runs['instances'].max()} runs"
        with_bars(axes, runs["condition"], runs["value"], runs["low"], runs["high"], fmt="s", color=colour, label=words)
    n = table["n"].max()
    axes.set(
        ylabel=r"error $|\hat x - x_0|^2 / |x_0|^2$",
        yscale="log",
        title=rf"noisy data, $N = {n}$, $\alpha = {PLENTY:g}$",
    )

"""The paper's two second moments, kept apart and collapsed onto one: theory, message passing, and an anneal."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from phaselect.base.style import (
    ALPHA,
    BARS,
    BLUE,
    GREY,
    MU,
    RECOVERED,
    RED,
    between,
    legend,
    letter,
    logarithmic,
    panels,
    shades,
    with_bars,
)
from phaselect.base.tables import Columns, Table, stack
from phaselect.equations.amp_iteration import Beliefs, iteration, pass_by_products
from phaselect.experiments.pseudo_code import message_passing, split_start
from phaselect.experiments.success import wilson
from phaselect.experiments.two_moments import saddle_iteration
from phaselect.figures.context import Context
from phaselect.problem.ensembles import ensemble_instance
from phaselect.solvers.message_passing import AMP
from phaselect.theory.control import Control, Overlaps, State
from phaselect.theory.flow import saddle_map

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from phaselect.equations.arrays import Array

CAPTION = (
    "Two second moments, V0 over the signs and V1 inside the regression, against their sum V0 + V1/mu alone. (a) "
    "Largest difference in 20 iterations from the same start: of V, q0 and m in the saddle point (its two forms are "
    "integrated by different rules), of x relative to its norm in message passing; at four products mu*lam from 0 to "
    "3, with 10 % and 90 % of the first variance inside the regression. Dashed: the spacing of numbers next to 1. (b) "
    "Recovered by an anneal of message passing in either form, on the same instances from the same starts, with 95 % "
    "Wilson intervals: here mu changes between iterations, and the forms differ by what V1 remembers. Matrices of "
    "random signs, in which the variances of all entries are the same. Points at one mu or alpha are moved apart a "
    "little."
)
ALPHAS, MUS, PRODUCTS, SHARES = (1.2, 1.5, 2.0), (1.0, 3.0, 10.0, 30.0, 100.0), (0.0, 0.1, 1.0, 3.0), (0.1, 0.9)
ITERATIONS, N, DAMPING = 20, 200, 0.3
START = State(V=1.0, spread=0.25, m=0.5)
ANNEAL_ALPHAS = (1.15, 1.2, 1.25, 1.3)
COUNTS = {"small": (4, 10), "paper": (1, 100)}
"""Every how many-th mu is taken, and instances of each anneal."""
EXACT = 1e-10
"""Mean squared misfit of a recovered signal."""
LEVELS = {"saddle point": "o", "message passing": "x"}


def compute(context: Context) -> Columns:
    """Differences at each point and split of the variance; then what anneals recover."""
    every, instances = COUNTS[context.scale]
    points = list(product(ALPHAS, MUS[::every], PRODUCTS, SHARES))
    parts = []
    for count, (alpha, mu, lam_mu, share) in enumerate(points):
        context.progress(0.5 * count / len(points))
        control = Control(alpha, mu, lam_mu / mu)
        for level, difference in (("saddle point", in_saddle_point), ("message passing", in_message_passing)):
            parts.append(
                _row(level, alpha) | {"mu": mu, "lam": control.lam, "share": share} | difference(control, share)
            )
    for count, alpha in enumerate(ANNEAL_ALPHAS):
        context.progress(0.5 + 0.5 * count / len(ANNEAL_ALPHAS))
        parts.append(_row("anneal", alpha) | anneals(alpha, instances))
    return stack(parts)


def _row(level: str, alpha: float) -> dict[str, Any]:
    blank = dict.fromkeys(("mu", "lam", "share", "difference"), np.nan)
    return {"level": level, "alpha": alpha} | blank | dict.fromkeys(("trials", "both", "only_two", "only_one"), 0)


def in_saddle_point(control: Control, share: float) -> dict[str, float]:
    """Largest difference of (V, q0, m) along the iteration."""
    order = Overlaps((1 - share) * START.V, share * control.mu * START.V, START.q0, START.m)
    state, largest = START, 0.0
    for _ in range(ITERATIONS):
        order = saddle_iteration(order, control)
        V, spread, m, _ = saddle_map(np.asarray(state.V), np.asarray(state.spread), np.asarray(state.m), control)
        state = State(float(V), float(spread), float(m))
        there = order.V0 + order.V1 / control.mu, order.q0, order.m
        largest = max(largest, *np.abs(np.subtract(there, (state.V, state.q0, state.m))))
    return {"difference": float(largest)}


def in_message_passing(control: Control, share: float) -> dict[str, float]:
    """Largest relative difference of x along the iteration."""
    A, y, x = _start(control.alpha, seed=0)
    mus = np.full(ITERATIONS, control.mu)
    two = message_passing(A, y, split_start(x, y.size, control.mu, share), mus, control.product, DAMPING)
    pairs = zip((now.x for now in two), collapsed(A, y, x, mus, control.product), strict=True)
    return {"difference": max(float(np.linalg.norm(a - b) / np.linalg.norm(b)) for a, b in pairs)}


def collapsed(A: Array, y: Array, x: Array, mus: Array, product: float) -> Iterator[Array]:
    """The estimates of the solver's iteration, one after the other."""
    pass_over, zeros = pass_by_products(lambda x: A @ x, lambda z: A.T @ z, y), np.zeros(y.size)
    now = Beliefs(x, np.float64(1), np.float64(1), zeros, zeros, zeros)
    for count, mu in enumerate(mus):
        now = iteration(now, mu, product / mu, np.float64(DAMPING if count else 0.0), pass_over)
        yield now.x


def anneals(alpha: float, instances: int) -> dict[str, int]:
    """Instances that both forms recover on the solver's schedule, and that one of them does."""
    mus = AMP().default_schedule().mu
    found = np.zeros((instances, 2), dtype=bool)
    for seed in range(instances):
        A, y, x = _start(alpha, seed)
        two = message_passing(A, y, split_start(x, y.size, mus[0], 0.0), mus, 1.0, DAMPING)
        found[seed] = recovers(A, y, (now.x for now in two)), recovers(A, y, collapsed(A, y, x, mus, 1.0))
    by_two, by_one = found.T
    counts = {"both": by_two & by_one, "only_two": by_two & ~by_one, "only_one": by_one & ~by_two}
    return {"trials": instances} | {name: int(chosen.sum()) for name, chosen in counts.items()}


def recovers(A: Array, y: Array, estimates: Iterator[Array]) -> bool:
    """Does one of the estimates fit, before they diverge?"""
    for x in estimates:
        misfit = np.mean((y - abs(A @ x)) ** 2)
        if misfit < EXACT or not misfit < 1e6:
            return bool(misfit < EXACT)
    return False


def _start(alpha: float, seed: int) -> tuple[Array, Array, Array]:
    """A with unit rows of random signs, y of unit mean square, and a random x."""
    problem = ensemble_instance("signs", N, alpha, seed=seed)
    x = np.random.default_rng(seed).standard_normal(N)
    return np.asarray(problem.A), problem.y / np.sqrt(np.mean(problem.y**2)), x


def draw(table: Table) -> Figure:
    """Differences against mu; shares against alpha."""
    figure, axes = panels(2)
    _draw_differences(axes[0], table)
    _draw_anneals(axes[1], table.where(level="anneal"))
    letter(axes)
    legend(figure, *axes, title=f"(b) {BARS}")
    return figure


def _draw_differences(axes: Axes, table: Table) -> None:
    alphas = sorted(set(table.take(table["level"] != "anneal").values("alpha")))
    for place, (alpha, colour) in enumerate(zip(alphas, shades(len(alphas)), strict=True)):
        for level, marker in LEVELS.items():
            own = table.where(level=level, alpha=alpha)
            axes.plot(own["mu"] * 1.5 ** between(place, len(alphas)), own["difference"], marker, ms=3.5, color=colour)
        axes.plot([], [], "s", color=colour, label=rf"(a) $\alpha = {alpha:g}$")
    for level, marker in LEVELS.items():
        axes.plot([], [], marker, color="black", ms=3.5, label=f"(a) {level}")
    axes.axhline(np.finfo(float).eps, color=GREY, lw=0.9, ls="--", label="(a) spacing of numbers next to 1")
    axes.set(xlabel=MU, ylabel="largest difference", yscale="log")
    axes.set_title(f"{ITERATIONS} iterations, $N = {N}$")
    logarithmic(axes, "x", table["mu"])


def _draw_anneals(axes: Axes, rows: Table) -> None:
    looks = (("only_two", "(b) two moments", RED, "o", 0), ("only_one", "(b) their sum", BLUE, "s", 1))
    for name, label, colour, marker, place in looks:
        hits = rows["both"] + rows[name]
        at = rows["alpha"] + 0.02 * between(place, len(looks))
        with_bars(
            axes, at, hits / rows["trials"], *wilson(hits, rows["trials"]), color=colour, marker=marker, label=label
        )
    axes.set(xlabel=ALPHA, ylabel=RECOVERED, ylim=(-0.03, 1.03), xticks=rows["alpha"])
    axes.set_title(rf"$N = {N}$, $\mu\lambda = 1$, {rows['trials'].max()} instances")

"""Simulated annealing at constant lam, ever more slowly: is it a trap that stops it, or haste?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaselect.base.style import BARS, RECOVERED, between, letter, logarithmic, looks, panels, with_bars
from phaselect.base.tables import Columns, Table
from phaselect.experiments.success import success_table, timed_on_one_core
from phaselect.figures.context import Context
from phaselect.problem.schedule import Schedule
from phaselect.solvers.registry import recipe

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTION = (
    "Share of the same random instances that simulated annealing recovers, with 95 % Wilson intervals, against the "
    "sweeps that it spends while mu grows by a factor of e, (a) without regulariser and (b) at lambda = 0.005. Replica "
    "symmetry has infinitely slow anneals recover from alpha = 1.584 (a) and 1.130 (b) on (figure regularisation, b). "
    "Points at one rate are moved apart a little."
)


def compute(context: Context) -> Columns:
    """A row for each lam, alpha and rate of the preset sweep."""
    found = success_table(timed_on_one_core(context.rows("rates")))
    names = ("n", "alpha", "eps", "trials", "crashed", "successes", "seconds")
    ran = zip(*(found[name].tolist() for name in ("solver", "eps", "product")), strict=True)
    schedules = [schedule_of(*row) for row in ran]
    return {
        "lam": np.array([schedule.lam[0] for schedule in schedules]),
        **{name: found[name] for name in names},
        "sweeps": np.array([schedule.steps_per_e_fold for schedule in schedules]),
        **{"value": found["p"], "low": found["p_low"], "high": found["p_high"]},
    }


def schedule_of(solver: str, eps: float, product: float) -> Schedule:
    """The schedule of a run; the product is nan where the solver does not ask for one."""
    _, schedule = recipe(solver).plan(eps=eps, **({} if np.isnan(product) else {"product": product}))
    assert schedule is not None
    return schedule


def draw(table: Table) -> Figure:
    """A panel for each lam."""
    figure, axes = panels(2)
    look_of = looks(sorted(table.values("alpha")))
    for panel, lam in zip(axes, (0.0, 0.005), strict=True):
        own = table.where(lam=lam)
        for place, alpha in enumerate(sorted(own.values("alpha"))):
            rows = own.where(alpha=alpha)
            rows = rows.take(np.argsort(rows["sweeps"]))
            at = rows["sweeps"] * 1.4 ** between(place, 2)
            look = look_of[alpha] | {"ms": 4, "capsize": 2}
            label = rf"$\alpha = {alpha:g}$, {rows['trials'].min():.0f} instances"
            with_bars(panel, at, rows["value"], rows["low"], rows["high"], label=label, **look)
        panel.set(xlabel="sweeps per e-fold of $\\mu$", ylabel=RECOVERED, ylim=(-0.03, 1.05))
        panel.set_title(rf"$N = {table['n'].max():.0f}$, $\lambda = {lam:g}$")
        logarithmic(panel, "x", table["sweeps"])
        panel.legend(loc="upper left", title=BARS, alignment="left")
    letter(axes)
    return figure

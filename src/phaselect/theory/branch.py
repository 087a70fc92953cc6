"""A branch: the saddle point followed along a schedule, as a table with a solver's column names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields

import numpy as np

from phaselect.base.checks import shortened
from phaselect.base.errors import InputError
from phaselect.base.tables import Table
from phaselect.problem.schedule import Schedule
from phaselect.theory.control import Control, State
from phaselect.theory.flow import Arrival, flow
from phaselect.theory.saddle import Point, Start, point_at, saddle_point, starting_state

SHOWN = ("mu", "m", "mse_y")
"""What the plot of a branch shows; its columns are those of a solver's trace and more."""


def follow(alpha: float, schedule: Schedule, *, start: Start = "uninformed") -> Table:
    """A branch along `schedule`, one row per temperature.

    start: "uninformed", the branch of an infinitely slow anneal: each saddle point starts from the one before, and
    where the branch ends (a spinodal) the next row lies on another one: m jumps. "informed", what the signal itself
    flows to at each temperature. `Overlaps`, an anneal that starts there. A row whose column `converged` is False is
    no saddle point.

    >>> from phaselect import Schedule
    >>> branch = follow(1.2, Schedule.matched(mu0=0.5, mu_max=1e4, eps=0.2))
    >>> f"{branch['m'][0]:.3f} {branch['m'][-1]:.3f}"
    '0.000 1.000'
    >>> print(str(branch).partition(":")[0])
    Table(56 rows x 23 columns, mu 0.5 to 1e+04, m 0 to 0.9997, mse_y 3.471e-07 to 0.3926, all converged
    """
    if not isinstance(schedule, Schedule):
        raise InputError(
            f"schedule = {shortened(schedule)}: give a phaselect.Schedule, as Schedule.matched(mu0=0.5, mu_max=1e4)"
        )
    return table(points_along(alpha, schedule, start))


def points_along(alpha: float, schedule: Iterable[tuple[float, float]], start: Start = "uninformed") -> Iterator[Point]:
    """The points of `follow`, one by one."""
    if start == "informed":
        yield from (saddle_point(alpha, mu, lam, start=start) for mu, lam in schedule)
        return
    for control, arrival in states_along((Control(alpha, mu, lam) for mu, lam in schedule), start):
        yield point_at(arrival, control)


def states_along(controls: Iterable[Control], start: Start = "uninformed") -> Iterator[tuple[Control, Arrival]]:
    """Attractors along a path of controls, each reached from the one before."""
    state: State | None = None
    for control in controls:
        arrival = flow(_departure(state, start, control), control)
        state = arrival.state if arrival.converged else None
        yield control, arrival


def _departure(state: State | None, start: Start, control: Control) -> State:
    """The previous state; one without overlap stands for the uninformed start, which leaves where it is unstable."""
    if state is None:
        return starting_state(start, control)
    if state.m == state.spread == 0.0:
        return starting_state("uninformed", control)
    return state


def table(points: Iterable[Point], shown: tuple[str, ...] = SHOWN) -> Table:
    """Points as columns; `converged` and `trusted` are columns too, and `status` holds the names of the statuses."""
    rows = list(points)
    names = [field.name for field in fields(Point) if field.name != "status"] + ["converged", "trusted"]
    columns = {name: np.array([getattr(row, name) for row in rows]) for name in names}
    return Table(columns | {"status": np.array([row.status.name.lower() for row in rows])}, shown=shown)

"""Several searches side by side on the same random instances: rows as a store has them, without a store."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from phaselect.base.tables import Table, stack
from phaselect.equations.arrays import Array
from phaselect.equations.greedy import greedy_flips
from phaselect.equations.signs import signs_of
from phaselect.experiments.grid import USUAL
from phaselect.experiments.limits import Interval, alpha_50
from phaselect.experiments.runs import one_thread, whole
from phaselect.problem.ensembles import gaussian_instance
from phaselect.problem.instance import Instance
from phaselect.problem.normalised import Normalised
from phaselect.solvers.finish import refine_signs, truth
from phaselect.solvers.registry import OPTIONS, recipe
from phaselect.solvers.result import Result


class Reached(NamedTuple):
    """Where a search ended: overlap, error and residual of its answer, the sweeps it took.

    converged_to: overlap, over the norms, of the point to which a descent converged, before greedy flips.
    """

    m: float
    mse_x: float
    mse_y: float
    sweeps: float = math.nan
    converged_to: float = math.nan


Method = Callable[[Instance, int], Reached]
"""A way to search, given an instance and the seed of the run."""


def by_name(solver: str, **options: float) -> Method:
    """One run of a solver of the registry."""

    def search(problem: Instance, seed: int) -> Reached:
        found = whole(recipe(solver).run(problem, seed, **options))
        return Reached(found.truth["m"], found.truth["mse_x"], found.mse_y, found.sweeps)

    return search


def after_flips(problem: Normalised, z: Array) -> Reached:
    """The end that every search over signs has: the signs of z, greedy flips at lam = 0, least squares."""
    signs, _ = greedy_flips(problem.ridge.exact_couplings(), problem.y, signs_of(z), problem.loops)
    answer = refine_signs(problem, signs)
    known = truth(problem, answer.x, answer.signs)
    return Reached(float(known["m"]), float(known["mse_x"]), float(answer.fit))


def side_by_side(
    searches: Mapping[str, Method],
    sizes: Mapping[int, int],
    alphas: Sequence[float],
    progress: Callable[[float], None],
    **options: float,
) -> Table:
    """Every search on the same instances, so many of each size; a seed draws the instance and the run.

    options: those of the registry that all searches share. Seconds are those that the one core is busy.
    """
    rows = []
    places = [(n, alpha, seed) for n, count in sizes.items() for alpha in alphas for seed in range(count)]
    with one_thread():
        for count, (n, alpha, seed) in enumerate(places):
            progress(count / len(places))
            problem = gaussian_instance(n, alpha, seed=seed)
            _ = problem.normalised.ridge  # its SVD, which all of them share
            for solver, search in searches.items():
                began = time.process_time()
                reached = search(problem, seed)._asdict() | {"seconds": time.process_time() - began}
                rows.append({"solver": solver, "n": n, "alpha": alpha, "seed": seed} | reached)
    same = dict.fromkeys(OPTIONS, math.nan) | options | USUAL | {"plan": "", "status": "", "device": ""}
    return Table(stack(row | same for row in rows))


def half_recovered(
    run: Callable[[float, int], Result], alphas: Sequence[float], instances: int, least: float = 1.0
) -> Interval:
    """alpha_50 of runs by alpha and seed, so many seeds at each of the alphas, none of which is below `least`."""
    rows = []
    for alpha in alphas:
        for seed in range(instances):
            found = run(alpha, seed)
            outcome = {"status": found.status.name, "mse_y": found.mse_y, **found.truth}
            rows.append({"alpha": alpha, "seed": seed} | outcome)
    return alpha_50(Table(stack(rows)), least).interval

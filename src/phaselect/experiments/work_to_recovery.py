"""How much work recovery takes at one product mu*lam: sweeps of simulated annealing, iterations of message passing.

An anneal takes as long as its schedule says. Its work is that of the shortest one that recovers, of 1, 2, 4 ... sweeps
at each temperature; message passing is its own clock.
"""

from __future__ import annotations

import math

import numpy as np

from phaselect.experiments.limits import UNKNOWN, Interval
from phaselect.experiments.runs import whole
from phaselect.experiments.success import Array, at_the_signal, students_half
from phaselect.problem.instance import Instance
from phaselect.problem.schedule import Schedule
from phaselect.solvers.registry import recipe
from phaselect.solvers.result import Result
from phaselect.solvers.simulated_annealing import SimulatedAnnealing

RATE = 0.1
DOUBLINGS = 8
"""Of the sweeps at each temperature: annealing is given up beyond 256."""


def sweeps_of_annealing(problem: Instance, product: float, seed: int) -> float:
    """Sweeps that the shortest anneal to recover took until it had; nan if even the longest did not."""
    for doubling in range(DOUBLINGS + 1):
        schedule = Schedule.fixed_product(product, eps=RATE, steps=2**doubling)
        found = whole(SimulatedAnnealing().run(problem, schedule, seed=seed))
        if _recovered(found):
            return found.sweeps
    return math.nan


def iterations_of_message_passing(problem: Instance, product: float, seed: int) -> float:
    """Iterations until one run of message passing fits; nan if it has not recovered within 3000."""
    found = whole(recipe("amp").run(problem, seed, eps=RATE, product=product, restarts=0, iterations=3000))
    return found.sweeps if _recovered(found) else math.nan


def _recovered(found: Result) -> bool:
    return bool(at_the_signal(found.truth["m"], found.truth["mse_x"], found.mse_y))


def mean_ratio(above: Array, below: Array) -> Interval:
    """Geometric mean of the ratios of pairs, with Student's interval; unknown with fewer than two pairs."""
    logs = np.log(above / below)
    if logs.size < 2:
        return UNKNOWN
    middle, half = float(np.mean(logs)), float(students_half(logs))
    return Interval(math.exp(middle), math.exp(middle - half), math.exp(middle + half))

"""`phaselect.solve` on every kind of matrix, against one SVD of it: the price of not being iid.

Huge ones, of which there is no SVD, as operators in memory and on a GPU as arrays: against a product with A and one
with its transpose, which is all that they are asked for.
"""

from __future__ import annotations

from functools import partial
from statistics import median

import numpy as np

from benchmarks.internals import one_blas_thread
from benchmarks.machine import Machine
from benchmarks.plan import Plan
from benchmarks.rows import Measurement, Task
from benchmarks.timing import once
from phaselect import Instance, ensemble_instance, solve

SECTION = "kinds"
KINDS = (
    "gaussian",
    "signs",
    "toeplitz",
    "uneven_rows",
    "uneven_columns",
    "biased",
    "uniform",
    "sparse",
    "spectrum",
    "orthogonal",
    "dct",
)
HARD = {"orthogonal": 0.3, "dct": 0.3}
"""What these need more of alpha, whose thresholds are higher."""
TIME_LIMIT = 60.0


def tasks(machine: Machine, plan: Plan) -> list[Task]:
    """Seconds and shares at each N and alpha, for all kinds or some."""
    found = []
    for n, alpha, count, kinds, times in plan.kinds:
        for kind in kinds or KINDS:
            own = alpha + HARD.get(kind, 0.0)
            size = f"N = {n}, alpha = {own:g}"
            found.append(Task(SECTION, f"solve, {kind}", size, partial(measure, kind, n, own, count, times)))
    for kind, n, alpha in plan.huge_kinds:
        size = f"N = {n}, alpha = {alpha:g}"
        found.append(Task(SECTION, f"solve, {kind}", size, partial(measure_huge, machine.device, kind, n, alpha)))
    return found


def measure(kind: str, n: int, alpha: float, count: int, times: float) -> Measurement:
    """Median seconds of all runs; the reference is `numpy.linalg.svd` of the first A, on one core as the solver's."""
    seconds, certified, solvers = [], 0, []
    for seed in range(count):
        drawn = ensemble_instance(kind, n, alpha, seed=seed, dense=True)
        problem = Instance(drawn.A, drawn.y)
        taken, result = once(partial(solve, problem, time_limit=TIME_LIMIT))
        seconds.append(taken)
        certified += result.certified
        solvers.append(result.solver)
    A = drawn.matrix.entries()
    with one_blas_thread():
        svd = once(partial(np.linalg.svd, A, full_matrices=False))[0]
    names = ", ".join(f"{name} {solvers.count(name)}" for name in dict.fromkeys(solvers))
    detail = f"{certified} of {count} certified; by {names}; reference: one SVD"
    return Measurement(median(seconds), "s", detail, reference=svd, least_ratio=1 / times)


def measure_huge(device: str, kind: str, n: int, alpha: float) -> Measurement:
    """Seconds of a solution, compiled before; the reference is a product with A and one with its transpose."""
    drawn = ensemble_instance(kind, n, alpha, seed=0, dense=False)
    problem = Instance(drawn.A, drawn.y)
    if device == "gpu":
        problem = problem.to_device("gpu", "float32")
        solve(problem)
    seconds, result = once(partial(solve, problem))
    products = min(once(partial(_both_products, problem))[0] for _ in range(5))
    detail = f"{result.status.name.lower()}, by {result.solver}, {result.sweeps:.0f} iterations; "
    detail += f"as long as {seconds / products:.0f} products with A and its transpose, the reference"
    return Measurement(seconds, "s", detail, reference=products)


def _both_products(problem: Instance) -> None:
    problem.backproject(problem.measure(np.ones(problem.n)))

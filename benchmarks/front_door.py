"""`solve` as a user meets it: the first call in a fresh process, later calls, and how often it succeeds."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

import numpy as np

from benchmarks.timing import Row, at_least, at_most
from phaselect import Instance, gaussian_instance, solve
from phaselect.solvers.baselines import AlternatingMinimisation, ReweightedAmplitudeFlow

FIRST_CALL = """
import time; began = time.perf_counter()
import phaselect
problem = phaselect.gaussian_instance(200, 1.3, seed=0)
assert phaselect.solve(problem.A, problem.y).certified
print(time.perf_counter() - began)
"""


def first_call(cold: bool) -> Row:
    """Import, instance and first solve; cold means that nothing was ever compiled on this machine."""
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ) | ({"NUMBA_CACHE_DIR": folder} if cold else {})
        command = [sys.executable, "-c", FIRST_CALL]
        times = [
            float(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
            for _ in range(1 if cold else 3)
        ]
    which = "kernels compiled then and there" if cold else "kernels compiled by an earlier process"
    return at_most("solve, first call in a process (s)", "N = 200, alpha = 1.3", np.median(times), 4, which)


def later_calls() -> Row:
    times = []
    for seed in range(20):
        problem = gaussian_instance(200, 1.3, seed=seed)
        began = time.perf_counter()
        solve(problem.A, problem.y, seed=seed)
        times.append(time.perf_counter() - began)
    detail = f"slowest of 20: {max(times):.2f} s"
    return at_most("solve, later calls, median (s)", "N = 200, alpha = 1.3", float(np.median(times)), 0.3, detail)


def success(n: int, alpha: float, limit: float | None = None, count: int = 20) -> Row:
    """Share of the instances certified within 10 s each, with what the baselines do on the same ones."""
    solved, rivals, times = 0, 0, []
    for seed in range(count):
        problem = gaussian_instance(n, alpha, seed=seed)
        began = time.perf_counter()
        solved += solve(problem.A, problem.y, seed=seed, time_limit=10).certified
        times.append(time.perf_counter() - began)
        blind = Instance(problem.A, problem.y)
        rivals += any(s.run(blind).certified for s in (AlternatingMinimisation(), ReweightedAmplitudeFlow()))
    detail = f"median {np.median(times):.2f} s, slowest {max(times):.1f} s; either baseline: {rivals}"
    what, size = "solve, share certified in 10 s", f"N = {n}, alpha = {alpha:g}, {count} instances"
    if limit is None:
        return Row(what, size, solved / count, "-", True, detail)
    return at_least(what, size, solved / count, limit, detail)


def rows() -> list[Row]:
    return [
        first_call(cold=True),
        first_call(cold=False),
        later_calls(),
        success(400, 1.2, 0.95),
        success(400, 1.2, count=100),
        success(400, 1.15),
        success(200, 1.15),
    ]

"""An AMP iteration against the two matrix-vector products it contains, and its memory."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from benchmarks.timing import Row, at_most, in_turn
from phaselect import AMP, Instance, Schedule, gaussian_instance

MEMORY = """
import phaselect
from phaselect.problem.spectrum import spectrum
def kilobytes(name):
    return int(dict(line.split(":", 1) for line in open("/proc/self/status"))[name].split()[0])
problem = phaselect.gaussian_instance(60, 1.3, seed=0)
{warm_up}
n = 2000
problem = phaselect.gaussian_instance(n, 1.2, seed=0)
{before}
open("/proc/self/clear_refs", "w").write("5")  # forget the peak so far
before = kilobytes("VmRSS")
{run}
print((kilobytes("VmHWM") - before) * 1024 / problem.A.nbytes)
"""


def iteration(dtype: type, limit: float, n: int = 3200) -> Row:
    problem = gaussian_instance(n, 1.2, seed=0)
    single = Instance(problem.A.astype(dtype), problem.y)
    rng = np.random.default_rng(0)
    x, g = rng.standard_normal(n), rng.standard_normal(problem.m_rows)
    solver, sixty = AMP(), Schedule.matched(mu0=1e3, mu_max=1e3, steps=1, unit="iterations", hold=59)
    state = solver.start(single, sixty, rng, None)
    solver.advance(single, state, sixty)
    two_products, one_read, ours = in_turn(
        lambda: [(problem.A @ x, problem.A.T @ g) for _ in range(30)],
        lambda: [problem.A @ x for _ in range(60)],
        lambda: solver.advance(single, state, sixty),
    )
    two_products, one_read, ours = two_products / 30, one_read / 60, ours / 60
    bound = one_read * single.A.itemsize / 8
    detail = (
        f"{1e3 * ours:.2f} ms, {single.A.nbytes / ours / 1e9:.0f} GB/s; bound: one read of A, "
        f"{1e3 * bound:.2f} ms at the speed of NumPy's A @ x; we take {ours / bound:.2f} of it"
    )
    what = f"AMP iteration ({np.dtype(dtype).name}) / A @ x + A.T @ g in float64"
    return at_most(what, f"N = {n}", ours / two_products, limit, detail)


def memory(what: str, run: str, limit: float | None, before: str = "") -> Row:
    """Peak memory of a run beyond what was there before, in units of A; in a process of its own."""
    code = MEMORY.format(run=run, warm_up=run, before=before)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    value, detail = float(done.stdout), "peak during the run, beyond what was there before it"
    return (
        Row(what, "N = 2000", value, "-", True, detail)
        if limit is None
        else at_most(what, "N = 2000", value, limit, detail)
    )


def rows() -> list[Row]:
    amp = "phaselect.AMP().run(problem)"
    sa = "phaselect.SimulatedAnnealing(eager=False).run(problem, phaselect.Schedule.matched(mu_max=2, steps=1))"
    return [
        iteration(np.float64, 0.8),
        iteration(np.float32, 0.4),
        memory("AMP memory beyond A / A", amp, 0.1),
        memory("SA memory beyond A and U / A", sa, 0.1, before="spectrum(problem)"),
        memory("SVD memory beyond A / A", "spectrum(problem)", None),
    ]

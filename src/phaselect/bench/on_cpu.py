"""The bench on this machine's processor."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import numpy as np

from phaselect.base.threads import one_blas_thread, run_parallel
from phaselect.bench.instances import MU, Couplings, couplings, instance, retyped
from phaselect.bench.machine import host
from phaselect.bench.rows import Measurement
from phaselect.bench.target import Footprint, Iterations, Kernel, Mover
from phaselect.bench.timing import best_seconds
from phaselect.problem.instance import gaussian_instance, signs_of
from phaselect.problem.schedule import Schedule
from phaselect.solvers._metropolis import field_kernel, population_kernel, random_state
from phaselect.solvers.amp import AMP
from phaselect.solvers.result import Result
from phaselect.solvers.solve import solve

COPIES = 16
PROPOSALS = 2_000_000
BANDWIDTH_BYTES = 256 << 20
"""Far more than any cache holds."""
LARGEST_SHARE = 0.25
"""The part of the memory that A may take: drawing it needs as much again."""


class OnCPU:
    """All cores; the Metropolis kernels on one thread."""

    device = "cpu"
    solver = "phaselect.solve"

    def machine(self) -> dict[str, Any]:
        """Names, sizes and versions."""
        return host()

    def memory(self) -> int:
        """Bytes in all."""
        return int(os.sysconf("SC_PHYS_PAGES")) * int(os.sysconf("SC_PAGE_SIZE"))

    def fits(self, n: int, alpha: float, itemsize: int) -> bool:
        """Is there room for A and what comes with it?"""
        return itemsize * alpha * n * n < LARGEST_SHARE * self.memory()

    def movers(self) -> dict[str, Mover]:
        """A product with a vector reads, a copy reads and writes; all cores."""
        return _movers()

    def kernels(self) -> Mapping[str, Callable[[int], Kernel]]:
        """One copy of the signs, and a population, both on one thread."""
        return {"one copy": partial(_kernel, None), f"{COPIES} copies": partial(_kernel, COPIES)}

    def iterations(self, n: int, alpha: float, dtype: str) -> Iterations:
        """As AMP does them inside a run."""
        problem = retyped(gaussian_instance(n, alpha, seed=0), dtype)
        count = int(np.clip(2e9 / problem.A.nbytes, 4, 60))
        solver, many = AMP(), Schedule.matched(mu0=1e3, mu_max=1e3, steps=1, unit="iterations", hold=count - 1)
        state = solver.start(problem, many, np.random.default_rng(0), None)

        def run() -> None:
            with one_blas_thread():
                solver.advance(problem, state, many)

        return Iterations(run, count)

    def load(self, n: int, alpha: float, seed: int) -> Callable[[float], Result]:
        """`solve`, checks of A and y included."""
        problem = instance(n, alpha, seed)
        return lambda limit: solve(problem.A, problem.y, seed=seed, time_limit=limit)

    def footprint(self, n: int, alpha: float, seeds: range) -> Footprint:
        """In a process of its own, whose memory nothing else fills."""
        command = [sys.executable, "-m", "phaselect.bench.footprint", str(n), str(alpha), str(len(seeds))]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return Footprint(**json.loads(done.stdout))


@cache
def _movers() -> dict[str, Mover]:
    columns = 4096
    A = np.ones((BANDWIDTH_BYTES // (8 * columns), columns))
    x, target = np.ones(columns), np.empty_like(A)
    blocks = [slice(start, start + 256) for start in range(0, A.shape[0], 256)]

    def copy() -> None:
        run_parallel(lambda rows: np.copyto(target[rows], A[rows]), blocks)

    return {
        "read (NumPy A @ x)": Mover(lambda: A @ x, A.nbytes),
        "copy, read and write": Mover(copy, 2 * A.nbytes),
    }


def _kernel(copies: int | None, n: int) -> Kernel:
    """Proposals on one thread, in equilibrium once it has warmed up.

    The bound is the reading of a row of G for each flip that is accepted, from wherever G is: at the speed of G @ v.
    """
    found = couplings(n)
    rng = np.random.default_rng(0)
    M, self_energy = found.y.size, found.y**2 * np.diag(found.G)
    v = signs_of(rng.standard_normal((copies or 1, M))).astype(np.float32) * found.y
    h, states = v @ found.G, random_state(rng, copies or 1)
    proposals = PROPOSALS // len(v)
    accepted = 0

    def run() -> None:
        nonlocal accepted
        if copies is None:
            accepted = field_kernel(found.G, self_energy, v[0], h[0], MU, proposals, states[0])
        else:
            accepted = population_kernel(found.G, self_energy, v, h, MU, proposals, states)

    def measurement(seconds: float) -> Measurement:
        total, share = proposals * len(v), accepted / (proposals * len(v))
        row_seconds = _read_seconds(found) / M
        detail = (
            f"{1e9 * seconds / total:.3g} ns a proposal, {share:.1%} accepted; bound: a row of G, "
            f"{4 * M / 1e3:.3g} kB at {4 * M / row_seconds / 1e9:.3g} GB/s, for each of those"
        )
        return Measurement(total / seconds / 1e6, "million/s", detail, bound=1 / (share * row_seconds) / 1e6)

    return Kernel(run, measurement)


def _read_seconds(found: Couplings) -> float:
    """One read of G, from whichever cache holds it."""
    repeats = max(1, int(2e8 / found.G.nbytes))
    with one_blas_thread():
        return best_seconds(lambda: [found.G @ found.y for _ in range(repeats)], repeat=3) / repeats

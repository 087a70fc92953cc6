"""The benchmarks on this machine's processor."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import numpy as np

from benchmarks.fresh import printed
from benchmarks.host import host, memory_bytes
from benchmarks.instances import MU, blind, couplings_at, instance, retyped
from benchmarks.internals import (
    Couplings,
    field_kernel,
    message_passing,
    one_blas_thread,
    population_kernel,
    random_state,
    run_parallel,
)
from benchmarks.machine import Footprint, Iterations, Kernel, Mover
from benchmarks.rows import Measurement
from benchmarks.timing import best_seconds
from phaselect import Instance, Result, gaussian_instance, solve

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
    itemsize = 8

    def described(self) -> dict[str, Any]:
        """Names, sizes and versions."""
        return host()

    def fits(self, n: int, alpha: float, itemsize: int) -> bool:
        """Is there room for A and what comes with it?"""
        return itemsize * alpha * n * n < LARGEST_SHARE * memory_bytes()

    def movers(self) -> dict[str, Mover]:
        """A product with a vector reads, a copy reads and writes; all cores."""
        return _movers()

    def kernels(self) -> Mapping[str, Callable[[int], Kernel]]:
        """One copy of the signs, and a population, both on one thread."""
        return {"one copy": partial(_kernel, None), f"{COPIES} copies": partial(_kernel, COPIES)}

    def iterations(self, n: int, alpha: float, dtype: str) -> Iterations:
        """The reference is NumPy's float64, whatever the dtype."""
        whole = gaussian_instance(n, alpha, seed=0)
        problem = retyped(whole, dtype)
        count = int(np.clip(2e9 / problem.A.nbytes, 4, 60))
        x, g = np.ones(n), np.ones(len(whole.y))
        return Iterations(
            message_passing(problem, count), lambda: [(whole.A @ x, whole.A.T @ g) for _ in range(count)], count
        )

    def drawn(self, n: int, alpha: float, seed: int) -> Instance:
        """In memory."""
        return blind(gaussian_instance(n, alpha, seed=seed))

    def peak(self) -> None:
        """See `footprint`."""
        return None

    def load(self, n: int, alpha: float, seed: int) -> Callable[[float], Result]:
        """`solve`, checks of A and y included."""
        problem = instance(n, alpha, seed)
        return lambda limit: solve(problem.A, problem.y, seed=seed, time_limit=limit)

    def footprint(self, n: int, alpha: float, seeds: range) -> Footprint:
        """In a process of its own, whose memory nothing else fills."""
        call = f"list(of_message_passing({n}, {alpha}, {len(seeds)}))"
        code = f"import json; from benchmarks.footprint import of_message_passing; print(json.dumps({call}))"
        return Footprint(*json.loads(printed("-c", code)))


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
    found = couplings_at(n)
    rng = np.random.default_rng(0)
    M, self_energy = found.y.size, found.y**2 * np.diag(found.G)
    v = rng.choice(np.array([-1, 1], np.float32), (copies or 1, M)) * found.y
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
            f"{1e9 * seconds / total:.3g} ns per proposal, {share:.1%} accepted; bound: a row of G, "
            f"{4 * M / 1e3:.3g} kB at {4 * M / row_seconds / 1e9:.3g} GB/s, for each of those"
        )
        bound = 1 / (share * row_seconds) / 1e6
        return Measurement(total / seconds / 1e6, "million/s", detail, bound=bound, more_is_better=True)

    return Kernel(run, measurement)


def _read_seconds(found: Couplings) -> float:
    """One read of G, from whichever cache holds it."""
    repeats = max(1, int(2e8 / found.G.nbytes))
    with one_blas_thread():
        return best_seconds(lambda: [found.G @ found.y for _ in range(repeats)], repeat=3) / repeats

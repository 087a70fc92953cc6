"""The benchmarks on a device of JAX: a GPU; or, to test this file without one, JAX's CPU."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from functools import cached_property
from statistics import median
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.host import host
from benchmarks.instances import MU, couplings_at, instance
from benchmarks.internals import (
    device_sweep,
    iterations,
    message_passing,
    no_tuning,
    on_device,
    reads_half_precision,
    room,
)
from benchmarks.machine import Footprint, Iterations, Kernel, Mover
from benchmarks.rivals import outcome
from benchmarks.rows import Measurement
from benchmarks.timing import best_seconds, once
from phaselect import AMP, Instance, Result, gaussian_batch

LARGEST_FROM_HOST = 3200
"""Beyond this N instances are drawn on the device, where A then is; below it they are those that the rivals get."""
MINUTE = 60.0
ROOM = 1.6
"""Memory that must be free to solve an instance, in units of A: A itself and a copy in half precision."""


class OnGPU:
    """One device; sizes can be made small for a test."""

    itemsize = 4

    def __init__(
        self,
        device: Any,
        *,
        copies: int = 100_000,
        chains: int = 1000,
        sweeps: int = 4,
        bandwidth_bytes: int = 4 << 30,
        matrix_side: int = 8192,
    ) -> None:
        self.at = device
        self.device = str(device.platform)
        self.solver = f"phaselect.AMP on the {self.device.upper()}"
        self.copies, self.chains, self.sweeps = copies, chains, sweeps
        self.bandwidth_bytes, self.matrix_side = bandwidth_bytes, matrix_side

    def described(self) -> dict[str, Any]:
        """Names, sizes and versions."""
        memory = (self.at.memory_stats() or {}).get("bytes_limit")
        return host() | {"gpu": str(self.at.device_kind), "gpu_memory_bytes": memory}

    def fits(self, n: int, alpha: float, itemsize: int) -> bool:
        """Is there room for A and what comes with it?"""
        return ROOM * itemsize * alpha * n * n < room(self.at)

    def movers(self) -> dict[str, Mover]:
        """A sum reads, a copy reads and writes."""
        with on_device(self.at):
            array = jnp.ones(self.bandwidth_bytes // 4, "float32")
        add, total = jax.jit(lambda a: a + np.float32(1)), jax.jit(lambda a: a.sum())
        return {
            "read (sum)": Mover(lambda: total(array).block_until_ready(), array.nbytes),
            "copy, read and write": Mover(lambda: add(array).block_until_ready(), 2 * array.nbytes),
        }

    @cached_property
    def matrix_rate(self) -> float:
        """Float32 operations per second in a large matrix product of full precision."""
        with on_device(self.at):
            square = jnp.ones((self.matrix_side, self.matrix_side), "float32")
            product = jax.jit(lambda a: jnp.dot(a, a, precision=jax.lax.Precision.HIGHEST))
            return float(2 * self.matrix_side**3 / best_seconds(lambda: product(square).block_until_ready()))

    def kernels(self) -> Mapping[str, Callable[[int], Kernel]]:
        """A population on one instance, and a chain on each of many."""
        return {
            f"{self.copies} copies": self._population,
            f"{self.chains} independent chains": self._chains,
        }

    def _population(self, n: int) -> Kernel:
        G, y = couplings_at(n)
        with on_device(self.at):
            v = jax.random.rademacher(jax.random.key(0), (self.copies, y.size), "float32") * jnp.asarray(y)
            return self._kernel(v, jnp.asarray(G), jnp.zeros(2, "uint32"), independent=False)

    def _chains(self, n: int) -> Kernel:
        """All on copies of the same couplings: what they are does not matter, that they are many does."""
        G, y = couplings_at(n)
        with on_device(self.at):
            v = jax.random.rademacher(jax.random.key(0), (self.chains, 1, y.size), "float32") * jnp.asarray(y)
            keys = jax.random.bits(jax.random.key(1), (self.chains, 2), "uint32")
            return self._kernel(v, jnp.stack([jnp.asarray(G)] * self.chains), keys, independent=True)

    def _kernel(self, v: Any, G: Any, key: Any, independent: bool) -> Kernel:
        """At equilibrium. The bound: 2 M operations, on M fields, per accepted flip, at the rate of matrix products."""
        swept, rows = device_sweep(independent), v.shape[-1]
        fields = jax.jit(lambda v: jnp.matmul(v, G, precision=jax.lax.Precision.HIGHEST))
        v = swept(v, fields(v), G, MU, key, 50)[0]
        h = fields(v)
        accepted = float(swept(v, h, G, MU, key, self.sweeps)[2].sum() / (self.sweeps * v.size))

        def run() -> None:
            with on_device(self.at):
                jax.block_until_ready(swept(v, h, G, MU, key, self.sweeps))

        def measurement(seconds: float) -> Measurement:
            rate, bound = self.sweeps * v.size / seconds, self.matrix_rate / (2 * rows * accepted)
            detail = (
                f"{1e3 * seconds / self.sweeps:.3g} ms per sweep of all, {100 * accepted:.0f} % accepted; "
                f"bound: 2 M operations per accepted flip at {self.matrix_rate / 1e12:.3g} Tflop/s"
            )
            return Measurement(rate / 1e6, "million/s", detail, bound=bound / 1e6, more_is_better=True)

        return Kernel(run, measurement)

    def iterations(self, n: int, alpha: float, dtype: str) -> Iterations:
        """The reference is JAX's two products, of A as it is."""
        problem, count = self.drawn(n, alpha, 0, dtype), 30
        run = message_passing(problem, count)
        A = problem.A
        with on_device(self.at):
            x, g = jnp.ones(n, dtype), jnp.ones(A.shape[0], dtype)
        both = jax.jit(lambda A, x, g: (A @ x, g @ A), compiler_options=no_tuning())

        def products() -> None:
            with on_device(self.at):
                for _ in range(count):
                    jax.block_until_ready(both(A, x, g))

        remark = "reads a copy in half precision" if reads_half_precision(problem) else ""
        return Iterations(run, products, count, remark)

    def load(self, n: int, alpha: float, seed: int) -> Callable[[float], Result]:
        """AMP with A on the device; the first instance of a shape is solved once before, which compiles."""
        if n <= LARGEST_FROM_HOST:
            problem = instance(n, alpha, seed).to_device(self.device)
        else:
            problem = self.drawn(n, alpha, seed)

        def solve(limit: float) -> Result:
            return AMP().run(problem, seed=seed, time_limit=limit)

        if seed == 0:
            solve(MINUTE)
        return solve

    def drawn(self, n: int, alpha: float, seed: int, dtype: str = "float32") -> Instance:
        """A random instance drawn on the device: A never crosses the bus."""
        gc.collect()  # the one before may hang in a cycle, and there may be no room for two
        return gaussian_batch(n, alpha, seeds=[seed]).instance(device=self.at, dtype=dtype)

    def peak(self) -> float | None:
        """Of the device since it was first used."""
        found = (self.at.memory_stats() or {}).get("peak_bytes_in_use")
        return None if found is None else float(found)

    def _timed_run(self, n: int, alpha: float, seed: int) -> tuple[float, int, bool]:
        """Seconds, iterations and success; the instance is gone from the device when the next one is drawn."""
        solve = self.load(n, alpha, seed)
        seconds, result = once(lambda: solve(MINUTE))
        return outcome(result, seconds).seconds, iterations(result), result.certified

    def footprint(self, n: int, alpha: float, seeds: range) -> Footprint:
        """The peak is that of the device since it was first used, A and its making included."""
        runs = [self._timed_run(n, alpha, seed) for seed in seeds]
        times, counts, certified = zip(*runs, strict=True)
        return Footprint(median(times), self.peak(), int(median(counts)), sum(certified))

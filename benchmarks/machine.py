"""What a machine must be able to do to be benchmarked; `on_cpu.py` and `on_gpu.py` are the two that can."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from benchmarks.rows import Measurement
from phaselect import Instance, Result


class Footprint(NamedTuple):
    """What a solve took."""

    seconds: float
    bytes: float | None  # at its peak, A included; None where the system does not tell
    iterations: int
    certified: int  # of the instances


class Mover(NamedTuple):
    """A call that moves so many bytes, reads and writes counted."""

    run: Callable[[], Any]
    bytes: int


class Kernel(NamedTuple):
    """Metropolis proposals, ready to run, and what the seconds of one call mean."""

    run: Callable[[], Any]
    measurement: Callable[[float], Measurement]


class Iterations(NamedTuple):
    """So many AMP iterations, ready to run; as many times the two products that they contain; a remark."""

    run: Callable[[], Any]
    products: Callable[[], Any]
    number: int
    remark: str = ""


class Machine(Protocol):
    """Where the benchmarks run."""

    def __hash__(self) -> int: ...

    @property
    def device(self) -> str:
        """`cpu` or `gpu`."""

    @property
    def solver(self) -> str:
        """What `load` solves with."""

    @property
    def itemsize(self) -> int:
        """Bytes per entry of A where `load` and `footprint` solve."""

    def described(self) -> dict[str, Any]:
        """Names, sizes and versions."""

    def fits(self, n: int, alpha: float, itemsize: int) -> bool:
        """Is there room for A and what comes with it?"""

    def movers(self) -> dict[str, Mover]:
        """Ways to move bytes, far more than caches hold."""

    def kernels(self) -> Mapping[str, Callable[[int], Kernel]]:
        """Metropolis kernels by name; each is made ready at an N."""

    def iterations(self, n: int, alpha: float, dtype: str) -> Iterations:
        """AMP iterations on a random instance."""

    def drawn(self, n: int, alpha: float, seed: int) -> Instance:
        """A random instance where it is solved, of which nothing is computed yet."""

    def peak(self) -> float | None:
        """Bytes that were in use at most since the benchmarks began; None where a process of its own must tell."""

    def load(self, n: int, alpha: float, seed: int) -> Callable[[float], Result]:
        """Put a random instance where it is solved; returns what solves it within so many seconds."""

    def footprint(self, n: int, alpha: float, seeds: range) -> Footprint:
        """Median time, peak memory, median iterations and successes of AMP; sizes are asked for in rising order."""

"""Benchmarks small enough for a test, and what their reports are made of."""

import pytest
from benchmarks.machine import Footprint
from benchmarks.rows import Measurement, Row

from benchmarks import (
    on_cpu,
    plan,
    timing,
)

TINY = plan.Plan(
    kernels=(40,),
    iterations=(100,),
    batches=((30, 3),),
    precisions=("float32",),
    solutions=(40,),
    alphas=(2.0,),
    rivals_up_to=40,
    instances=2,
    time_limit=60.0,
    growth=(50, 100, 200),
)
RATE = Measurement(3.0, "million/s", "how", 2.0, 9.0, more_is_better=True, least_ratio=1.4)
ROW = Row("metropolis", "a kernel", "N = 200", RATE)
MACHINE = {
    "processor": "An Abacus",
    "cores": 2,
    "memory_bytes": 8 * 10**9,
    "gpu": None,
    "gpu_memory_bytes": None,
    "versions": {"phaselect": "0.1", "python": "3.11", "jax": None},
}


@pytest.fixture
def tiny(monkeypatch):
    """Benchmarks of a few seconds: memory of a process is measured in a test of its own."""
    monkeypatch.setitem(plan.PLANS, ("cpu", True), TINY)
    monkeypatch.setattr(on_cpu, "PROPOSALS", 20_000)
    monkeypatch.setattr(on_cpu, "BANDWIDTH_BYTES", 8 << 20)
    monkeypatch.setattr(
        on_cpu.OnCPU, "footprint", lambda self, n, alpha, seeds: Footprint(1e-6 * n**2, 8.0 * n**2, 9, 3)
    )
    monkeypatch.setattr(timing, "PAUSE", 0.0)
    on_cpu._movers.cache_clear()
    yield
    on_cpu._movers.cache_clear()

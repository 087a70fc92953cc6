"""Metropolis proposals a second, against dwave-samplers on one core and against what the machine allows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from phaselect.base.errors import InputError
from phaselect.base.threads import one_blas_thread
from phaselect.bench.instances import MU
from phaselect.bench.plan import Plan
from phaselect.bench.rivals import dwave_pair
from phaselect.bench.rows import Measurement, Task
from phaselect.bench.target import Kernel, Target
from phaselect.bench.timing import best_seconds, in_turn


def tasks(target: Target, plan: Plan) -> list[Task]:
    """Each kernel at each N."""
    return [
        Task("kernels", f"Metropolis, {name}", f"N = {n}, mu = {MU:g}", partial(against_dwave, kernel, n))
        for n in plan.kernels
        for name, kernel in target.kernels().items()
    ]


def against_dwave(kernel: Callable[[int], Kernel], n: int) -> Measurement:
    """Millions of proposals a second on the same couplings; the reference is dwave-samplers on one core.

    Its set-up does not count: it is the difference of two run lengths.
    """
    ours = kernel(n)
    try:
        short, long, proposals = dwave_pair(n)
    except InputError as missing:
        alone = ours.measurement(best_seconds(ours.run))
        return alone._replace(detail=f"{alone.detail}; {missing}")
    with one_blas_thread():
        seconds, short_seconds, long_seconds = in_turn(ours.run, short, long)
    found = ours.measurement(seconds)
    theirs = proposals / (long_seconds - short_seconds) / 1e6
    assert found.value is not None
    return found._replace(reference=theirs, detail=f"{found.value / theirs:.3g} times dwave-samplers; {found.detail}")

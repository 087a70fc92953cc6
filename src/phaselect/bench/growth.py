"""How time and memory of AMP grow with N, as fitted exponents; and from there, by a model, to a cluster."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from phaselect.base.errors import InputError
from phaselect.bench.bandwidth import best
from phaselect.bench.cluster import Cluster, bytes_of_A
from phaselect.bench.plan import Plan
from phaselect.bench.rows import Measurement, Task
from phaselect.bench.target import Footprint, Target

ALPHA = 1.3
DEVICES = (1, 2, 4, 8, 16, 64)
MODEL_SIZES = (100_000, 1_000_000)


class PowerLaw(NamedTuple):
    """`value ~ N^exponent`, from least squares on the logarithms."""

    exponent: float
    standard_error: float


def fitted(sizes: list[int], values: list[float]) -> PowerLaw:
    """The exponent with its standard error."""
    if len(sizes) < 3:
        raise InputError("an exponent needs three sizes or more")
    x, y = np.log(sizes), np.log(values)
    x = x - x.mean()
    exponent = float(x @ y / (x @ x))
    misfit = y - y.mean() - exponent * x
    return PowerLaw(exponent, float(np.sqrt(misfit @ misfit / (x.size - 2) / (x @ x))))


def tasks(target: Target, plan: Plan) -> list[Task]:
    """Time and memory at each N, their exponents, and the model."""
    sizes = [n for n in plan.growth if target.fits(n, ALPHA, 4 if target.device == "gpu" else 8)]
    found: dict[int, Footprint] = {}
    points = [
        task
        for n in sizes
        for task in (
            Task("growth", "AMP, time", f"N = {n}, alpha = {ALPHA:g}", partial(_time, target, n, found)),
            Task("growth", "AMP, memory", f"N = {n}, alpha = {ALPHA:g}", partial(_memory, n, found)),
        )
    ]
    span = f"N = {sizes[0]} to {sizes[-1]}" if sizes else ""
    fits = [
        Task("growth", "exponent of time", span, partial(_exponent, found, "seconds")),
        Task("growth", "exponent of memory", span, partial(_exponent, found, "bytes")),
    ]
    return [*points, *fits, *_model(target)]


def _time(target: Target, n: int, found: dict[int, Footprint]) -> Measurement:
    seeds = range(3 if n <= 50_000 else 1)
    taken = found[n] = target.footprint(n, ALPHA, seeds)
    detail = f"{taken.iterations} iterations; {taken.certified} of {len(seeds)} certified"
    return Measurement(taken.seconds, "s", detail)


def _memory(n: int, found: dict[int, Footprint]) -> Measurement:
    if n not in found:
        raise InputError("AMP did not run")
    taken = found[n].bytes
    if taken is None:
        return Measurement(None, "MB", "this system does not tell")
    return Measurement(taken / 1e6, "MB", "peak, A included")


def _exponent(found: dict[int, Footprint], name: str) -> Measurement:
    known = {n: getattr(taken, name) for n, taken in found.items() if getattr(taken, name) is not None}
    law = fitted(list(known), list(known.values()))
    detail = f"standard error {law.standard_error:.2g}; 2 is that of A, which has alpha N^2 entries"
    return Measurement(law.exponent, "power of N", detail, bound=2.0)


def _model(target: Target) -> list[Task]:
    def iteration(n: int, devices: int) -> Measurement:
        cluster = _cluster(target)
        link = "" if devices == 1 else f", {cluster.link(devices).name}"
        room = "fits" if cluster.fits(n, ALPHA, devices) else "does not fit"
        detail = f"{bytes_of_A(n, ALPHA) / devices / 1e9:.3g} GB a device, {room}{link}"
        return Measurement(
            1e3 * cluster.iteration_seconds(n, ALPHA, devices),
            "ms",
            detail,
            reference=1e3 * cluster.iteration_seconds(n, ALPHA, 1),
            bound=1e3 * cluster.reading_seconds(n, ALPHA, devices),
        )

    def largest(devices: int) -> Measurement:
        cluster = _cluster(target)
        detail = f"float32 A alone, {cluster.memory / 1e9:.3g} GB a device, at alpha = {ALPHA:g}"
        return Measurement(cluster.largest_n(ALPHA, devices), "unknowns", detail)

    times = [
        Task("model", "MODEL: AMP iteration", f"N = {n}, G = {devices}", partial(iteration, n, devices))
        for n in MODEL_SIZES
        for devices in DEVICES
    ]
    sizes = [
        Task("model", "MODEL: largest N that fits", f"G = {devices}", partial(largest, devices)) for devices in DEVICES
    ]
    return [*times, *sizes]


def _cluster(target: Target) -> Cluster:
    return Cluster(target.device, best(target), target.memory())

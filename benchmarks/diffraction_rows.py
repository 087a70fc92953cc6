"""What is measured of coded diffraction: how many patterns are needed, by whom; how long it takes; how much memory."""

from __future__ import annotations

import tracemalloc
import warnings
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any, NamedTuple

from benchmarks.coded import Coded, coded
from benchmarks.deepinv_descent import deepinv_errors
from benchmarks.internals import at_handover, iterations, transforms, watched
from benchmarks.rows import Measurement, Task
from benchmarks.timing import once
from phaselect import DataWarning, InputError, Instance, Result, Status, solve

OURS = "phaselect.solve"
INSTANCES, ENOUGH = 20, 0.95
EXACT, CLOSE = 1e-6, 1e-5
"""Relative errors: of an answer with all its digits, and that any contender must come to."""
TARGETS = ((128, 3, False), (128, 2, True))
"""Side of the picture, patterns, and is it real?"""
SIDE = 16
PER_UNKNOWN = (6.0, 5.0, 4.0, 3.5, 3.0, 2.7, 2.5, 2.4, 2.3, 2.2)
"""Measurements per unknown, most first."""
TIMED_SIDE, TIMED_PATTERNS = 256, (4, 6)
LEAST_SHARE, MOST_ARRAYS = 1 / 4, 6.0
"""Of transforms in the time of a solution; and arrays of the size of the data in its memory."""
ON_DEVICE = (512, 1024, 2048, 4096)
LIMITS = {1024: 0.15, 4096: 2.0}
"""Seconds in which a relative error of `ROUGH` is wanted, by the side of the picture."""
ROUGH = 1e-4
REPEAT = 3
STAGES = ("message passing", "with refinement")
SIX_DIGITS = 1e-6
DIGITS = ("message passing", "six digits", "all digits")
"""What is timed on a device: without refinement, of data that are said to be rounded so, and as it is."""


class Found(NamedTuple):
    """What a contender came to."""

    error: float
    seconds: float


def by_solver(name: str, cases: list[Coded]) -> list[Found]:
    """One of ours, to all digits, whether another x near by fits included."""
    found = []
    for case in cases:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # of few measurements
            seconds, result = once(partial(solve, case.problem, solver=name))
        found.append(Found(case.error(result.x), seconds))
    return found


def by_deepinv(cases: list[Coded]) -> list[Found]:
    """All at once, until they are close."""
    seconds, errors = once(partial(deepinv_errors, cases, CLOSE))
    return [Found(error, seconds / len(cases)) for error in errors]


CONTENDERS: dict[str, Callable[[list[Coded]], list[Found]]] = {
    OURS: partial(by_solver, "auto"),
    "wf": partial(by_solver, "wf"),
    "raf": partial(by_solver, "raf"),
    "altmin": partial(by_solver, "altmin"),
    "deepinv": by_deepinv,
}


def in_memory() -> list[Task]:
    """All that is measured without a device."""
    tasks = []
    for side, patterns, real in TARGETS:
        what = f"{'real' if real else 'complex'} picture, {patterns} patterns"
        tasks.append(Task("targets", what, size(side), partial(target, side, patterns, real)))
    for name in CONTENDERS:
        counts: dict[float, int] = {}
        for per in PER_UNKNOWN:
            tasks.append(Task("patterns", name, f"{per:g}", partial(recovered, name, per, counts)))
    taken: dict[int, float] = {}
    for name in CONTENDERS:
        for patterns in TIMED_PATTERNS:
            tasks.append(Task("time", name, f"{patterns}", partial(timed, name, patterns, taken)))
    three = f"{size(TIMED_SIDE)}, 3 patterns"
    tasks.append(Task("cost", "solution", three, partial(over_transforms, TIMED_SIDE)))
    peaks: dict[str, float] = {}
    for stage in STAGES:
        tasks.append(Task("cost", f"peak of memory, {stage}", three, partial(memory, TIMED_SIDE, stage, peaks)))
    return tasks


def on_device(machine: Any, sides: tuple[int, ...]) -> list[Task]:
    """Sizes on a device of JAX, smallest first, so that each peak of its memory is its own."""
    tasks = []
    for side in sorted(sides):
        runs: list[Run] = []
        for digits in DIGITS:
            row = partial(of_run, machine, side, digits, runs)
            tasks.append(Task("device", digits, f"{size(side)}, 3 patterns", row))
    return tasks


def size(side: int) -> str:
    """In words."""
    return f"{side} x {side}"


def target(side: int, patterns: int, real: bool, instances: int = INSTANCES) -> Measurement:
    """How many are recovered, and known to be locally unique."""
    count, seconds = 0, []
    for seed in range(instances):
        case = coded(side, patterns, seed, real)
        taken, result = once(partial(solve, case.problem))
        count += result.status is Status.LOCALLY_UNIQUE and case.error(result.x) < EXACT
        seconds.append(taken)
    detail = f"median {median(seconds):.2g} s each"
    return Measurement(count, f"of {instances}", detail, more_is_better=True, limit=instances)


def recovered(name: str, per_unknown: float, counts: dict[float, int]) -> Measurement:
    """How many come close; where none did from more measurements, fewer are not tried."""
    if 0 in counts.values():
        raise InputError("none was recovered from more")
    found = CONTENDERS[name]([coded(SIDE, per_unknown, seed) for seed in range(INSTANCES)])
    counts[per_unknown] = sum(one.error < CLOSE for one in found)
    detail = f"median {median(one.seconds for one in found):.2g} s each"
    return Measurement(counts[per_unknown], f"of {INSTANCES}", detail, more_is_better=True)


def timed(name: str, patterns: int, ours: dict[int, float]) -> Measurement:
    """Seconds of one solution; the reference is ours."""
    (found,) = CONTENDERS[name]([coded(TIMED_SIDE, patterns, 0)])
    if name == OURS:
        ours[patterns] = found.seconds
    return Measurement(found.seconds, "s", f"relative error {found.error:.0e}", reference=ours.get(patterns))


def over_transforms(side: int) -> Measurement:
    """Seconds of a solution, compiled before; the reference are those of its Fourier transforms."""
    problem = coded(side, 3, 0).problem
    solve(problem)
    with transforms() as spent:
        seconds, result = once(partial(solve, problem))
    times = f"{seconds / spent['seconds']:.1f} times its {spent['calls']:.0f} batches of transforms, the reference"
    detail = f"{times} (4 times would do); {iterations(result)} iterations"
    return Measurement(seconds, "s", detail, reference=spent["seconds"], least_ratio=LEAST_SHARE)


def memory(side: int, stage: str, peaks: dict[str, float]) -> Measurement:
    """Peaks of one solution beyond A and y, in arrays of M complex numbers."""
    if not peaks:
        tracemalloc.start()
        try:
            problem = coded(side, 3, 0).problem
            before = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()

            def look(stage: str) -> None:
                peaks[stage] = (tracemalloc.get_traced_memory()[1] - before) / (16 * problem.m_rows)

            with at_handover(lambda x: look(STAGES[0]), problem):
                solve(problem)
            look(STAGES[1])
        finally:
            tracemalloc.stop()
    detail = "of M complex numbers, the size of A x and twice that of y, beyond masks and data"
    return Measurement(peaks[stage], "arrays", detail, limit=MOST_ARRAYS)


class Run(NamedTuple):
    """Solutions on a device, by their digits; what is said of all."""

    found: dict[str, Found]
    detail: str


def of_run(machine: Any, side: int, digits: str, runs: list[Run]) -> Measurement:
    """The best of several runs, compiled before; the limit is for the fewest digits that are as close as wanted."""
    if not runs:
        runs.append(best_run(machine, side))
    found, detail = runs[0]
    close = [name for name in DIGITS if found[name].error < ROUGH]
    limit = LIMITS.get(side) if close[:1] == [digits] else None
    return Measurement(found[digits].seconds, "s", f"relative error {found[digits].error:.1e}; {detail}", limit=limit)


def best_run(machine: Any, side: int) -> Run:
    """By the seconds of all."""
    case = coded(side, 3, 0)
    problem, rough = case.problem.to_device(machine.at, "float32"), [0.0]

    def look(x: Any) -> None:
        rough[0] = case.error(x)

    with at_handover(look, problem):
        solve(problem)

    def timed(problem: Instance) -> tuple[float, float, Result]:
        runs = []
        for _ in range(REPEAT):
            with watched() as spent:
                seconds, result = once(partial(solve, problem))
            runs.append((seconds, seconds - spent["finish"]))
        return (*min(runs), result)

    whole, passing, result = timed(problem)
    found = {DIGITS[0]: Found(rough[0], passing), DIGITS[2]: Found(case.error(result.x), whole)}
    rounded = problem.with_rounding(SIX_DIGITS)
    solve(rounded)  # its data are sent
    seconds, _, rough_result = timed(rounded)
    found[DIGITS[1]] = Found(case.error(rough_result.x), seconds)
    peak = machine.peak()
    said = {one.status.name.lower().replace("_", " ") for one in (rough_result, result)}
    detail = f"{iterations(result)} iterations; {', '.join(sorted(said))}"
    if peak is not None:
        detail += f"; peak {peak / (8 * case.kept.size):.1f} arrays of M complex64"
    return Run(found, detail)

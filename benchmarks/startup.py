"""What a user waits for before anything happens: imports, commands and first calls, in fresh processes.

The reference is `import numpy` in the same run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks.fresh import printed, seconds_inside
from benchmarks.machine import Machine
from benchmarks.plan import Plan
from benchmarks.rows import Measurement, Task
from benchmarks.timing import in_turn

SECTION = "startup"
WHOLE_PROCESSES = {
    "import phaselect": (("-c", "import phaselect"), 0.375),
    "phaselect --version": (("-m", "phaselect", "--version"), 0.27),
    "phaselect --help": (("-m", "phaselect", "--help"), 0.27),
}
"""Arguments of Python, and the ratio that we want: 0.25 s and 0.35 s where `import numpy` takes 0.094 s."""
FIRST_CALLS = {
    "phaselect.solve, first call": (
        """
import phaselect
problem = phaselect.gaussian_instance(200, 1.3, seed=0)
assert phaselect.solve(problem.A, problem.y).certified""",
        4.0,
    ),
    "theory.saddle_point, first call": ("from phaselect import theory; theory.saddle_point(1.2, 5.0)", 5.0),
    "theory.one_step_rsb, first call": ("from phaselect import theory; theory.one_step_rsb(1.5, 40.0)", 5.0),
}
"""Code and the seconds that we want it to take, imports included, the start of Python not."""


def tasks(machine: Machine, plan: Plan) -> list[Task]:
    """Starts; then first calls with kernels compiled by an earlier process, and with none."""
    if not plan.fresh_processes:
        return []
    starts = [
        Task(SECTION, name, "", partial(process, arguments, least, plan.fresh_processes))
        for name, (arguments, least) in WHOLE_PROCESSES.items()
    ]
    calls = [
        Task(SECTION, name, "never compiled" if cold else "compiled before", partial(first_call, code, limit, cold))
        for name, (code, limit) in FIRST_CALLS.items()
        for cold in (False, True)
    ]
    return [*starts, *calls]


def process(arguments: tuple[str, ...], least: float, repeat: int) -> Measurement:
    """A whole process, from the start of Python to its end."""
    ours, numpy = in_turn(lambda: printed(*arguments), lambda: printed("-c", "import numpy"), repeat=repeat)
    return Measurement(ours, "s", f"{ours / numpy:.3g} times import numpy", numpy, least_ratio=least)


def first_call(code: str, limit: float, cold: bool) -> Measurement:
    """Import and first answer; compiling takes long enough to be measured once."""
    calls: list[Callable[[], float]] = [lambda: seconds_inside(code, cold), lambda: seconds_inside("import numpy")]
    ours, numpy = (min(call() for _ in range(1 if cold else 3)) for call in calls)
    return Measurement(ours, "s", f"{ours / numpy:.3g} times import numpy", numpy, limit=limit)

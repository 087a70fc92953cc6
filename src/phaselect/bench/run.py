"""The whole bench: which tasks, in which order, one row after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from phaselect.base.errors import InputError
from phaselect.bench.amp import tasks as amp_tasks
from phaselect.bench.growth import tasks as growth_tasks
from phaselect.bench.kernels import tasks as kernel_tasks
from phaselect.bench.on_cpu import OnCPU
from phaselect.bench.plan import PLANS, Plan
from phaselect.bench.rows import SECTIONS, Report, Row, Task, measured
from phaselect.bench.solutions import tasks as solution_tasks
from phaselect.bench.target import Target

TASKS: dict[str, Callable[[Target, Plan], list[Task]]] = {
    "kernels": kernel_tasks,
    "amp": amp_tasks,
    "solutions": solution_tasks,
    "growth": growth_tasks,
}


class Bench(NamedTuple):
    """What is to be measured, and where."""

    target: Target
    quick: bool
    tasks: list[Task]

    def rows(self, announce: Callable[[int, Task], None]) -> Iterator[Row]:
        """Measure; `announce` is told of each task, and how many went before, as it begins."""
        for done, task in enumerate(self.tasks):
            announce(done, task)
            yield measured(task)

    def report(self, rows: Sequence[Row]) -> Report:
        """The rows with the machine, section by section."""
        order = [*SECTIONS, "model"]
        ordered = sorted(rows, key=lambda row: order.index(row.section))
        return Report(self.target.device, self.quick, self.target.machine(), ordered)


def bench(device: str = "cpu", quick: bool = False, only: Sequence[str] = SECTIONS) -> Bench:
    """The bench on a device, `cpu` or `gpu`; without a GPU the latter ends in one line.

    Growth goes first on a GPU: the peak of its memory cannot be forgotten, and later sections have larger ones.
    """
    unknown = sorted(set(only) - set(SECTIONS))
    if unknown or not only:
        raise InputError(f"--only {','.join(only)}: use some of {','.join(SECTIONS)}")
    target = target_on(device)
    order = sorted(SECTIONS, key=lambda name: name != "growth") if device == "gpu" else SECTIONS
    plan = PLANS[device, quick]
    return Bench(target, quick, [task for name in order if name in only for task in TASKS[name](target, plan)])


def target_on(device: str) -> Target:
    """The machine to be benchmarked."""
    if device == "cpu":
        return OnCPU()
    from phaselect.devices.backend import pick

    found = pick(device)
    from phaselect.bench.on_gpu import OnGPU

    return OnGPU(found)

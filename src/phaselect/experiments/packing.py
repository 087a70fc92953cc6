"""How the tasks of a sweep are cut into packs, and a pack is run: run by run on one core, or as a batch on a device.

Where a pack is run is another matter (`executors.py`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, ClassVar, Protocol

from phaselect.base.checks import is_count, shortened
from phaselect.base.errors import DeviceLost, InputError
from phaselect.experiments.grid import Task
from phaselect.experiments.runs import Pack, run_on_device, run_pack
from phaselect.experiments.store import FAILED, Row
from phaselect.problem.matrix_kinds import FIELDS
from phaselect.solvers.registry import REGISTRY

PACK_SECONDS = 1.0
"""Runs shorter than this are packed together until they take about as long: handing over a pack then costs little."""
_batch_running = threading.Lock()
"""The threads of a process share its device."""


class Times:
    """Mean seconds of the runs of each kind on one device, from those so far."""

    def __init__(self, known: Mapping[tuple[Any, ...], tuple[int, float]]) -> None:
        self.known = dict(known)

    def learn(self, rows: Sequence[Row]) -> None:
        """Take the times of finished runs into account."""
        for row in rows:
            if row["status"] != FAILED:
                kind = row["solver"], row["n"], row["options"], row["plan"]
                count, total = self.known.get(kind, (0, 0.0))
                self.known[kind] = (count + 1, total + row["seconds"])

    def expected(self, task: Task) -> float:
        """Mean seconds of such a run; as long as a pack if none was seen."""
        count, total = self.known.get(task.kind, (0, 0.0))
        return total / count if count else PACK_SECONDS


class Packing(Protocol):
    """Cuts tasks into packs, and runs one."""

    @property
    def device(self) -> str:
        """What the times of its runs are times of: nothing for one core each, else the device of a batch."""

    def check(self, tasks: Sequence[Task]) -> None:
        """Say before the work that some of it cannot be done so."""

    def ready(self) -> None:
        """Say, in the process that is to run packs, what it lacks."""

    def at_once(self, threads: int) -> int:
        """Packs to be in the hands of a worker that has so many threads."""

    def packs(self, tasks: Sequence[Task], times: Times) -> Iterator[Pack]:
        """The packs, each cut when it is asked for, in an order in which a sweep may be stopped."""

    def run(self, pack: Pack) -> list[Row]:
        """One row per task; fewer after an interrupt."""


@dataclass(frozen=True)
class SingleRuns:
    """Run by run, on one core, in packs of about `PACK_SECONDS` by the times seen so far.

    Runs on one instance stay together, to share its SVD, unless they are long; a kind not seen yet is not packed.
    """

    device: ClassVar[str] = ""

    def check(self, tasks: Sequence[Task]) -> None:
        """Every solver can be run so."""

    def ready(self) -> None:
        """Nothing is needed beyond the package."""

    def at_once(self, threads: int) -> int:
        """One for each thread, and the next at hand."""
        return 2 * threads

    def packs(self, tasks: Sequence[Task], times: Times) -> Iterator[Pack]:
        """In the order of the tasks: see `all_tasks`."""
        pack: list[Task] = []
        seconds = 0.0
        for _, group in groupby(tasks, key=lambda task: task.instance):
            for task in group:
                if times.expected(task) > PACK_SECONDS:
                    yield [task]
                else:
                    pack.append(task)
                    seconds += times.expected(task)
            if seconds >= PACK_SECONDS:
                yield pack
                pack, seconds = [], 0.0
        if pack:
            yield pack

    def run(self, pack: Pack) -> list[Row]:
        """See `run_pack`."""
        return run_pack(pack)


@dataclass(frozen=True)
class Batches:
    """On a device, `gpu` or `cpu`: many instances of one shape at once, as one JAX program.

    size: instances at a time, at most; `host_bytes` is what they may take in memory before they are sent.
    """

    device: str
    size: int = 1000
    host_bytes: float = 4e9

    def __post_init__(self) -> None:
        if not is_count(self.size, 1):
            raise InputError(f"size = {shortened(self.size)}: give a whole number of instances, 1 or more")

    def check(self, tasks: Sequence[Task]) -> None:
        """Can these solvers run in batches?"""
        alone = sorted(name for name in {task.solver for task in tasks} if not REGISTRY[name].in_batches)
        if alone:
            able = ", ".join(name for name in REGISTRY if REGISTRY[name].in_batches)
            raise InputError(f"{', '.join(alone)} cannot run in batches on a device: use {able}, or leave out --device")

    def ready(self) -> None:
        """Is there JAX, and such a device?"""
        from phaselect.backends.jax.devices import pick

        pick(self.device)

    def at_once(self, threads: int) -> int:
        """A worker has one device, whatever its threads."""
        return 1

    def packs(self, tasks: Sequence[Task], times: Times) -> Iterator[Pack]:
        """Full batches in rounds: one of every point of the grid, then the next of every point.

        In a round all curves go through the alphas from coarse to fine: the first, the one in the middle, those at the
        quarters, and so on; small n first.
        """
        points: dict[Any, list[Task]] = {}
        for task in tasks:
            points.setdefault((task.kind, task.alpha), []).append(task)
        alphas = sorted({task.alpha for task in tasks})
        turns = {alpha: f"{place:064b}"[::-1] for place, alpha in enumerate(alphas)}  # 0, 8, 4, 12, 2, 10 ... of 16
        batches = []
        for each in points.values():
            size = self._members(each[0])
            batches += [(first // size, each[first : first + size]) for first in range(0, len(each), size)]
        batches.sort(key=lambda batch: (batch[0], turns[batch[1][0].alpha], batch[1][0].n))
        for _, batch in batches:
            yield batch

    def _members(self, task: Task) -> int:
        """As many as fit into the memory of the host."""
        each = 10 * FIELDS[task.field].reals * task.alpha * task.n**2  # bytes of A and of the test set
        return max(1, min(self.size, int(self.host_bytes / each)))

    def run(self, pack: Pack) -> list[Row]:
        """One batch at a time in a process: see `run_on_device`. A batch is not to blame for a device that is lost."""
        with _batch_running:
            try:
                return run_on_device(pack, self.device)
            except Exception as error:
                from phaselect.backends.jax.devices import answers, out_of_memory

                if out_of_memory(error) or answers(self.device):
                    raise
                raise DeviceLost(
                    f"the {self.device} does not answer any more, after {type(error).__name__}: rows done so far are "
                    "kept; the same command goes on"
                ) from error

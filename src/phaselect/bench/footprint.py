"""Time and peak memory of AMP in a process of its own: `python -m phaselect.bench.footprint N ALPHA SEEDS`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import median

from phaselect.bench.instances import blind
from phaselect.bench.target import Footprint
from phaselect.bench.timing import once
from phaselect.problem.instance import Instance, gaussian_instance
from phaselect.solvers.amp import AMP

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def main() -> None:
    """Print a `Footprint` as JSON."""
    n, alpha, seeds = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    AMP().run(gaussian_instance(60, alpha, seed=0))
    before = _kilobytes("VmRSS")
    problem = blind(gaussian_instance(n, alpha, seed=0))
    _forget_peak()
    runs = [_run(problem)]
    peak = _kilobytes("VmHWM")  # of the first alone: the allocator keeps some of what the next ones are made from
    runs += [_run(blind(gaussian_instance(n, alpha, seed=seed))) for seed in range(1, seeds)]
    seconds, iterations, certified = zip(*runs, strict=True)
    taken = None if before is None or peak is None else 1024 * (peak - before)
    print(json.dumps(Footprint(median(seconds), taken, int(median(iterations)), sum(certified))._asdict()))


def _run(problem: Instance) -> tuple[float, int, bool]:
    seconds, result = once(lambda: AMP().run(problem))
    return seconds, result.steps, result.certified


def _forget_peak() -> None:
    """Start the peak anew from the memory in use."""
    if CLEAR.exists():
        CLEAR.write_text("5")


def _kilobytes(name: str) -> int | None:
    """A line of the process's status, where the system has one."""
    if not (STATUS.exists() and CLEAR.exists()):
        return None
    return int(dict(line.split(":", 1) for line in STATUS.read_text().splitlines())[name].split()[0])


if __name__ == "__main__":
    main()

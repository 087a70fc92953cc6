"""What fixed seeds give, kept in a file before a change of the sources and compared after it.

python -m benchmarks.record before.json                      # before: write
python -m benchmarks.record after.json --against before.json # after: write, and list what differs

Every solver of the registry on 20 instances, in memory and in batches; points and thresholds of the theory; the rows of
a small sweep. Numbers are compared to seven digits, those that rounding decides (residuals of exact fits) not at all.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from phaselect import Result, gaussian_instance, theory
from phaselect.base.files import atomic_write
from phaselect.experiments.executors import InProcess
from phaselect.experiments.grid import Grid
from phaselect.experiments.store import Store
from phaselect.experiments.sweep import run_sweep
from phaselect.solvers.registry import REGISTRY

SIZES = ((40, 1.35), (60, 1.5))
INSTANCES = 20
POINTS = (
    (1.7, 1.0, 0.0, "uninformed"),
    (1.7, 3.5792, 0.0, "uninformed"),
    (1.2, 5.0, 0.0, "uninformed"),
    (1.2, 112.13, 0.0, "informed"),
    (1.2, 49.15, 0.005, "uninformed"),
    (1.3, 1.9158, 1 / 1.9158, "uninformed"),
    (1.2, 49.15, 1 / 49.15, "uninformed"),
)
COLUMNS = ("m", "mse_y", "free_entropy", "complexity", "replicon")
EXACT = 1e-12
"""Residuals below this are rounding."""


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the .json file to write")
    parser.add_argument("--against", type=Path, help="an earlier file to compare with")
    options = parser.parse_args()
    found = dict(everything())
    with atomic_write(options.out) as stream:
        stream.write(json.dumps(found, indent=0).encode())
    print(f"wrote {options.out}: {len(found)} records")
    if options.against is not None:
        before = json.loads(options.against.read_text())
        changed = [name for name in sorted(before.keys() | found.keys()) if not same(before.get(name), found.get(name))]
        for name in changed:
            print(f"{name}: {before.get(name)} -> {found.get(name)}")
        print(f"{len(changed)} of {len(found)} records differ")


def everything() -> Iterator[tuple[str, Any]]:
    """Names and values."""
    problems = [gaussian_instance(*SIZES[k % 2], seed=k) for k in range(INSTANCES)]
    for name, recipe in REGISTRY.items():
        for k, problem in enumerate(problems):
            yield f"{name}, instance {k}", outcome(recipe.run(problem, k))
        if recipe.in_batches:
            solver, schedule = recipe.plan()
            results = solver.run_batch(problems[::2], schedule, device="cpu", dtype="float64")
            yield from ((f"{name} in a batch, instance {2 * k}", outcome(one)) for k, one in enumerate(results))
    for alpha, mu, lam, start in POINTS:
        point = theory.saddle_point(alpha, mu, lam, start=start)
        values = {
            name: float(getattr(point, name)) for name in ("m", "mse_y", "free_entropy", "complexity", "replicon")
        }
        yield f"saddle point {alpha}, {mu}, {lam:.6g}, {start}", values
    yield "critical_alpha", [theory.critical_alpha(product) for product in (0.5, 1.0, 2.0)]
    yield "alpha_recovery, alpha_merge", [theory.alpha_recovery(0.0), theory.alpha_merge(0.0)]
    yield "bayes_optimal", [theory.bayes_optimal(alpha).mse_x for alpha in (1.05, 1.1, 1.2)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        run_sweep([Grid(("amp", "sa", "raf"), (30,), (1.5, 2.0), instances=3)], path, InProcess())
        with Store(path, read_only=True) as store:
            rows = store.table()
    for k in range(len(rows)):
        yield f"sweep, row {k}", [rows[name][k].item() for name in ("solver", "alpha", "seed", "status", "m", "sweeps")]


def outcome(result: Result) -> dict[str, Any]:
    """What a run came to."""
    return {
        "status": result.status.name,
        "m": result.truth["m"],
        "mse_y": result.mse_y,
        "sweeps": result.sweeps,
        "x": abs(float(result.x[0])),
    }


def same(one: Any, other: Any) -> bool:
    """Equal, up to rounding."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-7, abs_tol=EXACT) or (math.isnan(one) and math.isnan(other))
    return bool(one == other)


if __name__ == "__main__":
    main()

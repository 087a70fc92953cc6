"""How long each figure takes, drawing included: a table for docs/reproduction.md.

python -m benchmarks.reproduction [--write] [--store NEW.db]

The small scale is computed afresh, store and cache empty, one figure after the other. With --store
the runs are kept, in a file that must not exist yet.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from benchmarks.page import write_table
from phaselect.base.style import save
from phaselect.cli.progress import duration
from phaselect.experiments.executors import cores
from phaselect.experiments.revision import git_revision
from phaselect.figures.gallery import FIGURES, Studio, draw


def main() -> None:
    """Print the table; write it with --write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the table into docs/reproduction.md")
    parser.add_argument("--store", type=Path, help="keep the runs in this new file")
    options = parser.parse_args()
    if options.store is not None and options.store.exists():
        parser.error(f"{options.store} exists: the runs must all be new")
    lines = [
        f"From an empty store and cache, on {cores()} cores, at revision {git_revision()}, in this order; runs "
        "that figures share are done once. What the scale of the paper took is written below "
        "each figure of the [results](results.md).",
        "",
        "| figure | command | small scale |",
        "|---|---|---|",
    ]
    total = 0.0
    with tempfile.TemporaryDirectory() as folder:
        studio = Studio(store=options.store or Path(folder) / "runs.db", cache=Path(folder))
        for name in FIGURES:
            began = time.perf_counter()
            save(draw(name, studio.table(name)), Path(folder) / f"{name}.png")
            seconds = time.perf_counter() - began
            total += seconds
            lines.append(f"| {name} | `phaselect figure {name}` | {duration(seconds)} |")
            print(lines[-1], flush=True)
    lines.append(f"| all | `make figures` | {duration(total)} |")
    print("\n".join(lines))
    if options.write:
        write_table("reproduction.md", lines)


if __name__ == "__main__":
    main()

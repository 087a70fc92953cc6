"""How long each figure takes: a table for docs/reproduction.md.

python -m benchmarks.reproduction [--write] [--store NEW.db]

The small scale is computed afresh, store and cache empty, one figure after the other; what the scale of the paper took
is read from the tables in docs/tables. With --store the runs are kept, in a file that must not exist yet.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from benchmarks.page import write_table
from phaselect.experiments.executors import cores
from phaselect.figures.gallery import FIGURES, Studio
from phaselect.progress import duration
from phaselect.tables import load_table

TABLES = Path(__file__).parents[1] / "docs" / "tables"


def main() -> None:
    """Print the table; write it with --write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the table into docs/reproduction.md")
    parser.add_argument("--store", type=Path, help="keep the runs in this new file")
    options = parser.parse_args()
    if options.store is not None and options.store.exists():
        parser.error(f"{options.store} exists: the runs must all be new")
    lines = [
        f"Small scale: from an empty store and cache, on {cores()} cores, in this order; shared runs are done once. "
        "Scale of the paper: what the committed tables took, on one core.",
        "",
        "| figure | command | small | paper |",
        "|---|---|---|---|",
    ]
    total = 0.0
    with tempfile.TemporaryDirectory() as folder:
        studio = Studio(store=options.store or Path(folder) / "runs.db", cache=Path(folder))
        for name in FIGURES:
            began = time.perf_counter()
            studio.table(name)
            seconds = time.perf_counter() - began
            total += seconds
            lines.append(f"| {name} | `phaselect figure {name}` | {duration(seconds)} | {paper_time(name)} |")
            print(lines[-1], flush=True)
    lines.append(f"| all | `make figures` | {duration(total)} | |")
    print("\n".join(lines))
    if options.write:
        write_table("reproduction.md", lines)


def paper_time(name: str) -> str:
    """What the committed table took."""
    made = load_table(TABLES / f"{name}.csv").provenance
    seconds, _, kind = made["seconds"].partition(" ")
    return duration(float(seconds)) + (f", {made['runs']} runs" if kind else "")


if __name__ == "__main__":
    main()

"""Runs every benchmark and prints one table; `--write` puts it into docs/performance.md.

python -m benchmarks.run [--write] [metropolis] [message_passing] [front_door] [theory] [sweep]
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
from pathlib import Path

import numba
import numpy as np
import scipy

from benchmarks.page import write_table
from benchmarks.timing import Row

NAMES = ("metropolis", "message_passing", "front_door", "theory", "sweep")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which to run: {', '.join(NAMES)} (default: all)")
    parser.add_argument("--write", action="store_true", help="write the table into docs/performance.md")
    options = parser.parse_args()
    lines = [header(), "", "| what | size | value | target | |", "|---|---|---|---|---|"]
    print("\n".join(lines), flush=True)
    for name in options.names or NAMES:
        for row in importlib.import_module(f"benchmarks.{name}").rows():
            lines.append(table_row(row))
            print(lines[-1], flush=True)
    if options.write:
        write_table("performance.md", lines)


def header() -> str:
    """What it ran on."""
    return (
        f"Measured on {processor()}, {os.cpu_count()} cores; Python {platform.python_version()}, "
        f"NumPy {np.__version__}, SciPy {scipy.__version__}, Numba {numba.__version__}."
    )


def processor() -> str:
    """The processor's name, where the system tells."""
    cpuinfo = Path("/proc/cpuinfo")
    names = [line.split(":")[1].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def table_row(row: Row) -> str:
    """One line of the table, targets that were missed marked."""
    value = f"{row.value:.0f}" if row.value >= 100 else f"{row.value:.3g}"
    missed = "" if row.met else " **missed**"
    return f"| {row.what} | {row.size} | {value} | {row.target}{missed} | {row.detail} |"


if __name__ == "__main__":
    main()

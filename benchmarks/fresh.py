"""Python in a fresh process, with or without kernels that an earlier one compiled."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from phaselect import InputError

TIMED = """
import time; began = time.perf_counter()
{code}
print(time.perf_counter() - began)
"""


def printed(*arguments: str, cold: bool = False) -> str:
    """What `python ARGUMENTS` prints; a package that it misses is said in one line.

    cold: with an empty cache of compiled kernels, as on a machine that never ran phaselect.
    """
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ) | ({"NUMBA_CACHE_DIR": folder} if cold else {})
        command = [sys.executable, *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.splitlines() or [f"exit code {done.returncode}"])[-1]
        missing = last.removeprefix("ModuleNotFoundError: No module named ").strip("'")
        if missing != last and not missing.startswith("phaselect"):
            raise InputError(f"{missing} is not installed")
        raise RuntimeError(last)
    return done.stdout


def seconds_inside(code: str, cold: bool = False) -> float:
    """What some code takes in a fresh process, once Python has started."""
    return float(printed("-c", TIMED.format(code=code.strip()), cold=cold).splitlines()[-1])

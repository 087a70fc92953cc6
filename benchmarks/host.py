"""The machine that a report was measured on: names, sizes and versions."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import phaselect
from benchmarks.internals import git_revision

PACKAGES = ("numpy", "scipy", "numba", "jax", "dwave-samplers", "python-flint")


def host() -> dict[str, Any]:
    """The processor and what runs on it; a GPU is named by `on_gpu.py`."""
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "memory_bytes": memory_bytes(),
        "gpu": None,
        "gpu_memory_bytes": None,
        "versions": {
            "phaselect": f"{phaselect.__version__} {git_revision()}".strip(),
            "python": platform.python_version(),
            **{name: _version(name) for name in PACKAGES},
        },
    }


def memory_bytes() -> int:
    """All of it."""
    return int(os.sysconf("SC_PHYS_PAGES")) * int(os.sysconf("SC_PAGE_SIZE"))


def processor() -> str:
    """The processor's name, where the system tells."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None

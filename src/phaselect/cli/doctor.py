"""`phaselect doctor`: what there is on this machine, for a bug report.

Whatever is missing or broken is a line of the report, never the end of it.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import click

import phaselect
from phaselect.base.errors import printable
from phaselect.cli.console import example

Section = dict[str, str]
NEEDED = ("numpy", "scipy", "numba", "threadpoolctl", "click", "rich", "matplotlib", "jinja2")
OPTIONAL = {
    "jax": ("jax", "jax"),
    "absl-py": ("absl", "cuda"),
    "python-flint": ("flint", "bench"),
    "distributed": ("distributed", "dask"),
    "dask-jobqueue": ("dask_jobqueue", "slurm"),
    "pyarrow": ("pyarrow", "parquet"),
    "scikit-learn": ("sklearn", "sklearn"),
    "h5py": ("h5py", "hdf5"),
}
"""Packages, each with its module and the extra of phaselect that installs it."""
VARIABLES = ("PHASELECT_", "NUMBA_", "OMP_", "OPENBLAS_", "MKL_", "JAX_", "XLA_", "CUDA_", "LD_LIBRARY_PATH")
"""How variables of the environment begin that matter."""
CHILD = """
import json, sys
from importlib import import_module
for name in sys.argv[1:]:
    print(json.dumps([name, "import ends the process"]), flush=True)
    try:
        import_module(name)
    except BaseException as error:
        print(json.dumps([name, f"{type(error).__name__}: {error}"]), flush=True)
    else:
        print(json.dumps([name, ""]), flush=True)
print(json.dumps(["devices", "looking for devices ends the process"]), flush=True)
try:
    found = [f"{one.platform}:{one.id}, {one.device_kind}" for one in import_module("jax").devices()]
except BaseException as error:
    found = f"{type(error).__name__}: {error}"
print(json.dumps(["devices", found]), flush=True)
"""
"""Imports modules and lists the devices of JAX, in a process of its own: a broken library may take that with it."""
PATIENCE = 120.0
"""Seconds that it may take."""


@example("phaselect doctor", "phaselect doctor --json > doctor.json")
@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def doctor(as_json: bool) -> None:
    """Print versions, devices, BLAS, threads and caches, for a bug report.

    Every package is imported, which takes a few seconds: one that is installed and broken is said to be.
    """
    if sys.stderr.isatty():
        click.echo("importing every package ...", err=True)
    report = examined()
    if as_json:
        click.echo(json.dumps(report, indent=2))
        return
    for title, section in report.items():
        click.echo(title)
        for name, text in section.items():
            click.echo(printable(f"  {name:16} {text}"))


def examined() -> dict[str, Section]:
    """All sections of the report."""
    heard = dict(_heard())
    sections: dict[str, Callable[[], Section]] = {
        "program": _program,
        "packages": lambda: _packages(heard),
        "devices of JAX": lambda: _devices(heard.get("devices")),
        "machine": _machine,
        "BLAS and threads": _threads,
        "caches": _caches,
        "environment": _environment,
    }
    return {title: _or_why_not(section) for title, section in sections.items()}


def _or_why_not(section: Callable[[], Section]) -> Section:
    try:
        return section()
    except Exception as error:  # whatever is broken
        return {"broken": _first_line(f"{type(error).__name__}: {error}")}


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:200]


def _program() -> Section:
    from phaselect.experiments.revision import git_revision

    return {
        "phaselect": f"{phaselect.__version__}, {git_revision()}",
        "folder": str(Path(phaselect.__file__).parent),
        "python": f"{platform.python_version()}, {platform.python_implementation()}, {sys.executable}",
    }


def _heard() -> Iterator[tuple[str, Any]]:
    """What the process of its own tells, as far as it gets; of each module the last word counts."""
    modules = [*NEEDED, *(module for module, _ in OPTIONAL.values())]
    try:
        done = subprocess.run(
            [sys.executable, "-c", CHILD, *modules], capture_output=True, timeout=PATIENCE, check=False
        )
        output = done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        output = (late.stdout or b"").decode(errors="replace")
    except OSError:  # no process can be started
        return
    for line in output.splitlines():
        if line.startswith('["'):
            name, said = json.loads(line)
            yield name, said


def _packages(heard: dict[str, Any]) -> Section:
    needed = {name: _package(name, heard.get(name), "needed, and not installed") for name in NEEDED}
    optional = {
        name: _package(name, heard.get(module), f"not installed (pip install 'phaselect[{extra}]')")
        for name, (module, extra) in OPTIONAL.items()
    }
    return needed | optional


def _package(name: str, said: str | None, missing: str) -> str:
    """Its version, and what came of its import."""
    try:
        version = metadata.version(name)
    except Exception:  # not there, or with metadata that are damaged
        return missing if said is None or said.startswith("ModuleNotFoundError") else _first_line(f"? {said}")
    return f"{version}, broken: {_first_line(said)}" if said else version


def _devices(found: Any) -> Section:
    if isinstance(found, list):
        return {str(k): device for k, device in enumerate(found)}
    return {"none": "JAX is not installed" if "No module named 'jax'" in str(found) else _first_line(str(found))}


def _machine() -> Section:
    from phaselect.base.memory import free_bytes

    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else float("nan")
    return {
        "system": platform.platform(),
        "processor": f"{platform.machine()}, {os.cpu_count()} cores, {usable} of them for this program",
        "memory": f"{total / 2**30:.1f} GiB, {free_bytes() / 2**30:.1f} GiB of them free",
    }


def _threads() -> Section:
    import scipy.linalg  # noqa: F401  it brings a BLAS of its own
    from threadpoolctl import threadpool_info

    from phaselect.base.kernels import numba

    found = {}
    for k, one in enumerate(threadpool_info(), 1):
        words = one["internal_api"], one["version"], one.get("architecture"), Path(one["filepath"]).name
        found[f"{one['user_api']} {k}"] = ", ".join([f"{one['num_threads']} threads", *filter(None, words)])
    return found | {"numba": f"{numba.get_num_threads()} threads"}


def _caches() -> Section:
    from phaselect.base.kernels import cache_folder as of_kernels
    from phaselect.figures.gallery import cache_folder as of_tables

    own = of_kernels()
    return {
        "compiled kernels": _folder(own) if own else "no place for one: every process compiles anew",
        "tables": _folder(of_tables()),
    }


def _folder(path: Path) -> str:
    there = next(folder for folder in (path, *path.parents) if folder.exists())
    return f"{path}, {'can' if os.access(there, os.W_OK) else 'cannot'} be written to"


def _environment() -> Section:
    return {name: text for name, text in sorted(os.environ.items()) if name.startswith(VARIABLES)}

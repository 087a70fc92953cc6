"""The shape of the package: who may import whom, what an import costs, what is documented."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import phaselect

SOURCE = Path(phaselect.__file__).parent
ROOMS = ("base", "equations", "backends", "problem", "solvers", "theory", "experiments", "figures", "report", "cli")
"""In the order the data flow: a room imports only from itself and from rooms before it."""


def modules():
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        yield ".".join(part for part in parts if part != "__init__"), ast.parse(path.read_text())


TREES = dict(modules())


def imported(tree):
    """The modules of this package that a module imports, at its top or inside a function."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names] + [node.module]
        else:
            continue
        for name in names:
            own = name.removeprefix("phaselect.")
            if name.startswith("phaselect.") and own in TREES:
                yield own


EDGES = {name: set(imported(tree)) - {name} for name, tree in TREES.items()}


def room(name):
    return name.split(".")[0]


def test_there_are_no_other_rooms():
    outside = {"", "__main__"}
    assert {room(name) for name in TREES} - outside - {"bench", "devices"} == set(ROOMS) - {"backends"}


@pytest.mark.parametrize("name", [name for name in TREES if room(name) in ROOMS])
def test_imports_point_to_earlier_rooms(name):
    later = {
        other for other in EDGES[name] if room(other) in ROOMS and ROOMS.index(room(other)) > ROOMS.index(room(name))
    }
    assert not later


def test_import_is_light():
    heavy = ["jax", "matplotlib", "dask", "distributed", "sklearn", "rich", "click", "pandas", "pyarrow", "sqlite3"]
    code = f"import sys, phaselect; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("package", [phaselect, phaselect.theory])
def test_public_names_are_documented(package):
    for name in package.__all__:
        assert getattr(package, name).__doc__, name


def test_examples_in_docstrings():
    import doctest
    import importlib

    names = ["problem.instance", "problem.schedule", "base.ranges", "base.tables", "cli.progress", "experiments.grid"]
    names += ["solvers.amp", "solvers.solve"]
    names += [f"theory.{name}" for name in ("branch", "saddle", "evolution", "thresholds")]
    for name in names:
        tested = doctest.testmod(importlib.import_module(f"phaselect.{name}"))
        assert tested.attempted > 0
        assert tested.failed == 0

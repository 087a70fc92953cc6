"""The shape of the package: who may import whom, what an import costs, what is documented."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import phaselect

SOURCE = Path(phaselect.__file__).parent
ORDER = [  # data flows downwards; a module imports only from modules above it
    "errors",
    "files",
    "parallel",
    "instance",
    "spectrum",
    "observables",
    "schedule",
    "channels",
    "solvers._passes",
    "solvers._metropolis",
    "solvers.least_squares",
    "solvers.certificate",
    "solvers.result",
    "solvers.base",
    "solvers.finish",
    "solvers.amp",
    "solvers.simulated_annealing",
    "solvers.population_annealing",
    "solvers.langevin",
    "solvers.baselines",
    "solvers.solve",
    "progress",
    "demo",
    "cli",
    "__main__",
]


def modules():
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        if not name.endswith("__init__"):
            yield name, ast.parse(path.read_text())


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("phaselect"):
            module = node.module.removeprefix("phaselect").lstrip(".")
            yield from [module] if module else (alias.name for alias in node.names)


def test_every_module_has_its_place():
    assert sorted(name for name, _ in modules()) == sorted(ORDER)


@pytest.mark.parametrize(("name", "tree"), list(modules()), ids=[name for name, _ in modules()])
def test_imports_point_upwards(name, tree):
    below = [other for other in imported(tree) if ORDER.index(other) >= ORDER.index(name)]
    assert not below


def test_import_is_light():
    heavy = ["jax", "matplotlib", "dask", "sklearn", "rich", "click", "pandas"]
    code = f"import sys, phaselect; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_public_names_are_documented():
    for name in phaselect.__all__:
        assert getattr(phaselect, name).__doc__, name


def test_examples_in_docstrings():
    import doctest

    from phaselect import instance, schedule
    from phaselect.solvers import amp, solve

    for module in (instance, schedule, amp, solve):
        assert doctest.testmod(module).failed == 0

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
    "ranges",
    "files",
    "tables",
    "parallel",
    "matrix",
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
    "solvers.batch",
    "solvers.amp",
    "solvers.simulated_annealing",
    "solvers.population_annealing",
    "solvers.langevin",
    "solvers.baselines",
    "devices.backend",
    "devices.member",
    "devices.products",
    "devices.matrix",
    "devices.refine",
    "devices.finish",
    "devices.amp",
    "devices.couplings",
    "devices.block_flips",
    "devices.population",
    "devices.langevin",
    "devices.programs",
    "devices.batch",
    "solvers.solve",
    "theory.control",
    "theory.quadrature",
    "theory.averages",
    "theory.free_entropy",
    "theory.flow",
    "theory.replicon",
    "theory.saddle",
    "theory.branch",
    "theory.continuation",
    "theory.thresholds",
    "theory.complexity",
    "theory.stabilities",
    "theory.state_evolution",
    "theory.clusters",
    "theory.one_step_rsb",
    "theory.glass",
    "theory",
    "experiments.fixed_overlap",
    "experiments.contenders",
    "experiments.grid",
    "experiments.store",
    "experiments.runs",
    "experiments.executors",
    "experiments.sweep",
    "experiments.success",
    "experiments.thresholds",
    "progress",
    "style",
    "plots",
    "figures.context",
    "figures.branches",
    "figures.complexity",
    "figures.stabilities",
    "figures.regularisation",
    "figures.annealing",
    "figures.success_curves",
    "figures.success_sa",
    "figures.success_amp",
    "figures.success_langevin",
    "figures.local_stability",
    "figures.critical_product",
    "figures.trajectories",
    "figures.solvers",
    "figures.population",
    "figures.rsb",
    "figures.gallery",
    "report.ledger",
    "report.theory_claims",
    "report.regulariser_claims",
    "report.stability_claims",
    "report.solver_claims",
    "report.thresholds",
    "report.page",
    "demo",
    "bench.rows",
    "bench.timing",
    "bench.plan",
    "bench.cluster",
    "bench.machine",
    "bench.target",
    "bench.bandwidth",
    "bench.instances",
    "bench.footprint",
    "bench.rivals",
    "bench.kernels",
    "bench.amp",
    "bench.solutions",
    "bench.growth",
    "bench.on_cpu",
    "bench.on_gpu",
    "bench.run",
    "cli_tools",
    "cli_bench",
    "cli_theory",
    "cli_experiments",
    "cli_figures",
    "cli",
    "__main__",
]


def modules():
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        if not name.endswith("__init__"):
            yield name, ast.parse(path.read_text())


def imported(tree):
    """What a module imports, but for device programs that a function asks for when A is on a device."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("phaselect"):
            module = node.module.removeprefix("phaselect").lstrip(".")
            if module.startswith("devices") and node not in tree.body:
                continue
            package = f"{module}." if module else ""
            yield from (f"{package}{alias.name}" for alias in node.names) if module in ("", "devices") else [module]


def test_every_module_has_its_place():
    assert sorted(name for name, _ in modules()) == sorted(set(ORDER) - {"theory"})  # a package, as seen from outside


@pytest.mark.parametrize(("name", "tree"), list(modules()), ids=[name for name, _ in modules()])
def test_imports_point_upwards(name, tree):
    below = [other for other in imported(tree) if ORDER.index(other) >= ORDER.index(name)]
    assert not below


def test_import_is_light():
    heavy = ["jax", "matplotlib", "dask", "distributed", "sklearn", "rich", "click", "pandas", "pyarrow", "sqlite3"]
    code = f"import sys, phaselect; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("package", [phaselect, phaselect.theory])
def test_public_names_are_documented(package):
    for name in set(package.__all__) - {"Branch"}:  # a type alias
        assert getattr(package, name).__doc__, name


def test_examples_in_docstrings():
    import doctest
    import importlib

    names = ["instance", "schedule", "ranges", "tables", "progress", "experiments.grid", "solvers.amp", "solvers.solve"]
    names += [f"theory.{name}" for name in ("branch", "saddle", "state_evolution", "thresholds")]
    for name in names:
        tested = doctest.testmod(importlib.import_module(f"phaselect.{name}"))
        assert tested.attempted > 0
        assert tested.failed == 0

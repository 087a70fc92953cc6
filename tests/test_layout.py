"""The shape of the package: who may import whom, what an import costs, what is named, documented and shipped."""

import ast
import doctest
import importlib
import json
import re
import subprocess
import sys
from collections import defaultdict
from graphlib import TopologicalSorter
from itertools import chain
from pathlib import Path

import pytest

import phaselect
from phaselect.cli.main import COMMANDS
from phaselect.figures.gallery import FIGURES
from tests.conftest import KERNELS

SOURCE = Path(phaselect.__file__).parent
ROOT = Path(__file__).parent.parent
ROOMS = (
    "base",
    "equations",
    "backends",
    "problem",
    "theory",
    "solvers",
    "experiments",
    "figures",
    "report",
    "explorer",
    "cli",
)
"""In the order the data flow: a room imports only from itself and from rooms before it."""
HEAVY = ["numba", "scipy", "jax", "matplotlib", "jinja2", "dask", "distributed", "sklearn", "pandas", "pyarrow"]
"""What nobody should wait for who does not use it."""


def modules():
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        yield ".".join(part for part in parts if part != "__init__"), ast.parse(path.read_text())


TREES = dict(modules())
HOMES = phaselect._HOMES | phaselect._MODULES


def imported(tree):
    """The modules of this package that a module imports, at its top, inside a function or as `phaselect.name`."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names):
                found = [alias.name for alias in names]
            case ast.ImportFrom("phaselect", names):
                found = [HOMES.get(alias.name, f"phaselect.{alias.name}") for alias in names]
            case ast.ImportFrom(str(module), names):
                found = [f"{module}.{alias.name}" for alias in names] + [module]
            case ast.Attribute(ast.Name("phaselect"), name):
                found = [HOMES.get(name, "")]
            case _:
                continue
        own = [name.removeprefix("phaselect.") for name in found if name.startswith("phaselect.")]
        yield from (name for name in own if name in TREES)


EDGES = {name: set(imported(tree)) - {name} for name, tree in TREES.items()}


def room(name):
    return name.split(".")[0]


def test_kernels_are_where_the_tests_look_for_changes():
    compiled = [path for path in SOURCE.rglob("*.py") if "\n@kernel(" in path.read_text()]
    assert len(compiled) > 5
    assert {path.relative_to(SOURCE).parts[0] for path in compiled} <= set(KERNELS)


def in_a_room(names):
    return [name for name in names if room(name) in ROOMS]


def test_there_are_no_other_rooms():
    outside = {"", "__main__", "sklearn"}  # above all rooms: what other programs see of them
    assert {room(name) for name in TREES} - outside == set(ROOMS)


def test_imports_point_to_earlier_rooms():
    order = ROOMS.index
    pairs = [(name, other) for name in in_a_room(TREES) for other in in_a_room(EDGES[name])]
    assert [(name, other) for name, other in pairs if order(room(other)) > order(room(name))] == []


def test_no_two_modules_import_each_other():
    """Not even inside functions, nor in a circle of several; rooms cannot, if imports point to earlier ones."""
    TopologicalSorter({name: in_a_room(EDGES[name]) for name in in_a_room(TREES)}).prepare()


def test_a_file_name_says_one_thing():
    """Files of commands are named after what they call, those of figures after what they show."""
    commands = {entry.module.removeprefix("phaselect.") for entry in COMMANDS.values()}
    figures = {f"figures.{name}" for name in FIGURES}
    rooms = defaultdict(set)
    for name in set(TREES) - commands - figures - set(ROOMS):
        rooms[name.split(".")[-1]].add(room(name))
    assert {name for name, found in rooms.items() if len(found) > 1} == set()


def test_every_module_says_what_it_is_for():
    assert [name for name, tree in TREES.items() if not ast.get_docstring(tree)] == []


def questions(tree):
    """Calls of hasattr, and of getattr with a default, on anything but a module (what a platform has is a question)."""
    top = chain.from_iterable(node.names for node in ast.walk(tree) if isinstance(node, ast.Import))
    platform = {alias.asname or alias.name for alias in top}
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Name("hasattr" as name), [asked, attribute]):
                pass
            case ast.Call(ast.Name("getattr" as name), [asked, attribute, _]):
                pass
            case _:
                continue
        if ast.unparse(asked) not in platform:
            yield f"{name}({ast.unparse(asked)}, {ast.unparse(attribute)})"


def test_solvers_are_not_asked_what_they_can_do():
    asking = [name for name in TREES if room(name) in ("solvers", "experiments")]
    assert {f"{name}: {question}" for name in asking for question in questions(TREES[name])} == set()


def loaded_by(code):
    """What a fresh process has loaded after some code."""
    code += "\nimport json, sys; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr))


def test_import_is_light():
    assert loaded_by("import phaselect") & {*HEAVY, "threadpoolctl", "click", "rich", "sqlite3"} == set()


CORE = """
import sys
from importlib.machinery import BuiltinImporter, FrozenImporter, PathFinder

class Core(PathFinder):
    known = sys.stdlib_module_names | {"phaselect", "numpy", "scipy", "numba", "llvmlite", "threadpoolctl"}

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return super().find_spec(name, path, target) if name.partition(".")[0] in cls.known else None

sys.meta_path[:] = [BuiltinImporter, FrozenImporter, Core]
import phaselect
assert phaselect.solve(phaselect.gaussian_instance(40, 1.8, seed=0)).certified
"""


def test_the_core_needs_no_more_than_it_says():
    """Where click, rich, matplotlib, Jinja2 and all that is optional is absent, it solves."""
    assert loaded_by(CORE) & {"click", "rich", "matplotlib", "jinja2", "jax", "pandas"} == set()


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["theory", "--help"]])
def test_the_program_is_light_to_start(arguments):
    call = f"from phaselect.cli.main import main\ntry: main({arguments})\nexcept SystemExit: pass"
    assert loaded_by(call) & {*HEAVY, "threadpoolctl", "rich"} == set()


def test_commands_load_what_they_need_when_they_are_called():
    names = [f"phaselect.{name}" for name in TREES if room(name) == "cli"]
    assert loaded_by(f"import {', '.join(names)}") & {*HEAVY, "threadpoolctl", "rich"} == set()


def test_public_names_are_where_type_checkers_are_told():
    told = {
        alias.name: node.module
        for block in TREES[""].body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert told == phaselect._HOMES | {name: home.rpartition(".")[0] for name, home in phaselect._MODULES.items()}
    assert set(told) - {"sklearn"} == set(phaselect.__all__)  # `*` is for those without scikit-learn too
    assert set(told) < set(dir(phaselect))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = phaselect.nonsense


@pytest.mark.parametrize("package", [phaselect, phaselect.theory])
def test_public_names_are_documented(package):
    for name in package.__all__:
        assert getattr(package, name).__doc__, name


def test_examples_in_docstrings():
    names = [f"problem.{name}" for name in ("ensembles", "operators", "schedule")]
    names += ["base.ranges", "base.tables", "base.bars", "experiments.grid"]
    names += ["solvers.message_passing", "solvers.sign_lattice", "solvers.solve"]
    names += [f"sklearn.{name}" for name in ("absolute", "symmetric_mixture")]
    names += [f"theory.{name}" for name in ("branch", "saddle", "evolution", "bayes", "thresholds")]
    for name in names:
        tested = doctest.testmod(importlib.import_module(f"phaselect.{name}"))
        assert tested.attempted > 0
        assert tested.failed == 0


def test_the_wheel_has_all_of_the_package_and_nothing_else():
    from hatchling.builders.wheel import WheelBuilder

    shipped = {file.distribution_path for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    files = [path for path in (ROOT / "src" / "phaselect").rglob("*") if path.is_file()]
    assert shipped == {path.relative_to(ROOT / "src").as_posix() for path in files if "__pycache__" not in path.parts}
    data = {"py.typed", "base/print.mplstyle", "experiments/presets.toml", "report/page.css", "report/page.html"}
    data |= {"explorer/page.html", "explorer/recovery.csv"}
    assert {f"phaselect/{name}" for name in data} <= shipped


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
def test_the_sdist_has_all_that_is_committed():
    """And so what the tests and the docs are made of; pyproject.toml is always there, what lands changes is not."""
    from hatchling.builders.sdist import SdistBuilder

    shipped = {file.relative_path for file in SdistBuilder(str(ROOT)).recurse_included_files()}
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert set(listed.splitlines()) - {"pyproject.toml", ".ci/run", ".gitignore"} <= shipped


def test_the_citation_is_of_this_version():
    (cited,) = re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited == phaselect.__version__.partition(".dev")[0]
    assert f"\n## {cited}" in (ROOT / "CHANGELOG.md").read_text()

import hashlib
import json
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import phaselect
from phaselect import AMP, InputError
from phaselect.experiments import grid as module
from phaselect.experiments.grid import Grid, Task, all_tasks, load_grids, preset, preset_names
from phaselect.experiments.runs import run_pack
from phaselect.solvers import registry
from phaselect.solvers.registry import REGISTRY, Option, Recipe


def test_grid_is_every_combination_with_the_defaults_filled_in():
    grid = Grid(("amp", "raf", "pa"), (50, 100), (1.2, 1.3), instances=3, seed=5, options={"eps": (0.1, 0.01)})
    tasks = grid.tasks()
    assert len(tasks) == len(set(tasks)) == 2 * 2 * 3 * (2 + 1 + 1)
    assert {task.seed for task in tasks} == {5, 6, 7}
    options = {name: {task.options for task in tasks if task.solver == name} for name in grid.solver}
    amp = (("iterations", 1200), ("product", 1.0), ("restarts", 4))
    assert options["amp"] == {(("eps", eps), *amp) for eps in (0.1, 0.01)}
    assert options["raf"] == {()}
    assert options["pa"] == {(("product", 1.0), ("replicas", 64))}


def test_the_key_is_the_content_of_the_parameters():
    task = Task.of("amp", 100, 1.2, 0)
    others = [
        Task.of("amp-paper", 100, 1.2, 0),
        Task.of("amp", 101, 1.2, 0),
        Task.of("amp", 100, 1.25, 0),
        Task.of("amp", 100, 1.2, 1),
        Task.of("amp", 100, 1.2, 0, eps=0.01),
        Task.of("amp", 100, 1.2, 0, restarts=3),
    ]
    assert len({task.key, *(other.key for other in others)}) == 7
    written = Grid.from_dict({"solver": "amp", "n": "100", "alpha": "1.2:1.3:0.1", "product": 1, "instances": 1})
    assert written.tasks()[0].key == task.key  # however the numbers were written
    assert Grid(("raf",), (100,), (2,)).tasks()[0].key == Grid(("raf",), (100,), (2.0,)).tasks()[0].key


def test_a_run_on_gaussian_matrices_has_the_key_that_it_had_before_there_were_others():
    """Stores are full of them: neither their keys nor the record of their grids name an ensemble."""
    task, other = Task.of("sa", 100, 1.2, 3), Task.of("sa", 100, 1.2, 3, "toeplitz")
    content = ["sa", 100, 1.2, 3, [["eps", 0.05], ["product", 1.0]], task.plan]
    assert task.key == hashlib.sha256(json.dumps(content).encode()).hexdigest()[:24]
    assert other.key not in (task.key, Task.of("sa", 100, 1.2, 3, "dct").key)
    assert other.plan == task.plan
    assert "ensemble" not in Grid(("sa",), (100,), (1.2,)).to_dict()
    assert json.loads(task.record) == dict(task.options)


def test_ensembles_are_a_dimension_of_the_grid():
    grid = Grid.from_dict({"solver": "raf", "n": 30, "alpha": [2, 3], "ensemble": "dct, signs", "instances": 2})
    assert grid == Grid(("raf",), (30,), (2.0, 3.0), instances=2, ensemble=("dct", "signs"))
    assert Grid.from_dict(json.loads(json.dumps(grid.to_dict()))) == grid
    tasks = all_tasks([grid])
    assert len({task.key for task in tasks}) == 8
    on = [(task.ensemble, task.n, task.alpha, task.seed) for task in tasks[:3]]
    assert on == [("dct", 30, 2.0, 0), ("signs", 30, 2.0, 0), ("dct", 30, 3.0, 0)]


def test_fields_are_a_dimension_of_the_grid_that_changes_no_real_run():
    """Neither the keys of real runs nor the record of their grids name a field."""
    task, other = Task.of("vmp", 100, 2.2, 3), Task.of("vmp", 100, 2.2, 3, field="complex")
    content = ["vmp", 100, 2.2, 3, [["eps", 0.1], ["product", 1.0], ["restarts", 8]], task.plan]
    assert task.key == hashlib.sha256(json.dumps(content).encode()).hexdigest()[:24]
    assert other.key == hashlib.sha256(json.dumps([*content, "complex"]).encode()).hexdigest()[:24]
    assert other.plan == task.plan
    assert json.loads(other.record) == dict(task.options) | {"field": "complex"}
    assert "field" not in Grid(("sa",), (100,), (1.2,)).to_dict()
    grid = Grid.from_dict({"solver": "raf", "n": 30, "alpha": 2, "field": "real,complex", "instances": 1})
    assert Grid.from_dict(json.loads(json.dumps(grid.to_dict()))) == grid
    tasks = all_tasks([grid])
    assert [task.field for task in tasks] == ["complex", "real"]
    assert len({task.instance for task in tasks}) == 2


def test_an_option_of_one_solver_leaves_the_keys_of_the_others(monkeypatch):
    before = {name: Task.of(name, 100, 1.2, 0).key for name in REGISTRY}

    def hot_flow(beta=10.0):
        return REGISTRY["altmin"].plan()

    monkeypatch.setitem(registry.OPTIONS, "beta", Option("Trust", lambda it: it > 0, "positive numbers"))
    monkeypatch.setitem(REGISTRY, "raf", Recipe("amplitude flow", hot_flow))
    changed = {name for name in REGISTRY if Task.of(name, 100, 1.2, 0).key != before[name]}
    assert changed == {"raf"}


@dataclass(frozen=True)
class Other(AMP):
    """Message passing with a default of its own."""

    converged: float = 1e-9


@pytest.mark.parametrize(
    "change",
    [
        lambda solver, schedule: (replace(solver, damping=0.2), schedule),
        lambda solver, schedule: (solver, schedule.rescaled(1.01)),
        lambda solver, schedule: (Other(), schedule),
    ],
)
def test_a_changed_default_makes_another_key(monkeypatch, change):
    """The options are the same, and what they come to is not: old rows and new ones do not mix."""
    task, plan = Task.of("amp", 100, 1.2, 0), REGISTRY["amp"].make
    before = task.key, task.plan

    def changed(eps=0.1, product=1.0, restarts=4, iterations=1200):
        return change(*plan(eps, product, restarts, iterations))

    monkeypatch.setitem(REGISTRY, "amp", Recipe("message passing", changed))
    assert Task.of("amp", 100, 1.2, 0) == task
    assert task.key != before[0]
    assert task.plan != before[1]


def test_stages_of_the_front_door_are_part_of_its_key(monkeypatch):
    from phaselect.solvers import front_door

    before = Task.of("auto", 100, 1.2, 0).key
    monkeypatch.setattr(front_door, "LADDER", (64, 512))
    module._digest_of_plan.cache_clear()
    assert Task.of("auto", 100, 1.2, 0).key != before
    module._digest_of_plan.cache_clear()


def test_the_key_does_not_hang_on_the_last_bits_of_a_schedule(monkeypatch):
    """Two machines may compute a power with different rounding; their stores are merged all the same."""
    before = Task.of("sa", 100, 1.2, 0).key
    solver, schedule = REGISTRY["sa"].plan()
    rounded = replace(schedule, mu=np.nextafter(schedule.mu, np.inf))

    def elsewhere(eps=0.05, product=1.0):
        return solver, rounded

    monkeypatch.setitem(REGISTRY, "sa", REGISTRY["sa"]._replace(make=elsewhere))
    assert Task.of("sa", 100, 1.2, 0).key == before


def test_grids_and_the_registry_are_light():
    """Numba and SciPy take longer to load than help takes to show. Without what `import phaselect` itself loads."""
    heavy = ["numba", "scipy", "jax", "matplotlib", "distributed"]
    code = f"""
import importlib, json, sys, types
package = types.ModuleType("phaselect")
package.__path__ = [{str(Path(phaselect.__file__).parent)!r}]
sys.modules["phaselect"] = package
for name in ("solvers.registry", "experiments.grid", "experiments.store"):
    importlib.import_module("phaselect." + name)
print(json.dumps([name for name in {heavy} if name in sys.modules]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


def test_instances_come_first_so_that_a_stopped_sweep_is_balanced():
    tasks = all_tasks([Grid(("amp",), (50, 100), (1.2, 1.3), instances=3), Grid(("sa",), (50,), (1.2,), instances=3)])
    assert [task.seed for task in tasks] == sorted(task.seed for task in tasks)
    assert [(task.solver, task.n, task.alpha) for task in tasks[:3]] == [
        ("amp", 50, 1.2),
        ("sa", 50, 1.2),  # next to the run on the same instance
        ("amp", 50, 1.3),
    ]


def test_toml(tmp_path):
    path = tmp_path / "sweep.toml"
    lines = ['solver = ["amp", "pa"]', "n = 100", 'alpha = "1.1:1.2:0.05"', "replicas = [64, 128]", "instances = 4"]
    path.write_text("\n".join(["[[grid]]", *lines]))
    (grid,) = load_grids(path)
    assert grid == Grid(("amp", "pa"), (100,), (1.1, 1.15, 1.2), instances=4, options={"replicas": (64, 128)})
    assert Grid.from_dict(grid.to_dict()) == grid


@pytest.mark.parametrize("name", preset_names())
@pytest.mark.parametrize("scale", ["small", "paper"])
def test_presets(name, scale):
    assert first_tasks(name, scale)


def first_tasks(name, scale):
    return all_tasks([replace(grid, n=grid.n[:1], alpha=grid.alpha[:1], instances=1) for grid in preset(name, scale)])


def test_presets_say_what_is_run():
    """One start of 3000 iterations, and one rate for all where solvers are compared, whatever our defaults are."""
    for scale in ("small", "paper"):
        runs = {task.solver: dict(task.options) for task in first_tasks("solvers", scale)}
        assert runs["amp"] == {"eps": 0.1, "product": 1.0, "restarts": 0, "iterations": 3000}
        assert runs["sa"] == {"eps": 0.1, "product": 1.0}
        assert runs["langevin"] == {"eps": 0.1, "product": 0.75}
        assert runs["pa"] == {"replicas": 64, "product": 1.0}
        for task in first_tasks("amp", scale):
            solver, schedule = REGISTRY[task.solver].plan(**dict(task.options))
            assert solver.restarts == 0
            assert len(schedule) == 3000


def test_the_papers_sizes():
    sizes = {name: set(preset(name, "paper")[0].n) for name in ("sa", "amp", "langevin")}
    assert sizes["sa"] == sizes["langevin"] == {100, 200, 400, 800}  # of which the paper has no 100 for the second
    assert sizes["amp"] == {100, 200, 400, 800, 1600, 3200}
    assert len(preset("sa", "paper")[0].alpha) == 16


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"solver": "amp", "n": 100}, "alpha missing"),
        ({"solver": "magic", "n": 100, "alpha": 1.2}, "solver magic"),
        ({"solver": "amp", "n": 100, "alpha": 1.2, "speed": 3}, "speed unknown"),
        ({"solver": "amp", "n": 100.5, "alpha": 1.2}, "whole numbers"),
        ({"solver": "amp", "n": 100, "alpha": 0.9}, "above 1"),
        ({"solver": "amp", "n": 100, "alpha": "nonsense"}, "FIRST:LAST:STEP"),
        ({"solver": "raf", "n": 100, "alpha": 1.2, "eps": 0.1}, "no such parameter for raf"),
        ({"solver": "amp", "n": 100, "alpha": 1.2, "eps": 0}, "positive"),
        ({"solver": "amp", "n": 100, "alpha": 1.2, "restarts": 0.5}, "whole numbers"),
        ({"solver": "pa", "n": 100, "alpha": 1.2, "replicas": 1}, "2 to 10000000"),
        ({"solver": "amp", "n": 100, "alpha": 1.2, "instances": 0}, "instances"),
        ({"solver": "amp", "n": ["x"], "alpha": 1.2}, "give numbers"),
        ({"solver": "amp", "n": "nan", "alpha": 1.2}, "finite numbers"),
        ({"solver": "amp", "n": "inf", "alpha": 1.2}, "finite numbers"),
        ({"solver": 5, "n": 100, "alpha": 1.2}, "give names"),
        ({"solver": [["amp"]], "n": 100, "alpha": 1.2}, "give names"),
        ({"solver": "amp", "n": 100, "alpha": 1.2, "ensemble": "magic"}, "ensemble = 'magic': give names of gaussian"),
        ({"solver": "amp", "n": 100, "alpha": 1.2, "ensemble": 5}, "ensemble = 5: give names, such as gaussian"),
        ({"solver": "amp", "n": 100, "alpha": 1.2, "ensemble": []}, "ensemble = nothing"),
        ({"solver": "amp", "n": 100, "alpha": 2.2, "field": "whole"}, "field = 'whole': give names of real, complex"),
        ({"solver": "amp", "n": 100, "alpha": 2.2, "field": "complex", "ensemble": "dct"}, "ensemble dct is real"),
        ({"solver": "amp", "n": 100, "alpha": 1.9, "field": "complex"}, "alpha = 1.9: complex fields need 2"),
        ({"solver": ["vmp", "pa"], "n": 100, "alpha": 2.2, "field": "complex"}, "pa cannot run in the complex field"),
        (5, "write a table"),
        ({"solver": "amp", "n": 3, "alpha": 1.01}, "no more measurements than unknowns"),
    ],
)
def test_bad_grids_get_one_line(record, words):
    with pytest.raises(InputError, match=words) as caught:
        Grid.from_dict(record)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "grid = 3", "[[grid]]\nn = ", "[other]\nx = 1", "grid = [1, 2]"])
def test_bad_files_get_one_line(tmp_path, text):
    path = tmp_path / "sweep.toml"
    path.write_text(text)
    with pytest.raises(InputError):
        load_grids(path)
    with pytest.raises(InputError, match="no such file"):
        load_grids(tmp_path / "missing.toml")


def test_every_solver_of_the_registry_recovers_an_easy_instance():
    """Alternating minimisation needs many measurements: six per unknown are enough for all."""
    rows = run_pack(Grid(tuple(REGISTRY), (20,), (6.0,), instances=1).tasks())
    assert [row["solver"] for row in rows] == list(REGISTRY)
    for row in rows:
        assert row["error"] == ""
        assert row["m"] > 0.99, row["solver"]
        assert row["mse_y"] < 1e-6


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"alpha": ("a",)}, "alpha = 'a': give numbers above 1"),
        ({"alpha": 1.5}, "alpha = 1.5: give a tuple of numbers"),
        ({"alpha": (10**400,)}, "give numbers above 1"),
        ({"n": (None,)}, "n = None: give whole numbers"),
        ({"n": (10**20,)}, "give whole numbers, 2 to"),
        ({"options": {"eps": ("a",)}}, "eps = 'a': give positive numbers"),
        ({"options": {"eps": 0.1}}, "give a tuple of positive numbers"),
        ({"seed": 2**63}, "below 2"),
        ({"instances": 10**9}, "runs: ask for 1000000 at most"),
    ],
)
def test_odd_values_get_one_line(change, words):
    with pytest.raises(InputError, match=words) as caught:
        Grid(**({"solver": ("amp",), "n": (30,), "alpha": (1.5,)} | change))
    assert len(str(caught.value)) < 150


def test_a_task_has_the_options_of_its_solver():
    with pytest.raises(InputError, match="foo: no such option; simulated annealing has eps, product"):
        Task.of("sa", 10, 1.5, 0, foo=1)
    with pytest.raises(InputError, match="ensemble 'magic': use one of gaussian"):
        Task.of("sa", 10, 1.5, 0, "magic")

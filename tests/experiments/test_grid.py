import pytest

from phaselect import InputError
from phaselect.experiments.contenders import CONTENDERS
from phaselect.experiments.grid import Grid, Task, all_tasks, load_grids, preset, preset_names
from phaselect.experiments.runs import run_pack


def test_grid_is_every_combination_with_the_defaults_filled_in():
    grid = Grid(("amp", "raf", "pa"), (50, 100), (1.2, 1.3), instances=3, seed=5, eps=(0.1, 0.01))
    tasks = grid.tasks()
    assert len(tasks) == len(set(tasks)) == 2 * 2 * 3 * (2 + 1 + 1)
    assert {task.seed for task in tasks} == {5, 6, 7}
    assert {(task.eps, task.product, task.replicas) for task in tasks if task.solver == "amp"} == {
        (0.1, 1.0, None),
        (0.01, 1.0, None),
    }
    assert {(task.eps, task.product, task.replicas) for task in tasks if task.solver == "raf"} == {(None, None, None)}
    assert {(task.eps, task.product, task.replicas) for task in tasks if task.solver == "pa"} == {(None, 1.0, 64)}


def test_the_key_is_the_content_of_the_parameters():
    task = Task("amp", 100, 1.2, 0, eps=0.1, product=1.0)
    assert task.key == Task("amp", 100, 1.2, 0, eps=0.1, product=1.0).key
    others = [
        Task("sa", 100, 1.2, 0, eps=0.1, product=1.0),
        Task("amp", 101, 1.2, 0, eps=0.1, product=1.0),
        Task("amp", 100, 1.25, 0, eps=0.1, product=1.0),
        Task("amp", 100, 1.2, 1, eps=0.1, product=1.0),
        Task("amp", 100, 1.2, 0, eps=0.01, product=1.0),
        Task("amp", 100, 1.2, 0, eps=0.1, product=2.0),
    ]
    assert len({task.key, *(other.key for other in others)}) == 7
    written = Grid.from_dict({"solver": "amp", "n": "100", "alpha": "1.2:1.3:0.1", "eps": "0.1", "instances": 1})
    assert written.tasks()[0].key == task.key  # however the number was written
    assert Grid(("raf",), (100,), (2,)).tasks()[0].key == Grid(("raf",), (100,), (2.0,)).tasks()[0].key


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
    assert grid == Grid(("amp", "pa"), (100,), (1.1, 1.15, 1.2), instances=4, replicas=(64, 128))
    assert Grid.from_dict(grid.to_dict()) == grid


@pytest.mark.parametrize("name", preset_names())
@pytest.mark.parametrize("scale", ["small", "paper"])
def test_presets(name, scale):
    assert all_tasks(preset(name, scale))


def test_the_papers_sizes():
    sizes = {name: set(preset(name, "paper")[0].n) for name in ("sa", "amp", "langevin")}
    assert sizes == {"sa": {100, 200, 400, 800}, "amp": {100, 200, 400, 800, 1600, 3200}, "langevin": {200, 400, 800}}
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
        ({"solver": "amp", "n": 100, "alpha": 1.2, "instances": 0}, "instances"),
        ({"solver": "amp", "n": ["x"], "alpha": 1.2}, "give numbers"),
        ({"solver": "amp", "n": "nan", "alpha": 1.2}, "finite numbers"),
        ({"solver": "amp", "n": "inf", "alpha": 1.2}, "finite numbers"),
        ({"solver": 5, "n": 100, "alpha": 1.2}, "give names"),
        ({"solver": [["amp"]], "n": 100, "alpha": 1.2}, "give names"),
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


@pytest.mark.parametrize("solver", CONTENDERS)
def test_every_contender_recovers_an_easy_instance(solver):
    """Alternating minimisation needs many measurements: six for each unknown are enough for all."""
    (task,) = Grid((solver,), (60,), (6.0,), instances=1).tasks()
    (row,) = run_pack([task])
    assert row["error"] == ""
    assert row["m"] > 0.99
    assert row["mse_y"] < 1e-6

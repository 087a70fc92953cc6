"""Runs written as letters, and read again."""

import numpy as np
import pytest

from phaselect import InputError
from phaselect.base.tables import Table, load_table, stack
from phaselect.experiments.grid import Grid
from phaselect.experiments.outcomes import letters, runs_of
from phaselect.experiments.success import finished, succeeded
from phaselect.figures.success_curves import share_rows
from phaselect.solvers.registry import OPTIONS

GRID = Grid(("pa", "sa"), (50, 60), (1.1, 1.2), instances=4, options={"eps": (0.1,), "replicas": (16, 64)})


def made_up(tasks, crashed=lambda task: False):
    """Runs of which some succeed."""
    rng, parts = np.random.default_rng(0), []
    for task in tasks:
        good = rng.random() < 0.5
        row = {"key": task.key, "solver": task.solver, "ensemble": task.ensemble, "field": task.field, "n": task.n}
        row |= {name: dict(task.options).get(name, np.nan) for name in OPTIONS} | {"plan": task.plan}
        row |= {"alpha": task.alpha, "seed": task.seed, "seconds": 0.5}
        row |= {"m": float(good), "mse_x": 1.0 - good, "mse_y": 1.0 - good}
        status = "FAILED" if crashed(task) else "RECOVERED" if good else "NOT_RECOVERED"
        parts.append(row | {"status": status, "device": "", "revision": "abc"})
    return Table(stack(parts))


def test_a_letter_for_each_seed():
    tasks = Grid(("raf",), (50,), (2.0,), instances=4, seed=2).tasks()
    rows = made_up(tasks, crashed=lambda task: task.seed == 4)
    good = succeeded(rows)
    words = "".join("x" if k == 2 else "y" if good[k] else "n" for k in range(4))
    assert letters(rows) == "--" + words


def test_runs_come_back_from_a_file(tmp_path):
    """What they were, which instances were recovered, and what crashed."""
    rows = made_up(GRID.tasks(), crashed=lambda task: task.seed == 2 and task.n == 60)
    Table(stack([share_rows(rows)])).rounded(6).save(tmp_path / "shares.csv")
    back = runs_of(load_table(tmp_path / "shares.csv"))
    assert len(back) == len(rows)
    order, other = np.argsort(rows["key"]), np.argsort(back["key"])
    for name in ("key", "solver", "n", "alpha", "seed", "plan", "seconds"):
        assert back[name][other].tolist() == rows[name][order].tolist(), name
    np.testing.assert_array_equal(back["replicas"][other], rows["replicas"][order])
    failed = [(part["status"] == "FAILED")[at] for part, at in ((rows, order), (back, other))]
    np.testing.assert_array_equal(*failed)
    one, two = finished(rows.take(order)), finished(back.take(other))
    np.testing.assert_array_equal(succeeded(one), succeeded(two))


def test_runs_of_another_plan_have_no_key():
    shares = Table(stack([share_rows(made_up(GRID.tasks()))]))
    changed = Table(shares.columns | {"plan": np.full(len(shares), "plan-of-old")})
    assert set(runs_of(changed)["key"].tolist()) == {""}


def test_letters_that_are_none():
    shares = Table(stack([share_rows(made_up(GRID.tasks()))]))
    with pytest.raises(InputError, match="'yes' are no outcomes"):
        runs_of(Table(shares.columns | {"outcomes": np.full(len(shares), "yes")}))
    assert len(runs_of(Table({name: it for name, it in shares.items() if name != "outcomes"}))) == 0

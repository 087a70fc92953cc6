"""A figure that goes on from an earlier table has the numbers of one store with all runs."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from phaselect import InputError
from phaselect.base.tables import Table, load_table
from phaselect.cli.main import main
from phaselect.experiments import fits, limits
from phaselect.experiments.grid import all_tasks, preset
from phaselect.experiments.runs import _row, failed
from phaselect.experiments.store import Store
from phaselect.figures.earlier_table import prepared
from phaselect.figures.gallery import Studio, draw, missing_runs

TABLES = Path(__file__).parents[2] / "docs" / "tables"
PRESETS = {"success_langevin": "langevin", "hard_phase": "hard_phase", "rate_and_size": "rate_and_size"}


def store_of(path, tasks, seconds=1.0):
    """Runs that are made up: whether one succeeds depends on its task alone."""
    rows = []
    for task in tasks:
        middle = 1.3 + 2.0 / task.n - 0.02 * np.log2(dict(task.options).get("replicas", 1.0))
        good = np.random.default_rng([task.seed, task.n]).normal(0, 0.1) < task.alpha - middle
        found = {"status": "RECOVERED" if good else "NOT_RECOVERED", "m": float(good)}
        found |= {"mse_x": 1.0 - good, "mse_y": 1.0 - good}
        rows.append(_row(task) | found | {"seconds": seconds, "sweeps": 3000.0 + task.seed})
    with Store(path) as store:
        store.add(rows)
    return path


def assert_same(one, two):
    assert one.keys() == two.keys()
    for name, column in one.items():
        np.testing.assert_array_equal(column, two[name], err_msg=name)


def ordered(table):
    """With rows in an order of their own: those of another store come later."""
    columns = (table[name].tolist() for name in sorted(table))
    texts = [repr(row) for row in zip(*columns, strict=True)]
    return table.take(np.argsort(texts))


@pytest.fixture
def few_replicates(monkeypatch):
    for module in (fits, limits):
        monkeypatch.setattr(module, "REPLICATES", 50)


@pytest.mark.usefixtures("few_replicates")
@pytest.mark.parametrize("name", PRESETS)
def test_two_halves_make_a_whole(name, tmp_path):
    """The second half has some runs of the first one too: they count once."""
    tasks = all_tasks(preset(PRESETS[name], "small"))
    first = store_of(tmp_path / "first.db", [task for task in tasks if task.seed % 2])
    second = store_of(tmp_path / "second.db", [task for task in tasks if task.seed % 2 == 0 or task.seed == 1])
    whole = Studio(store=store_of(tmp_path / "whole.db", tasks), stored=True).table(name)
    earlier = Studio(store=first, stored=True).table(name)
    joined = Studio(store=second, stored=True, onto=earlier).table(name)
    assert_same(ordered(joined), ordered(whole))
    assert joined.provenance["runs"] == whole.provenance["runs"]
    assert earlier.provenance["runs"] != whole.provenance["runs"]
    assert joined.provenance["took"] == whole.provenance["took"]
    again = Studio(store=tmp_path / "whole.db", stored=True, onto=joined).table(name)
    assert_same(ordered(again), ordered(whole))
    assert again.provenance["took"] == whole.provenance["took"]


def without_outcomes(table, also=()):
    return Table({name: it for name, it in table.items() if name not in ("outcomes", *also)}, table.provenance)


def test_points_of_tables_that_do_not_name_instances_are_kept_whole(tmp_path):
    """Unless the store has as many runs: N = 100 comes from the table, N = 200 from the store."""
    tasks = all_tasks(preset("langevin", "small"))
    small, large = ([task for task in tasks if task.n == n] for n in (100, 200))
    some = [task for task in small if task.seed < 2]
    whole = Studio(store=store_of(tmp_path / "whole.db", tasks), stored=True).table("success_langevin")
    first = store_of(tmp_path / "first.db", small + [task for task in large if task.seed < 2])
    earlier = without_outcomes(Studio(store=first, stored=True).table("success_langevin"), ("field", "block"))
    second = store_of(tmp_path / "second.db", large + some)
    joined = Studio(store=second, stored=True, onto=earlier).table("success_langevin")
    assert_same(*(ordered(without_outcomes(table)) for table in (joined, whole)))
    assert joined.provenance["runs"] == whole.provenance["runs"]
    assert set(joined.where(kind="share", n=100)["outcomes"]) == {""}
    only = Studio(store=store_of(tmp_path / "some.db", some), stored=True, onto=joined).table("success_langevin")
    assert_same(ordered(only), ordered(joined))


def test_a_point_more_of_a_curve_that_does_not_name_instances(tmp_path):
    """A middle alpha comes from the store, the others stay as they are, and thresholds are those of all."""
    tasks = all_tasks(preset("langevin", "small"))
    middle = sorted({task.alpha for task in tasks})[2]
    before, news = ([task for task in tasks if (task.alpha == middle) == new] for new in (False, True))
    whole = Studio(store=store_of(tmp_path / "whole.db", tasks), stored=True).table("success_langevin")
    earlier = without_outcomes(
        Studio(store=store_of(tmp_path / "old.db", before), stored=True).table("success_langevin")
    )
    joined = Studio(store=store_of(tmp_path / "new.db", news), stored=True, onto=earlier).table("success_langevin")
    assert joined.provenance["runs"] == whole.provenance["runs"]
    assert_same(*(ordered(without_outcomes(table.where(kind="share"))) for table in (joined, whole)))
    named = joined.where(kind="share")
    assert set(named["alpha"][named["outcomes"] != ""]) == {middle}
    half, other = (table.where(kind="threshold") for table in (joined, whole))
    np.testing.assert_allclose(half["value"], other["value"])
    for line in draw("success_langevin", joined).axes[0].get_lines():
        assert np.all(np.diff(line.get_xdata()) >= 0)


def test_the_store_is_believed_where_it_has_as_many_runs(tmp_path):
    tasks = all_tasks(preset("langevin", "small"))
    studio = Studio(store=store_of(tmp_path / "runs.db", tasks), stored=True)
    joined = Studio(store=studio.store, stored=True, onto=without_outcomes(studio.table("success_langevin")))
    assert all(joined.table("success_langevin").where(kind="share")["outcomes"] != "")


def test_points_that_all_crashed_are_not_lost(tmp_path):
    """Nor counted as failures: their share is not known."""
    for name, preset_name in (("success_langevin", "langevin"), ("patience", "patience")):
        tasks = all_tasks(preset(preset_name, "small"))
        lost = [task for task in tasks if task.alpha == tasks[0].alpha]
        path = store_of(tmp_path / f"{name}.db", [task for task in tasks if task not in lost])
        with Store(path) as store:
            store.add([failed(task, RuntimeError("lost")) for task in lost])
        earlier = without_outcomes(Studio(store=path, stored=True).table(name))
        rest = store_of(tmp_path / f"{name}-rest.db", [task for task in tasks if task not in lost][:1])
        joined = Studio(store=rest, stored=True, onto=earlier).table(name)
        assert joined.provenance["runs"].endswith(f"{len(lost)} crashed")
        gone = joined.where(kind="share", trials=0)
        assert gone["crashed"].sum() == len(lost)
        assert np.isnan(gone["value"]).all()
        draw(name, joined)


@pytest.mark.usefixtures("few_replicates")
@pytest.mark.parametrize("name", ["success_sa", "success_amp", "success_langevin", "rate_and_size"])
def test_committed_tables_can_be_gone_on_from(name, tmp_path):
    """A store with a few runs changes nothing: their points have more in the table.

    Intervals, and limits, which follow from them, are those of more replicates there.
    """
    earlier = load_table(TABLES / f"{name}.csv")
    tasks = all_tasks(preset(PRESETS.get(name, name.removeprefix("success_")), "paper"))
    few = store_of(tmp_path / "few.db", tasks[:3])
    joined = Studio("paper", few, stored=True, onto=earlier).table(name)
    assert missing_runs(joined) == missing_runs(earlier) == ""
    for kind in ("share", "threshold"):
        one, two = (np.sort(table.where(kind=kind)["value"]) for table in (earlier, joined))
        np.testing.assert_allclose(one, two, rtol=1e-5)
    assert "onto" in joined.provenance


def test_points_of_patience_come_from_where_more_runs_are(tmp_path):
    """One point from the table, of which the store has some that crashed; all others from the store."""
    tasks = all_tasks(preset("patience", "small"))
    first = [task for task in tasks if (task.n, task.alpha) == (50, 1.15)]
    rest = [task for task in tasks if task not in first]
    whole = Studio(store=store_of(tmp_path / "whole.db", tasks), stored=True).table("patience")
    earlier = Studio(store=store_of(tmp_path / "first.db", first + rest[:3]), stored=True).table("patience")
    second = store_of(tmp_path / "second.db", rest)
    with Store(second) as store:
        store.add([failed(task, RuntimeError("lost")) for task in first])
    joined = Studio(store=second, stored=True, onto=earlier).table("patience")
    assert_same(ordered(joined), ordered(whole))
    assert joined.provenance["runs"] == whole.provenance["runs"]
    again = Studio(store=second, stored=True, onto=joined).table("patience")
    assert_same(ordered(again), ordered(whole))


def test_what_crashed_in_the_store_may_be_in_the_table(tmp_path):
    tasks = all_tasks(preset("hard_phase", "small"))
    whole = Studio(store=store_of(tmp_path / "whole.db", tasks), stored=True).table("hard_phase")
    with Store(tmp_path / "crashed.db") as store:
        store.add([failed(task, RuntimeError("lost")) for task in tasks])
    joined = Studio(store=tmp_path / "crashed.db", stored=True, onto=whole).table("hard_phase")
    assert_same(ordered(joined), ordered(whole))
    assert joined.provenance["runs"] == whole.provenance["runs"]


def test_what_cannot_be_gone_on_from(tmp_path):
    tasks = all_tasks(preset("hard_phase", "small"))
    studio = Studio(store=store_of(tmp_path / "runs.db", tasks), stored=True)
    table = studio.table("hard_phase")

    def onto(earlier, name="hard_phase", stored=True):
        return Studio(store=studio.store, stored=stored, onto=earlier).table(name)

    with pytest.raises(InputError, match="does not say which instances"):
        onto(without_outcomes(table))
    with pytest.raises(InputError, match="no table of figure rate_and_size"):
        onto(table, "rate_and_size")
    with pytest.raises(InputError, match="not complexity"):
        onto(table, "complexity")
    with pytest.raises(InputError, match="goes with --stored"):
        onto(table, stored=False)
    with pytest.raises(InputError, match="not of scale paper"):
        Studio("paper", studio.store, stored=True, onto=table).table("hard_phase")
    for column in ("kind", "plan", "trials"):
        damaged = Table({name: it for name, it in table.items() if name != column}, table.provenance)
        with pytest.raises(InputError, match=f"damaged, it has no column {column}"):
            onto(damaged)
    with pytest.raises(InputError, match="damaged, it has the same line twice"):
        onto(Table(table.take(np.r_[0, : len(table)]).columns, table.provenance))
    again = table.take(np.r_[np.flatnonzero(table["kind"] == "share")[0], : len(table)])
    with pytest.raises(InputError, match="damaged, it has a point twice"):
        onto(Table(again.columns | {"seconds": np.r_[99.0, table["seconds"]]}, table.provenance))
    for column in ("trials", "successes", "crashed"):
        with pytest.raises(InputError, match=r"damaged, (outcomes and counts of its shares disagree|.*that cannot be)"):
            onto(Table(table.columns | {column: table[column] + 1}, table.provenance))
    for name, cell in (("trials", np.nan), ("crashed", np.nan)):
        spoilt = Table(table.columns | {name: np.where(table["kind"] == "share", cell, table[name])}, table.provenance)
        with pytest.raises(InputError, match="damaged, it has shares without counts"):
            onto(spoilt)
    with pytest.raises(InputError, match="no shares"):
        onto(table.take(table["kind"] != "share"))
    patience = load_table(TABLES / "patience.csv")
    with pytest.raises(InputError, match="no shares"):
        prepared(patience.take(patience["kind"] == "within"), "patience", "paper", stored=True)
    with pytest.raises(InputError, match="damaged, it has no line # date:"):
        onto(Table(table.columns, {name: it for name, it in table.provenance.items() if name != "date"}))
    other = np.where(table["kind"] == "share", np.char.add(table["plan"], "-of-old"), table["plan"])
    with pytest.raises(InputError, match=r"settings that today's preset has not: plan-.*-of-old"):
        onto(Table(table.columns | {"plan": other}, table.provenance))


@pytest.mark.parametrize("named", [True, False])
def test_options_that_are_not_those_of_the_plan(named, tmp_path):
    """Fast and slow exchanged would be another figure."""
    tasks = all_tasks(preset("langevin", "small"))
    studio = Studio(store=store_of(tmp_path / "runs.db", tasks), stored=True)
    table = studio.table("success_langevin")
    table = table if named else without_outcomes(table)
    exchanged = np.where(table["eps"] == 0.1, 0.01, 0.1)
    with pytest.raises(InputError, match="damaged, eps of its shares is not that of their plans"):
        onto_table(studio, table, eps=exchanged)
    with pytest.raises(InputError, match="damaged, it has counts that are not whole"):
        onto_table(studio, table, trials=table["trials"] + 0.5)
    with pytest.raises(InputError, match="times without numbers"):
        onto_table(studio, table, seconds=np.full(len(table), "x"))


def test_shares_follow_from_their_counts(tmp_path):
    tasks = all_tasks(preset("langevin", "small"))
    studio = Studio(store=store_of(tmp_path / "runs.db", tasks[:1]), stored=True)
    whole = Studio(store=store_of(tmp_path / "whole.db", tasks), stored=True).table("success_langevin")
    table = without_outcomes(whole)
    share = table["kind"] == "share"
    wrong = {name: np.where(share, 0.3, table[name]) for name in ("value", "low", "high")}
    found = onto_table(studio, table, **wrong)
    assert_same(*(ordered(without_outcomes(it)) for it in (found, whole)))


def onto_table(studio, table, **columns):
    spoilt = Table(table.columns | columns, table.provenance)
    return Studio(store=studio.store, stored=True, onto=spoilt).table("success_langevin")


def test_runs_that_nobody_asked_for(tmp_path):
    """Of a size that the preset does not have; more than it has; more successes than runs."""
    tasks = all_tasks(preset("langevin", "small"))
    studio = Studio(store=store_of(tmp_path / "runs.db", tasks), stored=True)
    table = without_outcomes(studio.table("success_langevin"))
    wrong = {"n": table["n"] + 7, "trials": 60, "successes": 7, "crashed": -1}
    said = ("6 runs at langevin .*107", "60 runs at .*preset plans 6", "runs that cannot be", "runs that cannot be")
    for (column, cell), match in zip(wrong.items(), said, strict=True):
        spoilt = table.columns | {column: np.where(table["kind"] == "share", cell, table[column])}
        with pytest.raises(InputError, match=match):
            Studio(store=studio.store, stored=True, onto=Table(spoilt, table.provenance)).table("success_langevin")


@pytest.mark.parametrize(("column", "cell"), [("outcomes", 0), ("instances", True), ("tts_99", "x"), ("low", "x")])
def test_columns_of_another_type(column, cell):
    table = load_table(TABLES / "success_amp.csv")
    spoilt = Table(table.columns | {column: np.full(len(table), cell)}, table.provenance)
    with pytest.raises(InputError, match=r"damaged, outcomes have to be letters, instances, .* numbers"):
        prepared(spoilt, "success_amp", "paper", stored=True)


def test_a_table_without_times(tmp_path):
    """They may be missing; all else is there."""
    tasks = all_tasks(preset("langevin", "small"))
    studio = Studio(store=store_of(tmp_path / "runs.db", tasks), stored=True)
    table = studio.table("success_langevin")
    found = Studio(store=studio.store, stored=True, onto=without_outcomes(table, ("seconds", "tts_50", "tts_99")))
    assert_same(ordered(found.table("success_langevin")), ordered(table))


def test_seeds_beyond_the_plan(tmp_path):
    tasks = all_tasks(preset("langevin", "small"))
    studio = Studio(store=store_of(tmp_path / "runs.db", tasks[:1]), stored=True)
    table = Studio(store=store_of(tmp_path / "whole.db", tasks), stored=True).table("success_langevin")
    late = np.where(table["kind"] == "share", np.char.add("-" * 50, table["outcomes"]), table["outcomes"])
    with pytest.raises(InputError, match="runs of seeds 50 to 55; the preset has not"):
        onto_table(studio, table, outcomes=late)


@pytest.mark.parametrize(("column", "cell"), [("successes", 7000), ("trials", -5), ("crashed", 0.5)])
def test_counts_of_other_lines_than_shares(column, cell):
    """Those of what was recovered within fewer iterations."""
    table = load_table(TABLES / "patience.csv")
    spoilt = table.columns | {column: np.where(table["kind"] == "within", cell, table[column])}
    with pytest.raises(InputError, match=r"damaged, it has counts (of runs that cannot be|that are not whole)"):
        prepared(Table(spoilt, table.provenance), "patience", "paper", stored=True)


def test_on_the_command_line(tmp_path):
    tasks = all_tasks(preset("hard_phase", "small"))
    first, second = (store_of(tmp_path / f"{k}.db", [task for task in tasks if task.seed % 2 == k]) for k in (0, 1))
    Studio(store=first, stored=True).table("hard_phase").save(tmp_path / "t.csv")
    command = ["figure", "hard_phase", "--store", str(second), "--stored", "--onto", str(tmp_path / "t.csv")]
    done = CliRunner().invoke(main, [*command, "--out", str(tmp_path / "f.png"), "--table", str(tmp_path / "u.csv")])
    assert done.exit_code == 0, done.output
    assert f"# runs: {len(tasks)} of the {len(tasks)} of preset hard_phase" in (tmp_path / "u.csv").read_text()
    wrong = CliRunner().invoke(main, [*command[:1], "--all", *command[2:], "--out", str(tmp_path / "all")])
    assert wrong.exit_code == 2
    assert "--onto goes with one figure" in wrong.output

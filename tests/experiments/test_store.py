import sqlite3
from pathlib import Path

import numpy as np
import pytest

from phaselect import InputError
from phaselect.experiments.grid import Grid
from phaselect.experiments.revision import git_revision
from phaselect.experiments.runs import failed, run_pack
from phaselect.experiments.store import Store
from phaselect.experiments.store_file import VERSION, explained
from phaselect.solvers.registry import OPTIONS

TASKS = Grid(("raf",), (20,), (3.0, 4.0), instances=2).tasks()


@pytest.fixture(scope="module")
def rows():
    return run_pack(TASKS)


@pytest.fixture
def path(tmp_path, rows):
    path = tmp_path / "runs.db"
    with Store(path) as store:
        store.add(rows)
    return path


def test_rows_come_back(path, rows):
    with Store(path, read_only=True) as store:
        table = store.table()
        assert store.keys() == {task.key for task in TASKS}
    by_key = {row["key"]: row for row in rows}
    assert len(table) == 4
    for i, key in enumerate(table["key"]):
        for name in ("solver", "n", "alpha", "seed", "status", "m", "O", "mse_y", "mse_x", "sweeps", "seconds"):
            assert table[name][i] == by_key[key][name]
        assert all(np.isnan(table[option][i]) for option in OPTIONS)
        assert table["revision"][i] == git_revision()


def test_options_are_columns_whatever_they_are(tmp_path, rows):
    """One that the registry does not know needs no other schema."""
    options = ['{"eps": 0.1}', '{"colour": 7, "eps": 0.01}']
    with Store(tmp_path / "runs.db") as store:
        store.add([row | {"options": text} for row, text in zip(rows, options, strict=False)])
        table = store.table()
    assert sorted(table["eps"]) == [0.01, 0.1]
    assert table["colour"][table["eps"] == 0.01] == 7
    assert np.isnan(table["colour"][table["eps"] == 0.1])


def test_rows_of_several_ensembles(tmp_path, rows):
    """A row that names none, as all did once, is of Gaussian matrices."""
    others = run_pack(Grid(("raf",), (20,), (3.0,), instances=1, ensemble=("signs",)).tasks())
    with Store(tmp_path / "runs.db") as store:
        store.add([*rows, *others])
        table, times = store.table(), store.times("")
    assert sorted(table["ensemble"].tolist()) == ["gaussian"] * 4 + ["signs"]
    assert sorted(count for count, _ in times.values()) == [1, 4]


def test_rows_of_both_fields(tmp_path, rows):
    """A row that names none, as all did once, is real."""
    others = run_pack(Grid(("amp",), (20,), (3.0,), instances=1, field=("complex",)).tasks())
    with Store(tmp_path / "runs.db") as store:
        store.add([*rows, *others])
        table = store.table()
    assert sorted(table["field"].tolist()) == ["complex"] + ["real"] * 4
    assert set(table["ensemble"].tolist()) == {"gaussian"}
    assert table.where(field="complex")["status"][0] == "LOCALLY_UNIQUE"


def test_times_are_of_one_device(tmp_path, rows):
    """A pack is cut by the times of the device that it goes to."""
    seconds = [1.0, 3.0, 0.25, 9.0]
    stamps = [{"device": ""}, {"device": ""}, {"device": "gpu"}, {"status": "FAILED"}]
    with Store(tmp_path / "runs.db") as store:
        store.add([row | {"seconds": s} | stamp for row, s, stamp in zip(rows, seconds, stamps, strict=True)])
        assert store.times("") == {TASKS[0].kind: (2, 4.0)}
        assert store.times("gpu") == {TASKS[0].kind: (1, 0.25)}
        assert store.times("cpu") == {}


def test_done_rows_stay_and_failed_rows_are_replaced(tmp_path, rows):
    with Store(tmp_path / "runs.db") as store:
        store.add([failed(TASKS[0], MemoryError("too  large\n"))])
        assert store.failures() == {TASKS[0].key: "MemoryError: too large"}
        assert store.keys(failed=False) == set()
        store.add(rows)
        assert store.failures() == {}
        store.add([row | {"m": -1.0} for row in rows] + [failed(TASKS[0], ValueError("late"))])
        assert (store.table()["m"] > 0).all()
        assert len(store) == 4


def test_rows_are_added_all_or_none(path, rows):
    broken = [rows[0] | {"key": "new"}, rows[1] | {"key": "other", "status": None}]
    with Store(path) as store:
        with pytest.raises(InputError):
            store.add(broken)
        assert len(store) == 4


@pytest.mark.parametrize("kind", [ValueError, TypeError, AttributeError, OSError])
def test_an_error_of_the_caller_is_not_that_of_the_store(path, rows, kind):
    def broken():
        yield rows[0] | {"key": "new"}
        raise kind("mine")

    with Store(path) as store:
        with pytest.raises(kind, match=r"^mine$"):
            store.add(broken())
        assert len(store) == 4


def test_merge(tmp_path, path, rows):
    with Store(tmp_path / "other.db") as other:
        other.add([failed(TASKS[0], ValueError("x")), rows[1] | {"m": -1.0}, rows[2] | {"key": "more"}])
        other.remember([Grid(("raf",), (20,), (3.0, 4.0), instances=2)])
    with Store(path) as store, Store(tmp_path / "other.db", read_only=True) as other:
        before = store.table()
        assert store.merge([other]) == [1]
        assert store.merge([other]) == [0]
        assert store.failures() == {}
        assert store.grids() == other.grids()
        after = store.table()
    np.testing.assert_array_equal(after["m"][after["key"] != "more"], before["m"])  # the first stays


def test_merge_prefers_what_is_done_and_else_what_came_first(tmp_path, rows):
    first, second, third = (tmp_path / f"{name}.db" for name in ("first", "second", "third"))
    for path, wrong in ((first, "early"), (second, "late")):
        with Store(path) as store:
            store.add([failed(task, ValueError(wrong)) for task in TASKS[:2]])
    with Store(third) as store:
        store.add(rows[1:2])
    with Store(second, read_only=True) as late, Store(third, read_only=True) as done, Store(first) as store:
        assert store.merge([late, done]) == [0, 1]
        assert store.failures() == {TASKS[0].key: "ValueError: early"}
        assert store.keys(failed=False) == {TASKS[1].key}


def test_stores_are_merged_all_or_none(tmp_path, path, rows):
    other = tmp_path / "other.db"
    with Store(other) as store:
        store.add([rows[0] | {"key": "more"}])
    with Store(path) as store, Store(other, read_only=True) as good, Store(other, read_only=True) as bad:
        bad._connection.close()
        with pytest.raises(InputError, match=r"other\.db"):
            store.merge([good, bad])
        assert len(store) == 4
        assert store.merge([good]) == [1]


def test_one_writer_and_many_readers(path, rows):
    with Store(path) as writer:
        with pytest.raises(InputError, match="another sweep"):
            Store(path)
        with Store(path, read_only=True) as reader:
            writer.add([rows[0] | {"key": "more"}])
            assert len(reader) == 5
            with pytest.raises(InputError, match="readonly"):
                reader.add(rows)
    Store(path).close()
    assert [file.name for file in path.parent.iterdir()] == ["runs.db"]


def damage_truncate(path):
    path.write_bytes(path.read_bytes()[:-5000])


def damage_short(path):
    path.write_bytes(path.read_bytes()[:50])


def damage_empty(path):
    path.write_bytes(b"")


def damage_version(path, version=VERSION + 1):
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()


def damage_older(path):
    damage_version(path, VERSION - 1)


def damage_other_file(path):
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE x (y)")
    connection.commit()
    connection.close()


def damage_text(path):
    path.write_text("solver,n\n" * 50)


def damage_inside(path):
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(bytes(content))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (damage_truncate, "truncated"),
        (damage_short, "truncated"),
        (damage_empty, "truncated"),
        (damage_version, f"version {VERSION + 1}.*update it"),
        (damage_older, f"version {VERSION - 1}.*name another file"),
        (damage_other_file, "not a store"),
        (damage_text, "not a store"),
        (damage_inside, "malformed"),
    ],
)
@pytest.mark.parametrize("read_only", [True, False])
def test_a_damaged_store_is_refused_and_left_as_it_is(path, damage, words, read_only):
    damage(path)
    before = path.read_bytes()
    with pytest.raises(InputError, match=words) as caught:
        Store(path, read_only=read_only)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["runs.db"]


@pytest.mark.parametrize("damage", ["options = '{oops'", "m = 'abc'", "n = 'many'", "options = '[1]'"])
def test_a_row_that_cannot_be_read_is_one_line(path, damage):
    connection = sqlite3.connect(path)
    connection.execute(f"UPDATE runs SET {damage} WHERE rowid = 1")
    connection.commit()
    connection.close()
    with Store(path, read_only=True) as store, pytest.raises(InputError, match=r"runs\.db is damaged: a row"):
        store.table()


def test_a_grid_that_cannot_be_read_is_one_line(path):
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO grids VALUES ('{oops', '')")
    connection.commit()
    connection.close()
    with Store(path, read_only=True) as store, pytest.raises(InputError, match=r"runs\.db is damaged: a row"):
        store.grids()


def test_a_store_whose_end_is_still_in_the_log_is_whole(path, rows, tmp_path):
    """As after `kill -9` while the log was being copied into the file: page one is new, the rest is not there yet."""
    with Store(path) as store:
        store.add([row | {"key": f"{row['key']}-{k}"} for k in range(200) for row in rows])
        live = sqlite3.connect(path)  # keeps the log from being removed
        live.execute("SELECT count(*) FROM runs").fetchone()
    copy = tmp_path / "copy.db"
    copy.write_bytes(path.read_bytes())
    (tmp_path / "copy.db-wal").write_bytes((tmp_path / "runs.db-wal").read_bytes())
    live.close()
    head = bytearray(copy.read_bytes())
    pages = int.from_bytes(head[28:32], "big")
    head[28:32] = (pages + 10).to_bytes(4, "big")
    copy.write_bytes(bytes(head))
    with Store(copy, read_only=True) as store:
        assert len(store) == 804


def test_the_log_of_a_deleted_store_is_not_taken_for_the_new_one(path, rows):
    store = Store(path)
    store.add([row | {"key": f"{row['key']}-more"} for row in rows])
    live = sqlite3.connect(path)
    live.execute("SELECT count(*) FROM runs").fetchone()
    log = path.with_name("runs.db-wal").read_bytes()
    store.close()
    live.close()
    path.unlink()
    path.with_name("runs.db-wal").write_bytes(log)
    with Store(path) as fresh:
        assert len(fresh) == 0


def test_a_missing_store(tmp_path):
    with pytest.raises(InputError, match="no such store"):
        Store(tmp_path / "none.db", read_only=True)
    with pytest.raises(InputError, match="not a folder"):
        Store(tmp_path / "none" / "runs.db")


def test_a_link_in_place_of_the_lock_leaves_its_target_alone(tmp_path):
    (tmp_path / "victim").write_text("precious")
    (tmp_path / ".runs.db.lock").symlink_to(tmp_path / "victim")
    with pytest.raises(InputError, match=r"\.lock"):
        Store(tmp_path / "runs.db")
    assert (tmp_path / "victim").read_text() == "precious"


def test_a_lock_that_a_killed_sweep_left_is_taken_and_its_content_kept_until_then(tmp_path):
    (tmp_path / ".runs.db.lock").write_text("not truncated")
    with Store(tmp_path / "runs.db"):
        assert (tmp_path / ".runs.db.lock").read_text() == "not truncated"
    assert [path.name for path in tmp_path.iterdir()] == ["runs.db"]


def test_a_store_and_a_link_to_it_have_one_writer(tmp_path):
    with Store(tmp_path / "runs.db"):
        (tmp_path / "link.db").symlink_to(tmp_path / "runs.db")
        with pytest.raises(InputError, match="being written by another sweep"):
            Store(tmp_path / "link.db")


def test_what_a_process_killed_while_it_made_a_store_has_left_is_removed(tmp_path):
    for name in (".runs.db.new", ".runs.db.new-journal", ".runs.db.new-wal", ".runs.db.new-shm", ".runs.db.lock"):
        (tmp_path / name).write_bytes(b"half of a store")
    Store(tmp_path / "runs.db").close()
    assert [path.name for path in tmp_path.iterdir()] == ["runs.db"]


@pytest.mark.parametrize("name", ["", ".", "/"])
def test_a_store_needs_a_name(name):
    with pytest.raises(InputError, match="no name for a store"):
        Store(name)


def test_a_store_that_is_removed_while_it_is_written(path, rows):
    """SQLite would write on, to a file that nobody finds again."""
    with Store(path) as store:
        path.unlink()
        with pytest.raises(InputError, match=r"runs\.db was removed, renamed or replaced"):
            store.add(rows)


def test_a_store_that_is_replaced_while_it_is_written(path, rows, tmp_path):
    with Store(tmp_path / "other.db") as other:
        other.add(rows[:1])
    with Store(path) as store:
        (tmp_path / "other.db").replace(path)
        with pytest.raises(InputError, match="removed, renamed or replaced"):
            store.add(rows)


def test_what_was_asked_in_words_of_another_version(path, tmp_path):
    """Not known what is missing; the runs are there, and the words are kept for who knows them."""
    with sqlite3.connect(path) as connection:
        connection.execute("""INSERT INTO grids VALUES ('{"solver": ["new"]}', 'then')""")
    connection.close()
    with Store(path, read_only=True) as store, Store(tmp_path / "all.db") as joined:
        with pytest.raises(InputError, match=r"runs\.db: what was asked of it is not known to this version"):
            store.grids()
        assert joined.merge([store]) == [4]
        assert joined._grids() == store._grids()


@pytest.mark.parametrize(
    ("name", "said"), [("SQLITE_FULL", "make room; its rows are kept"), ("SQLITE_CORRUPT_INDEX", "merge NEW.db a.db")]
)
def test_what_to_do_where_sqlite_fails(name, said):
    error = sqlite3.OperationalError("what SQLite says")
    error.sqlite_errorname = name
    with pytest.raises(InputError, match=f"a.db: what SQLite says: .*{said}"), explained(Path("a.db")):
        raise error


def test_times_that_are_not_known_are_no_times(tmp_path, rows):
    with Store(tmp_path / "runs.db") as store:
        store.add([row | {"seconds": np.nan if k else 2.0} for k, row in enumerate(rows)])
        assert list(store.times("").values()) == [(1, 2.0)]

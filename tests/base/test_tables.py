import numpy as np
import pytest

from phaselect import InputError
from phaselect.base.tables import Table, load_table, stack


def table():
    columns = {
        "name": np.array(["a", 'b, with a comma and "quotes"', "a"]),
        "n": np.array([1, 2, 3]),
        "x": np.array([0.1, np.nan, np.inf]),
        "good": np.array([True, False, True]),
    }
    return Table(columns, {"command": "one: two", "seconds": "3"})


def test_roundtrip_keeps_types_values_and_provenance(tmp_path):
    table().save(tmp_path / "t.csv")
    again = load_table(tmp_path / "t.csv")
    assert again.provenance == table().provenance
    for name, column in table().columns.items():
        assert again[name].dtype.kind == column.dtype.kind
        np.testing.assert_array_equal(again[name], column)


def test_selection():
    assert table().where(name="a")["n"].tolist() == [1, 3]
    assert table().where(name="a", good=True, n=3)["n"].tolist() == [3]
    assert table().values("name") == ["a", 'b, with a comma and "quotes"']
    assert [part["n"].tolist() for part in table().by("name")] == [[1, 3], [2]]
    assert len(table().take(np.array([0]))) == 1


def test_rounding():
    assert Table({"x": np.array([1.23456789, 1e-9 / 3])}).rounded(3)["x"].tolist() == [1.23, 3.33e-10]


def test_stack_repeats_plain_values():
    found = stack([{"k": "a", "x": np.array([1.0, 2.0])}, {"k": "b", "x": np.array([3.0])}])
    assert found["k"].tolist() == ["a", "a", "b"]
    assert found["x"].tolist() == [1.0, 2.0, 3.0]
    assert stack([]) == {}


@pytest.mark.parametrize("text", ["", "a,b\n1\n", "a,b\n1,2,3\n"])
def test_damaged_files_get_one_line(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError, match="not a table, or is truncated"):
        load_table(tmp_path / "t.csv")


def test_bad_tables():
    with pytest.raises(InputError, match="equal lengths"):
        Table({"a": np.zeros(2), "b": np.zeros(3)})
    with pytest.raises(InputError, match="no such file"):
        load_table("nowhere.csv")

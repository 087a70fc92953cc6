import sys

import numpy as np
import pytest

from phaselect import InputError
from phaselect.base.style import OVERLAP
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
    assert stack([{"k": "a"}, {"k": "b"}])["k"].tolist() == ["a", "b"]
    assert stack([{"k": "a", "x": np.array([])}, {"k": "b", "x": np.array([3.0])}])["k"].tolist() == ["b"]


@pytest.mark.parametrize("text", ["", "a,b\n1\n", "a,b\n1,2,3\n"])
def test_damaged_files_get_one_line(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError, match="not a table, or is truncated"):
        load_table(tmp_path / "t.csv")


def test_a_quote_that_is_never_closed(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + '"' + "1,2\n" * 50_000)
    with pytest.raises(InputError, match=r"t\.csv is not a table, or is damaged: field larger"):
        load_table(tmp_path / "t.csv")


def test_whole_numbers_beyond_64_bits_are_numbers(tmp_path):
    (tmp_path / "t.csv").write_text(f"a\n{10**26}\n")
    assert load_table(tmp_path / "t.csv")["a"].tolist() == [1e26]


def test_bad_tables():
    with pytest.raises(InputError, match="equal lengths"):
        Table({"a": np.zeros(2), "b": np.zeros(3)})
    with pytest.raises(InputError, match="no such file"):
        load_table("nowhere.csv")


def test_a_table_is_short_to_look_at():
    known = Table(table().columns | {"converged": np.array([True, True, False])}, shown=("n", "x"))
    assert (
        repr(known)
        == "Table(3 rows x 5 columns, n 1 to 3, x 0.1 to 0.1, 1 row not converged: name, n, x, good, converged)"
    )
    assert repr(table()) == "Table(3 rows x 4 columns: name, n, x, good)"
    assert repr(Table({name: np.zeros(1) for name in "abcdefghij"})).endswith(
        "10 columns: a, b, c, d, e, f, g, ..., j)"
    )
    assert repr(Table({})) == "Table(0 rows x 0 columns)"
    assert repr(known.where(n=7)).startswith("Table(0 rows x 5 columns, n unknown, x unknown")


def test_a_table_goes_through_the_names_of_its_columns():
    assert list(table()) == list(table().keys()) == ["name", "n", "x", "good"]
    assert "n" in table()
    assert "N" not in table()
    assert {**table()}["n"].tolist() == dict(table().items())["n"].tolist() == [1, 2, 3]


def test_a_frame_of_pandas(monkeypatch):
    own = table().to_frame()
    assert own.columns.tolist() == ["name", "n", "x", "good"]
    assert own["n"].tolist() == [1, 2, 3]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match="pandas is not installed: pip install pandas"):
        table().to_frame()


def test_a_plot_shows_what_there_is_and_nothing_else():
    columns = {"mu": np.geomspace(1, 100, 5), "m": np.linspace(0, 1, 5), "mse_y": np.geomspace(1, 1e-9, 5)}
    marked = {"converged": np.arange(5) != 1, "stable": np.arange(5) < 4, "lam": np.zeros(5)}
    known = Table(columns | marked, shown=("mu", "m", "mse_y"))
    figure = known.plot()
    left, right = figure.axes
    assert [left.get_xscale(), left.get_yscale(), right.get_yscale()] == ["log", "linear", "log"]
    stable, unstable = left.lines
    np.testing.assert_array_equal(stable.get_ydata(), [0, np.nan, 0.5, 0.75, np.nan])
    np.testing.assert_array_equal(unstable.get_ydata()[-2:], [0.75, 1.0])
    assert figure.get_suptitle() == r"$\lambda = 0$"
    (only,) = known.plot("m", "mse_y").axes
    assert only.get_xlabel() == OVERLAP
    png, shown = figure._repr_png_()
    assert png.startswith(b"\x89PNG")
    assert shown["width"] == 7 * 96
    for names, message in ((("mu", "M"), "no column M: there are mu, m,"), (("mu",), "name two columns")):
        with pytest.raises(InputError, match=message):
            known.plot(*names)

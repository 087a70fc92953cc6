"""An instance from files."""

import warnings

import numpy as np
import pytest
import scipy.io
from hypothesis import given
from hypothesis import strategies as st

from phaselect import DataWarning, InputError, gaussian_instance, load
from phaselect.base.text_tables import read_text_table
from phaselect.problem.data_files import load_named

GOOD_A = np.random.default_rng(0).standard_normal((4, 3))
GOOD_Y = np.ones(4)


def test_a_user_s_files(tmp_path):
    problem = gaussian_instance(5, 1.6, seed=0)
    both = {"A": problem.A, "y": problem.y}
    np.savez(tmp_path / "user.npz", **both)
    scipy.io.savemat(tmp_path / "user.mat", both)
    for name, array in both.items():
        np.save(tmp_path / f"{name}.npy", array)
        np.savetxt(tmp_path / f"{name}.csv", array, delimiter=",")
        np.savetxt(tmp_path / f"{name}.txt", array)
    np.save(tmp_path / "column.npy", problem.y[:, None])
    np.savetxt(tmp_path / "row.csv", problem.y[None], delimiter=",")
    pairs = [["A.npy", "y.npy"], ["A.csv", "y.csv"], ["A.npy", "y.csv"], ["A.txt", "y.txt"], ["user.mat", "y.npy"]]
    for files in (["user.npz"], ["user.mat"], *pairs, ["A.npy", "column.npy"], ["A.csv", "row.csv"]):
        loaded = load(*(tmp_path / name for name in files))
        np.testing.assert_allclose(loaded.A, problem.A)
        np.testing.assert_allclose(loaded.y, problem.y)


def two(folder, A, y):
    """Two texts."""
    (folder / "A.csv").write_bytes(A.encode())
    (folder / "y.csv").write_bytes(y.encode())
    return folder / "A.csv", folder / "y.csv"


def test_one_column_and_a_byte_order_mark(tmp_path):
    assert load(*two(tmp_path, "\ufeff1\n2\n3\n", "2\n4\n6\n")).A.shape == (3, 1)


def test_decimal_commas_of_A_are_those_of_y(tmp_path):
    problem = load(*two(tmp_path, "1,5;2\n3;4,5\n1;1\n", "1,25\n2\n3,5\n"))
    assert problem.A.tolist() == [[1.5, 2], [3, 4.5], [1, 1]]
    assert problem.y.tolist() == [1.25, 2, 3.5]
    with pytest.raises(InputError, match=r"y.csv has two columns: give one number in each line; decimal commas"):
        load(*two(tmp_path, "1.5,2\n3,4.5\n1,1\n", "1,25\n2,0\n3,5\n"))


def test_rows_that_are_numbered(tmp_path):
    """A column with a name that counts the rows is taken for one of A, and told of."""
    body = [f"{k};{a:.17f};{b:.17f}" for k, (a, b) in enumerate(np.random.default_rng(0).standard_normal((6, 2)), 1)]
    files = two(tmp_path, "\n".join(["Nr;a;b", *body]), "\n".join("123456"))
    with pytest.warns(DataWarning, match=r"the first column of .*A.csv, 'Nr', counts the rows, and is taken for one"):
        assert load(*files).n == 3
    files = two(tmp_path, "\n".join(["Nr;a;b", body[1], *body[1:]]), "\n".join("123456"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(*files)


def test_y_has_one_column(tmp_path):
    body = "1,5;2,5;1\n2;3;1\n4;4;0\n0;1;5\n"
    with pytest.raises(InputError, match=r"y.csv has two columns \(Nr, Betrag\): give one number in each line$"):
        load(*two(tmp_path, body, "Nr;Betrag\n1;1,5\n2;2,5\n3;1,25\n4;2,5\n"))
    np.save(tmp_path / "A.npy", GOOD_A)
    two(tmp_path, "", "1,5\n2,5\n1,25\n2,5\n")
    with pytest.raises(InputError, match=r"y.csv has two columns: give one .*; decimal commas are understood"):
        load(tmp_path / "A.npy", tmp_path / "y.csv")


def test_numbers_of_columns_above_y(tmp_path):
    """What pandas writes without an index; a y that begins with 0 is left as it is."""
    A = "0,1\n1.5,2.5\n3.5,4.5\n5.5,6.5\n"
    assert load(*two(tmp_path, A, "0\n1.5\n2.5\n3.5\n")).y.tolist() == [1.5, 2.5, 3.5]
    assert load(*two(tmp_path, A, "0\n2.5\n3.5\n")).y.tolist() == [0, 2.5, 3.5]
    assert load(*two(tmp_path, A, ",0\n0,1.5\n1,2.5\n2,3.5\n")).y.tolist() == [1.5, 2.5, 3.5]


def test_all_digits_of_texts(tmp_path):
    third = "0,33333333333333333333333333333333"
    problem = load(*two(tmp_path, f"a;b\n1;{third}\n0,5;-2\n3;1\n", f"y\n{third}\n2\n1/1\n"), exact=True)
    assert float(abs(problem.all_digits.A[0, 1] * 3 - 1)) < 1e-31
    with pytest.raises(InputError, match="two text files"):
        load(tmp_path / "A.csv", exact=True)


def test_names_of_columns(tmp_path):
    body, y = "1,2.5\n3,4.5\n5,6.5\n", "1\n2\n3\n"
    for header, names in (("a,b\n", ("a", "b")), ("0,1\n", ()), ("", ()), ("a,\n", ("a", ""))):
        for exact in (False, True):
            problem, found = load_named(*two(tmp_path, header + body, y), exact, None)
            assert (problem.m_rows, problem.n, found) == (3, 2, names)


def test_exchanged_files(tmp_path):
    A, y = two(tmp_path, "1,2\n3,4\n5,6\n", "1\n2\n3\n")
    with pytest.raises(InputError, match=r"A has shape \(3, 1\) and y \(3, 2\): they are exchanged"):
        load(y, A)
    A, y = two(tmp_path, "1,5;2;3\n3;4;3\n5;6;3\n", "1,5\n2,5\n3,5\n")
    with pytest.raises(InputError, match=r"they are exchanged"):
        load(y, A)


def test_files_that_cannot_be_used(tmp_path):
    np.save(tmp_path / "A.npy", GOOD_A)
    np.savez(tmp_path / "names.npz", matrix=GOOD_A, data=GOOD_Y)
    scipy.io.savemat(tmp_path / "names.mat", {"matrix": GOOD_A, "y": GOOD_Y})
    np.savez(tmp_path / "object.npz", A=GOOD_A, y=np.array([1, "a", None, {}], dtype=object))
    gaussian_instance(30, 2, seed=0).save(tmp_path / "whole.npz")
    (tmp_path / "cut.npz").write_bytes((tmp_path / "whole.npz").read_bytes()[:3000])
    (tmp_path / "words.csv").write_text("not,a\nnumber,here\n")
    (tmp_path / "nan.csv").write_text("1,nan\n2,3\n1,1\n2,1\n")
    np.save(tmp_path / "y.npy", GOOD_Y)
    cases = [
        (["missing.npz"], "no such file"),
        (["A.npy"], "one array"),
        (["words.csv"], "one array"),
        (["names.npz"], "must hold arrays A and y .* it holds: data, matrix"),
        (["names.mat"], "has no array A; it holds: matrix, y"),
        (["object.npz"], "never loaded"),
        (["cut.npz"], "cannot be read, or is truncated"),
        (["words.csv", "A.npy"], "line 2, column 1: 'number' is not a number"),
        (["nan.csv", "y.npy"], r"A\[0, 1\] is nan"),
        (["A.npy", "y.xls"], "y.xls: .xls files cannot be read; save it as .csv"),
        (["names.npz", "A.npy"], "has no array A; it holds: data, matrix"),
        (["A.npy", "A.npy"], r"y has shape \(4, 3\)"),
    ]
    for files, message in cases:
        with pytest.raises(InputError, match=message):
            load(*(tmp_path / name for name in files))


@pytest.mark.parametrize("suffix", [".npz", ".npy", ".csv", ".mat", ".h5"])
@given(content=st.binary(max_size=300), prefix=st.sampled_from([b"", b"PK\x03\x04", b"\x93NUMPY\x01\x00", b"1,2\n3,"]))
def test_random_bytes_never_do_more_than_an_input_error(tmp_path_factory, suffix, content, prefix):
    folder = tmp_path_factory.mktemp("bytes")
    path = folder / f"random{suffix}"
    path.write_bytes(prefix + content)
    good = folder / "y.npy"
    np.save(good, GOOD_Y)
    for files in ([path], [path, good], [good, path]):
        try:
            load(*files)
        except InputError as error:
            assert "\n" not in str(error)


@given(cut=st.integers(0, 2000), flip=st.integers(0, 2000))
def test_a_damaged_archive_never_does_more_than_an_input_error(tmp_path_factory, cut, flip):
    folder = tmp_path_factory.mktemp("damaged")
    path = folder / "inst.npz"
    np.savez(path, A=GOOD_A, y=GOOD_Y)
    content = bytearray(path.read_bytes())
    content[flip % len(content)] ^= 0xFF
    path.write_bytes(bytes(content[: cut % (2 * len(content))]))
    try:
        load(path)
    except InputError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize("decimals", [4, 8, 12])
def test_decimals_tell_half_a_unit_of_the_last(tmp_path, decimals):
    """Or somewhat more: as many significant digits could be what numbers have in common."""
    values = 3 * np.random.default_rng(decimals).standard_normal(400)
    path = tmp_path / "y.csv"
    path.write_text("\n".join(f"{value:.{decimals}f}" for value in values))
    expected = 0.5 * 10.0**-decimals / np.sqrt(np.mean(values**2))
    assert 0.999 * expected < read_text_table(path).precision() < 10 * expected


@pytest.mark.parametrize("text", ["1\n20\n300", "0.25\n0.5\n0.75", "0.1234567890123456\n0.9876543210987654"])
def test_what_is_not_seen_to_be_rounded_is_not(tmp_path, text):
    """Whole numbers, few digits that may be all, and those of float64."""
    (tmp_path / "y.csv").write_text(text)
    assert read_text_table(tmp_path / "y.csv").precision() == 0

"""Arrays in files of any kind, and what is said of those that cannot be read."""

import sys

import numpy as np
import pytest

from phaselect.base.array_files import read_array, read_arrays
from phaselect.base.errors import InputError

h5py, scipy_io, sparse = (pytest.importorskip(name) for name in ("h5py", "scipy.io", "scipy.sparse"))

A = np.random.default_rng(0).standard_normal((4, 3))
B = A + 1j * A[::-1]


def matlab_73(path, **arrays):
    """As MATLAB writes it: a block of text, arrays transposed, complex numbers as pairs, sparse ones in parts."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, array in arrays.items():
            if sparse.issparse(array):
                group = file.create_group(name)
                group.attrs["MATLAB_sparse"] = np.uint64(array.shape[0])
                for part, values in (("data", array.data), ("ir", array.indices), ("jc", array.indptr)):
                    group[part] = values
                continue
            stored = np.ascontiguousarray(array.T)
            if stored.dtype.kind == "c":
                stored = stored.view([("real", "f8"), ("imag", "f8")])
            file[name] = stored
            file[name].attrs["MATLAB_class"] = np.bytes_("double")
    with open(path, "r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file")


def written(folder):
    """The same two arrays in files of every kind."""
    scipy_io.savemat(folder / "old.mat", {"A": A, "B": B, "other": "text"})
    matlab_73(folder / "new.mat", A=A, B=B)
    with h5py.File(folder / "plain.h5", "w") as file:
        file["A"], file["deeper/B"] = A, B
    np.savez(folder / "both.npz", A=A, B=B)
    return [folder / name for name in ("old.mat", "new.mat", "plain.h5", "both.npz")]


def test_arrays_by_name(tmp_path):
    for path in written(tmp_path):
        for found, array in zip(read_arrays(path, "A", "B"), (A, B), strict=True):
            np.testing.assert_array_equal(found, array)
        with pytest.raises(InputError, match=r"has no array y; it holds: A, B(, other)?$"):
            read_arrays(path, "A", "y")


def test_sparse_arrays_of_matlab(tmp_path):
    whole = sparse.csc_matrix(A * (A > 0.3))
    scipy_io.savemat(tmp_path / "old.mat", {"A": whole})
    matlab_73(tmp_path / "new.mat", A=whole)
    for name in ("old.mat", "new.mat"):
        np.testing.assert_array_equal(read_array(tmp_path / name).toarray(), whole.toarray())


def test_the_only_array_whatever_its_name(tmp_path):
    scipy_io.savemat(tmp_path / "a.mat", {"matrix": A})
    np.savez(tmp_path / "a.npz", data=A)
    np.save(tmp_path / "a.npy", A)
    np.savetxt(tmp_path / "a.tsv", A, delimiter="\t")
    for name in ("a.mat", "a.npz", "a.npy", "a.tsv"):
        np.testing.assert_array_equal(read_array(tmp_path / name, "y"), A)


def test_the_same_name_twice(tmp_path):
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["one/A"], file["two/A"] = A, A
    with pytest.raises(InputError, match="several arrays A: /one/A, /two/A"):
        read_array(tmp_path / "t.h5")


def test_without_h5py_it_is_said_how_to_get_it(tmp_path, monkeypatch):
    paths = written(tmp_path)
    monkeypatch.setitem(sys.modules, "h5py", None)
    for path in paths[1:3]:
        with pytest.raises(InputError, match=r"h5py is not installed: pip install 'phaselect\[hdf5\]'"):
            read_array(path)
    np.testing.assert_array_equal(read_array(paths[0]), A)


@pytest.mark.parametrize("suffix", [".mat", ".h5", ".npz"])
@pytest.mark.parametrize("content", [b"", b"words", b"\x89HDF\r\n\x1a\n" + bytes(40), bytes(600), b"PK\x03\x04" * 50])
def test_damaged_files(tmp_path, suffix, content):
    (tmp_path / f"damaged{suffix}").write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_array(tmp_path / f"damaged{suffix}")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("name", ["A.xlsx", "A"])
def test_other_kinds(tmp_path, name):
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(InputError, match=r"cannot be read; save it as \.csv, \.tsv"):
        read_array(tmp_path / name)

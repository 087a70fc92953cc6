"""Arrays in files of any kind: one to a file (`.npy` and texts), or several with names (`.npz`, `.mat`, HDF5).

Files are not to be trusted: nothing is unpickled, and whatever is wrong with one is told in one line.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from phaselect.base.errors import InputError, printable
from phaselect.base.files import either, reading
from phaselect.base.text_tables import read_text_table

TEXTS = (".csv", ".tsv", ".txt")
WITH_NAMES = (".npz", ".mat", ".h5", ".hdf5")
KINDS = (*TEXTS, ".npy", *WITH_NAMES)
"""Endings of files that can be read."""


class Arrays(NamedTuple):
    """The names of the arrays in a file, and how to read one."""

    names: Sequence[str]
    read: Callable[[str], Any]


def ending(path: str | Path) -> str:
    """That of a file that can be read."""
    found = Path(path).suffix.lower()
    if found not in KINDS:
        kind = f"{found} files" if found else "files without an ending"
        raise InputError(f"{path}: {kind} cannot be read; save it as {either(KINDS)}")
    return found


def read_array(path: str | Path, name: str = "A") -> Any:
    """One array: a text as a 2-D one; of a file with names the one of this name, or the only one it holds."""
    kind = ending(path)
    with reading(path):
        if kind in TEXTS:
            return read_text_table(path).numbers()
        if kind == ".npy":
            return _read_npy(path)
        with opened(path) as arrays:
            return arrays.read(arrays.names[0] if len(arrays.names) == 1 else name)


def read_npz(path: str | Path, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, NDArray[Any]]:
    """The arrays of an `.npz` file; only if it holds what it must, and nothing else."""
    with reading(path), opened(path, ".npz") as arrays:
        names = arrays.names
        if not set(required) <= set(names) <= {*required, *optional} or len(set(names)) < len(names):
            also = f" (optionally {', '.join(optional)}), each once" if optional else ""
            raise InputError(f"{path} must hold arrays {' and '.join(required)}{also}; {_holds(names)}")
        return {name: arrays.read(name) for name in names}


def read_arrays(path: str | Path, *names: str) -> list[Any]:
    """The arrays of these names, whatever else is in the file."""
    with reading(path), opened(path) as arrays:
        return [arrays.read(name) for name in names]


@contextmanager
def opened(path: str | Path, kind: str = "") -> Iterator[Arrays]:
    """A file with names."""
    kind = kind or ending(path)
    opener = _npz if kind == ".npz" else _hdf5 if kind in (".h5", ".hdf5") or _is_hdf5(path) else _mat
    with opener(path) as found:

        def read(name: str) -> Any:
            if name not in found.names:
                raise InputError(f"{path} has no array {name}; {_holds(found.names)}")
            return found.read(name)

        yield Arrays(found.names, read)


def _holds(names: Sequence[str]) -> str:
    return f"it holds: {printable(', '.join(sorted(names)))[:200] or 'nothing'}"


def _read_npy(path: str | Path) -> NDArray[Any]:
    with open(path, "rb") as stream:
        if stream.read(6) != b"\x93NUMPY":
            raise InputError(f"{path} is not a .npy file")
        stream.seek(0)
        return np.asarray(np.load(stream, allow_pickle=False))


@contextmanager
def _npz(path: str | Path) -> Iterator[Arrays]:
    with open(path, "rb") as stream:
        if stream.read(4) != b"PK\x03\x04":
            raise InputError(f"{path} is not an .npz archive")
        with ZipFile(stream) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist()]
        stream.seek(0)
        with np.load(stream, allow_pickle=False) as arrays:
            yield Arrays(names, arrays.__getitem__)


@contextmanager
def _mat(path: str | Path) -> Iterator[Arrays]:
    """A file of MATLAB before 7.3, or of Octave."""
    from scipy.io import loadmat, whosmat

    def read(name: str) -> Any:
        return loadmat(path, appendmat=False, variable_names=[name])[name]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there twice, and the like
        yield Arrays([name for name, *_ in whosmat(path, appendmat=False)], read)


def _is_hdf5(path: str | Path) -> bool:
    """Does it begin as HDF5 does, or, from MATLAB 7.3, after a block of text?"""
    with open(path, "rb") as stream:
        start = stream.read(520)
    return b"\x89HDF\r\n\x1a\n" in (start[:8], start[512:])


@contextmanager
def _hdf5(path: str | Path) -> Iterator[Arrays]:
    """Arrays are known by the last part of their names; MATLAB, from 7.3 on, has them transposed."""
    try:
        h5py = import_module("h5py")
    except ImportError:
        raise InputError(
            f"{path} is a file of HDF5, and h5py is not installed: pip install 'phaselect[hdf5]'"
        ) from None
    if not _is_hdf5(path):
        raise InputError(f"{path} is not a file of HDF5")
    with h5py.File(path, "r") as file:
        found: dict[str, list[Any]] = {}

        def note(name: str, item: Any) -> None:
            if isinstance(item, h5py.Dataset) or "MATLAB_sparse" in item.attrs:
                found.setdefault(name.split("/")[-1], []).append(item)

        file.visititems(note)  # which follows no links out of the file

        def read(name: str) -> Any:
            if len(found[name]) > 1:
                places = printable(", ".join(item.name for item in found[name]))[:200]
                raise InputError(f"{path} has several arrays {name}: {places}")
            return _from_hdf5(found[name][0])

        yield Arrays(list(found), read)


def _from_hdf5(item: Any) -> Any:
    """An array, in the order of its maker; complex ones are pairs with names."""
    if "MATLAB_sparse" in item.attrs:
        from scipy.sparse import csc_matrix

        parts = [_from_hdf5(item[part]) for part in ("data", "ir", "jc") if part in item]
        rows, ends = int(item.attrs["MATLAB_sparse"]), parts[-1]
        return csc_matrix(tuple(parts) if len(parts) == 3 else ([], [], ends), shape=(rows, len(ends) - 1))
    array = np.asarray(item[()])
    if array.dtype.names in (("real", "imag"), ("r", "i")):
        real, imaginary = array.dtype.names
        array = array[real] + 1j * array[imaginary]
    return array.T if "MATLAB_class" in item.attrs else array

"""Files in and out: atomic writes, and reading arrays from files nobody should trust."""

from __future__ import annotations

import os
import stat
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from phaselect.base import locks
from phaselect.base.errors import InputError, printable

PART = ".phaselect-part"
"""How the names of files end that are being written."""


@contextmanager
def atomic_write(path: str | Path) -> Iterator[BinaryIO]:
    """Open `path` for writing so that it appears whole or not at all; a file that is there keeps its permissions."""
    path = Path(path).resolve()  # a link is followed, not replaced
    if path.exists() and not path.is_file():
        raise InputError(f"cannot write {path}: it exists and is not a file")
    try:
        remove_leftovers(path.parent)
        with _part(path) as part, part.open("wb") as stream:
            yield stream
            stream.close()
            part.chmod(_mode(path))
            part.replace(path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from None


@contextmanager
def _part(path: Path) -> Iterator[Path]:
    """A new file beside `path`, locked while it is written, and gone in the end if it was not renamed."""
    while True:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=PART)
        part = Path(name)
        with locks.holding(handle):
            try:
                if part.exists():  # else it was taken for a leftover before it was locked
                    yield part
                    return
            finally:
                part.unlink(missing_ok=True)


def remove_leftovers(folder: Path) -> None:
    """Remove what processes that were killed had begun to write: the parts whose lock nobody holds."""
    for part in folder.glob(f".*{PART}") if locks.fcntl else ():
        with suppress(OSError):
            handle = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                if locks.take(handle):
                    part.unlink()
            finally:
                os.close(handle)


def save_arrays(path: str | Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write named arrays to an `.npz` file, atomically and under exactly the name given."""
    with atomic_write(path) as stream:
        np.savez(stream, **arrays)  # type: ignore[arg-type]


def read_npz(path: str | Path, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, NDArray[Any]]:
    """Read the arrays of an `.npz` file, without ever unpickling; only if it holds what it must, and nothing else."""
    with reading(path), open(path, "rb") as stream:
        _expect(stream, b"PK\x03\x04", path, "an .npz archive")
        with ZipFile(stream) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist()]
        if not set(required) <= set(names) <= {*required, *optional} or len(set(names)) < len(names):
            also = f" (optionally {', '.join(optional)}), each once" if optional else ""
            found = printable(", ".join(sorted(names)))[:200] or "nothing"
            raise InputError(f"{path} must hold arrays {' and '.join(required)}{also}; it holds: {found}")
        stream.seek(0)
        with np.load(stream, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in names}


def read_array(path: str | Path) -> NDArray[Any]:
    """Read one array from a `.npy` or comma-separated `.csv` file."""
    readers = {".npy": _read_npy, ".csv": _read_csv}
    reader = readers.get(Path(path).suffix.lower())
    if reader is None:
        raise InputError(f"{path}: A and y in two files must be .npy or .csv; one .npz holds both")
    with reading(path):
        return reader(path)


def read_as_written(path: str | Path) -> NDArray[np.object_]:
    """The texts of the numbers in a comma-separated `.csv` file; 1-D if it has one column, or one line."""
    if Path(path).suffix.lower() != ".csv":
        raise InputError(f"{path}: numbers as they are written are read from .csv files")
    with reading(path):
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    rows = [[text.strip() for text in line.split(",")] for line in lines if line.strip() and line[0] != "#"]
    if len({len(row) for row in rows}) > 1:
        raise InputError(f"{path} is ragged: give as many numbers in each line")
    table = np.array(rows, dtype=object)
    return table.ravel() if 1 in table.shape else table


def _read_npy(path: str | Path) -> NDArray[Any]:
    with open(path, "rb") as stream:
        _expect(stream, b"\x93NUMPY", path, "a .npy file")
        return np.asarray(np.load(stream, allow_pickle=False))


def _expect(stream: BinaryIO, magic: bytes, path: str | Path, kind: str) -> None:
    if stream.read(len(magic)) != magic:
        raise InputError(f"{path} is not {kind}")
    stream.seek(0)


def _read_csv(path: str | Path) -> NDArray[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # loadtxt warns on an empty file; validation says it better
        try:
            return np.loadtxt(path, delimiter=",", dtype=np.float64, encoding="utf-8-sig")
        except ValueError:  # numbers such as 1+2j, or none at all
            return np.loadtxt(path, delimiter=",", dtype=np.complex128, encoding="utf-8-sig")


@contextmanager
def reading(path: str | Path) -> Iterator[None]:
    """Turn whatever a damaged file makes a library raise into one clear line."""
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except Exception as error:  # a broken zip, header or line can raise almost anything
        if "allow_pickle" in str(error) or "Object arrays" in str(error):
            raise InputError(f"{path} holds Python objects, which are never loaded: save plain numbers") from None
        if "could not convert string" in str(error):
            raise InputError(f"{path} holds something other than numbers (a header row?): {error}") from None
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{path} cannot be read, or is truncated ({reason})") from None


def _mode(path: Path) -> int:
    """The permissions of a file; those of a new one if it is not there."""
    with suppress(FileNotFoundError):
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask

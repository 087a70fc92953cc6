"""Files in and out: atomic writes, and reading arrays from files nobody should trust."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from phaselect.base.errors import InputError


@contextmanager
def atomic_write(path: str | Path) -> Iterator[BinaryIO]:
    """Open `path` for writing so that it appears whole or not at all."""
    path = Path(path).resolve()  # a link is followed, not replaced
    if path.exists() and not path.is_file():
        raise InputError(f"cannot write {path}: it exists and is not a file")
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise InputError(f"cannot write {path}: {error.strerror}") from None
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def save_arrays(path: str | Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write named arrays to an `.npz` file, atomically and under exactly the name given."""
    with atomic_write(path) as stream:
        np.savez(stream, **arrays)  # type: ignore[arg-type]


def read_npz(path: str | Path) -> dict[str, NDArray[Any]]:
    """Read every array of an `.npz` file, without ever unpickling."""
    with _reading(path), open(path, "rb") as stream:
        _expect(stream, b"PK\x03\x04", path, "an .npz archive")
        with np.load(stream, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}


def read_array(path: str | Path) -> NDArray[Any]:
    """Read one array from a `.npy` or comma-separated `.csv` file."""
    readers = {".npy": _read_npy, ".csv": _read_csv}
    reader = readers.get(Path(path).suffix.lower())
    if reader is None:
        raise InputError(f"{path}: A and y in two files must be .npy or .csv; one .npz holds both")
    with _reading(path):
        return reader(path)


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
        return np.loadtxt(path, delimiter=",", dtype=np.float64, encoding="utf-8-sig")


@contextmanager
def _reading(path: str | Path) -> Iterator[None]:
    """Turn whatever a damaged file makes NumPy raise into one clear line."""
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
            raise InputError(f"{path} holds something other than real numbers (a header row?): {error}") from None
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{path} cannot be read, or is truncated ({reason})") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

"""Files in and out: atomic writes, and what is said of a file that cannot be read."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from phaselect.base import locks
from phaselect.base.errors import InputError

PART = ".phaselect-part"
"""How the names of files end that are being written."""


@contextmanager
def atomic_write(path: str | Path) -> Iterator[BinaryIO]:
    """Open `path` for writing so that it appears whole or not at all; a file that is there keeps its permissions."""
    path = Path(path).resolve()  # a link is followed, not replaced
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"cannot write {path}: it exists and is not a file")
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


def check_ending(path: str | Path, endings: Sequence[str]) -> str:
    """That of a file to be written, or read, which must be one of these."""
    found = Path(path).suffix.lower()
    if found not in endings:
        raise InputError(f"{path}: name the file {either(endings)}")
    return found


def either(words: Sequence[str]) -> str:
    """One of these: a, b or c."""
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


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
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{path} cannot be read, or is truncated ({reason})") from None


def _mode(path: Path) -> int:
    """The permissions of a file; those of a new one if it is not there."""
    with suppress(FileNotFoundError):
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask

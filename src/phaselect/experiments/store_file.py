"""The SQLite file of a store: made whole, checked before it is opened, held by one writer; in words where it fails."""

from __future__ import annotations

import os
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from phaselect.base import locks
from phaselect.base.errors import InputError

APPLICATION_ID = 0x50484153  # "PHAS", in the header of the file
VERSION = 3
ADVICE = {
    "SQLITE_FULL": ": make room; its rows are kept, and the same command goes on",
    "SQLITE_IOERR": ": is the disk full? its rows are kept",
    "SQLITE_CORRUPT": ": restore it from a copy, or try `phaselect merge NEW.db {path}`, or sqlite3's .recover",
}
"""What to do, by the beginning of the name of SQLite's error."""


def connect(path: Path, read_only: bool) -> sqlite3.Connection:
    """Open a store. Readers too open it for writing: the last one to leave tidies up the log."""
    mode = "mode=rw"
    if read_only and not os.access(path.parent, os.W_OK) and not _log(path).exists():
        mode = "mode=ro&immutable=1"  # in a folder that nobody can write to, nobody does
    with explained(path):
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?{mode}", uri=True, timeout=60, isolation_level=None)
        try:
            connection.execute(f"PRAGMA query_only = {int(read_only)}")
            connection.execute("SELECT count(*) FROM runs").fetchone()
        except sqlite3.Error:
            connection.close()
            raise
        return connection


def file_at(path: Path) -> tuple[int, int] | None:
    """Which file has this name now."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _log(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def create(path: Path, tables: str) -> None:
    """A new store with these empty tables, written under another name first: a file under this name is a whole one."""
    fresh = path.with_name(f".{path.name}.new")
    with explained(path):
        for left in (path, fresh):  # by a store that was deleted, and by a process that was killed here
            for suffix in ("-journal", "-wal", "-shm"):
                left.with_name(f"{left.name}{suffix}").unlink(missing_ok=True)
        fresh.unlink(missing_ok=True)
        try:
            with closing(sqlite3.connect(fresh)) as connection:
                connection.executescript(
                    f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION};"
                    f"{tables} PRAGMA journal_mode = WAL;"
                )
            fresh.replace(path)
        finally:
            fresh.unlink(missing_ok=True)


def check_header(path: Path) -> None:
    """Refuse, unopened, a file that is not a store of this version or has lost its end."""
    try:
        with path.open("rb") as stream:
            head = stream.read(100)
        size = path.stat().st_size
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    if len(head) < 100 or not head.startswith(b"SQLite format 3\0"):
        raise InputError(f"{path} is not a store of runs, or is truncated; it was left as it is")
    page, pages = struct.unpack(">H", head[16:18])[0], struct.unpack(">I", head[28:32])[0]
    version, application = struct.unpack(">I", head[60:64])[0], struct.unpack(">I", head[68:72])[0]
    if application != APPLICATION_ID:
        raise InputError(f"{path} is an SQLite file, but not a store of runs; it was left as it is")
    if version < VERSION:
        raise InputError(
            f"{path} is a store of version {version}, whose runs drew other random numbers: name another file, "
            "and they are run anew; it was left as it is"
        )
    if version > VERSION:
        raise InputError(
            f"{path} is a store of version {version}, this phaselect reads {VERSION}: update it; it was left as it is"
        )
    whole = (page if page > 1 else 65536) * pages
    if size < whole and not (_log(path).exists() and _log(path).stat().st_size):  # else the log has the rest
        raise InputError(f"{path} is truncated ({size} bytes): restore it from a copy; it was left as it is")


def lock_of(path: Path) -> Path:
    """The file that a writer holds."""
    return path.resolve().with_name(f".{path.resolve().name}.lock")


def take_lock(path: Path) -> int | None:
    """One writer: hold a lock beside the store, which the system lifts however the process ends."""
    if not path.parent.is_dir():
        raise InputError(f"cannot write {path}: {path.parent} is not a folder")
    if locks.fcntl is None:  # Windows: rows are still keyed and added in transactions
        return None
    lock = lock_of(path)
    while True:
        with explained(path):
            handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)  # nobody's file through a link
        if not locks.take(handle):
            os.close(handle)
            raise InputError(f"{path} is being written by another sweep: wait for it, or use another store and merge")
        if lock.exists() and os.fstat(handle).st_ino == lock.stat().st_ino:
            return handle
        os.close(handle)  # the last holder removed the file while we took its lock


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what SQLite says of a damaged or unreachable file into one clear line, with what to do."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        name = vars(error).get("sqlite_errorname", "")
        advice = next((words for kind, words in ADVICE.items() if name.startswith(kind)), "")
        raise InputError(f"{path}: {error}{advice.format(path=path)}") from None

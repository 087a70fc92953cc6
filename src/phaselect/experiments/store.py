"""The store of a sweep: an SQLite file with one row per run, keyed by its parameters.

One process writes (workers hand their rows to it), any number may read meanwhile. A row that is done is never replaced;
one that failed is, when it is tried again. Keep the file on a disk of the machine that writes it: SQLite's
write-ahead log does not work over a network file system.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from phaselect.base import locks
from phaselect.base.errors import InputError
from phaselect.base.tables import Columns, Table
from phaselect.experiments.grid import USUAL, Grid
from phaselect.solvers.registry import OPTIONS

APPLICATION_ID = 0x50484153  # "PHAS", in the header of the file
VERSION = 3
FAILED = "FAILED"
COLUMNS = {
    "key": "TEXT PRIMARY KEY",
    "solver": "TEXT NOT NULL",
    "n": "INTEGER NOT NULL",
    "alpha": "REAL NOT NULL",
    "seed": "INTEGER NOT NULL",
    "options": "TEXT NOT NULL",  # as JSON: those that the solver has; ensemble and field if they are not the usual ones
    "plan": "TEXT NOT NULL",  # a digest of what they come to
    "status": "TEXT NOT NULL",
    "m": "REAL",
    "O": "REAL",
    "mse_y": "REAL",
    "mse_x": "REAL",
    "sweeps": "REAL",
    "seconds": "REAL",
    "version": "TEXT NOT NULL",
    "revision": "TEXT NOT NULL",
    "device": "TEXT NOT NULL DEFAULT ''",  # gpu or cpu if it was run there in a batch
    "error": "TEXT NOT NULL",
}
Row = dict[str, Any]


class Store:
    """An open store. `Store(path)` writes, and makes the file if there is none; `Store(path, read_only=True)` reads.

    with Store("runs.db", read_only=True) as store:
        table = store.table()
    """

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        self.path = Path(path)
        if not self.path.name:
            raise InputError(f"{str(path)!r} is no name for a store: give that of a file")
        if read_only and not self.path.exists():
            raise InputError(f"{path}: no such store; `phaselect sweep --store {path} ...` makes one")
        self._lock = None if read_only else _take_lock(self.path)
        try:
            if not self.path.exists():
                _create(self.path)
            _check_header(self.path)
            self._connection = _connect(self.path, read_only)
        except BaseException:
            self._unlock()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; whatever was added is in it."""
        self._connection.close()
        self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            _lock_of(self.path).unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = None

    def __len__(self) -> int:
        with _explained(self.path):
            return int(self._connection.execute("SELECT count(*) FROM runs").fetchone()[0])

    def keys(self, *, failed: bool = True) -> set[str]:
        """The runs that the store has; without the failed ones on request."""
        condition = "" if failed else " WHERE status != 'FAILED'"
        with _explained(self.path):
            return {key for (key,) in self._connection.execute(f"SELECT key FROM runs{condition}")}

    def failures(self) -> dict[str, str]:
        """The failed runs, with their errors."""
        with _explained(self.path):
            return dict(self._connection.execute("SELECT key, error FROM runs WHERE status = 'FAILED'"))

    def times(self, device: str) -> dict[tuple[Any, ...], tuple[int, float]]:
        """For each kind of task (see `Task.kind`) the finished runs on a device and the seconds they took together."""
        query = (
            "SELECT solver, n, options, plan, count(*), sum(seconds) FROM runs "
            "WHERE status != 'FAILED' AND device = ? AND seconds IS NOT NULL GROUP BY solver, n, options, plan"
        )
        with _explained(self.path):
            return {tuple(kind): (count, total) for *kind, count, total in self._connection.execute(query, [device])}

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add rows, all or none; a row that is there and did not fail stays as it is."""
        names = ", ".join(COLUMNS)
        holes = ", ".join(f":{name}" for name in COLUMNS)
        update = ", ".join(f"{name} = excluded.{name}" for name in COLUMNS if name != "key")
        statement = (
            f"INSERT INTO runs ({names}) VALUES ({holes}) "
            f"ON CONFLICT(key) DO UPDATE SET {update} WHERE runs.status = 'FAILED'"
        )
        records = [{name: _plain(row[name]) for name in COLUMNS} for row in rows]
        with self._transaction():
            self._connection.executemany(statement, records)

    def table(self) -> Table:
        """All rows, in the order of their parameters, a column for ensemble, field and each option; or nan."""
        order = "solver, n, options, plan, alpha, seed"
        columns: Columns = {}
        with _explained(self.path):
            rows = self._connection.execute(f"SELECT {', '.join(COLUMNS)} FROM runs ORDER BY {order}").fetchall()
        with _decoding(self.path):
            for i, (name, kind) in enumerate(COLUMNS.items()):
                values = [row[i] for row in rows]
                columns |= _spread(values) if name == "options" else {name: _column(values, kind)}
        return Table(columns, {"store": self.path.name, "rows": str(len(rows))})

    def remember(self, grids: Iterable[Grid]) -> None:
        """Keep what was asked for, so that `status` can tell what is missing."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        records = [(json.dumps(grid.to_dict(), sort_keys=True), now) for grid in grids]
        with self._transaction():
            self._connection.executemany("INSERT OR IGNORE INTO grids (grid, asked) VALUES (?, ?)", records)

    def grids(self) -> list[Grid]:
        """Everything that was ever asked for."""
        with _explained(self.path):
            texts = self._connection.execute("SELECT grid FROM grids ORDER BY asked").fetchall()
        with _decoding(self.path):
            return [Grid.from_dict(json.loads(text)) for (text,) in texts]

    def merge(self, others: Sequence[Store]) -> list[int]:
        """Add the rows and grids of other stores, all or none; returns how many rows were taken from each.

        Of a run that several have, the first row stays, unless it failed and another did not.
        """
        taken = []
        with self._transaction():
            for other in others:
                known, done = self.keys(), self.keys(failed=False)
                rows = [row for row in other._rows() if row["key"] not in (known if row["status"] == FAILED else done)]
                self.add(rows)
                self.remember(other.grids())
                taken.append(len(rows))
        return taken

    def _rows(self) -> list[Row]:
        with _explained(self.path):
            rows = self._connection.execute(f"SELECT {', '.join(COLUMNS)} FROM runs").fetchall()
        return [dict(zip(COLUMNS, row, strict=True)) for row in rows]

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All that is written within this context, or nothing; one within another is a part of it."""
        if self._connection.in_transaction:
            yield
            return
        with _explained(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")


def _connect(path: Path, read_only: bool) -> sqlite3.Connection:
    """Open a store. Readers too open it for writing: the last one to leave tidies up the log."""
    mode = "mode=rw"
    if read_only and not os.access(path.parent, os.W_OK) and not _log(path).exists():
        mode = "mode=ro&immutable=1"  # in a folder that nobody can write to, nobody does
    with _explained(path):
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?{mode}", uri=True, timeout=60, isolation_level=None)
        try:
            connection.execute(f"PRAGMA query_only = {int(read_only)}")
            connection.execute("SELECT count(*) FROM runs").fetchone()
        except sqlite3.Error:
            connection.close()
            raise
        return connection


def _log(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _create(path: Path) -> None:
    """A new, empty store, written under another name first: a file under this name is a whole one."""
    fresh = path.with_name(f".{path.name}.new")
    with _explained(path):
        for left in (path, fresh):  # by a store that was deleted, and by a process that was killed here
            for suffix in ("-journal", "-wal", "-shm"):
                left.with_name(f"{left.name}{suffix}").unlink(missing_ok=True)
        fresh.unlink(missing_ok=True)
        connection = sqlite3.connect(fresh)
        connection.executescript(
            f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION};"
            f"CREATE TABLE runs ({', '.join(f'{name} {kind}' for name, kind in COLUMNS.items())});"
            "CREATE TABLE grids (grid TEXT PRIMARY KEY, asked TEXT NOT NULL);"
            "PRAGMA journal_mode = WAL;"
        )
        connection.close()
        fresh.replace(path)


def _check_header(path: Path) -> None:
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


def _lock_of(path: Path) -> Path:
    return path.resolve().with_name(f".{path.resolve().name}.lock")


def _take_lock(path: Path) -> int | None:
    """One writer: hold a lock beside the store, which the system lifts however the process ends."""
    if not path.parent.is_dir():
        raise InputError(f"cannot write {path}: {path.parent} is not a folder")
    if locks.fcntl is None:  # Windows: rows are still keyed and added in transactions
        return None
    lock = _lock_of(path)
    while True:
        with _explained(path):
            handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)  # nobody's file through a link
        if not locks.take(handle):
            os.close(handle)
            raise InputError(f"{path} is being written by another sweep: wait for it, or use another store and merge")
        if lock.exists() and os.fstat(handle).st_ino == lock.stat().st_ino:
            return handle
        os.close(handle)  # the last holder removed the file while we took its lock


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn what SQLite says of a damaged or unreachable file into one clear line."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise InputError(f"{path}: {error}") from None


@contextmanager
def _decoding(path: Path) -> Iterator[None]:
    """Turn what is said of a row that cannot be read into one clear line."""
    try:
        yield
    except InputError:
        raise
    except (ValueError, TypeError, AttributeError) as error:
        raise InputError(f"{path} is damaged: a row cannot be read ({error})") from None


def _plain(value: Any) -> Any:
    """What SQLite can hold; it has no not-a-number, so that becomes missing."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and math.isnan(value) else value


def _spread(texts: list[str]) -> Columns:
    """Ensemble, field, and a column for each option; all of the registry, so that all tables can be stacked."""
    options = [json.loads(text) for text in texts]
    named = {name: _column([row.pop(name, usual) for row in options], "TEXT") for name, usual in USUAL.items()}
    names = dict.fromkeys([*OPTIONS, *(name for row in options for name in row)])
    numbers = {name: _column([row.get(name) for row in options], "REAL") for name in names}
    return named | numbers


def _column(values: list[Any], kind: str) -> Any:
    if kind.startswith("TEXT"):
        return np.array(values, dtype=str)
    if kind == "INTEGER NOT NULL":
        return np.array(values, dtype=np.int64)
    return np.array([math.nan if value is None else value for value in values], dtype=np.float64)

"""The store of a sweep: an SQLite file with one row per run, keyed by its parameters.

One process writes (workers hand their rows to it), any number may read meanwhile. A row that is done is never replaced;
one that failed is, when it is tried again. Keep the file on a disk of the machine that writes it: SQLite's
write-ahead log does not work over a network file system.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from phaselect.base.errors import InputError
from phaselect.base.tables import Columns, Table
from phaselect.experiments.grid import USUAL, Grid
from phaselect.experiments.store_file import check_header, connect, create, explained, file_at, lock_of, take_lock
from phaselect.solvers.registry import OPTIONS

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
TABLES = (
    f"CREATE TABLE runs ({', '.join(f'{name} {kind}' for name, kind in COLUMNS.items())});"
    "CREATE TABLE grids (grid TEXT PRIMARY KEY, asked TEXT NOT NULL);"
)
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
        self._lock = None if read_only else take_lock(self.path)
        try:
            if not self.path.exists():
                create(self.path, TABLES)
            check_header(self.path)
            self._connection = connect(self.path, read_only)
            self._file = file_at(self.path)
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
            lock_of(self.path).unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = None

    def __len__(self) -> int:
        with explained(self.path):
            return int(self._connection.execute("SELECT count(*) FROM runs").fetchone()[0])

    def keys(self, *, failed: bool = True) -> set[str]:
        """The runs that the store has; without the failed ones on request."""
        condition = "" if failed else " WHERE status != 'FAILED'"
        with explained(self.path):
            return {key for (key,) in self._connection.execute(f"SELECT key FROM runs{condition}")}

    def failures(self) -> dict[str, str]:
        """The failed runs, with their errors."""
        with explained(self.path):
            return dict(self._connection.execute("SELECT key, error FROM runs WHERE status = 'FAILED'"))

    def times(self, device: str) -> dict[tuple[Any, ...], tuple[int, float]]:
        """For each kind of task (see `Task.kind`) the finished runs on a device and the seconds they took together."""
        query = (
            "SELECT solver, n, options, plan, count(*), sum(seconds) FROM runs "
            "WHERE status != 'FAILED' AND device = ? AND seconds IS NOT NULL GROUP BY solver, n, options, plan"
        )
        with explained(self.path):
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
        with explained(self.path):
            rows = self._connection.execute(f"SELECT {', '.join(COLUMNS)} FROM runs ORDER BY {order}").fetchall()
        with _decoding(self.path):
            for i, (name, kind) in enumerate(COLUMNS.items()):
                values = [row[i] for row in rows]
                columns |= _spread(values) if name == "options" else {name: _column(values, kind)}
        return Table(columns, {"store": self.path.name, "rows": str(len(rows))})

    def remember(self, grids: Iterable[Grid]) -> None:
        """Keep what was asked for, so that `status` can tell what is missing."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._remember((json.dumps(grid.to_dict(), sort_keys=True), now) for grid in grids)

    def _remember(self, records: Iterable[tuple[str, str]]) -> None:
        with self._transaction():
            self._connection.executemany("INSERT OR IGNORE INTO grids (grid, asked) VALUES (?, ?)", records)

    def grids(self) -> list[Grid]:
        """Everything that was ever asked for."""
        with _decoding(self.path):
            decoded = [json.loads(text) for text, _ in self._grids()]
            try:
                return [Grid.from_dict(grid) for grid in decoded]
            except InputError as error:
                raise InputError(f"{self.path}: what was asked of it is not known to this version ({error})") from None

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
                self._remember(other._grids())
                taken.append(len(rows))
        return taken

    def _grids(self) -> list[tuple[str, str]]:
        """As texts, with the times at which they were asked for."""
        with explained(self.path):
            return self._connection.execute("SELECT grid, asked FROM grids ORDER BY asked").fetchall()

    def _rows(self) -> list[Row]:
        with explained(self.path):
            rows = self._connection.execute(f"SELECT {', '.join(COLUMNS)} FROM runs").fetchall()
        return [dict(zip(COLUMNS, row, strict=True)) for row in rows]

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All that is written within this context, or nothing; one within another is a part of it."""
        if self._connection.in_transaction:
            yield
            return
        with explained(self.path):
            if file_at(self.path) != self._file:  # SQLite would go on writing to a file without that name
                raise InputError(
                    f"{self.path} was removed, renamed or replaced while it was open: nothing more is written"
                )
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")


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

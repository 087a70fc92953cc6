"""A table: named columns of equal length and where they come from; as a `.csv` file its provenance is in `#` lines.

`pandas.read_csv(path, comment="#")` reads the file too.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phaselect.base.errors import InputError
from phaselect.base.files import atomic_write

Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length, with their provenance: what was computed, how, by which version.

    >>> table = Table({"n": np.array([100, 200]), "alpha": np.array([1.2, 1.3])}, {"command": "by hand"})
    >>> table.where(n=200)["alpha"]
    array([1.3])
    """

    columns: Columns
    provenance: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len({len(column) for column in self.columns.values()}) > 1:
            raise InputError("the columns of a table must have equal lengths")

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.columns[name]

    def where(self, **values: Any) -> Table:
        """The rows in which each named column has the given value."""
        keep = np.ones(len(self), dtype=bool)
        for name, value in values.items():
            keep &= self.columns[name] == value
        return self.take(keep)

    def take(self, rows: NDArray[Any]) -> Table:
        """The rows chosen by a mask or by their numbers."""
        return replace(self, columns={name: column[rows] for name, column in self.columns.items()})

    def by(self, name: str) -> list[Table]:
        """The rows of each distinct value of a column."""
        return [self.where(**{name: value}) for value in self.values(name)]

    def values(self, name: str) -> list[Any]:
        """The distinct values of a column, in the order in which they first appear."""
        return list(dict.fromkeys(self.columns[name].tolist()))

    def rounded(self, digits: int) -> Table:
        """The same with floats to so many significant digits: enough to draw, and a much smaller file."""
        columns = {
            name: np.array([float(f"{value:.{digits}g}") for value in column.tolist()])
            if column.dtype.kind == "f"
            else column
            for name, column in self.columns.items()
        }
        return Table(columns, self.provenance)

    def save(self, path: str | Path) -> None:
        """Write a `.csv` file, whole or not at all; floats in full precision."""
        with atomic_write(path) as stream, io.TextIOWrapper(stream, "utf-8", newline="") as text:
            for name, note in self.provenance.items():
                text.write(f"# {name}: {' '.join(str(note).split())}\n")
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(self.columns)
            writer.writerows(zip(*(column.tolist() for column in self.columns.values()), strict=True))
            text.flush()

    def save_parquet(self, path: str | Path) -> None:
        """Write a `.parquet` file, whole or not at all, provenance in its metadata; needs pyarrow."""
        try:
            parquet, arrow = import_module("pyarrow.parquet"), import_module("pyarrow")
        except ImportError:
            raise InputError("pyarrow is not installed: pip install 'phaselect[parquet]', or write .csv") from None
        with atomic_write(path) as stream:
            parquet.write_table(arrow.table(self.columns).replace_schema_metadata(self.provenance), stream)


def stack(parts: Iterable[Mapping[str, Any]]) -> Columns:
    """Columns one under the other; a plain value in a part stands for a whole column of it."""
    parts = list(parts)
    lengths = [max((np.size(value) for value in part.values()), default=0) for part in parts]
    return {
        name: np.concatenate([np.broadcast_to(part[name], n) for part, n in zip(parts, lengths, strict=True)])
        for name in (parts[0] if parts else ())
    }


def load_table(path: str | Path) -> Table:
    """Read a table that `save` wrote."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder: give a table, a .csv file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    notes = [line.removeprefix("#").strip().partition(": ") for line in lines if line.startswith("#")]
    header, *rows = list(csv.reader(line for line in lines if not line.startswith("#"))) or [[]]
    if not header or any(len(row) != len(header) for row in rows):
        raise InputError(f"{path} is not a table, or is truncated: every row must have the columns of the first line")
    columns = {name: _column([row[i] for row in rows]) for i, name in enumerate(header)}
    return Table(columns, {name: text for name, _, text in notes})


def _column(cells: list[str]) -> NDArray[Any]:
    """Truth values, whole numbers, numbers or text: the first that all cells are."""
    if cells and set(cells) <= {"True", "False"}:
        return np.array([cell == "True" for cell in cells])
    for kind in (int, float):
        try:
            return np.array([kind(cell) for cell in cells])
        except ValueError:
            continue
    return np.array(cells)

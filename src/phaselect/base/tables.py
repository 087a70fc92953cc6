"""A table: named columns of equal length and where they come from; as a `.csv` file its provenance is in `#` lines.

`pandas.read_csv(path, comment="#")` reads the file too.
"""

from __future__ import annotations

import csv
import io
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phaselect.base.errors import InputError
from phaselect.base.files import atomic_write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Columns = dict[str, NDArray[Any]]

FEW = 8
"""Names of columns that are shown; of more, the first ones and the last."""


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Columns of equal length, with their provenance: what was computed, how, by which version.

    `shown` are the names that `plot` draws if not told otherwise, the first of them across. A table has as many entries
    as rows, and goes through the names of its columns: `dict(table)` are the columns.

    >>> table = Table({"n": np.array([100, 200]), "alpha": np.array([1.2, 1.3])}, {"command": "by hand"})
    >>> table.where(n=200)["alpha"]
    array([1.3])
    >>> table
    Table(2 rows x 2 columns: n, alpha)
    """

    columns: Columns
    provenance: dict[str, str] = field(default_factory=dict)
    shown: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len({len(column) for column in self.columns.values()}) > 1:
            raise InputError("the columns of a table must have equal lengths")

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def keys(self) -> KeysView[str]:
        """The names of the columns."""
        return self.columns.keys()

    def items(self) -> ItemsView[str, NDArray[Any]]:
        """Names and columns."""
        return self.columns.items()

    def __repr__(self) -> str:
        ranges = [_range(name, self.columns[name]) for name in self.shown]
        facts = [f"{len(self)} rows x {len(self.columns)} columns", *ranges]
        if "converged" in self:
            lost = int(np.sum(self.columns["converged"] == 0))
            facts.append(f"{lost} row{'s' if lost > 1 else ''} not converged" if lost else "all converged")
        names = list(self.columns)
        names = names if len(names) <= FEW else [*names[: FEW - 1], "...", names[-1]]
        return f"Table({', '.join(facts)}{': ' if names else ''}{', '.join(names)})"

    def plot(self, *names: str) -> Figure:
        """The columns of these names against the first of them, a panel for each; a matplotlib Figure.

        A notebook shows it; elsewhere `table.plot().savefig("table.png")`.
        """
        across, *others = names or self.shown or self.columns
        for name in (across, *others):
            if name not in self:
                raise InputError(f"there is no column {name}: there are {', '.join(self.columns)}")
        if not others:
            raise InputError("name two columns or more to plot: the first is drawn across")
        from phaselect.base.curves import draw_columns

        return draw_columns(self.columns, across, others)

    def to_frame(self) -> Any:
        """The columns as a `pandas.DataFrame`; needs pandas."""
        return frame(self.columns)

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
        return replace(self, columns=columns)

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


def frame(columns: Mapping[str, NDArray[Any]]) -> Any:
    """Columns as a `pandas.DataFrame`."""
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise InputError("pandas is not installed: pip install pandas, or use the columns as they are") from None
    return pandas.DataFrame(dict(columns))


def _range(name: str, column: NDArray[Any]) -> str:
    """From where to where a column of numbers goes."""
    known = column[np.isfinite(column)]
    return f"{name} {known.min():.4g} to {known.max():.4g}" if known.size else f"{name} unknown"


def stack(parts: Iterable[Mapping[str, Any]]) -> Columns:
    """Columns one under the other; a plain value in a part stands for a whole column of it, or, alone, for a row."""
    parts = list(parts)
    lengths = [max((len(value) for value in part.values() if np.ndim(value)), default=1) for part in parts]
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
    try:
        header, *rows = list(csv.reader(line for line in lines if not line.startswith("#"))) or [[]]
    except csv.Error as error:
        raise InputError(f"{path} is not a table, or is damaged: {error}") from None
    if not header or any(len(row) != len(header) for row in rows):
        raise InputError(f"{path} is not a table, or is truncated: every row must have the columns of the first line")
    columns = {name: _column([row[i] for row in rows]) for i, name in enumerate(header)}
    return Table(columns, {name: text for name, _, text in notes})


def _column(cells: list[str]) -> NDArray[Any]:
    """Truth values, whole numbers, numbers or text: the first that all cells are."""
    if cells and set(cells) <= {"True", "False"}:
        return np.array([cell == "True" for cell in cells])
    for kind, dtype in ((int, np.int64), (float, np.float64)):
        try:
            return np.array([kind(cell) for cell in cells], dtype=dtype)
        except (ValueError, OverflowError):
            continue
    return np.array(cells)

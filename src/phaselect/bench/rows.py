"""What a benchmark is made of: tasks that are measured one after the other, rows, and the report that keeps them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from phaselect.base.errors import InputError
from phaselect.base.files import atomic_write

SECTIONS = ("kernels", "amp", "solutions", "growth")
"""What can be asked for; the rows of the model come with growth."""


class Measurement(NamedTuple):
    """A number in its unit, what it is compared with in the same unit, and how it came about."""

    value: float | None  # None where nothing could be measured: the detail says why
    unit: str
    detail: str = ""
    reference: float | None = None  # what others do, measured in the same run
    bound: float | None = None  # what the machine allows


class Task(NamedTuple):
    """One row that is still to be measured."""

    section: str
    what: str
    size: str
    measure: Callable[[], Measurement]


class Row(NamedTuple):
    """One row of the table."""

    section: str
    what: str
    size: str
    value: float | None
    unit: str
    reference: float | None
    bound: float | None
    detail: str


class Report(NamedTuple):
    """Rows with the machine that they were measured on; two runs that measure the same are the same, no date."""

    device: str
    quick: bool
    machine: dict[str, Any]
    rows: list[Row]

    def save(self, path: str | Path) -> None:
        """Write a .json file, whole or not at all."""
        record = self._asdict() | {"rows": [row._asdict() for row in self.rows]}
        with atomic_write(path) as stream:
            stream.write((json.dumps(record, indent=1, allow_nan=False, ensure_ascii=False) + "\n").encode())


def load_report(path: str | Path) -> Report:
    """Read a report that `save` wrote."""
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
        rows = [Row(**row) for row in record.pop("rows")]
        return Report(**record, rows=rows)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(f"{path} is not a report of phaselect bench ({type(error).__name__}: {error})") from None


def measured(task: Task) -> Row:
    """Do a task; one that cannot be done or fails becomes a row that says so, and the others go on."""
    try:
        found = task.measure()
    except InputError as missing:
        found = Measurement(None, "", str(missing))
    except Exception as error:
        lines = str(error).splitlines() or [type(error).__name__]
        found = Measurement(None, "", f"failed: {lines[0]}")
    value, reference, bound = map(_finite, (found.value, found.reference, found.bound))
    return Row(task.section, task.what, task.size, value, found.unit, reference, bound, found.detail)


def failed(row: Row) -> bool:
    """Did the measurement break off?"""
    return row.detail.startswith("failed: ")


def _finite(value: float | None) -> float | None:
    """A plain number, as JSON can keep it."""
    return float(value) if value is not None and math.isfinite(value) else None

"""What a benchmark is made of: tasks that are measured one after the other, rows, and the report that keeps them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from phaselect import InputError
from phaselect.base.files import atomic_write


class Measurement(NamedTuple):
    """A number in its unit, with what it is compared with, in the same unit, and how it came about."""

    value: float | None  # None where nothing could be measured: the detail says why
    unit: str
    detail: str = ""
    reference: float | None = None  # what others do, measured in the same run
    bound: float | None = None  # what the machine allows
    more_is_better: bool = False  # rates and shares; not times and sizes
    least_ratio: float | None = None  # that we want
    limit: float | None = None  # of the value, that we want

    @property
    def ratio(self) -> float | None:
        """How many times better than the reference."""
        return self._times_better(self.reference)

    @property
    def of_bound(self) -> float | None:
        """How much of what the machine allows; 1 is at the bound."""
        return self._times_better(self.bound)

    @property
    def target(self) -> str:
        """What we want, in words."""
        wanted = [] if self.least_ratio is None else [f"{self.least_ratio:g} times the reference"]
        if self.limit is not None:
            wanted.append(f"{'>=' if self.more_is_better else '<='} {self.limit:g} {self.unit}")
        return ", ".join(wanted)

    @property
    def missed(self) -> bool:
        """Was it measured, and is it worse than we want?"""
        slow = self.ratio is not None and self.least_ratio is not None and self.ratio < self.least_ratio
        within = self._times_better(self.limit)
        return slow or (within is not None and within < 1)

    def _times_better(self, other: float | None) -> float | None:
        if self.value is None or other is None:
            return None
        better, worse = (self.value, other) if self.more_is_better else (other, self.value)
        return better / worse if worse else math.inf


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
    found: Measurement

    @property
    def failed(self) -> bool:
        """Did the measurement break off?"""
        return self.found.detail.startswith("failed: ")


class Report(NamedTuple):
    """Rows with the machine that they were measured on."""

    device: str
    quick: bool
    machine: dict[str, Any]
    rows: list[Row]

    def save(self, path: str | Path) -> None:
        """Write a .json file, whole or not at all."""
        rows = [row._asdict() | {"found": row.found._asdict()} for row in self.rows]
        record = self._asdict() | {"rows": rows}
        with atomic_write(path) as stream:
            stream.write((json.dumps(record, indent=1, allow_nan=False, ensure_ascii=False) + "\n").encode())


def load_report(path: str | Path) -> Report:
    """Read a report that `save` wrote."""
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
        rows = [Row(**row | {"found": Measurement(**row["found"])}) for row in record.pop("rows")]
        return Report(**record, rows=rows)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(f"{path} is not a report of benchmarks.run ({type(error).__name__}: {error})") from None


def measured(task: Task) -> Row:
    """Do a task; one that cannot be done here or fails becomes a row that says so, and the others go on."""
    try:
        found = task.measure()
    except InputError as missing:
        found = Measurement(None, "", str(missing))
    except ModuleNotFoundError as missing:
        ours = (missing.name or "phaselect").split(".")[0] in ("phaselect", "benchmarks", "tests")
        found = Measurement(None, "", f"failed: {missing}" if ours else f"{missing.name} is not installed")
    except Exception as error:
        lines = str(error).splitlines() or [type(error).__name__]
        found = Measurement(None, "", f"failed: {lines[0]}")
    numbers = {name: _finite(getattr(found, name)) for name in ("value", "reference", "bound")}
    return Row(task.section, task.what, task.size, found._replace(**numbers))


def _finite(value: float | None) -> float | None:
    """A plain number, as JSON can keep it."""
    return float(value) if value is not None and math.isfinite(value) else None

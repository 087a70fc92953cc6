"""A result in a file: all of it as .npz or .json, which can be loaded again; x alone as .csv, .npy or .mat.

Here a result is a record: names, and for each a number, a text, an array, a list of texts, or further records. Nothing
is pickled, so a file from a stranger cannot run code.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from phaselect.base.array_files import opened
from phaselect.base.errors import InputError
from phaselect.base.files import atomic_write, check_ending, reading

Record = dict[str, Any]
WHOLE = (".npz", ".json")
ENDINGS = (*WHOLE, ".csv", ".npy", ".mat")
"""Of the files that hold all of a result; and of all that can be written."""
LARGE = 1 << 63
"""A whole number beyond this is a text in an .npz file."""


def write_record(path: str | Path, record: Record, names: Sequence[str] = ()) -> None:
    """Write the record, or the x in it, as the ending of the file says; whole or not at all. names: for a .csv file."""
    with_names = partial(_csv, names=names)
    writers: dict[str, Callable[[BinaryIO, Record], None]] = {
        ".npz": _npz,
        ".json": _json,
        ".csv": with_names,
        ".npy": _npy,
        ".mat": _mat,
    }
    write = writers[check_ending(path, ENDINGS)]
    with atomic_write(path) as stream:
        write(stream, record)


def read_record(path: str | Path, required: set[str]) -> Record:
    """The record in an .npz or .json file; in the latter arrays are lists, as `plain` makes them."""
    ending = check_ending(path, WHOLE)
    with reading(path):
        if ending == ".json":
            record = json.loads(Path(path).read_text(encoding="utf-8"))
        else:
            with opened(path, ".npz") as arrays:
                record = _nested({name: arrays.read(name) for name in arrays.names})
    missing = sorted(required - set(record)) if isinstance(record, dict) else sorted(required)
    if missing:
        raise InputError(f"{path} is not a result that was saved: it lacks {', '.join(missing)}")
    found: Record = record
    return found


# ---------------------------------------------------------------------- all of it


def plain(value: Any) -> Any:
    """Ready for JSON: a complex number is a pair, not-a-number None, and an infinite number the text "inf"."""
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, np.ndarray | np.generic):
        pairs = np.stack([value.real, value.imag], axis=-1) if value.dtype.kind == "c" else value
        return pairs.tolist() if pairs.dtype.kind != "f" or np.isfinite(pairs).all() else plain(pairs.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def numbers(stored: Any) -> NDArray[Any]:
    """An array of real or complex numbers, from an .npz file or as `plain` made it."""
    found = np.array(stored)
    if found.dtype.kind not in "biufc":
        found = np.array(stored, dtype=np.float64)  # None becomes not-a-number
    if found.ndim == 2 and found.shape[1] == 2:
        return found.astype(np.float64).view(np.complex128)[:, 0]
    if found.ndim != 1:
        raise ValueError("numbers where there should be a list of them, or the other way round")
    return found


def number(stored: Any) -> float:
    """A real number, stored in the same ways."""
    return math.nan if stored is None else float(stored)


def _json(stream: BinaryIO, record: Record) -> None:
    stream.write(json.dumps(plain(record), allow_nan=False).encode())


def _npz(stream: BinaryIO, record: Record) -> None:
    arrays = {name: np.asarray(value) for name, value in _flat(record)}
    assert not any(array.dtype.hasobject for array in arrays.values())  # savez would pickle them
    np.savez(stream, **arrays)  # type: ignore[arg-type]


def _flat(record: Record, before: str = "") -> Iterator[tuple[str, Any]]:
    """One name for each value, as `trace.mu` or `stages.0.solver`; what is None is left out."""
    for name, value in record.items():
        if isinstance(value, list | tuple) and value and isinstance(value[0], dict):
            value = {str(place): one for place, one in enumerate(value)}
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{name}.")
        elif isinstance(value, int) and abs(value) >= LARGE:
            yield f"{before}{name}", str(value)
        elif value is not None:
            yield f"{before}{name}", np.array(value, dtype=str) if isinstance(value, list | tuple) else value


def _nested(arrays: dict[str, NDArray[Any]]) -> Record:
    """The inverse of `_flat`."""
    record: Record = {}
    for name, array in arrays.items():
        *way, last = name.split(".")
        inner = record
        for step in way:
            inner = inner.setdefault(step, {})
        inner[last] = array if array.ndim else array.item()
    return record


# ---------------------------------------------------------------------- x alone


def _csv(stream: BinaryIO, record: Record, names: Sequence[str]) -> None:
    """x, and its error where it is known, under a line of names; complex numbers as 1+2j.

    names: those of the entries of x, if they have some, at the left, with nothing above, as pandas and R have it.
    """
    columns = {name: list(map(_text, values.tolist())) for name, values in _known(record).items()}
    columns = {"": list(map(_quoted, names)), **columns} if names else columns
    lines = [",".join(columns), *map(",".join, zip(*columns.values(), strict=True))]
    stream.write("".join(f"{line}\n" for line in lines).encode())


def _quoted(name: str) -> str:
    """A name in quotes, if it could be taken for something else: for several, or for a comment."""
    return name if re.fullmatch(r"[^\W\d][\w .-]*", name) else f'"{name.replace(chr(34), 2 * chr(34))}"'


def _text(value: complex) -> str:
    """All digits, without brackets: this NumPy reads again."""
    return repr(value).strip("()")


def _npy(stream: BinaryIO, record: Record) -> None:
    np.save(stream, record["x"], allow_pickle=False)


def _mat(stream: BinaryIO, record: Record) -> None:
    from scipy.io import savemat

    savemat(stream, _known(record), oned_as="column")


def _known(record: Record) -> dict[str, NDArray[Any]]:
    return {name: record[name] for name in ("x", "x_std") if record[name] is not None}

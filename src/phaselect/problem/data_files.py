"""An instance from files: one that holds A and y by name, or two, A and y."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phaselect.base.array_files import TEXTS, WITH_NAMES, ending, read_array, read_arrays, read_npz
from phaselect.base.errors import DataWarning, InputError, printable, warn_user
from phaselect.base.files import reading
from phaselect.base.text_tables import TextTable, read_text_table
from phaselect.problem.all_digits import all_digits
from phaselect.problem.instance import ARRAY_NAMES, IN_FULL, Instance

COARSEST = 1e-3
"""Precision that digits may tell: fewer may be all that there are."""
NUMBERED = 5
"""Rows that are not counted by chance."""


def load(
    path: str | Path, y_path: str | Path | None = None, exact: bool = False, rounding: float | None = None
) -> Instance:
    """Read an instance from one file, which holds A and y by name, or from two files, A then y.

    One: `.npz` (as `Instance.save` writes it), `.mat` or HDF5 (`.h5`, `.hdf5`). Two: these, with the array of that name
    or the only one, `.npy`, or texts (`.csv`, `.tsv`, `.txt`) with or without a header, separated by commas,
    semicolons, tabs or spaces. See docs/files.md.

    exact: take the numbers of two texts to all the digits that are written there, as `Instance.exact` does.
    rounding: relative precision of A and y; if it is not given, texts tell it by their digits.
    """
    return load_named(path, y_path, exact, rounding)[0]


def load_named(
    path: str | Path, y_path: str | Path | None, exact: bool, rounding: float | None
) -> tuple[Instance, tuple[str, ...]]:
    """As `load`; with the names of the columns of A, if it is a text that has them."""
    if y_path is None:
        return _from_one(path, exact).with_rounding(rounding or 0.0), ()
    if exact:
        tables = _two_texts(path, y_path)
        A, y = (table.texts() for table in tables)
        problem = Instance.exact(A, y.ravel() if 1 in y.shape else y)
        return problem.with_rounding(rounding or 0.0), tables[0].column_names
    both = ending(path) in TEXTS and ending(y_path) in TEXTS
    A_table, y_table = _two_texts(path, y_path) if both else (_text(path), _text(y_path))
    A = read_array(path, "A") if A_table is None else A_table.numbers()
    y = read_array(y_path, "y") if y_table is None else y_table.numbers()
    if y_table is not None:
        _check_one_column(y_table, y, A)
    if A_table is not None:
        _warn_of_numbered_rows(A_table, A)
    rounding = _written(A_table, y_table) if rounding is None else rounding
    problem = Instance(A[:, None] if np.ndim(A) == 1 and np.ndim(y) < 2 else A, _in_full(y), rounding=rounding)
    return problem, () if A_table is None else A_table.column_names


def _written(A: TextTable | None, y: TextTable | None) -> float:
    """The relative precision that texts tell by their digits.

    Where y has all of them, it was computed from A as that is written.
    """
    own = 0.0 if y is None else y.precision()
    found = max(own, A.precision()) if own and A is not None else own
    return found if found <= COARSEST else 0.0


def _from_one(path: str | Path, exact: bool) -> Instance:
    if exact:
        raise InputError("exact data are read from two text files, A and y; an .npz file says itself what it holds")
    kind = ending(path)
    if kind not in WITH_NAMES:
        raise InputError(f"{path} holds one array: give two files, A and y, or one .npz, .mat or .h5 with both")
    if kind != ".npz":
        A, y = read_arrays(path, "A", "y")
        return Instance(A, _in_full(y))
    arrays: dict[str, Any] = dict(read_npz(path, ARRAY_NAMES[:2], (*ARRAY_NAMES[2:], *IN_FULL)))
    in_full = [arrays.pop(name) for name in IN_FULL if name in arrays]
    if len(in_full) == len(IN_FULL):
        A, y, precision = in_full
        arrays["all_digits"] = replace(all_digits(A, y), precision=float(precision))
    return Instance(**arrays)


def _in_full(y: Any) -> Any:
    """MATLAB has sparse vectors."""
    return y.toarray() if hasattr(y, "toarray") else y


def _text(path: str | Path) -> TextTable | None:
    """None of a file of another kind."""
    if ending(path) not in TEXTS:
        return None
    with reading(path):
        return read_text_table(path)


def _two_texts(path: str | Path, y_path: str | Path) -> tuple[TextTable, TextTable]:
    """A and y; where numbers of A have decimal commas, those of y have them too."""
    for name in (path, y_path):
        if ending(name) not in TEXTS:
            raise InputError(f"{name}: numbers as they are written are read from text files: {', '.join(TEXTS)}")
    with reading(path):
        A = read_text_table(path)
    with reading(y_path):
        y = read_text_table(y_path, decimal_comma=A.decimal_comma)
    if A.header and len(y.lines) == len(A.lines) + 1 and y.may_begin_with_a_header:
        y = y.below()
    return A, y


def _check_one_column(table: TextTable, y: NDArray[Any], A: Any) -> None:
    """Two columns of whole numbers, separated by commas, may have been one of decimals."""
    columns = y.shape[1]
    if 1 in y.shape or columns > (A.shape[1] if np.ndim(A) == 2 else 1):  # then A and y are exchanged
        return
    named = f" ({', '.join(map(printable, table.names))[:80]})" if table.names else ""
    hint = ""
    if table.separator == "," and columns == 2 and not any("." in line.text for line in table.lines):
        hint = "; decimal commas are understood where numbers are separated by semicolons or tabs, in A at least"
    raise InputError(
        f"{table.path} has {'two' if columns == 2 else columns} columns{named}: give one number in each line{hint}"
    )


def _warn_of_numbered_rows(table: TextTable, A: NDArray[Any]) -> None:
    """A first column that counts the rows was hardly measured."""
    rows = np.arange(len(A))
    if A.shape[1] > 1 and len(A) >= NUMBERED and any(np.array_equal(A[:, 0], rows + start) for start in (0, 1)):
        name = f", {printable(table.names[0])[:40]!r}," if table.names else ""
        seen = f"the first column of {table.path}{name} counts the rows"
        warn_user(f"{seen}, and is taken for one of A: delete it if it is none", DataWarning)

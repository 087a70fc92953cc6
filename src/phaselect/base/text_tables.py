"""Numbers in text files as people, programs and spreadsheets write them.

Separated by commas, semicolons, tabs or spaces; with decimal commas where the separator is another; with or without
quotes, a line of names, a column of row names, a byte order mark, comments (`#`, `%`) and blank lines at the ends.
What could be read in two ways is refused.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain
from math import hypot, inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phaselect.base.errors import InputError, printable

BLANK = ' \t\xa0",;'
"""What a line that holds nothing consists of."""
COMMENT = re.compile(r"\s*(%|#(?!N/A|DIV/0!|REF!|NAME\?|VALUE!|NUM!|NULL!))")
"""How a comment begins; and how, almost, a cell that a spreadsheet could not compute."""
NOTE = re.compile(r'"?sep=(.)"?\s*')
"""A spreadsheet's own word for the separator, in the first line."""
APART = re.compile(r"\d\s+[-+]?\d")
"""Two numbers with nothing but a space between them."""
WORD = re.compile(r"[^\W\d_eEiIjJ]")
"""A letter that no number has."""
THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+")
DECIMAL = re.compile(r"(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d{1,3})?|\d+[eE]-\d{1,3}")
"""A number, or part of a complex one, that is not written as a whole number."""
FEWEST, FULL, LOOKED_AT = 4, 16, 2000
"""Significant digits: numbers of fewer may be exact, as 0.25; so many are those of float64. Cells that are enough to
tell."""


class Line(NamedTuple):
    """A line, and where in the file it is, counted from 1."""

    place: int
    text: str


@dataclass(frozen=True)
class TextTable:
    """The lines of a file that hold numbers, and how to take them apart.

    separator: None for spaces. skipped: columns at the left that are row names, 0 or 1. names: those of the columns, if
    they are there.
    """

    path: str
    lines: Sequence[Line]
    separator: str | None
    decimal_comma: bool
    skipped: int
    names: Sequence[str] = ()

    def numbers(self) -> NDArray[Any]:
        """A 2-D array of float64, or complex if one of them is."""
        texts: Iterable[str] = (line.text for line in self.lines)
        if self.decimal_comma and self.separator != ",":
            texts = (text.replace(",", ".") for text in texts)
        if self.skipped:
            texts = (text.split(self.separator, 1)[-1] for text in texts)
        with suppress(ValueError):  # quotes, complex numbers, or none at all: slower, and told exactly
            return np.loadtxt(texts, delimiter=self.separator, comments=None, ndmin=2)
        return np.array([[self._number(cell, *where) for cell, *where in row] for row in self._rows()])

    def texts(self) -> NDArray[np.object_]:
        """The numbers as they are written, but for the decimal comma."""
        rows = [[cell.replace(",", ".") if self.decimal_comma else cell for cell, *_ in row] for row in self._rows()]
        return np.array(rows, dtype=object)

    def precision(self) -> float:
        """Half a unit of the last digit, over the root mean square; 0 if numbers are not seen to be rounded.

        Numbers have the same decimals, or the same significant digits, but for zeros at the end that are left out:
        whichever is less. What many cells have is what counts, so a part of a large file will do.
        """
        lines = self.lines[:: -(-len(self.lines) * self.width // LOOKED_AT)]
        cells = chain.from_iterable(self._cells(line) for line in lines)
        found = [Decimal(number) for cell in cells for number in DECIMAL.findall(cell.replace(",", "."))]
        digits = max((len(number.as_tuple().digits) for number in found), default=0)
        size = hypot(*map(float, found)) / max(1, len(found)) ** 0.5
        if not (FEWEST <= digits < FULL and 0 < size < inf):
            return 0.0
        decimals = max(-int(number.as_tuple().exponent) for number in found)
        return float(0.5 * max(10.0**-decimals / size, 10.0 ** (1 - digits)))

    @property
    def header(self) -> bool:
        """Was there a line of names?"""
        return bool(self.names)

    @property
    def column_names(self) -> tuple[str, ...]:
        """One for each column; none where the line of names only counts them, or is of another length."""
        counted = [[str(k) for k in range(start, start + len(self.names))] for start in (0, 1)]
        named = any(self.names) and len(self.names) == self.width and list(self.names) not in counted
        return tuple(self.names) if named else ()

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self._cells(self.lines[0]))

    @property
    def may_begin_with_a_header(self) -> bool:
        """Is the first line the number of a column, a lonely 0, and are all others written with a point?"""
        return self._cells(self.lines[0]) == ["0"] and all("." in line.text for line in self.lines[1:])

    def below(self) -> TextTable:
        """The same without its first line."""
        return replace(self, lines=self.lines[1:], names=("0",))

    def _cells(self, line: Line) -> list[str]:
        return cells_of(line.text, self.separator)[self.skipped :]

    def _rows(self) -> Iterator[list[tuple[str, int, int]]]:
        """Cells, each with its line and column; in every line as many."""
        width = self.width
        for line in self.lines:
            cells = self._cells(line)
            if len(cells) != width:
                first = self.lines[0].place
                raise InputError(
                    f"{self.path} is ragged: it has {width} columns in line {first}, {len(cells)} in line {line.place}"
                )
            yield [(cell, line.place, column) for column, cell in enumerate(cells, 1 + self.skipped)]

    def _number(self, cell: str, line: int, column: int) -> complex:
        value = as_number(cell.replace(",", ".") if self.decimal_comma else cell)
        if value is not None:
            return value
        what = f"{printable(cell)[:40]!r} is not a number" if cell else "there is no number: fill it in"
        hint = "; fractions are for exact data" if re.search(r"\d/\d", cell) else ""
        raise InputError(f"{self.path}, line {line}, column {column}: {what}{hint}")


def read_text_table(path: str | Path, decimal_comma: bool = False) -> TextTable:
    """What is in a text file. decimal_comma: as it belongs to one that has them, commas separate nothing."""
    lines, separator = _lines(path)
    separator = separator or _separator([line.text for line in lines], decimal_comma)
    names = cells_of(lines[0].text, separator)
    if header := len(lines) > 1 and _is_header(names, lines[1:], "." if separator == "," else ".,"):
        lines = _trimmed(lines[1:])
    if hole := next((line for line in lines if not line.text.strip(BLANK)), None):
        raise InputError(f"{path}, line {hole.place} is blank: fill it in, or drop that measurement from A and y")
    if separator and all(line.text.rstrip().endswith(separator) for line in lines):
        lines = [Line(place, text.rstrip()[:-1]) for place, text in lines]
        names = names if names[-1] else names[:-1]
    skipped = int(header and _has_row_names(names, lines, separator))
    table = TextTable(str(path), lines, separator, False, skipped)
    return replace(table, decimal_comma=_has_decimal_commas(table), names=names[-table.width :] if header else ())


def cells_of(text: str, separator: str | None) -> list[str]:
    """The texts in a line, without quotes."""
    if separator is None:
        return [cell.strip('"') for cell in text.split()]
    return [cell.strip() for cell in next(csv.reader([text], delimiter=separator, skipinitialspace=True))]


def as_number(text: str) -> complex | None:
    """A real or complex number, as 1+2j or 1+2i; None if it is none."""
    text = re.sub(r"\s*([-+])\s*", r"\1", text.replace("\N{MINUS SIGN}", "-"))
    for kind, written in ((float, text), (complex, text.replace("i", "j"))):
        with suppress(ValueError):
            return None if "_" in text else kind(written)
    return None


def _lines(path: str | Path) -> tuple[list[Line], str | None]:
    """Those that are no comments, from the first that holds something to the last; and the separator if it is told."""
    content = Path(path).read_bytes()
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = content.decode("utf-16")
    elif b"\0" in content:
        raise InputError(f"{path} is not a text file: a spreadsheet can save one, as .csv")
    else:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:  # of an older program; beyond ASCII there is nothing but names of columns
            text = content.decode("latin-1")
    lines = [Line(*line) for line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1)]
    note = NOTE.fullmatch(lines[0].text)
    kept = _trimmed([line for line in lines[bool(note) :] if not COMMENT.match(line.text)])
    if not kept:
        raise InputError(f"{path} is empty: there are no numbers in it")
    return kept, note and note[1]


def _trimmed(lines: list[Line]) -> list[Line]:
    """Without blank lines at the beginning and at the end."""
    full = [k for k, line in enumerate(lines) if line.text.strip(BLANK)]
    return lines[full[0] : full[-1] + 1] if full else []


def _separator(texts: list[str], decimal_comma: bool) -> str | None:
    """What separates the numbers in lines: the first of these that is there, but for commas that cannot do it."""
    texts = texts[1:] if len(texts) > 1 and WORD.search(texts[0]) else texts
    for mark in (";", "\t"):
        if any(mark in text for text in texts):
            return mark
    commas = any("," in text for text in texts) and not decimal_comma and not APART.search(texts[-1])
    return "," if commas else None


def _is_header(cells: list[str], rest: list[Line], points: str) -> bool:
    """Names; or numbers of columns, 0, 1, 2 ..., where no other line is of whole numbers alone."""
    if not any(as_number(cell.replace(",", ".")) is not None for cell in cells):
        return True
    counted = [str(k) for k in range(len(cells))]
    numbered = (cells == counted and len(cells) > 1) or cells == ["", *counted[:-1]]
    return numbered and all(set(points) & set(line.text) for line in _trimmed(rest))


def _has_row_names(names: list[str], lines: list[Line], separator: str | None) -> bool:
    """Is the column without a name one of texts, or does it count the rows?"""
    if names[0] and len(names) != len(cells_of(lines[0].text, separator)) - 1:
        return False
    first = [cells_of(line.text, separator)[0] for line in lines]
    counts = [[str(k) for k in range(start, start + len(first))] for start in (0, 1)]
    return first in counts or not any(as_number(cell.replace(",", ".")) is not None for cell in first)


def _has_decimal_commas(table: TextTable) -> bool:
    """Are there commas inside numbers? They must be decimal commas, with nothing left to wonder about."""
    sign_of_them = '"' if table.separator == "," else ","
    if not any(sign_of_them in line.text for line in table.lines):
        return False
    if table.separator == "," or table.skipped:
        pieces = [cell for row in table._rows() for cell, *_ in row]
    else:  # a line as a whole says as much, and sooner
        pieces = [line.text for line in table.lines]
    inside = [piece for piece in pieces if "," in piece]
    if not inside:
        return False
    if any("." in piece for piece in pieces) or (table.separator == "," and all(map(THOUSANDS.fullmatch, inside))):
        example = max(re.findall(r"[^\s;]*,[^\s;]*", inside[0]), key=len)
        raise InputError(
            f"{table.path} has numbers such as {printable(example)[:40]}: write them without separators of thousands, "
            "and all with a decimal point"
        )
    return True

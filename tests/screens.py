"""How long a page of the documentation is, nearly, without a browser: in screens of 900 pixels, at a width of 1280."""

import math
import re
from itertools import groupby
from pathlib import Path

from PIL import Image

SCREENS, SCREEN = 5, 900
"""No page is longer than so many screens of so many pixels."""
WIDTH, FRAME = 990, 180
"""Pixels: of the text, and what is above and below it."""
LETTERS, TABLE_LETTERS, CODE_LETTERS = 110, 118, 125
"""In a line of text, in a row of a table, in a line of code."""


def screens(page: Path) -> float:
    """The length of a page of Markdown."""
    text = re.sub(r"```\{toctree\}.*?```", "", page.read_text(), flags=re.DOTALL)
    return (FRAME + sum(height(block, page.parent) for block in blocks(text))) / SCREEN


def blocks(text: str) -> list[str]:
    """Code, and what blank lines set apart."""
    found = []
    for k, part in enumerate(re.split(r"^```(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)):
        found += ["```" + part] if k % 2 else [block for block in re.split(r"\n\s*\n", part) if block.strip()]
    return found


def height(block: str, folder: Path) -> float:
    """Pixels that a block takes."""
    lines = block.strip("\n").splitlines()
    if block.startswith("```{eval-rst}"):  # a table of names
        return 40 + 32 * sum(line.startswith("   phaselect.") for line in lines)
    if block.startswith("```"):
        return 44 + 18 * sum(wrapped(line, CODE_LETTERS) for line in lines[1:])
    if picture := re.search(r'(?:src="|!\[.*?\]\()([^")]+\.png)', block):
        with Image.open(folder / picture[1]) as image:  # two pixels for each of the screen, where it says how wide
            wide, high = (size / (2 if "width=" in block else 1) for size in image.size)
        return 16 + high * min(1, WIDTH / wide)
    if block.startswith("#"):
        return 62
    if block.startswith("|"):
        return 24 + sum(9 + 19 * row_lines(line) for line in lines if not line.startswith("|--"))
    paragraphs = [" ".join(group) for group in items(lines)]
    return 12 + sum(24 * wrapped(shown(line), LETTERS) + 4 for line in paragraphs)


def items(lines: list[str]) -> list[list[str]]:
    """Items of a list, or one paragraph."""
    marks, number = [], 0
    for line in lines:
        number += bool(re.match(r"(\*|\d+\.) ", line))
        marks.append((number, line))
    return [[line for _, line in group] for _, group in groupby(marks, lambda mark: mark[0])]


def row_lines(row: str) -> int:
    """Lines of a row of a table, whose columns are as wide as their contents ask for."""
    cells = [len(shown(cell)) for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
    return max(1, wrapped("a" * int(1.3 * sum(cells)), TABLE_LETTERS)) if sum(cells) > TABLE_LETTERS else 1


def wrapped(line: str, letters: int) -> int:
    return max(1, math.ceil(len(line) / letters))


def shown(text: str) -> str:
    """What is seen of it: a link is its words, a formula a third of its TeX."""
    text = re.sub(r"\$(.+?)\$", lambda found: "a" * (len(found[1]) // 3), text)
    return re.sub(r"\]\([^)\s]+\)", "", text)

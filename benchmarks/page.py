"""Writes a measured table into a page of the docs, between its two marks."""

from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
BEGIN, END = "<!-- begin table -->", "<!-- end table -->"


def write_table(name: str, lines: list[str]) -> None:
    """Replace what stands between the marks of docs/NAME."""
    page = DOCS / name
    before, rest = page.read_text().split(BEGIN)
    page.write_text("\n".join([before + BEGIN, *lines, END]) + rest.split(END)[1])

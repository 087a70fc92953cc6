"""Writes what was measured into a page of the docs, between its two marks."""

from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
BEGIN, END = "<!-- begin table -->", "<!-- end table -->"


def write_table(name: str, lines: list[str]) -> None:
    """Replace what stands between the marks of docs/NAME."""
    page = DOCS / name
    page.write_text(replaced(page.read_text(), lines))


def replaced(page: str, lines: list[str]) -> str:
    """A page with other lines between its marks."""
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        raise SystemExit(f"the page must have {BEGIN} and {END} once each")
    before, rest = page.split(BEGIN)
    return "\n".join([before + BEGIN, *lines, END]) + rest.split(END)[1]

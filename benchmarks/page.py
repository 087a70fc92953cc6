"""Writes what was measured into a page of the docs, between two marks."""

from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"


def write_table(name: str, lines: list[str], part: str = "table") -> None:
    """Replace what stands between the marks of docs/NAME; part: what the marks call it."""
    page = DOCS / name
    page.write_text(replaced(page.read_text(), lines, part))


def marks(part: str = "table") -> tuple[str, str]:
    """The lines before and after it."""
    return f"<!-- begin {part} -->", f"<!-- end {part} -->"


def replaced(page: str, lines: list[str], part: str = "table") -> str:
    """A page with other lines between its marks."""
    begin, end = marks(part)
    if page.count(begin) != 1 or page.count(end) != 1:
        raise SystemExit(f"the page must have {begin} and {end} once each")
    before, rest = page.split(begin)
    return "\n".join([before + begin, *lines, end]) + rest.split(end)[1]

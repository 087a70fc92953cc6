"""A row as text: on the screen and in a page."""

from __future__ import annotations

from benchmarks.rows import Row

COLUMNS = {"what": 42, "size": 24, "value": 18, "reference": 9, "ratio": 6, "bound": 7, "reached": 7, "target": 24}
"""Their widths on the screen: rows are printed as they come, before the widest is known."""


def cells(row: Row) -> dict[str, str]:
    """Its columns; empty where there is nothing to say."""
    found = row.found
    return {
        "what": row.what,
        "size": row.size,
        "value": "-" if found.value is None else f"{number(found.value)} {found.unit}",
        "reference": number(found.reference),
        "ratio": number(found.ratio),
        "bound": number(found.bound),
        "reached": number(found.of_bound),
        "target": f"{found.target}{' MISSED' * found.missed}",
    }


def number(value: float | None) -> str:
    """Three digits; nothing for nothing."""
    if value is None:
        return ""
    return f"{value:.0f}" if 100 <= abs(value) < 1e7 else f"{value:.3g}"


def head() -> str:
    """The first line on the screen."""
    return _aligned({name: name for name in COLUMNS}, "how")


def line(row: Row) -> str:
    """A line on the screen."""
    return _aligned(cells(row), row.found.detail)


def markdown(rows: list[Row]) -> list[str]:
    """A table of a page."""
    lines = [f"| {' | '.join(COLUMNS)} | |", "|---" * (len(COLUMNS) + 1) + "|"]
    for row in rows:
        shown = [*cells(row).values(), row.found.detail]
        lines.append(f"| {' | '.join(cell.replace('|', '/').replace('MISSED', '**missed**') for cell in shown)} |")
    return lines


def _aligned(shown: dict[str, str], detail: str) -> str:
    return "  ".join([*(shown[name].ljust(width) for name, width in COLUMNS.items()), detail]).rstrip()

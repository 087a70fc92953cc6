"""Pictures of the gallery in the style of all figures."""

from typing import Any

from phaselect.figures.style import STYLE_FILE


def apply(gallery: dict[str, Any], file: str) -> None:
    """What sphinx-gallery calls before each example."""
    from matplotlib import style

    style.use(["default", STYLE_FILE])

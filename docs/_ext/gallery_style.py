"""Pictures of the gallery in the style of all figures."""

from pathlib import Path
from typing import Any

import phaselect

[STYLE_FILE] = Path(phaselect.__file__).parent.rglob("print.mplstyle")


def apply(gallery: dict[str, Any], file: str) -> None:
    """What sphinx-gallery calls before each example."""
    from matplotlib import style

    style.use(["default", STYLE_FILE])

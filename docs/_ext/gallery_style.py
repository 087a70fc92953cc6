"""The gallery: its pictures in the style of all figures, its examples in the order in which one would read them."""

import logging
from pathlib import Path
from typing import Any

import phaselect

[STYLE_FILE] = Path(phaselect.__file__).parent.rglob("print.mplstyle")
logging.getLogger("phaselect").setLevel(logging.WARNING)  # a library that Furo brings prints all logs from INFO on
PIXELS = 100
"""Per inch, on the screen; files have two for each."""
FIRST = ["first_solve", "own_data", "noise", "scikit_learn", "not_iid", "photograph", "sparse", "lattice"]


def apply(gallery: dict[str, Any], file: str) -> None:
    """What sphinx-gallery calls before each example."""
    from matplotlib import rcParams, style

    style.use(["default", STYLE_FILE])
    rcParams["figure.dpi"] = rcParams["savefig.dpi"] = PIXELS


class ReadingOrder:
    """Sorts the files of examples: these first, then all others."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, file: str) -> tuple[int, str]:
        """A number for the named ones, then by name."""
        name = Path(file).stem.removeprefix("plot_")
        return FIRST.index(name) if name in FIRST else len(FIRST), name

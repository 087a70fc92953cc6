"""Writes first_picture.png, of the README, and photograph.png and the errors, of the guide to photographs.

`python docs/make_first_picture.py`, in half a minute: a photograph that comes with matplotlib, one of its three
simulated diffraction patterns, and what was recovered; then the same with other numbers of patterns and of photons.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from phaselect.base.pictures import Grey, read_picture, sample_path
from phaselect.base.style import COLUMN, save, style
from phaselect.experiments.photograph import recover_photograph
from phaselect.figures import picture_panel

sys.path.insert(0, str(Path(__file__).parent.parent))
from benchmarks.page import write_table

PHOTONS = 1000
"""Per measurement, on average."""
PATTERNS = {"2 patterns, real light": 2, "3 patterns": 3, "4 patterns": 4, "6 patterns": 6}


def main() -> None:
    """Simulate, recover, draw; then the table."""
    photograph = read_picture(sample_path())[::4, ::4]
    draw(photograph)
    write_table("images.md", list(errors(photograph)), "errors")


def draw(photograph: Grey) -> None:
    """Both pictures."""
    taken = recover_photograph(photograph, patterns=3, photons=PHOTONS)
    pattern = np.log(1e-2 + np.fft.fftshift(taken.patterns[0] / taken.patterns[0].max()))
    with style():
        figure = Figure(figsize=(2 * COLUMN, 0.415 * 2 * COLUMN), layout="constrained")
        titles = ("photograph", "one of three patterns", f"recovered, error {taken.error:.3f}")
        shown = dict(zip(titles, (photograph, pattern, taken.picture), strict=True))
        for axes, (title, picture) in zip(figure.subplots(1, 3), shown.items(), strict=True):
            axes.imshow(picture, cmap="gray")
            axes.set(title=title, xticks=[], yticks=[])
    here = Path(__file__).parent
    save(figure, here / "first_picture.png")
    save(picture_panel.draw(taken), here / "photograph.png")


def errors(photograph: Grey) -> Iterator[str]:
    """The table of errors: a row per number of photons, a column per number of patterns."""
    yield f"| photons per measurement | {' | '.join(PATTERNS)} |"
    yield f"|---{'|---' * len(PATTERNS)}|"
    for photons in (10, 100, 1000, None):
        taken = (
            recover_photograph(photograph, patterns, real="real" in words, photons=photons)
            for words, patterns in PATTERNS.items()
        )
        yield f"| {photons or 'no noise'} | {' | '.join(f'{one.error:.2g}' for one in taken)} |"


if __name__ == "__main__":
    main()

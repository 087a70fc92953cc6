"""Writes first_picture.png, of the README, and photograph.png, of the guide: `python docs/make_first_picture.py`.

A photograph that comes with matplotlib, one of its three simulated diffraction patterns, and what was recovered.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from phaselect.base.pictures import read_picture, sample_path
from phaselect.base.style import COLUMN, save, style
from phaselect.experiments.photograph import recover_photograph
from phaselect.figures import picture_panel

PHOTONS = 1000
"""Per measurement, on average."""


def main() -> None:
    """Simulate, recover, draw."""
    photograph = read_picture(sample_path())[::4, ::4]
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


if __name__ == "__main__":
    main()

"""Photographs in files, as arrays of grey: from 0, black, to 1, white."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phaselect.base.files import atomic_write, reading

Grey = NDArray[np.float64]

BRIGHTNESS = (0.299, 0.587, 0.114)
"""Of red, green and blue, as the eye sees them."""


def sample_path() -> Path:
    """A photograph that ships with matplotlib: Grace Hopper, 512 pixels wide and 600 high."""
    from matplotlib import get_data_path

    return Path(get_data_path()) / "sample_data" / "grace_hopper.jpg"


def read_picture(path: str | Path) -> Grey:
    """A PNG, a JPEG or whatever else Pillow reads, in grey; what is transparent has a white ground."""
    from matplotlib.image import imread

    with reading(path):
        given: NDArray[Any] = np.asarray(imread(path))
    full = np.iinfo(given.dtype).max if given.dtype.kind in "iu" else 1.0
    channels = given.astype(np.float64).reshape(*given.shape[:2], -1) / full
    if channels.shape[-1] == 1:
        return np.asarray(channels[..., 0])
    grey, opacity = channels[..., :3] @ BRIGHTNESS, channels[..., 3:].prod(axis=-1)
    return np.asarray(1 - opacity * (1 - grey))


def save_picture(path: str | Path, grey: Grey) -> None:
    """Write a PNG of 256 greys; what is darker than black is black, and brighter than white white."""
    from PIL import Image

    with atomic_write(path) as stream:
        Image.fromarray(np.round(255 * grey.clip(0, 1)).astype(np.uint8)).save(stream, "png")

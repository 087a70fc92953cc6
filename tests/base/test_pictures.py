import numpy as np
import pytest
from PIL import Image

from phaselect.base.errors import InputError
from phaselect.base.pictures import read_picture, sample_path, save_picture

GREY = np.arange(0, 240, 20, dtype=np.uint8).reshape(3, 4)


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "LA", "P"])
@pytest.mark.parametrize("suffix", ["png", "tif"])
def test_whatever_the_file_calls_them_greys_are_the_same(mode, suffix, tmp_path):
    path = tmp_path / f"photo.{suffix}"
    Image.fromarray(GREY).convert(mode).save(path)
    np.testing.assert_allclose(read_picture(path), GREY / 255, atol=1e-7)


@pytest.mark.parametrize("suffix", ["png", "tif"])
def test_sixteen_bits_are_kept(suffix, tmp_path):
    fine = 1000 * np.arange(12, dtype=np.uint16).reshape(3, 4) + 1
    Image.fromarray(fine).save(tmp_path / f"fine.{suffix}")
    np.testing.assert_allclose(read_picture(tmp_path / f"fine.{suffix}"), fine / 65535, rtol=1e-6)


def test_colours_by_how_bright_they_look_and_what_is_transparent_on_white(tmp_path):
    colours = np.array([[[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [0, 0, 0, 51]]], np.uint8)
    Image.fromarray(colours).save(tmp_path / "colours.png")
    np.testing.assert_allclose(read_picture(tmp_path / "colours.png"), [[0.299, 0.587, 0.114, 0.8]], atol=1e-7)


def test_what_is_written_is_what_is_read(tmp_path):
    save_picture(tmp_path / "grey.png", np.array([[-0.5, 0.0, 0.2], [0.8, 1.0, 3.0]]))
    np.testing.assert_allclose(read_picture(tmp_path / "grey.png"), [[0, 0, 0.2], [0.8, 1, 1]], atol=1e-7)


@pytest.mark.parametrize(
    ("name", "message"), [("no.png", "no such file"), ("text.png", "not a PNG"), ("text.jpg", "identify")]
)
def test_what_is_no_picture(name, message, tmp_path):
    for text in ("text.png", "text.jpg"):
        (tmp_path / text).write_text("words")
    with pytest.raises(InputError, match=message):
        read_picture(tmp_path / name)


def test_the_picture_that_comes_with_matplotlib():
    with Image.open(sample_path()) as picture:
        assert picture.size == (512, 600)

from pathlib import Path

import numpy as np
import pytest
from matplotlib.lines import Line2D

from phaselect.base import style


def test_the_style_is_a_matplotlib_style_for_everyone():
    import matplotlib.style

    with matplotlib.style.context("phaselect.base.print"):
        assert matplotlib.rcParams["font.family"] == ["serif"]
    assert matplotlib.rcParams["font.family"] != ["serif"]


@pytest.mark.parametrize("suffix", style.SUFFIXES)
def test_the_same_figure_gives_the_same_bytes(tmp_path, suffix):
    for name in ("one", "two"):
        with style.style():
            figure, (axes,) = style.panels(1)
            axes.plot([1, 2, 3], color=style.BLUE)
        style.save(figure, tmp_path / f"{name}{suffix}")
    assert (tmp_path / f"one{suffix}").read_bytes() == (tmp_path / f"two{suffix}").read_bytes()


def test_a_picture_is_twice_as_fine_as_a_screen_and_has_a_palette(tmp_path, monkeypatch):
    from PIL import Image

    monkeypatch.setattr(style, "STYLE_FILE", Path(style.__file__).parent / "print.mplstyle")  # not that of the tests
    figure, (left, _) = style.panels(2)
    left.plot([1, 2, 3], color=style.BLUE)
    style.save(figure, tmp_path / "fine.png")
    with Image.open(tmp_path / "fine.png") as picture:
        assert picture.size == (1540, 616)
        assert picture.mode == "P"
        colours = {colour for _, colour in picture.convert("RGB").getcolors()}
    assert {(255, 255, 255), (0, 0, 0), (0x00, 0x72, 0xB2)} <= colours


def test_panels_are_two_in_a_row_and_an_odd_number_leaves_room_for_the_legend():
    for count, inches in ((1, (3.5, 2.8)), (2, (7, 2.8)), (3, (7, 5.6)), (4, (7, 5.6)), (5, (7, 8.4))):
        figure, axes = style.panels(count)
        assert len(axes) == len(figure.axes) == count
        assert figure.get_size_inches() == pytest.approx(inches)
        axes[0].plot([1, 2], label="curve")
        axes[-1].plot([1, 2], label="curve")
        style.legend(figure, *axes)
        figure.draw_without_rendering()
        (found,) = figure.legends
        assert [text.get_text() for text in found.get_texts()] == ["curve"]
        assert not any(found.get_window_extent().overlaps(panel.get_window_extent()) for panel in axes)
        assert (figure.get_figheight() == pytest.approx(inches[1])) == (count in (3, 5))


def test_no_legend_without_names():
    figure, axes = style.panels(2)
    style.legend(figure, *axes)
    assert not figure.legends


def test_shades_grow_lighter():
    for count in (2, 3, 6):
        luminance = [0.2126 * red + 0.7152 * green + 0.0722 * blue for red, green, blue, _ in style.shades(count)]
        assert (np.diff(luminance) > 0.02).all()


def test_logarithmic_axes_show_plain_numbers_over_few_decades():
    _, (axes,) = style.panels(1)
    style.logarithmic(axes, "y", np.array([1.0, 50.0, np.nan, np.inf]))
    assert axes.get_yscale() == "log"
    assert axes.yaxis.get_major_formatter()(20.0) == "20"
    _, (axes,) = style.panels(1)
    style.logarithmic(axes, "y", np.array([np.nan, -1.0]))
    assert axes.get_yscale() == "linear"


@pytest.mark.parametrize("along", ["x", "y"])
def test_an_interval_without_end_has_an_arrow(along):
    """Closed; open above, and below; a bound from below, and from above; nothing known."""
    inf, nan = np.inf, np.nan
    value = np.array([2.0, 2.0, 2.0, nan, nan, nan])
    low, high = np.array([1.0, 1.0, -inf, 1.5, -inf, -inf]), np.array([3.0, inf, 3.0, inf, 2.5, inf])
    figure, (axes,) = style.panels(1)
    style.with_bars(axes, np.arange(6.0), value, low, high, along=along, fmt="o", color=style.BLUE)
    points, *arrows = (
        line.get_xydata()[:, :: 1 if along == "y" else -1].tolist()
        for line in axes.get_lines()
        if len(line.get_xdata())
    )
    assert points == [[0, 2], [1, 2], [2, 2], [3, 1.5], [4, 2.5]]
    assert arrows == [[[2, 2], [4, 2.5]], [[1, 2], [3, 1.5]]]
    margins = dict(zip("xy", axes.margins(), strict=True))
    assert margins.pop(along) == 0.15 > max(margins.values())  # room for the arrows, where they go
    (bars,) = (collection.get_segments() for collection in axes.collections)
    assert [segment[:, int(along == "y")].tolist() for segment in bars] == [
        [1, 3],
        [1, 2],
        [2, 3],
        [1.5, 1.5],
        [2.5, 2.5],
    ]
    style.legend(figure, axes)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [style.OPEN]


def test_what_a_panel_names_alike_is_shown_as_one():
    figure, axes = style.panels(2)
    for panel in axes:
        panel.plot([0, 1], lw=5, color=style.SKY, label="unstable")
        panel.plot([0, 1], "k--", label="unstable")
    style.legend(figure, *axes)
    (found,) = figure.legends
    assert [text.get_text() for text in found.get_texts()] == ["unstable"]
    assert [line.get_color() for line in found.findobj(Line2D)] == [style.SKY, "k"]


def test_arrows_point_to_where_an_interval_has_no_end():
    _, (axes,) = style.panels(1)
    at, value, end = np.array([1.0, 2.0]), np.array([5.0, 5.0]), np.array([4.0, -np.inf])
    style.with_bars(axes, at, value, end, np.array([np.inf, 6.0]))
    arrows = {line.get_xdata()[0]: line.get_marker() for line in axes.get_lines() if line.get_markersize() > 20}
    tips = {x: marker.vertices[:, 1] for x, marker in arrows.items()}
    assert tips[1.0].max() == pytest.approx(1.0)  # upwards from its point
    assert tips[2.0].min() == pytest.approx(-1.0)
    assert abs(tips[1.0].min()) < 1e-9 > abs(tips[2.0].max())

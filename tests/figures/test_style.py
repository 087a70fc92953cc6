import numpy as np
import pytest

from phaselect.figures import style


def test_the_style_is_a_matplotlib_style_for_everyone():
    import matplotlib.style

    with matplotlib.style.context("phaselect.figures.print"):
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


def test_dpi(tmp_path):
    from matplotlib.image import imread

    figure, _ = style.panels(2)
    style.save(figure, tmp_path / "fine.png")
    style.save(figure, tmp_path / "coarse.png", dpi=50)
    assert imread(tmp_path / "fine.png").shape[:2] == (560, 1400)
    assert imread(tmp_path / "coarse.png").shape[:2] == (140, 350)


def test_logarithmic_axes_show_plain_numbers_over_few_decades():
    _, (axes,) = style.panels(1)
    style.logarithmic(axes, "y", np.array([1.0, 50.0, np.nan, np.inf]))
    assert axes.get_yscale() == "log"
    assert axes.yaxis.get_major_formatter()(20.0) == "20"
    _, (axes,) = style.panels(1)
    style.logarithmic(axes, "y", np.array([np.nan, -1.0]))
    assert axes.get_yscale() == "linear"

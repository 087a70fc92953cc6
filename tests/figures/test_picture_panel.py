import numpy as np

from phaselect.experiments.photograph import recover_photograph
from phaselect.figures.picture_panel import draw

PHOTO = np.add.outer(np.linspace(0, 0.4, 16) ** 2, np.linspace(0.1, 0.8, 12))


def titles(figure):
    return [axes.get_title(loc="left") for axes in figure.axes if axes.get_title(loc="left")]


def test_before_and_after_and_phases_where_there_are_any():
    figure = draw(recover_photograph(PHOTO, real=True))
    assert [title.split()[1] for title in titles(figure)] == ["photograph", "pattern", "recovered", "relative"]
    before, _, after, error = (axes.images[0].get_array() for axes in figure.axes[:4])
    np.testing.assert_allclose(after, before, atol=1e-12)
    assert error.max() < 1e-12
    complex_panel = draw(recover_photograph(PHOTO, 4))
    assert len(titles(complex_panel)) == 6
    phase, found = (complex_panel.axes[place].images[0].get_array() for place in (1, 4))
    np.testing.assert_allclose(np.exp(1j * found), np.exp(1j * phase), atol=1e-10)

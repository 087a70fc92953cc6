"""The figure of trajectories: bands are two standard errors around the means of its table."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from phaselect.base.tables import load_table
from phaselect.figures import trajectories

TABLE = Path(__file__).parents[2] / "docs" / "tables" / "trajectories.csv"


@pytest.mark.parametrize(("panel", "runs", "y"), [(0, "amp", "m"), (1, "sa", "m"), (2, "sa", "mse_y")])
def test_bands_are_two_standard_errors_around_the_mean(panel, runs, y):
    table = load_table(TABLE)
    drawn = (band for band in trajectories.draw(table).axes[panel].collections if len(band.get_paths()))
    bands = {to_rgb(band.get_facecolor()[0][:3]): band for band in drawn if len(band.get_paths()[0].vertices) > 9}
    for mean in table.where(source=f"mean of {runs}").by("alpha"):
        alpha = mean["alpha"][0]
        corners = bands[to_rgb(trajectories.COLOURS[alpha])].get_paths()[0].vertices
        place = len(mean) // 2
        x = mean[trajectories.ALONG[runs]][place]
        low, high = np.unique(corners[np.isclose(corners[:, 0], x), 1])[[0, -1]]
        if y == "m":
            assert (high - low) / 4 == pytest.approx(mean["m_error"][place], rel=1e-6)
            assert (high + low) / 2 == pytest.approx(mean["m"][place], rel=1e-6)
        else:
            assert np.log(high / low) / 4 == pytest.approx(mean["log_mse_y_error"][place], rel=1e-6)
            assert np.sqrt(high * low) == pytest.approx(mean["mse_y"][place], rel=1e-6)

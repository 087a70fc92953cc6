"""Warnings are shown at the user's line, however deep in the package they come up."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from phaselect import DataWarning, Instance, gaussian_instance, load, solve
from phaselect.base.errors import warn_user
from phaselect.sklearn import AbsoluteRegression

EASY = gaussian_instance(100, 2.5, seed=1)
NOISY = Instance(EASY.A, np.abs(EASY.y + 0.01 * np.random.default_rng(1).standard_normal(250)))


def numbered(folder):
    """Files of a matrix whose first column counts its rows."""
    np.savetxt(folder / "A.csv", np.column_stack([np.arange(6), EASY.A[:6, :2]]), delimiter=",")
    np.savetxt(folder / "y.csv", EASY.y[:6])
    return folder / "A.csv", folder / "y.csv"


@pytest.mark.parametrize(
    ("category", "line", "call"),
    [
        (UserWarning, "by itself", lambda _: warn_user("by itself", UserWarning)),
        (DataWarning, "expected to fail", lambda _: solve(gaussian_instance(100, 1.02, seed=0), time_limit=0.01)),
        (DataWarning, "y looks noisy", lambda _: solve(NOISY)),
        (DataWarning, "photons per measurement are few", lambda _: solve(EASY.A, counts=EASY.y < 1, solver="vmp")),
        (DataWarning, "counts the rows", lambda folder: load(*numbered(folder))),
        (ConvergenceWarning, "nothing but zeros in y", lambda _: AbsoluteRegression().fit(EASY.A, 0 * EASY.y)),
        (DataWarning, "are equal", lambda _: AbsoluteRegression().fit(np.repeat(EASY.A[:, :4], 2, axis=1), EASY.y)),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_a_warning_points_at_the_line_of_the_user(category, line, call, tmp_path):
    with pytest.warns(category, match=line) as caught:
        call(tmp_path)
    assert {one.filename for one in caught if issubclass(one.category, category)} == {__file__}

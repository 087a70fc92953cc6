"""The figure of every rate and size: fits follow from its thresholds, and are drawn over theory."""

from pathlib import Path

import numpy as np
import pytest

from phaselect.base.tables import Table, load_table, stack
from phaselect.figures import rate_and_size
from phaselect.theory import critical_alpha

TABLES = Path(__file__).parents[2] / "docs" / "tables"


@pytest.fixture(scope="module")
def published():
    return load_table(TABLES / "rate_and_size.csv")


def test_what_is_published_follows_from_its_thresholds(published):
    found = Table(stack(list(rate_and_size.joint_rows(published.where(kind="threshold")))))
    theory = {row["product"][0]: row["value"][0] for row in found.where(kind="theory").by("product")}
    assert theory[1.0] == pytest.approx(critical_alpha(), abs=1e-3)
    orthogonal = critical_alpha(spectrum="orthogonal")  # at lam = 0 nothing counts but the span of the columns
    assert theory[0.0] == pytest.approx(orthogonal, abs=1e-3)
    for kind in ("theory", "slow", "joint", "rival", "levels cut", "rival cut", "common cut"):
        ours, theirs = (table.where(kind=kind) for table in (found, published))
        assert ours["n"].tolist() == theirs["n"].tolist()
        for name in ("value", "low", "high", "rate_exponent", "rate_low", "rate_high", "rate_amplitude"):
            near = {"atol": 0.01} if name == "rate_exponent" else {"rtol": 2e-3}  # two steps of its grid
            np.testing.assert_allclose(ours[name], theirs[name], **near, err_msg=f"{kind} {name}")


def test_lines_are_the_fits_less_theory(published):
    theory = published.where(kind="theory", product=1.0)["value"][0]
    drawn = [line for line in rate_and_size.draw(published).axes[0].get_lines() if len(line.get_xdata()) in (10, 60)]
    for of, style in ((rate_and_size.fit_of, "-"), (rate_and_size.rival_of, ":")):
        fit = of(published, 1.0)
        lines = [line for line in drawn if line.get_linestyle() == style]
        sizes = sorted(set(published.where(kind="threshold", product=1.0)["n"].tolist()))
        for n, line in zip(sizes, lines, strict=True):
            tau, excess = line.get_xdata()[-1], line.get_ydata()[-1]
            assert excess == pytest.approx(fit.at(n, tau) - theory)
            assert 0.01 < excess < 0.1
            assert line.get_xdata()[0] == pytest.approx(fit.rates.from_tau)

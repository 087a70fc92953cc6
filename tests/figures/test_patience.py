"""The figure of long runs of message passing: what it counts."""

import numpy as np
import pytest
from scipy.stats import binomtest

from phaselect.base.tables import Table
from phaselect.figures import patience
from phaselect.figures.context import Context


def rows(needed, n=100, alpha=1.2, eps=0.1):
    """Runs that were recovered after so many iterations; not at all: 0; crashed: -1."""
    needed = np.array(needed, dtype=float)
    curve = {"solver": "amp", "ensemble": "gaussian", "field": "real", "plan": f"plan-{eps}", "eps": eps}
    return {name: np.full(needed.size, value) for name, value in curve.items()} | {
        "n": np.full(needed.size, n),
        "alpha": np.full(needed.size, alpha),
        "iterations": np.full(needed.size, 200_000),
        "sweeps": np.where(needed > 0, needed, 200_000.0),
        "m": np.where(needed > 0, 1.0, 0.3),
        "mse_x": np.where(needed > 0, 0.0, 1.0),
        "mse_y": np.where(needed > 0, 1e-20, 1e-3),
        "status": np.where(needed < 0, "FAILED", "RECOVERED"),
    }


def table(*parts):
    stacked = Table({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
    return Table(patience.compute(Context("small", {"patience": stacked}.__getitem__)))


def test_a_run_counts_from_when_it_was_recovered():
    found = table(rows([2048, 4096, 150_000, 0, -1]))
    at = found["iterations"]
    assert (at[0], at[-1]) == (patience.FIRST, 200_000)
    assert found["successes"].tolist() == [1 + int(t >= 4096) + int(t >= 150_000) for t in at]
    assert (found["trials"][0], found["crashed"][0]) == (4, 1)
    assert found["kind"].tolist() == ["within"] * (len(at) - 1) + ["share"]
    interval = binomtest(3, 4).proportion_ci(method="wilson")
    assert (found["low"][-1], found["high"][-1]) == pytest.approx(interval)


def counted(n, alpha, early, late, runs=100):
    """So many recovered within 3000 iterations, so many later."""
    return rows([2048] * early + [100_000] * late + [0] * (runs - early - late), n, alpha)


def test_thresholds():
    """Half of 100 runs at 1.15: by symmetry, where shares are 10, 50 and 90."""
    found = table(*(counted(400, alpha, *hits) for alpha, hits in ((1.1, (0, 10)), (1.15, (10, 40)), (1.2, (50, 40)))))
    half = patience.thresholds(found.where(kind="share"))[400]
    assert half.value == pytest.approx(1.15, abs=1e-3)
    assert half.low < 1.15 < half.high < half.low + 0.02


def test_a_panel_for_each_size_and_a_line_for_each_alpha():
    figure = patience.draw(table(rows([2048]), rows([0]), rows([4096], n=200), rows([0], n=200, alpha=1.1)))
    assert len(figure.axes) == 3
    assert all("$N = " in axes.get_title("left") for axes in figure.axes[:-1])
    lines = [line.get_label() for line in figure.axes[1].get_lines()]
    assert [label for label in lines if "alpha" in label] == [r"$\alpha = 1.2$", r"$\alpha = 1.1$"]


def test_slow_runs_have_thresholds_of_their_own():
    hits = {0.1: ((1.1, 10), (1.15, 50), (1.2, 90)), 0.01: ((1.05, 10), (1.1, 50), (1.15, 90))}
    found = table(
        *(
            counted(400, alpha, hit, 0) | {"eps": np.full(100, eps), "plan": np.full(100, f"plan-{eps}")}
            for eps, own in hits.items()
            for alpha, hit in own
        )
    )
    figure = patience.draw(found)
    assert len(figure.axes) == 2
    shown = {bars.get_label(): bars[0].get_ydata()[0] for bars in figure.axes[-1].containers}
    assert shown == pytest.approx(
        {r"$\alpha_{50}$, $\epsilon = 0.1$": 1.15, r"$\alpha_{50}$, $\epsilon = 0.01$": 1.1}, abs=1e-3
    )

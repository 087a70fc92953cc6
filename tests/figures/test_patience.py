"""The figure of long runs of message passing: what it counts."""

import numpy as np
import pytest
from scipy.stats import binomtest

from phaselect.base.tables import Table
from phaselect.experiments.limits import intervals
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
    assert 4096 <= at[1] < 1.3 * 4096
    assert 150_000 <= at[2] < 200_000
    assert found["successes"].tolist() == [1, 2, 3, 3]
    assert (found["trials"][0], found["crashed"][0]) == (4, 1)
    assert found["kind"].tolist() == ["within"] * 3 + ["share"]
    interval = binomtest(3, 4).proportion_ci(method="wilson")
    assert (found["low"][-1], found["high"][-1]) == pytest.approx(interval)


def counted(n, alpha, early, late, runs=100):
    """So many recovered within 3000 iterations, so many later."""
    return rows([2048] * early + [100_000] * late + [0] * (runs - early - late), n, alpha)


def test_thresholds():
    """Half of 100 runs at 1.15: by symmetry, where shares are 10, 50 and 90."""
    found = table(*(counted(400, alpha, *hits) for alpha, hits in ((1.1, (0, 10)), (1.15, (10, 40)), (1.2, (50, 40)))))
    (half,) = intervals(patience.judged(found.where(kind="share")).where(kind="threshold", n=400))
    assert half.value == pytest.approx(1.15, abs=1e-3)
    assert half.low < 1.15 < half.high < half.low + 0.02


def test_a_panel_for_each_rate_and_size_and_a_line_for_each_alpha():
    """But for the alpha at which nearly all are recovered at once."""
    figure = patience.draw(
        table(rows([0, 4096]), rows([2048], alpha=1.3), rows([0], n=200), rows([0], n=200, alpha=1.1))
    )
    titles = [axes.get_title("left") for axes in figure.axes]
    assert [title[4:].split("$")[1] for title in titles] == [r"\mu\lambda = 1", r"\mu\lambda = 1", "N = 100", "N = 200"]
    assert [[text.get_text() for text in axes.texts] for axes in figure.axes[2:]] == [["1.2"], ["1.2", "1.1"]]


def test_few_lines_in_a_panel():
    """Each with a colour of its own, and beside it, in that colour, its alpha."""
    figure = patience.draw(table(*(rows([0], alpha=1.1 + place / 100) for place in range(9))))
    texts = figure.axes[-1].texts
    assert [text.get_text() for text in texts] == ["1.1", "1.12", "1.14", "1.16", "1.18"]
    lines = [line for line in figure.axes[-1].get_lines() if line.get_drawstyle() != "default"]
    assert [line.get_color() for line in lines] == [text.get_color() for text in texts]
    assert len({text.get_color() for text in texts}) == 5


def test_three_sizes_against_iterations():
    assert [patience.some(sizes) for sizes in ([1], [1, 2], [1, 2, 3], [1, 2, 3, 4, 5, 6])] == [
        [1],
        [1, 2],
        [1, 2, 3],
        [1, 4, 6],
    ]


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
    assert len(figure.axes) == 4
    shown = {bars.get_label(): bars[0].get_ydata()[0] for bars in figure.axes[2].containers}
    words = ("message passing, $\\epsilon = 0.1$, 100 instances", "message passing, $\\epsilon = 0.01$, 100 instances")
    assert shown == pytest.approx(dict(zip(words, (1.15, 1.1), strict=True)), abs=1e-3)


def test_a_run_counts_with_its_last_iteration():
    one = Table(rows([4000]))
    at = np.array([2500.0, 3999.0, 4000.0, 4001.0])
    assert patience.recovered_within(one, at)["successes"].tolist() == [0, 0, 1, 1]


def test_only_rises_are_told_at_each_point():
    """What a step says where it begins is not said again; the next point begins anew, with as many or not."""
    found = table(rows([0, 0]), rows([2048, 0], alpha=1.3), rows([2048, 0], alpha=1.4))
    assert found["successes"].tolist() == [0, 0, 1, 1, 1, 1]
    assert found["alpha"].tolist() == [1.2, 1.2, 1.3, 1.3, 1.4, 1.4]
    assert found["kind"].tolist() == ["within", "share"] * 3

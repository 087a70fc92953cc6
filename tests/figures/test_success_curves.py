"""Success figures: limits are drawn only where the fit is to be trusted."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from phaselect.base.tables import load_table
from phaselect.experiments.grid import CURVE
from phaselect.experiments.limits import intervals
from phaselect.figures.earlier_table import names_of
from phaselect.figures.gallery import draw
from phaselect.figures.success_curves import refitted, with_thresholds

TABLES = Path(__file__).parents[2] / "docs" / "tables"
FITTED = 60
"""Points of a drawn fit."""


def measured(middles, spread=0.003):
    """The committed table of message passing with other thresholds, a function of N, and the limits that follow."""
    table = load_table(TABLES / "success_amp.csv")
    rows = table["kind"] == "threshold"
    value = np.where(rows, middles(np.maximum(table["n"], 1)), table["value"])
    ends = {
        name: np.where(rows, value + sign * 1.96 * spread, table[name]) for name, sign in (("low", -1), ("high", 1))
    }
    return refitted(replace(table, columns=table.columns | {"value": value} | ends))


def thresholds_panel(table):
    """How many fits are drawn, of message passing and of its variant, and the words of the legends."""
    panels = draw("success_amp", table).axes[2:4]
    drawn = sum(len(line.get_xdata()) == FITTED for panel in panels for line in panel.get_lines())
    return drawn, [label for panel in panels for label in panel.get_legend_handles_labels()[1]]


def test_limits_follow_the_thresholds():
    found = measured(lambda n: 1.15 + 3 * n**-0.7).where(kind="limit", solver="amp")
    assert found["doubt"].tolist() == ["", ""]
    np.testing.assert_allclose(found["value"], 1.15, atol=1e-6)
    assert ((found["low"] < 1.15) & (found["high"] > 1.15)).all()


def test_only_a_fit_to_be_trusted_is_drawn():
    good, slow = measured(lambda n: 1.15 + 3 * n**-0.7), measured(lambda n: 1.0 + 0.5 * n**-0.1)
    fits, labels = thresholds_panel(good)
    assert fits == np.sum(good.where(kind="limit")["doubt"] == "") >= 2
    assert any("1.150 [" in label and "χ² = 0.0 / 3" in label for label in labels)
    fits, labels = thresholds_panel(slow)
    assert fits == 0
    assert all("\nno limit, exponent of N not determined" in label for label in labels)
    fits, labels = thresholds_panel(measured(lambda n: 1.2 + 0 * n))
    assert fits >= 2
    assert all("1.200 [" in label for label in labels if "χ²" in label)


def points_of(panel):
    """How many thresholds are drawn in a panel, by the words of its legend."""
    drawn = zip(*panel.get_legend_handles_labels(), strict=True)
    return {
        label.split(",")[0]: len(handle.lines[0].get_xdata()) for handle, label in drawn if hasattr(handle, "lines")
    }


def test_what_claims_are_judged_by_is_drawn():
    """All thresholds of simulated annealing: bounds on those of single proposals, and those at constant lam."""
    table = load_table(TABLES / "success_sa.csv")
    *_, annealed, variants = draw("success_sa", table).axes
    assert points_of(annealed) == {"simulated annealing": 4}
    assert points_of(variants) == {"$T_A$ in proposals": 4, r"$\lambda = 0$": 3, r"$\lambda = 0.005$": 3}
    bounds = table.where(kind="threshold", solver="sa-proposals", eps=0.1)
    assert np.isnan(bounds["value"]).all()


def test_a_legend_says_how_many_instances():
    table = load_table(TABLES / "success_amp.csv")
    table["instances"][table["n"] == 400] = 86
    _, labels = thresholds_panel(table)
    said = "message passing, $\\epsilon = 0.1$, 86 to 100 instances:\n"
    assert any(label.startswith(said) for label in labels)


@pytest.mark.parametrize(
    "name", ["success_sa", "success_amp", "success_langevin", "population", "solvers", "splitting"]
)
def test_committed_thresholds_are_those_of_the_shares(name):
    """Today's fits of them; and, but for noise, where their shares, made monotonic, cross one half."""
    table = load_table(TABLES / f"{name}.csv")
    shares, rows = table.where(kind="share"), table.where(kind="threshold")
    for end in ("value", "low", "high"):
        np.testing.assert_allclose(with_thresholds(table).where(kind="threshold")[end], rows[end], rtol=1e-5)
    names = [name for name in CURVE if name in table]
    found = []
    for own, bounds in zip(names_of(rows, names), intervals(rows), strict=True):
        curve = shares.take(np.array(names_of(shares, names)) == own)
        curve = curve.take(np.argsort(curve["alpha"]))
        level = isotonic_regression(curve["successes"] / curve["trials"], weights=curve["trials"]).x
        if np.isfinite(bounds).all() and level[0] < 0.5 < level[-1]:
            found.append((np.interp(0.5, level, curve["alpha"]), bounds.value, bounds.high - bounds.low))
    crossing, value, width = np.array(found).T
    assert (abs(crossing - value) < 2 * width).all()  # of few runs a crossing is known to the spacing of the alphas
    assert np.mean(abs(crossing - value) < width) > 0.8


def colours_of_sizes(name):
    """N in the legends of a figure's panels, with colour and marker."""
    for panel in draw(name, load_table(TABLES / f"{name}.csv")).axes:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            if found := re.match(r"\$N = (\d+)\$, ", label):
                line = handle.lines[0] if hasattr(handle, "lines") else handle
                yield int(found[1]), (line.get_color(), line.get_marker())


def test_a_size_looks_the_same_in_every_figure():
    names = ("success_sa", "success_amp", "success_langevin", "rate_and_size", "population", "complex_success")
    names += ("priors", "spectrum_design")
    figures = [dict(colours_of_sizes(name)) for name in names]
    assert [len(sizes) for sizes in figures] == [4, 6, 4, 5, 3, 4, 2, 2]
    together = {n: {sizes[n] for sizes in figures if n in sizes} for n in set().union(*figures)}
    assert all(len(own) == 1 for own in together.values()), together
    assert all(len(set(sizes.values())) == len(sizes) for sizes in figures)

"""Figures on how far the methods reach and what they cost: small tables, drawn from a file alone."""

import numpy as np
import pytest

from phaselect.base.tables import Table, load_table
from phaselect.figures import collapse, growth, matrices
from phaselect.figures.context import Context
from phaselect.figures.gallery import draw


@pytest.fixture
def table_of(tmp_path):
    def table(module):
        shares = []
        Table(module.compute(Context("small", None, shares.append))).save(tmp_path / "table.csv")
        assert shares == sorted(shares)
        assert 0 <= shares[0] <= shares[-1] < 1
        return load_table(tmp_path / "table.csv")

    return table


def test_two_moments_and_their_sum(table_of, monkeypatch):
    for name, value in {"ALPHAS": (1.5,), "MUS": (2.0,), "PRODUCTS": (0.0, 1.0), "ITERATIONS": 6, "N": 60}.items():
        monkeypatch.setattr(collapse, name, value)
    monkeypatch.setattr(collapse, "ANNEAL_ALPHAS", (3.0,))
    monkeypatch.setattr(collapse, "COUNTS", {"small": (1, 3)})
    table = table_of(collapse)
    fixed = table.take(table["level"] != "anneal")
    assert len(fixed) == 2 * 2 * 2
    assert (fixed["difference"] < 1e-8).all()
    anneal = table.where(level="anneal")
    assert [int(anneal[name][0]) for name in ("trials", "both", "only_two", "only_one")] == [3, 3, 0, 0]
    assert len(draw("collapse", table).axes) == 2


def test_a_form_that_drops_a_moment_is_seen(monkeypatch):
    """The comparison can fail: with V1 left out of the sum nothing agrees."""
    whole = collapse.split_start

    def without(x, m_rows, mu, share):
        start = whole(x, m_rows, mu, share)
        return start._replace(delta1=0 * start.delta1)

    monkeypatch.setattr(collapse, "split_start", without)
    monkeypatch.setattr(collapse, "N", 60)
    assert collapse.in_message_passing(collapse.Control(1.5, 10.0, 0.1), 0.9)["difference"] > 0.01


def test_kinds_of_matrices(table_of, monkeypatch):
    for name, kind in {"IID": "Gaussian", "STRUCTURED": "uneven columns"}.items():
        monkeypatch.setattr(matrices, name, {kind: getattr(matrices, name)[kind]})
    monkeypatch.setattr(matrices, "SIZES", {"small": (60, 3)})
    monkeypatch.setattr(matrices, "ALPHAS", (2.5,))
    table = table_of(matrices)
    assert table["kind"].tolist() == ["Gaussian"] * 2 + ["uneven columns"] * 2
    assert table["solver"].tolist() == ["amp", "pa"] * 2
    assert table["successes"].tolist() == [3, 3, 0, 3]
    assert table.where(kind="uneven columns", solver="amp")["diverged"][0] == 3
    (panel,) = draw("matrices", table).axes
    assert [label.get_text() for label in panel.get_yticklabels()] == ["Gaussian", "uneven columns"]


def test_growth_of_times(table_of, monkeypatch):
    """With times that are given: what is drawn are their exponents."""
    monkeypatch.setattr(growth, "SIZES", {"small": (8, 16, 32)})
    monkeypatch.setattr(growth, "units_of_work", lambda n: {("paper", "regression"): n**3, ("ours", "SVD"): n**2.5})
    monkeypatch.setattr(growth, "microseconds", np.array)
    table = table_of(growth)
    assert table.where(form="paper")["microseconds"].tolist() == [512, 4096, 32768]
    paper, ours = draw("growth", table).axes
    assert [panel.get_legend().get_texts()[0].get_text() for panel in (paper, ours)] == [
        "regression, $N^{3.00}$",
        "SVD, $N^{2.50}$",
    ]

"""The figures of the formulation on tiny problems: what is computed, and that it is drawn from the table alone."""

import importlib

import numpy as np
import pytest

from tests.figures.cheap import check_drawing, tables_of

CHEAP = {  # module: smaller grids
    "landscape": {"SIZES": {"small": {4: 8, 5: 9}}, "INSTANCES": {"small": 4}},
    "splitting": {"SIZES": {"small": {10: 3, 12: 2}}, "ALPHAS": {"small": (1.5, 2.0, 3.0, 6.0)}},
    "descent": {"SIZES": {"small": {10: 3, 12: 2}}, "ALPHAS": {"small": (2.0, 3.0, 6.0)}, "EPS": 0.5},
    "speed": {
        "SIZES": {"sa": 20, "amp": 60},
        "ALPHAS": {"sa": (1.6, 2.0, 3.0), "amp": (1.8, 2.5, 3.0)},
        "INSTANCES": {"small": 3},
    },
}
PANELS = {"landscape": 4, "splitting": 2, "descent": 3, "speed": 2}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Each figure's table on tiny problems."""
    return tables_of(CHEAP, tmp_path_factory.mktemp("tables"))


@pytest.mark.parametrize("name", list(CHEAP))
def test_drawn_from_the_table_alone(name, tables, monkeypatch):
    monkeypatch.setattr("phaselect.figures.descent.ENOUGH_STUCK", 1)  # of tiny problems there are few
    check_drawing(name, tables(name), PANELS[name])


def test_landscape_counts_both_problems(tables):
    table = tables("landscape")
    assert table.where(n=4)["m_rows"].tolist() == [m for m in range(2, 9) for _ in range(2)]
    for n in (4, 5):
        few = table.where(n=n, lam=0.0).take(table.where(n=n, lam=0.0)["m_rows"] <= n)
        assert (few["zero_loss_least"] == 2 ** (few["m_rows"] - 1)).all()
    many = table.take(table["m_rows"] > table["n"])
    assert (many["retrieval"] >= many["selection"]).all()
    kept = many["instances"] * (many["retrieval"] - many["selection"])
    np.testing.assert_allclose(many["removed"] - many["added"], kept, atol=1e-6)
    assert (many.where(lam=0.0)["zero_loss_least"] == 1).all()


def test_searches_are_compared_on_the_same_instances(tables):
    for name in ("splitting", "descent"):
        table = tables(name)
        solvers = list(importlib.import_module(f"phaselect.figures.{name}").STYLES)
        assert table.where(kind="share").values("solver") == solvers
        assert len(table.where(kind="threshold")) == 2 * len(solvers)
        assert set(table.where(kind="share", n=12)["trials"]) == {2}


def test_descents_that_fail_say_where_they_ended(tables):
    table = tables("descent")
    failed = table.where(kind="share").take(table.where(kind="share")["solver"] != "langevin")
    assert (failed["trials"] - failed["successes"]).sum() == table.where(kind="stuck")["trials"].sum()
    assert ((table.where(kind="stuck")["value"] >= 0) & (table.where(kind="stuck")["value"] <= 1)).all()


def test_speed_compares_pairs(tables):
    table = tables("speed")
    assert table.values("solver") == ["sa", "amp"]
    assert (table["pairs"] <= np.minimum(table["recovered"], table["recovered_matched"])).all()
    known = table.take(np.isfinite(table["ratio"]))
    assert len(known) > 6
    assert ((known["low"] <= known["ratio"]) & (known["ratio"] <= known["high"])).all()

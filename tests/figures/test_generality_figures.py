"""Figures on how far the methods reach and what they cost: small tables, drawn from a file alone."""

import numpy as np
import pytest

from phaselect.base.style import GREY
from phaselect.base.tables import Table, load_table
from phaselect.experiments.executors import InProcess
from phaselect.experiments.grid import Grid, preset
from phaselect.figures import bits, collapse, complex_success, ensembles, gallery, growth, priors, spectrum_design
from phaselect.figures.context import Context
from phaselect.figures.gallery import draw
from phaselect.problem.matrix_kinds import KINDS


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


def test_kinds_of_matrices(tmp_path, monkeypatch):
    """On Gaussian matrices and on one that message passing cannot do; circulant ones are not in the store."""
    names = {"gaussian": "Gaussian", "uneven_columns": "uneven columns", "circulant": "circulant"}
    monkeypatch.setattr(ensembles, "NAMES", names)
    monkeypatch.setattr(ensembles, "kind_threshold", {"gaussian": 1.13, "uneven_columns": 1.01, "circulant": 1.2}.get)
    grid = Grid(("amp", "pa"), (60,), (2.5,), 3, options={"restarts": (0,)}, ensemble=("gaussian", "uneven_columns"))
    monkeypatch.setattr(gallery, "preset", lambda name, scale: [grid])
    table = gallery.Studio(store=tmp_path / "runs.db", executor=InProcess()).table("ensembles")
    assert table["kind"].tolist() == ["Gaussian"] * 2 + ["uneven columns"] * 2
    assert table["solver"].tolist() == ["amp", "pa"] * 2
    assert table["successes"].tolist() == [3, 3, 0, 3]
    assert table["diverged"].tolist() == [0, 0, 3, 0]
    assert table["iid"].tolist() == [True, True, False, False]
    panels = draw("ensembles", table).axes
    assert [panel.get_title() for panel in panels] == ["Gaussian", "uneven columns"]
    grey = [line.get_xdata() for panel in panels for line in panel.get_lines() if line.get_color() == GREY]
    assert [list(x) for x in grey if len(x)] == [[1.13, 1.13], [1.01, 1.01]]


def test_every_kind_of_matrix_has_a_panel_and_runs():
    assert set(ensembles.NAMES) == set(KINDS)
    for scale in ("small", "paper"):
        assert {kind for grid in preset("ensembles", scale) for kind in grid.ensemble} == set(KINDS)


def test_spread_of_the_singular_values(table_of, monkeypatch):
    """Fewer measurements at a larger condition number, in theory and in runs; and larger errors."""
    monkeypatch.setattr(spectrum_design, "CURVE", np.array([1.0, 5.0]))
    monkeypatch.setattr(spectrum_design, "CONDITIONS", (1.0, 5.0))
    monkeypatch.setattr(spectrum_design, "OFFSETS", (-0.1, 0.3))
    monkeypatch.setattr(spectrum_design, "SIZES", {"small": ((50,), 7)})
    table = table_of(spectrum_design)
    for source in ("theory", "runs"):
        even, uneven = (table.where(source=source, condition=condition) for condition in (1.0, 5.0))
        assert even["value"][0] > uneven["value"][0] + 0.1
        assert (even["value"][1:] < uneven["value"][1:] / 1.5).all()
    theory = table.where(source="theory")
    assert theory["value"][:3].tolist() == pytest.approx([1.5839, 0.01 / 2.01, 0.0001 / 2.0001], rel=1e-3)
    assert table.where(source="runs")["value"][1] == pytest.approx(0.01 / 2.01, rel=0.5)
    assert len(draw("spectrum_design", table).axes) == 2


@pytest.mark.slow
def test_what_a_prior_is_worth(table_of, monkeypatch):
    """Sparse signals need fewer measurements, the fewer the sparser, in theory and in runs."""
    monkeypatch.setattr(priors, "critical_alpha", lambda prior, tolerance: 0.5 + 0.8 * prior.density)
    monkeypatch.setattr(priors, "CURVE", np.array([0.1, 0.3]))
    monkeypatch.setattr(priors, "DENSITIES", (0.1, 0.5))
    monkeypatch.setattr(priors, "SIGNALS", {name: priors.SIGNALS[name] for name in ("density 0.1", "density 0.5")})
    monkeypatch.setattr(priors, "ALPHAS", {"small": np.array([0.8])})
    monkeypatch.setattr(priors, "OFFSETS", (-0.3, 0.6))
    monkeypatch.setattr(priors, "SIZES", {"small": ((20,), 30, 2)})
    table = table_of(priors)
    shares, single, theory = (table.where(source=source) for source in ("starts", "single", "theory"))
    assert (shares["signal"].tolist(), shares["alpha"].tolist()) == (["density 0.1", "density 0.5"], [0.8, 0.8])
    assert shares["value"][0] > shares["value"][1]
    assert theory["value"][0] < theory["value"][1] - 0.1
    assert single["density"].tolist() == [0.1, 0.5]
    assert len(draw("priors", table).axes) == 2


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


def test_complex_runs_over_their_theory(tmp_path, monkeypatch):
    """Far above the threshold all are recovered; runs that are told something of z0 follow state evolution."""
    monkeypatch.setattr(complex_success, "ALPHAS", (1.6, 3.0))
    monkeypatch.setattr(complex_success, "SIZES", {"small": (120, 4)})
    grids = [
        Grid(("amp", "vmp"), (40,), (4.0,), 3, options={"restarts": (0,)}, field=("complex",)),
        Grid(("vmp",), (40,), (4.0,), 3, options={"restarts": (8,)}, ensemble=("orthogonal",), field=("complex",)),
    ]
    monkeypatch.setattr(gallery, "preset", lambda name, scale: grids)
    table = gallery.Studio(store=tmp_path / "runs.db", executor=InProcess()).table("complex_success")
    shares = table.where(source="share")
    curves = zip(*(shares[name].tolist() for name in ("ensemble", "solver", "restarts")), strict=True)
    assert set(curves) == {("gaussian", "amp", 0), ("gaussian", "vmp", 0), ("orthogonal", "vmp", 8)}
    assert (shares["value"] == 1).all()
    np.testing.assert_allclose(table.where(source="threshold")["value"], [2.027, 2.264], atol=1e-3)
    for alpha, atol in ((1.6, 0.15), (3.0, 0.05)):
        runs, theory = (table.where(source=source, alpha=alpha) for source in ("run", "evolution"))
        assert (runs["iteration"] == theory["iteration"]).all()
        np.testing.assert_allclose(runs["value"], theory["value"], atol=atol)
        assert (runs["low"] < runs["value"]).all()
    bayes = table.where(source="bayes")
    assert np.interp(1.6, bayes["alpha"], bayes["value"]) == pytest.approx(theory_at_rest(table, 1.6), abs=0.005)
    figure = draw("complex_success", table)
    assert [panel.get_title(loc="left")[:3] for panel in figure.axes] == ["(a)", "(b)", "(c)", "(d)"]


def theory_at_rest(table, alpha):
    return table.where(source="evolution", alpha=alpha)["value"][-1]


def test_digits_are_measurements(table_of, monkeypatch):
    """Of two places LLL solves the one that has more digits for each sign."""
    monkeypatch.setattr(bits, "PLACES", {"small": {53: (2,), 200: (1,)}})
    monkeypatch.setattr(bits, "STRENGTHS", {"small": (0.04, 0.1)})
    monkeypatch.setattr(bits, "INSTANCES", {"small": 3})
    monkeypatch.setattr(bits, "SIZES", {"small": (30, 2)})
    monkeypatch.setattr(bits, "EXCESS", {"small": (10, 20)})
    table = table_of(bits)
    points, rules, shares = (table.where(kind=kind) for kind in ("point", "rule", "share"))
    assert len(points) == 2 * 2 * 2
    assert points.where(block=2)["successes"].tolist() == [0, 3, 0, 3]
    assert rules["value"][0] > rules["value"][1]  # blocks do with fewer digits
    assert shares.where(solver="lattice")["successes"].tolist() == [2, 2]
    assert (shares["m_rows"].min(), shares["m_rows"].max()) == (40, 50)
    assert len(draw("bits", table).axes) == 4

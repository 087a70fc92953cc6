"""The figures of the theory: known numbers in their tables, and drawings made from the tables alone."""

import math

import numpy as np
import pytest

from phaselect import theory
from phaselect.base.curves import draw_columns, draw_split
from phaselect.base.style import panels
from phaselect.base.tables import Table
from phaselect.figures import plots, stabilities
from phaselect.figures.context import Context
from phaselect.figures.gallery import figure_module
from tests.figures.cheap import check_drawing, tables_of

# What takes seconds is given, and tested against the theory by itself: here, and in tests/theory/test_thresholds.py.
THRESHOLDS = {"merge": {0.0: 1.6800, 0.005: 1.6316}, "recovery": {0.0: 1.5839, 0.005: 1.1302}}
CRITICAL = {0.5: 1.1596, 1.0: 1.12847, 2.0: 1.1476}
TRAPS = {
    "alpha": [1.5, 1.7],
    "lam": [0.0, 0.0],
    "mu_leave": [math.inf, 17 / 12],
    "mu_dynamical": [19.4935, 2.91488],
    "mu_static": [27.6055, 2.91488],
    "mse_y_dynamical": [0.00840491, 0.0637598],
    "mse_y_ground": [0.00372996, 0.0119103],
    "mu_followed": [19.4935, math.inf],
    "m_followed": [0.0, 0.897345],
    "growth_followed": [1.0, 0.852956],
    "converged": [True, True],
}


def known_traps(alphas):
    row = {name: np.array(values)[[TRAPS["alpha"].index(alphas[0])]] for name, values in TRAPS.items()}
    return row | {"product": np.array([math.nan])}


@pytest.mark.slow
def test_the_traps_given_are_those_of_the_theory():
    found = theory.traps([1.5, 1.7])
    for name, values in TRAPS.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-4)


CHEAP = {  # module: smaller grids
    "annealing": {"STEPS": {"small": 0.5}, "ALPHAS": (1.2, 1.7), "PRODUCTS": (0.1, 1.0)},
    "branches": {"COUNTS": {"small": 15}, "ALPHAS": (1.4, 1.6, 1.7)},
    "complexity": {"COUNTS": {"small": 14}},
    "critical_product": {
        "PRODUCTS": {"small": np.array([0.5, 1.0, 2.0])},
        "critical_alpha": lambda product, tolerance: CRITICAL[product],
    },
    "local_stability": {"COUNTS": {"small": 16}, "MU_RANGE": (0.1, 1e3), "ALPHAS": (1.5, 1.6, 1.7)},
    "regularisation": {
        "COUNTS": {"small": (15, 3, 2)},
        "BRANCH_ALPHAS": (1.3,),
        "STEEP": (),
        "LAMS": (0.0, 0.005, 0.1),
        "THRESHOLDS": {name: at.__getitem__ for name, at in THRESHOLDS.items()},
    },
    "rsb": {
        "ALPHAS": {"small": [1.5, 1.7]},
        "RULES": ((None, 0.1),),
        "RULE_ALPHAS": {"small": [1.15, 1.2]},  # without overlap, which is quick
        "traps": known_traps,
    },
    "stabilities": {"SIZES": {"small": (200, 8, 5)}},
}
PANELS = {
    "annealing": 2,
    "branches": 2,
    "complexity": 2,
    "critical_product": 1,
    "local_stability": 2,
    "regularisation": 4,
    "rsb": 3,
    "stabilities": 3,
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Each figure's table on a small grid."""
    return tables_of(CHEAP, tmp_path_factory.mktemp("tables"))


SLOW = pytest.param("regularisation", marks=pytest.mark.slow)


@pytest.mark.parametrize("name", [SLOW if name == "regularisation" else name for name in CHEAP])
def test_drawn_from_the_table_alone(name, tables):
    check_drawing(name, tables(name), PANELS[name])


def test_complexity_starts_from_random_signs(tables):
    table = tables("complexity")
    assert table.values("sign_overlap") == [0.2, 0.4, 0.6, 0.8]
    for overlap in table.values("sign_overlap"):
        rows = table.where(sign_overlap=overlap)
        p = 0.5 * (1 + overlap)
        binomial = -1.7 * (p * math.log(p) + (1 - p) * math.log(1 - p))
        assert rows["complexity_random"][0] == pytest.approx(binomial, rel=1e-12)
        assert rows["complexity"][0] == pytest.approx(binomial, abs=1e-4)
        assert rows["mse_y"][0] == pytest.approx(rows["mse_y_random"][0], rel=0.01)
        assert rows["m"][0] == pytest.approx(rows["m_random"][0], rel=0.01)
        assert (np.diff(rows["complexity"][rows["complexity"] > 0]) < 0).all()
    low = table.where(sign_overlap=0.2)
    assert 0 < np.argmax(low["m"]) < len(low) - 1  # m is not monotonic at small overlap of the signs
    assert low["trusted"][0]
    assert not low["trusted"][-1]


def test_branches_coexist_where_they_should(tables):
    """alpha = 1.6: born at 4.129, equal at 4.556, the uninformed one ends at 9.346."""
    table = tables("branches")
    informed, uninformed = (table.where(alpha=1.6, line=line) for line in ("informed", "uninformed"))
    assert informed["mu"][0] == pytest.approx(4.129, abs=1e-3)
    assert uninformed["mu"][-1] == pytest.approx(9.346, abs=1e-3)
    assert informed["mu"][informed["dominant"]][0] == pytest.approx(4.556, abs=1e-3)
    assert uninformed["mu"][uninformed["dominant"]][-1] == pytest.approx(4.556, abs=1e-3)
    assert not uninformed["dominant"][-1]
    assert informed["dominant"][informed["mu"] > 9.346].all()
    assert (informed["m"] > 0.8).all()
    assert (uninformed["m"] < 0.45).all()
    assert (np.diff(informed["m"]) > 0).all()


def test_one_branch_where_they_have_merged(tables):
    rows = tables("branches").where(alpha=1.7)
    assert rows.values("line") == ["uninformed"]
    assert rows["dominant"].all()
    assert rows["m"][-1] > 0.999


def test_without_overlap_the_uninformed_branch_has_no_end(tables):
    rows = tables("branches").where(alpha=1.4, line="uninformed")
    assert rows["mu"][-1] == pytest.approx(3000)
    assert (rows["m"] == 0).all()
    assert not rows["dominant"][rows["mu"] > 25.32].any()


def split(solid):
    _, (axes,) = panels(1)
    draw_split(axes, np.arange(5), np.arange(5.0), solid, {"ls": "--"})
    return axes.get_lines()


def curve(solid):
    return draw_columns({"mu": np.arange(5), "m": np.arange(5.0), "stable": solid}, "mu", ["m"]).axes[0].get_lines()


def complexity(solid):
    columns = {"mse_y": np.arange(5.0), "m": np.arange(5.0), "complexity": np.arange(5.0), "trusted": solid}
    fixed = {"alpha": np.full(5, 1.7), "O": np.full(5, 0.5), "lam": np.zeros(5)}
    return plots.draw_complexity(Table(columns | fixed)).axes[0].get_lines()[:2]


@pytest.mark.parametrize(
    ("solid", "dashed"),
    [("++--+", "01111"), ("--+++", "11100"), ("++++-", "00011"), ("-++++", "11000"), ("+-+-+", "11111")],
)
@pytest.mark.parametrize("drawn", [split, curve, complexity])
def test_dashes_touch_the_solid_line(drawn, solid, dashed):
    """To the points beside them, and not from the last point on to the first."""
    solid, dashed = np.array(list(solid)) == "+", np.array(list(dashed)) == "1"
    first, second = drawn(solid)
    np.testing.assert_array_equal(first.get_ydata(), np.where(solid, np.arange(5), np.nan))
    np.testing.assert_array_equal(second.get_ydata(), np.where(dashed, np.arange(5), np.nan))
    assert [first.get_linestyle(), second.get_linestyle()] == ["-", ":" if drawn is complexity else "--"]


def test_both_parts_have_one_label():
    _, (axes,) = panels(1)
    draw_split(axes, np.arange(2), np.arange(2.0), np.array([True, False]), {"ls": "--"}, label="both")
    assert len(axes.get_legend_handles_labels()[1]) == 1


def test_histograms_agree_with_the_density(tables):
    """8 instances of N = 200: the mean deviation of a bin is a few per cent of the peak."""
    table = tables("stabilities")
    for mu, lam in stabilities.CONTROLS:
        sampled, line = (table.where(mu=mu, lam=lam, source=source) for source in ("sampled", "theory"))
        width = sampled["gap"][1] - sampled["gap"][0]
        for name, total in (("P", 1.0), ("P_right", 0.75)):
            assert sampled[name].sum() * width == pytest.approx(total, abs=2e-3)
            assert np.trapezoid(line[name], line["gap"]) == pytest.approx(total, abs=2e-3)
            predicted = np.interp(sampled["gap"], line["gap"], line[name])
            assert np.abs(sampled[name] - predicted).mean() < 0.03 * predicted.max()
    middle = {(mu, lam): table.where(mu=mu, lam=lam, source="theory") for mu, lam in stabilities.CONTROLS}
    dips = [rows["P_right"][160] / rows["P_right"].max() for rows in middle.values()]
    assert dips[0] > dips[1] > dips[2]  # right signs leave the small gaps as mu or lam grow


@pytest.mark.slow
def test_regulariser_table(tables):
    table = tables("regularisation")
    assert table.values("panel") == ["a", "b", "c", "d"]
    lines = table.where(panel="b")
    merge, recovery = lines.where(line="merge"), lines.where(line="recovery")
    assert merge["alpha"].tolist() == [1.6800, 1.6316]
    assert recovery["alpha"].tolist() == [1.5839, 1.1302]
    born, equal = lines.where(line="born", lam=0.005), lines.where(line="equal", lam=0.005)
    both = np.isfinite(born["mu"]) & np.isfinite(equal["mu"])
    assert both.sum() >= 2
    assert (born["mu"][both] < equal["mu"][both]).all()
    informed = table.where(panel="a", alpha=1.3, line="informed")
    uninformed = table.where(panel="a", alpha=1.3, line="uninformed")
    assert uninformed["m"][uninformed["dominant"]].max() < 0.5 < 0.9 < informed["m"][informed["dominant"]].min()
    assert informed["m"].max() == pytest.approx(theory.max_overlap(1.3, 0.005).m, abs=1e-3)


@pytest.mark.slow
def test_regulariser_is_a_trade(tables):
    """A larger lam makes the overlap grow earlier, and keeps it further from 1."""
    table = tables("regularisation")
    grown, largest = table.where(panel="c", alpha=1.8), table.where(line="largest", alpha=1.8)
    assert (np.diff(grown["mu"]) < 0).all()
    assert (np.diff(largest["m"]) < 0).all()
    assert largest["m"][0] > 0.9999
    strong, last = table.where(line="largest", lam=0.1), table.where(line="last", lam=0.1)
    assert (last["m"] <= strong["m"] + 1e-6).all()
    assert strong["m"].min() > 0.4
    assert last["m"][0] < 0.01  # as mu grows at fixed lam, all is lost again near the information limit
    without = table.where(panel="c", lam=0.0)
    assert np.isnan(without["mu"][without["alpha"] < 1.5]).all()


def test_anneals_end(tables):
    """At the matched product the signal is found at alpha = 1.2; at a tenth of it, not."""
    table = tables("annealing")
    np.testing.assert_allclose(table["mu"] * table["lam"], table["product"])
    for alpha in (1.2, 1.7):
        assert table.where(panel="a", alpha=alpha)["m"][-1] == pytest.approx(1, abs=1e-4)
    assert table.where(panel="b", product=1.0)["m"][-1] == pytest.approx(1, abs=1e-4)
    assert table.where(panel="b", product=0.1)["m"][-1] < 0.1
    assert table.where(panel="a")["m"][0] == 0


def test_local_stability_table(tables):
    table = tables("local_stability")
    anneal = table.where(lam=0.0, alpha=1.5)
    assert anneal.values("line") == ["anneal"]
    assert anneal["stable"].all()
    crisis = theory.entropy_crisis(1.5)
    assert crisis == pytest.approx(71.3, abs=0.1)
    assert anneal["mse_y_crisis"][0] == pytest.approx(theory.saddle_point(1.5, crisis).mse_y)
    below, above = anneal.take(anneal["mu"] < crisis), anneal.take(anneal["mu"] > crisis)
    assert below["complexity"].min() > 0 > above["complexity"].max()
    jumping = table.where(lam=0.0, alpha=1.6)
    assert jumping.where(line="anneal")["m"].max() < 0.45 < 0.8 < jumping.where(line="jumped")["m"].min()
    left = table.where(lam=0.0, alpha=1.7, line="no overlap")
    assert not left["stable"].all()
    assert left["mu"][~left["stable"]][0] == pytest.approx(theory.dynamical_transition(1.7), rel=0.5)


def test_matched_product_needs_fewest(tables):
    table = tables("critical_product")
    best = np.argmin(table["alpha"])
    assert table["product"][best] == pytest.approx(1)
    assert table["alpha"][best] == pytest.approx(1.1285, abs=2e-4)
    assert table["alpha_bayes"][0] == pytest.approx(1.1285, abs=5e-5)
    assert (np.diff(table["alpha"][: best + 1]) < 0).all()
    assert (np.diff(table["alpha"][best:]) > 0).all()


def test_failure_of_replica_symmetry(tables):
    table = tables("rsb").where(lam=0.0)
    weak = tables("rsb").where(product=0.1)
    assert weak["mu_followed"][0] == pytest.approx(481.36, rel=1e-4)
    assert (weak["growth_followed"] == 1).all()
    early, late = table.where(alpha=1.5), table.where(alpha=1.7)
    assert early["mu_crisis"][0] == pytest.approx(theory.entropy_crisis(1.5), rel=1e-6)
    assert early["mu_dynamical"][0] == pytest.approx(19.493, abs=1e-2)
    assert early["mu_static"][0] == pytest.approx(27.606, abs=1e-2)
    assert np.isnan(early["mu_replicon"][0])  # clusters form although the point is locally stable
    assert np.isnan(early["mu_leave"][0])
    assert late["mu_replicon"][0] == pytest.approx(late["mu_dynamical"][0], rel=1e-3)  # continuously born
    assert late["mu_leave"][0] == pytest.approx(17 / 12, rel=1e-6)
    assert np.isnan(late["mu_followed"][0])  # and yet an anneal meets no clusters
    assert late["growth_followed"][0] < 0.9
    assert (table["mse_y_crisis"] < table["mse_y_ground"]).all()
    assert (table["mse_y_ground"] < table["mse_y_dynamical"]).all()


def test_no_clusters_is_not_the_same_as_not_known(monkeypatch):
    """A table of where they form says infinity for the one, nan for the other."""
    rsb = figure_module("rsb")
    for answer in (math.inf, math.nan):
        known = known_traps([1.5]) | {"mu_dynamical": np.array([answer])}
        monkeypatch.setattr(rsb, "traps", lambda alphas, known=known: dict(known))
        monkeypatch.setattr(rsb, "ALPHAS", {"small": [1.5]})
        monkeypatch.setattr(rsb, "RULES", ())
        table = Table(rsb.compute(Context("small", {}.__getitem__)))
        np.testing.assert_array_equal(table["mu_dynamical"], [answer])
        rsb.draw(table).canvas.draw()


def test_modules_say_what_they_show():
    for module in map(figure_module, CHEAP):
        assert module.CAPTION.endswith(".")
        assert module.__doc__

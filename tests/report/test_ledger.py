"""The ledger on the committed tables, and the logic of its verdicts."""

import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from phaselect.base.tables import Table, load_table
from phaselect.experiments.limits import Interval
from phaselect.figures.gallery import FIGURES
from phaselect.figures.success_curves import refitted
from phaselect.report.evidence import Evidence, Missing, known
from phaselect.report.ledger import Conclusion, assess_all, every, verdict
from phaselect.report.page import CLAIMS
from phaselect.report.sizes import size_grids
from phaselect.report.solver_claims import gains, mean_gain

TABLES = Path(__file__).parents[2] / "docs" / "tables"


@pytest.fixture(scope="module")
def tables():
    return {name: load_table(TABLES / f"{name}.csv") for name in FIGURES}


def test_the_committed_tables_are_small():
    assert sum(path.stat().st_size for path in TABLES.glob("*.csv")) < 1_000_000


def test_every_claim_is_judged(tables):
    entries = assess_all(CLAIMS, tables)
    assert len(entries) >= 30
    for claim, finding in entries:
        assert finding.conclusion is Conclusion.OPEN or re.search(r"\d", finding.measured)
        assert not re.search(r"\bnan\b", finding.measured)
        assert set(claim.figures) <= set(FIGURES)
        assert claim.commands(tables)[0].startswith(f"phaselect figure {claim.figures[0]} --scale ")


def test_contested_claims_do_not_hold_for_want_of_a_judge(tables):
    found = {claim.assess.__name__: finding.conclusion for claim, finding in assess_all(CLAIMS, tables)}
    assert found["product_must_be_small"] is Conclusion.FAILS
    assert found["all_approach_bayes"] is Conclusion.FAILS
    contested = ("annealing_approaches_bayes", "message_passing_approaches_bayes", "regulariser_biases")
    assert all(found[name] is not Conclusion.HOLDS for name in contested)


def test_the_committed_limits_are_those_of_the_committed_fit(tables):
    for name in ("success_sa", "success_amp", "success_langevin", "population", "solvers"):
        again = refitted(tables[name])
        for column, values in tables[name].columns.items():
            if values.dtype.kind == "f":
                np.testing.assert_allclose(again[column], values, rtol=1e-5)
            else:
                assert again[column].tolist() == values.tolist()


def test_a_limit_that_is_not_trusted_is_not_printed(tables):
    """Each cell of N to infinity has a limit with its chi^2, or says why there is none."""
    cells = [cell for grid in size_grids(tables) for row in grid.rows if row[0] == "N → ∞" for cell in row[1:] if cell]
    assert sum(cell.startswith("none: ") for cell in cells) == sum(
        np.sum(table["doubt"] != "") for name, table in tables.items() if name.startswith("success_")
    )
    assert all(re.match(r"none: |1\.\d+ \[1\.\d+, 1\.\d+\], χ² = ", cell) for cell in cells)


def test_verdict_counts_its_parts():
    assert verdict() is verdict(None) is verdict(True, None) is verdict(False, None) is Conclusion.OPEN
    assert verdict(True, True) is Conclusion.HOLDS
    assert verdict(False, False) is Conclusion.FAILS
    assert verdict(True, False) is Conclusion.CORRECTED


def test_every_is_the_conjunction_of_kleene():
    """As the least of no, not known, yes."""
    order = [False, None, True]
    for answers in product(order, repeat=3):
        assert every(answers) is min(answers, key=order.index)
    assert every([]) is None


def test_evidence_says_what_is_missing():
    evidence = Evidence({"alpha": np.array([1.2, 1.3])})
    assert evidence.where(alpha=1.3)["alpha"].tolist() == [1.3]
    nothing = evidence.where(alpha=9)
    assert len(nothing.where(alpha=1.2)) == len(nothing.values("alpha")) == 0
    for ask in (lambda: evidence["mu"], lambda: evidence.where(mu=1), lambda: nothing["alpha"]):
        with pytest.raises(Missing):
            ask()
    with pytest.raises(Missing, match="m is not known"):
        known([1.0, np.nan], "m")
    with pytest.raises(KeyError):
        Table({})["mu"]


def test_mean_gain_of_many_draws():
    """Its interval covers the gain that was put in; wide sizes weigh little."""
    rng = np.random.default_rng(0)
    spread, gain = np.array([0.01, 0.02, 0.1]), 0.03

    def drawn(middle):
        values = middle + spread * rng.standard_normal(3)
        return {n: Interval(v, v - 1.96 * s, v + 1.96 * s) for n, v, s in zip((1, 2, 3), values, spread, strict=True)}

    found = [mean_gain(drawn(1.2), drawn(1.2 - gain)) for _ in range(400)]
    assert 367 <= sum(it.low <= gain <= it.high for it in found) <= 393  # 380 and three standard deviations
    assert np.std([it.value for it in found]) == pytest.approx((np.sum(1 / (2 * spread**2))) ** -0.5, rel=0.15)


def test_open_intervals_count_against_but_not_in_the_mean():
    fast = {100: Interval(1.25, 1.24, 1.26), 200: Interval(1.2, 1.19, 1.21)}
    slow = {100: Interval(1.2, 1.19, 1.21), 200: Interval(np.nan, 1.5, np.inf)}
    assert mean_gain(fast, slow).value == pytest.approx(0.05)
    assert gains(fast, slow) is None
    assert gains({100: fast[100]}, {100: slow[100]}) is True

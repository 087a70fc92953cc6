"""The ledger on the committed tables, and the logic of its verdicts."""

import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from phaselect.base.tables import load_table
from phaselect.figures.gallery import FIGURES
from phaselect.figures.success_curves import refitted
from phaselect.report.evidence import Evidence
from phaselect.report.ledger import Conclusion, assess_all, every, verdict
from phaselect.report.message_passing_claims import patient
from phaselect.report.page import CLAIMS
from phaselect.report.sizes import size_grids

TABLES = Path(__file__).parents[2] / "docs" / "tables"


@pytest.fixture(scope="module")
def tables():
    return {name: load_table(TABLES / f"{name}.csv") for name in FIGURES}


def test_the_committed_tables_are_small():
    """Shares name the instances that were recovered, so that tables can grow without their stores."""
    assert sum(path.stat().st_size for path in TABLES.glob("*.csv")) < 1_500_000


def test_every_claim_is_judged(tables):
    entries = assess_all(CLAIMS, tables)
    assert len(entries) >= 30
    for claim, finding in entries:
        assert finding.conclusion is Conclusion.OPEN or re.search(r"\d", finding.measured)
        assert not re.search(r"\bnan\b", finding.measured)
        assert set(claim.figures) <= set(FIGURES)
        assert claim.commands(tables)[claim.figures[0]].startswith(f"phaselect figure {claim.figures[0]} --scale ")


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.assess.__name__)
def test_the_committed_tables_have_all_that_judges_ask_for(tables, claim):
    """Not to be settled is an answer; to miss rows that nobody has computed is not. (`Missing` would be raised.)"""
    assert claim.assess({name: Evidence(tables[name].columns) for name in claim.figures}).measured


def test_contested_claims_do_not_hold_for_want_of_a_judge(tables):
    found = {claim.assess.__name__: finding.conclusion for claim, finding in assess_all(CLAIMS, tables)}
    contested = ("product_must_be_small", "all_approach_bayes", "annealing_approaches_bayes", "regulariser_biases")
    assert all(found[name] is not Conclusion.HOLDS for name in (*contested, "message_passing_approaches_bayes"))


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
    shown = [table for name, table in tables.items() if name.startswith("success_")] + [patient(tables["patience"])]
    assert sum(cell.startswith("none: ") for cell in cells) == sum(np.sum(table["doubt"] != "") for table in shown)
    assert all(re.match(r"none: |1\.\d+ \[1\.\d+, 1\.\d+\], (no trend with N, )?χ² = ", cell) for cell in cells)


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

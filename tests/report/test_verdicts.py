"""Every judge of the ledger is driven to every verdict, by the tables in `CASES` of the test_*_claims.py beside this.

CASES maps the name of a judge to a list of (tables, Conclusion); tables is a dict of the figures that the claim names.
"""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from phaselect import InputError
from phaselect.base.tables import Table, load_table
from phaselect.experiments import fits, limits
from phaselect.report.ledger import Conclusion, assessed
from phaselect.report.page import CLAIMS

HERE = Path(__file__).parent
TABLES = HERE.parents[1] / "docs" / "tables"
JUDGES = {claim.assess.__name__: claim for claim in CLAIMS}
MODULES = [import_module(f"tests.report.{path.stem}") for path in sorted(HERE.glob("test_*_claims.py"))]
CASES = [(name, *case) for module in MODULES for name, cases in module.CASES.items() for case in cases]


def test_judges_have_names_of_their_own():
    assert len(JUDGES) == len(CLAIMS)


@pytest.mark.parametrize(("name", "tables", "conclusion"), CASES, ids=[f"{it[0]}: {it[2].value}" for it in CASES])
def test_verdict(name, tables, conclusion):
    finding = assessed(JUDGES[name], tables)
    assert finding.conclusion is conclusion, finding.measured
    assert conclusion is Conclusion.OPEN or any(character.isdigit() for character in finding.measured)
    assert finding.measured


@pytest.mark.parametrize("name", sorted(JUDGES))
def test_a_judge_can_say_yes_no_and_that_it_does_not_know(name):
    reached = {conclusion for judge, _, conclusion in CASES if judge == name}
    assert {Conclusion.FAILS, Conclusion.OPEN} <= reached
    assert {Conclusion.HOLDS, Conclusion.CORRECTED} & reached


@pytest.mark.parametrize("name", sorted(JUDGES))
def test_nothing_known_is_nothing_settled(name):
    claim = JUDGES[name]
    committed = {name: load_table(TABLES / f"{name}.csv") for name in claim.figures}
    no_numbers = {name: blank(own) for name, own in committed.items()}
    no_rows = {name: own.take(np.zeros(len(own), dtype=bool)) for name, own in committed.items()}
    no_columns = {name: Table({}) for name in committed}
    for tables in (no_numbers, no_rows, no_columns, {}):
        assert assessed(claim, tables).conclusion is Conclusion.OPEN


@pytest.mark.parametrize("name", sorted(JUDGES))
def test_tables_that_lack_rows_break_no_judge(name, monkeypatch):
    """A file that was cut off at the end of a line; rows that someone took out. What is judged does not matter here."""
    for module in (fits, limits):
        monkeypatch.setattr(module, "REPLICATES", 20)
    claim, rng = JUDGES[name], np.random.default_rng(0)
    committed = {name: load_table(TABLES / f"{name}.csv") for name in claim.figures}
    for cut in (lambda size: np.arange(size) < rng.integers(size), lambda size: rng.random(size) < rng.random()):
        for _ in range(8):
            assert assessed(claim, {name: own.take(cut(len(own))) for name, own in committed.items()}).measured


def blank(table):
    columns = table.columns.items()
    return Table({name: np.full_like(it, np.nan) if it.dtype.kind == "f" else it for name, it in columns})


def test_a_judge_that_breaks_is_not_taken_for_one_that_lacks_a_table():
    claim = JUDGES["merging_at_1_7"]._replace(assess=lambda tables: {}["typo"])
    committed = {name: load_table(TABLES / f"{name}.csv") for name in claim.figures}
    with pytest.raises(KeyError, match="typo"):
        assessed(claim, committed)


def test_a_table_that_is_damaged_is_named():
    """A column of numbers that has become one of words."""
    committed = load_table(TABLES / "landscape.csv")
    words = Table(committed.columns | {"removed": committed["removed"].astype(str)})
    with pytest.raises(InputError, match=r"^the table of landscape is damaged: "):
        assessed(JUDGES["only_adds_minima"], {"landscape": words})

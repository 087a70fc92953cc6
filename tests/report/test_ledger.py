"""The verdicts follow from the numbers: on the committed tables, and on tables that were tampered with."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from phaselect.base.tables import load_table
from phaselect.figures.gallery import FIGURES
from phaselect.report.ledger import Conclusion, assess_all
from phaselect.report.page import CLAIMS

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
        assert any(character.isdigit() for character in finding.measured)
        assert not re.search(r"\bnan\b", finding.measured)
        assert set(claim.figures) <= set(FIGURES)
        assert claim.commands(tables)[0].startswith(f"phaselect figure {claim.figures[0]} --scale ")


def tampered(table, column, change, **where):
    keep = np.ones(len(table), dtype=bool)
    for name, value in where.items():
        keep &= table[name] == value
    changed = {name: np.where(keep, change(table[name]), table[name]) for name in column.split()}
    return replace(table, columns=table.columns | changed)


TAMPERED = [  # words of the claim, table, columns, change, rows: whatever the verdict was, it becomes another
    ("binary entropy", "complexity", "complexity", lambda x: x + 0.01, {}),
    ("misfit falls as the overlap", "complexity", "mse_y_random", lambda x: 1 - x, {}),
    ("not monotonic", "complexity", "m", lambda x: np.sort(x), {"sign_overlap": 0.2}),
    ("informed one takes over", "branches", "m", lambda x: 0.5 * x, {}),
    ("merge at alpha = 1.7", "regularisation", "alpha", lambda x: x + 0.2, {"line": "merge"}),
    ("trapped", "regularisation", "alpha", lambda x: 0 * x + 1.68, {"line": "recovery", "lam": 0.0}),
    ("bimodal", "stabilities", "P_right", lambda x: x[::-1] ** 0, {"mu": 3.5}),
    ("squeeze P", "stabilities", "P", lambda x: x / x.max(), {"lam": 0.0, "mu": 2.5}),
    ("merge at smaller alpha", "regularisation", "alpha", lambda x: x + 1, {"line": "merge", "lam": 0.005}),
    ("peaks and can then fall", "regularisation", "m", lambda x: np.linspace(0, 1, x.size), {"line": "informed"}),
    ("hard window", "regularisation", "mu", lambda x: 10 * x, {"line": "equal", "lam": 0.005}),
    ("anticipates", "regularisation", "mu", lambda x: 1 / x, {"panel": "c"}),
    ("lowers the largest overlap", "regularisation", "m", lambda x: 1 - x, {"panel": "d"}),
    ("even near the Bayes-optimal", "critical_product", "alpha", lambda x: x + 0.1, {}),
    ("small enough", "critical_product", "alpha", lambda x: 0 * x + 1.13, {}),
    ("high-complexity part", "local_stability", "stable", lambda x: ~x, {}),
    ("smaller misfit locally stable", "local_stability", "mse_y", lambda x: 1 + x, {"lam": 0.005}),
    ("not globally stable", "rsb", "growth_followed", lambda x: 0.5 * x, {}),
    ("only for alpha > 1.7", "success_sa", "low", lambda x: x - 1, {"kind": "threshold", "product": 0.0}),
    ("Simulated annealing: a slower", "success_sa", "low", lambda x: x + 1, {"kind": "threshold", "eps": 0.01}),
    ("threshold of simulated annealing", "success_sa", "kind", lambda x: "none", {"kind": "limit"}),
    ("At constant lam", "success_sa", "low", lambda x: x - 1, {"kind": "threshold", "solver": "sa-fixed"}),
    ("T_A = 100", "success_sa", "low", lambda x: x - 1, {"kind": "threshold", "solver": "sa-proposals"}),
    ("message passing approaches", "success_amp", "value low high", lambda x: np.full_like(x, 1.5), {"kind": "limit"}),
    ("vanishing rate", "success_amp", "low", lambda x: x + 2, {"kind": "threshold", "eps": 0.01}),
    ("State evolution", "trajectories", "m", lambda x: 1 - x, {"source": "amp"}),
    ("Langevin dynamics: a slower", "success_langevin", "low", lambda x: x + 1, {"kind": "threshold", "eps": 0.01}),
    ("poorest", "success_langevin", "high", lambda x: x - 1, {"kind": "threshold"}),
    ("gradient descent is stuck", "population", "high", lambda x: 0 * x, {"kind": "threshold", "solver": "raf"}),
    ("all three algorithms", "success_langevin", "low", lambda x: 0 * x + 1.1, {"kind": "threshold"}),
    ("neither branch is stable", "regularisation", "m", lambda x: 0 * x, {"panel": "a", "line": "informed"}),
    ("signalled by the local instability", "local_stability", "stable", lambda x: ~x, {}),
    ("due to the breaking of replica symmetry", "rsb", "growth_followed", lambda x: 0 * x + 1, {}),
]


@pytest.mark.parametrize(("words", "name", "column", "change", "where"), TAMPERED, ids=[row[0] for row in TAMPERED])
def test_a_verdict_follows_from_its_numbers(tables, words, name, column, change, where):
    (claim,) = [claim for claim in CLAIMS if words in claim.text]
    before = claim.assess(tables).conclusion
    after = claim.assess(tables | {name: tampered(tables[name], column, change, **where)}).conclusion
    assert before is not after


def test_verdicts_on_the_committed_tables(tables):
    """What docs/results.md reports; a change here is a change of what we say of the paper."""
    found = {claim.text: finding.conclusion for claim, finding in assess_all(CLAIMS, tables)}
    corrected = [text for text, verdict in found.items() if verdict is Conclusion.CORRECTED]
    assert sum("merge" in text or "squeeze" in text or "product mu*lam small" in text for text in corrected) >= 3
    assert list(found.values()).count(Conclusion.OPEN) <= 1

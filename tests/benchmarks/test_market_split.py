"""What the table of market split rests on."""

import numpy as np
import pytest
from benchmarks.rows import Measurement, Report, Row

from benchmarks import market_split, page
from tests.benchmarks.conftest import MACHINE


@pytest.mark.parametrize("m", [2, 3, 4])
def test_instances_are_of_the_published_kind(m):
    problem = market_split.market(m, seed=1)
    assert problem.A.shape == (m, 10 * (m - 1))
    assert 0 <= problem.A.min() <= problem.A.max() < 100
    np.testing.assert_array_equal(problem.b, problem.A.sum(axis=1) // 2)
    assert problem.solved_by(problem.planted)
    assert not problem.solved_by(1 - problem.planted) or not (problem.A.sum(axis=1) % 2).any()


def test_signs_solve_it_as_zeros_and_ones_do():
    problem = market_split.market(3, seed=0)
    W = problem.sign_equations
    assert not (np.append(2 * problem.planted - 1, 1) @ W).any()
    assert (np.append(1 - 2 * problem.planted, 1) @ W).any()


def test_both_solve_it(monkeypatch):
    problem = market_split.market(3, seed=0)
    assert market_split.highs_solves(problem)
    found = market_split.ours(problem)
    assert 0 < found.first <= found.every
    monkeypatch.setattr(market_split, "solve_sign_equations", lambda W: iter([-np.ones(len(W), dtype=int)]))
    with pytest.raises(AssertionError, match="wrong"):
        market_split.ours(problem)


def test_highs_is_ended_when_its_time_is_over():
    assert market_split.by_highs(market_split.market(6, seed=0), 0.01) == (0.01, False)


def test_larger_ones_are_not_tried_in_vain(monkeypatch, capsys):
    monkeypatch.setattr(market_split, "by_highs", lambda problem, limit: market_split.Theirs(limit, False))
    assert market_split.main(["--sizes", "2,3", "--instances", "1", "--limit", "7"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "0 of 1 solved within 7 s" in lines[1]
    assert "none of a smaller size was solved within 7 s" in lines[4]
    assert [line.startswith("all solutions") for line in lines].count(True) == 2


def test_the_table_has_a_line_for_each_size():
    size = "m = 6, 50 unknowns"
    found = {
        "HiGHS, a solution": Measurement(None, "", "none of a smaller size"),
        "a solution": Measurement(0.1, "s", "0.1 to 0.2 s"),
        "all solutions": Measurement(0.2, "s", "solutions: 1, 2"),
    }
    report = Report("cpu", False, MACHINE, [Row("market split", what, size, it) for what, it in found.items()])
    last = market_split.measured_part(report)[-1]
    assert last.startswith(
        f"| {size} | 0.1 (0.1 to 0.2 s) | 0.2 (solutions: 1, 2) | none of a smaller size |  | 45 to 114"
    )


def test_the_published_page_is_what_the_report_says():
    text = (page.DOCS / "market_split.md").read_text()
    report = market_split.load_report(page.DOCS / "bench" / market_split.REPORT)
    assert page.replaced(text, market_split.measured_part(report)) == text


def test_bad_options_are_refused(capsys):
    for options in (["--sizes", "big"], ["--sizes", "1"], ["--instances", "0"]):
        assert market_split.main(options) == 2
    assert len(capsys.readouterr().err.splitlines()) == 3

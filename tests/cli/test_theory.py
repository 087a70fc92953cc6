"""`phaselect theory ...` as a person runs it."""

import csv
import json
from functools import partial

import pytest

from phaselect import theory
from tests.cli import program

run = partial(program.run, "theory")


def table(text):
    """Aligned columns as a list of rows."""
    head, *rows = (line.split() for line in text.splitlines())
    return [dict(zip(head, row, strict=True)) for row in rows]


COMMANDS = {
    "point": ["--alpha", 1.2, "--mu", 5, "--lam", 0],
    "branch": ["--alpha", 1.2, "--mu-max", 100, "--eps", 1],
    "threshold": ["--product", 1, "--tolerance", 1e-3],
    "diagram": ["--lam", 0.05, "--alphas", "1.3,1.4"],
    "complexity": ["--overlap", 0.4, "--points", 5],
    "bayes": ["--alpha", 1.1],
    "clusters": ["--alpha", 1.5],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example(name):
    done = run(name, "--help")
    assert done.returncode == 0
    assert "Examples:" in done.stdout
    assert f"phaselect theory {name}" in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_table_file_and_figure(name, tmp_path):
    done = run(name, *COMMANDS[name], "--out", "table.csv", "--plot", "figure.png", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "table.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert rows
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_point():
    done = run("point", "--alpha", 1.2, "--mu", 112.13, "--start", "informed", "--json")
    assert json.loads(done.stdout) == theory.saddle_point(1.2, 112.13, start="informed").to_dict()
    printed = run("point", "--alpha", 1.2, "--mu", 5).stdout
    report = dict(line.split(maxsplit=1) for line in printed.splitlines())
    assert float(report["free_entropy"]) == pytest.approx(0.584615, abs=1e-6)
    assert report["trusted"] == "True"


def test_branch_prints_what_follow_returns():
    rows = table(run("branch", "--alpha", 1.6, "--lam", 0, "--mu0", 3, "--mu-max", 12, "--eps", 0.2).stdout)
    assert float(rows[0]["m"]) < 0.1
    assert float(rows[-1]["m"]) > 0.98
    record = json.loads(
        run("branch", "--alpha", 1.6, "--lam", 0, "--mu0", 1, "--mu-max", 50, "--folds", "--json").stdout
    )
    assert False in record["stable"]


def test_threshold():
    rows = table(run("threshold", "--product", 2, "--product", 1, "--tolerance", 1e-4).stdout)
    assert [float(row["product"]) for row in rows] == [1, 2]
    assert float(rows[0]["critical_alpha"]) == pytest.approx(1.1283, abs=5e-4)


def test_diagram():
    done = run("diagram", "--lam", 0, "--alphas", "1.3,1.7", "--json")
    assert "alpha_merge    1.68" in done.stderr
    record = json.loads(done.stdout)
    assert record["alpha_merge"] == [pytest.approx(1.68, abs=1e-3)] * 2
    assert record["mu_uninformed_end"][0] == "inf"
    assert record["mu_spinodal"][1] is None  # nan: beyond alpha_merge there is none


def test_complexity_and_bayes():
    rows = table(run("complexity", "--overlap", 0.4, "--points", 3).stdout)
    assert float(rows[0]["complexity"]) == pytest.approx(theory.complexity_at_random(1.7, 0.4), abs=1e-3)
    assert table(run("bayes", "--alpha", 1.1).stdout)[0]["phase"] == "hard"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["point", "--alpha", 1.2, "--mu", 0], "mu = 0 must be a positive"),
        (["point", "--alpha", 1.2, "--mu", 1, "--lam", -1], "lam = -1 must be 0 or more"),
        (["point", "--alpha", 0.9, "--mu", 1], "alpha must exceed 1"),
        (["branch", "--alpha", 1.2, "--lam", 0, "--product", 1], "not both"),
        (["branch", "--alpha", 1.2, "--product", 0], "product = 0 must be a positive"),
        (["branch", "--alpha", 1.2, "--mu0", -1], "need 0 < mu0"),
        (["branch", "--alpha", 1.6, "--lam", 0, "--folds", "--mu0", -1], "need 0 < mu0"),
        (["branch", "--alpha", 1.6, "--folds", "--product", 0], "product = 0 must be a positive"),
        (["branch", "--alpha", 1.6, "--folds", "--eps", 0.5], "leave out --eps"),
        (["branch", "--alpha", 1.6, "--mu0", 10, "--mu-max", 1], "need 0 < mu0"),
        (["threshold", "--tolerance", 0], "tolerance = 0 must lie between"),
        (["diagram", "--alphas", "1.2:inf:0.1"], "FIRST:LAST:STEP"),
        (["diagram", "--alphas", "1.2:1.7:1e-9"], "up to 1000 values"),
        (["complexity", "--overlap", 0.4, "--mu-max", "inf"], "mu0 < mu-max"),
        (["point", "--alpha", 1.2, "--mu", 1e300], "must be a positive number, at most"),
        (["threshold", "--product", -1], "product = -1 must be a positive"),
        (["diagram", "--alphas", "0.9,1.2"], "recovery needs more measurements"),
        (["diagram", "--alphas", "many"], "FIRST:LAST:STEP"),
        (["complexity", "--overlap", 1.0], "strictly between -1 and 1"),
        (["complexity", "--overlap", 0.5, "--mu0", 5, "--mu-max", 1], "mu0 < mu-max"),
        (["bayes", "--alpha", 0], "alpha = 0 must be a positive"),
        (["clusters", "--alpha", 0.5], "alpha must exceed 1"),
        (["point", "--alpha", 1.2, "--mu", 1, "--out", "never.txt"], "name the file .csv"),
        (["point", "--alpha", 1.2, "--mu", 1, "--plot", "never.doc"], "name the file .png"),
        (["point", "--alpha", 1.2, "--mu", 1, "--plot", "no/folder/x.png"], "cannot write"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, message, tmp_path):
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""
    assert not list(tmp_path.iterdir())

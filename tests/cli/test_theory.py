"""`phaselect theory ...`: what it prints, writes and draws, and what it says to bad input."""

import json
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from phaselect import theory
from phaselect.base.tables import load_table
from phaselect.cli.main import main
from phaselect.theory.at_sign_overlap import complexity_at_random


def run(*arguments):
    """The command, in this process: starting Python and loading kernels would take longer than the work."""
    return CliRunner().invoke(main, ["theory", *map(str, arguments)])


def table(text):
    """Aligned columns as a list of rows."""
    head, *rows = (line.split() for line in text.splitlines())
    return [dict(zip(head, row, strict=True)) for row in rows]


COMMANDS = {
    "point": ["--alpha", 1.2, "--mu", 5, "--lam", 0],
    "branch": ["--alpha", 1.2, "--mu-max", 100, "--eps", 1],
    "threshold": ["--product", 2, "--product", 1, "--tolerance", 0.01],
    "diagram": ["--lam", 0, "--alphas", "1.3,1.7"],
    "complexity": ["--sign-overlap", 0.4, "--points", 5],
    "bayes": ["--alpha", 1.1],
    "clusters": ["--alpha", 1.7],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example(name):
    done = run(name, "--help")
    assert done.exit_code == 0
    assert "Examples:" in done.stdout
    assert f"phaselect theory {name}" in done.stdout


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The table of each command and what it said, from one run with every output; computed when first asked for."""
    folder, found = tmp_path_factory.mktemp("theory"), {}

    def outputs(name):
        if name not in found:
            out, plot = folder / f"{name}.csv", folder / f"{name}.png"
            with pytest.MonkeyPatch.context() as patch:  # thresholds that take seconds: see tests/theory
                patch.setattr("phaselect.theory.coexistence.alpha_merge", lambda lam: 1.68)
                patch.setattr("phaselect.theory.coexistence.alpha_recovery", lambda lam: 1.584)
                done = run(name, *COMMANDS[name], "--out", out, "--plot", plot)
            assert done.exit_code == 0, done.stderr
            assert done.stdout == ""
            assert plot.read_bytes().startswith(b"\x89PNG")
            found[name] = load_table(out), done.stderr
        return found[name]

    return outputs


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "clusters" else name for name in COMMANDS]
)
def test_table_file_and_figure(name, written):
    rows, said = written(name)
    assert len(rows)
    assert "wrote" in said
    assert "converge" not in said


def test_a_reader_that_has_had_enough():
    """As `head -1`; the exit code is that of any program in a pipe, and not that of theory which did not converge."""
    command = [sys.executable, "-m", "phaselect", "theory", "branch", *map(str, COMMANDS["branch"])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141


def test_as_a_person_runs_it():
    command = [sys.executable, "-m", "phaselect", "theory", "point", "--alpha", "1.2", "--mu", "5"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    report = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert float(report["free_entropy"]) == pytest.approx(0.584615, abs=1e-6)
    assert report["trusted"] == "True"


def test_point():
    done = run("point", "--alpha", 1.2, "--mu", 112.13, "--start", "informed", "--json")
    assert json.loads(done.stdout) == theory.saddle_point(1.2, 112.13, start="informed").to_dict()


def test_branch_prints_what_follow_returns():
    rows = table(run("branch", "--alpha", 1.6, "--lam", 0, "--mu0", 3, "--mu-max", 12, "--eps", 0.2).stdout)
    assert float(rows[0]["m"]) < 0.1
    assert float(rows[-1]["m"]) > 0.98
    record = json.loads(
        run("branch", "--alpha", 1.6, "--lam", 0, "--mu0", 1, "--mu-max", 50, "--folds", "--json").stdout
    )
    assert False in record["stable"]


def test_threshold(written):
    rows, _ = written("threshold")
    assert rows["product"].tolist() == [1, 2]
    assert rows["critical_alpha"][0] == pytest.approx(1.1283, abs=0.01)  # the tolerance asked for


def test_threshold_of_other_matrices(tmp_path):
    rows = table(run("threshold", "--spectrum", "orthogonal", "--field", "complex").stdout)
    assert float(rows[0]["critical_alpha"]) == pytest.approx(2.2640, abs=1e-3)
    np.savetxt(tmp_path / "s2.csv", np.geomspace(1, 100, 50))
    rows = table(run("threshold", "--spectrum", tmp_path / "s2.csv").stdout)
    assert float(rows[0]["critical_alpha"]) == pytest.approx(1.1410, abs=1e-3)
    plot = tmp_path / "bayes.png"
    done = run("bayes", "--alpha", 1.95, "--spectrum", "orthogonal", "--field", "complex", "--plot", plot)
    assert table(done.stdout)[0]["phase"] == "impossible"
    assert plot.exists()


def test_diagram(written):
    rows, said = written("diagram")
    assert "alpha_merge    1.68" in said
    assert rows["alpha_merge"].tolist() == [1.68, 1.68]
    assert np.isinf(rows["mu_uninformed_end"][0])
    assert np.isnan(rows["mu_spinodal"][1])


def test_complexity_and_bayes():
    rows = table(run("complexity", "--sign-overlap", 0.4, "--points", 3).stdout)
    assert float(rows[0]["complexity"]) == pytest.approx(complexity_at_random(1.7, 0.4), abs=1e-3)
    assert table(run("bayes", "--alpha", 1.1).stdout)[0]["phase"] == "hard"


def test_json_has_no_infinity(monkeypatch):
    monkeypatch.setattr(theory, "critical_alpha", lambda product, **_: {1.0: np.inf, 2.0: np.nan}[product])
    record = json.loads(run("threshold", "--product", 1, "--product", 2, "--json").stdout)
    assert record["critical_alpha"] == ["inf", None]


def test_what_did_not_converge_is_told(monkeypatch):
    """A point and a row say so beside their numbers; a threshold has none, and exit code 1."""
    monkeypatch.setattr("phaselect.theory.flow.MAX_EVALUATIONS", 8)
    assert "1 of 1 rows did not converge" in run("point", "--alpha", 1.7, "--mu", 3.6).stderr
    done = run("threshold")
    assert done.exit_code == 1
    assert done.stdout == ""
    assert "did not converge" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["point", "--alpha", 1.2, "--mu", 0], "mu = 0 must be a positive"),
        (["threshold", "--spectrum", "flat"], "--spectrum flat: use gaussian, orthogonal, or a .npy or .csv file"),
        (["threshold", "--spectrum", "none.csv"], "none.csv"),
        (["bayes", "--alpha", 0.9, "--spectrum", "orthogonal"], "alpha of at least 1"),
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
        (["complexity", "--sign-overlap", 0.4, "--mu-max", "inf"], "mu0 < mu-max"),
        (["point", "--alpha", 1.2, "--mu", 1e300], "must be a positive number, at most"),
        (["threshold", "--product", -1], "product = -1 must be a positive"),
        (["diagram", "--alphas", "0.9,1.2"], "recovery needs more measurements"),
        (["diagram", "--alphas", "many"], "FIRST:LAST:STEP"),
        (["complexity", "--sign-overlap", 1.0], "strictly between -1 and 1"),
        (["complexity", "--sign-overlap", 0.5, "--mu0", 5, "--mu-max", 1], "mu0 < mu-max"),
        (["bayes", "--alpha", 0], "alpha = 0 must be a positive"),
        (["clusters", "--alpha", 0.5], "alpha must exceed 1"),
        (["clusters", "--alpha", 1.5, "--lam", 0, "--product", 1], "give either lam or product"),
        (["point", "--alpha", 1.2, "--mu", 1, "--out", "never.txt"], "name the file .csv"),
        (["point", "--alpha", 1.2, "--mu", 1, "--plot", "never.doc"], "name the file .png"),
        (["point", "--alpha", 1.2, "--mu", 1, "--plot", "no/folder/x.png"], "cannot write"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(*arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""
    assert not list(tmp_path.iterdir())

"""`phaselect sweep` and what reads its store: one real process, the rest within this one."""

import json
import sqlite3
import subprocess
import sys

import pytest
from click.testing import CliRunner

from phaselect.cli.main import main


@pytest.fixture
def run(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return lambda *arguments: CliRunner().invoke(main, arguments, prog_name="phaselect")


SWEEP = ["sweep", "--solver", "raf,altmin", "--n", "30", "--alpha", "2:3:1", "--instances", "3", "--workers", "0"]

BATCH = ["sweep", "--solver", "amp", "--n", "30", "--alpha", "3", "--device", "cpu"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    command = [sys.executable, "-m", "phaselect", *SWEEP, "--store", "runs.db"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "runs.db: 12 of 12 runs, 12 new, 0 failed\n"
    (folder / "sweep.toml").write_text('[[grid]]\nsolver = ["raf", "altmin"]\nn = 30\nalpha = [2, 3]\ninstances = 3\n')
    return folder


@pytest.mark.parametrize("command", ["sweep", "success", "export", "merge", "figure", "report"])
def test_help_has_an_example(command, run):
    done = run(command, "--help")
    assert done.exit_code == 0
    assert f"phaselect {command} " in done.stdout.split("Examples:")[1]


def test_status(run):
    table = json.loads(run("sweep", "--status", "--json", "--store", "runs.db").stdout)
    assert table["solver"] == ["raf", "altmin"]
    assert table["done"] == [6, 6]
    assert table["missing"] == [0, 0]
    more = [*SWEEP, "--seed", "1", "--status", "--store", "runs.db"]
    shown = run(*more).stdout.splitlines()
    assert shown[0].split() == ["solver", "n", "done", "failed", "missing"]
    assert shown[1].split()[-3:] == ["4", "0", "2"]  # seeds 1 and 2 are there, 3 is not


def test_a_toml_file_and_a_preset_are_the_same_as_options(run, folder):
    done = run("sweep", "--config", "sweep.toml", "--store", "runs.db", "--workers", "0")
    assert done.stdout == "runs.db: 12 of 12 runs, 0 new, 0 failed\n"
    missing = run("sweep", "--preset", "baselines", "--status", "--json", "--store", "runs.db")
    assert json.loads(missing.stdout)["missing"] == [160, 160]


def test_ensembles(run):
    grid = ["sweep", "--solver", "raf", "--n", "30", "--alpha", "3", "--ensemble", "toeplitz,sparse"]
    grid += ["--instances", "1", "--workers", "0", "--store", "ensembles.db"]
    assert run(*grid).stdout == "ensembles.db: 2 of 2 runs, 2 new, 0 failed\n"
    assert json.loads(run(*grid, "--status", "--json").stdout)["ensemble"] == ["sparse", "toeplitz"]
    assert json.loads(run("success", "ensembles.db", "--json").stdout)["ensemble"] == ["sparse", "toeplitz"]
    assert "'magic' is not one of 'gaussian'" in run(*grid, "--ensemble", "magic").stderr


def test_fields(run):
    grid = ["sweep", "--solver", "vmp", "--n", "20", "--alpha", "4", "--field", "real,complex"]
    grid += ["--instances", "1", "--workers", "0", "--store", "fields.db"]
    assert run(*grid).stdout == "fields.db: 2 of 2 runs, 2 new, 0 failed\n"
    assert json.loads(run(*grid, "--status", "--json").stdout)["field"] == ["complex", "real"]
    found = json.loads(run("success", "fields.db", "--curves", "--json").stdout)
    assert dict(zip(found["field"], found["p"], strict=True)) == {"complex": 1.0, "real": 1.0}
    assert run(*grid, "--solver", "pa").stderr.startswith("phaselect: pa cannot run in the complex field: use amp")


def test_status_has_the_options_of_the_solvers_asked_for(run):
    grid = [
        "--solver",
        "amp,raf",
        "--n",
        "30",
        "--alpha",
        "2",
        "--eps",
        "0.1,0.2",
        "--restarts",
        "0",
        "--instances",
        "2",
    ]
    table = json.loads(run("sweep", *grid, "--status", "--json", "--store", "runs.db").stdout)
    assert list(table) == ["solver", "n", "eps", "product", "restarts", "iterations", "done", "failed", "missing"]
    assert table["eps"] == [0.1, 0.2, None]
    assert table["restarts"] == [0, 0, None]


def test_help_names_the_defaults(run):
    text = "".join(run("sweep", "--help").stdout.split())  # names are broken at the ends of lines
    assert "Bydefault0.1foramp,amp-paper,vmp;0.05forbp,sa,sa-proposals,sa-fixed;0.02forlangevin." in text


def test_export_and_merge(run, folder):
    assert run("export", "runs.db", "--out", "runs.csv").exit_code == 0
    assert run("export", "runs.db", "--out", "runs.parquet").exit_code == 0
    lines = (folder / "runs.csv").read_text().splitlines()
    assert lines[0] == "# store: runs.db"
    assert lines[2].startswith("key,solver,n,alpha,seed,")
    assert len(lines) == 3 + 12
    parquet = pytest.importorskip("pyarrow.parquet")
    assert parquet.read_table(folder / "runs.parquet").num_rows == 12
    done = run("merge", "all.db", "runs.db", "runs.db")
    assert done.stdout.splitlines() == ["runs.db: 12 new of 12 runs", "runs.db: 0 new of 12 runs"]
    run("merge", "fresh.db", "runs.db", "sweep.toml")
    assert not (folder / "fresh.db").exists()
    damaged = sqlite3.connect(folder / "all.db")
    damaged.execute("DROP TABLE grids")
    damaged.close()
    assert run("merge", "fresh.db", "runs.db", "all.db").exit_code == 2
    assert not (folder / "fresh.db").exists()


def test_success(run, folder):
    table = json.loads(run("success", "runs.db", "--json").stdout)
    assert set(zip(table["solver"], table["n"], table["runs"], strict=True)) == {("raf", 30, 6), ("altmin", 30, 6)}
    printed = run("success", "runs.db").stdout.split("\n")[0].split()
    empty = {name for name, column in table.items() if set(column) <= {None, ""}} - {"alpha_50"}
    assert printed == [name for name in table if name not in empty]
    assert {"alpha_50", "runs"} <= set(printed)
    assert "chi2" in empty  # one size has no limit
    done = run("success", "runs.db", "--curves", "--out", "curves.csv")
    assert done.exit_code == 0
    header = (folder / "curves.csv").read_text().splitlines()[0].split(",")
    assert {"alpha", "trials", "p", "p_low", "p_high", "device", "seconds", "tts_50", "tts_99"} <= set(header)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["sweep", "--store", "runs.db"], "say what to run"),
        (["sweep", "--store", "runs.db", "--solver", "amp"], "alpha, n missing"),
        (["sweep", "--store", "runs.db", "--solver", "amp,magic"], "'magic' is not one of 'amp', "),
        (["sweep", "--store", "runs.db", "--preset", "magic"], "'magic' is not one of 'sa', "),
        (["sweep", "--store", "runs.db", "--preset", "sa", "--n", "100"], "not several"),
        (["sweep", "--store", "none/runs.db", "--preset", "sa"], "not a folder"),
        (["sweep", "--store", "none.db", "--status"], "no such store"),
        (["sweep", "--store", "runs.db", "--config", "none.toml"], "no such file"),
        ([*SWEEP, "--store", "runs.db", "--time-limit", "-1"], "positive number of seconds"),
        ([*SWEEP, "--store", "runs.db", "--local-cluster", "2"], "give one of"),
        ([*BATCH, "--store", "runs.db", "--workers", "2"], "plain processes would share one cpu"),
        (["export", "runs.db", "--out", "runs.txt"], "name the file .csv or .parquet"),
        (["export", "sweep.toml", "--out", "x.csv"], "not a store of runs"),
        (["merge", "all.db", "none.db"], "no such store"),
        (["merge", "fresh.db", "runs.db", "sweep.toml"], "sweep.toml is not a store of runs"),
    ],
)
def test_bad_input_gets_one_line(run, arguments, words):
    done = run(*arguments)
    assert done.exit_code == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1

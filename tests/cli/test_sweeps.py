import json

import pytest

from tests.cli.program import run

SWEEP = ["sweep", "--solver", "raf,altmin", "--n", "30", "--alpha", "2:3:1", "--instances", "3", "--workers", "0"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    done = run(*SWEEP, "--store", "runs.db", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "runs.db: 12 of 12 runs, 12 new, 0 failed\n"
    return folder


def test_status(folder):
    table = json.loads(run("sweep", "--status", "--json", "--store", "runs.db", cwd=folder).stdout)
    assert table["solver"] == ["raf", "altmin"]
    assert table["done"] == [6, 6]
    assert table["missing"] == [0, 0]
    more = [*SWEEP, "--seed", "1", "--status", "--store", "runs.db"]
    shown = run(*more, cwd=folder).stdout.splitlines()
    assert shown[0].split() == ["solver", "n", "eps", "product", "replicas", "done", "failed", "missing"]
    assert shown[1].split()[-3:] == ["4", "0", "2"]  # seeds 1 and 2 are there, 3 is not


def test_a_toml_file_and_a_preset_are_the_same_as_options(folder):
    (folder / "sweep.toml").write_text('[[grid]]\nsolver = ["raf", "altmin"]\nn = 30\nalpha = [2, 3]\ninstances = 3\n')
    done = run("sweep", "--config", "sweep.toml", "--store", "runs.db", "--workers", "0", cwd=folder)
    assert done.stdout == "runs.db: 12 of 12 runs, 0 new, 0 failed\n"
    missing = run("sweep", "--preset", "baselines", "--status", "--json", "--store", "runs.db", cwd=folder)
    assert json.loads(missing.stdout)["missing"] == [160, 160]


def test_export_and_merge(folder):
    assert run("export", "runs.db", "--out", "runs.csv", cwd=folder).returncode == 0
    assert run("export", "runs.db", "--out", "runs.parquet", cwd=folder).returncode == 0
    lines = (folder / "runs.csv").read_text().splitlines()
    assert lines[0] == "# store: runs.db"
    assert lines[2].startswith("key,solver,n,alpha,seed,")
    assert len(lines) == 3 + 12
    parquet = pytest.importorskip("pyarrow.parquet")
    assert parquet.read_table(folder / "runs.parquet").num_rows == 12
    done = run("merge", "all.db", "runs.db", "runs.db", cwd=folder)
    assert done.stdout.splitlines() == ["runs.db: 12 new of 12 runs", "runs.db: 0 new of 12 runs"]


def test_success(folder):
    table = json.loads(run("success", "runs.db", "--json", cwd=folder).stdout)
    assert set(zip(table["solver"], table["n"], table["runs"], strict=True)) == {("raf", 30, 6), ("altmin", 30, 6)}
    done = run("success", "runs.db", "--curves", "--out", "curves.csv", cwd=folder)
    assert done.returncode == 0
    header = (folder / "curves.csv").read_text().splitlines()[0].split(",")
    assert {"alpha", "trials", "p", "p_low", "p_high", "tts_50", "tts_99"} <= set(header)


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
        (["export", "runs.db", "--out", "runs.txt"], "name the file .csv or .parquet"),
        (["export", "sweep.toml", "--out", "x.csv"], "not a store of runs"),
        (["merge", "all.db", "none.db"], "no such store"),
    ],
)
def test_bad_input_gets_one_line(folder, arguments, words):
    done = run(*arguments, cwd=folder)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1

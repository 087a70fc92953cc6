"""The figures as a whole: tables with provenance, cached; sweeps behind them; the command line."""

import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from phaselect import InputError
from phaselect.base.files import PART
from phaselect.base.tables import Table, load_table
from phaselect.experiments.executors import InProcess
from phaselect.experiments.grid import Grid
from phaselect.experiments.sweep import run_sweep
from phaselect.figures import gallery
from phaselect.figures.context import Context
from phaselect.figures.gallery import FIGURES, Studio, draw, figure_module, write
from phaselect.figures.solvers import on_common_instances
from phaselect.figures.success_curves import analyse
from phaselect.solvers.registry import OPTIONS
from tests.cli.program import run

TABLES = Path(__file__).parents[2] / "docs" / "tables"
FAST = {"eps": (0.2, 0.1), "restarts": (0,), "iterations": (300,)}


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A table of a success figure, from a small sweep of its own."""
    grids = [
        Grid(("amp",), (30, 40, 50, 60), (1.1, 1.3, 1.5, 1.8), instances=2, options=FAST),
        Grid(("amp-paper",), (30, 40), (1.3, 1.8), instances=2, options={"eps": FAST["eps"]}),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gallery, "preset", lambda name, scale: grids)
        studio = Studio(store=tmp_path_factory.mktemp("swept") / "runs.db", executor=InProcess())
        return studio.table("success_amp")


def test_all_figures_have_a_caption_and_a_module():
    assert len(set(FIGURES)) == len(FIGURES) >= 22
    for name in FIGURES:
        assert len(figure_module(name).CAPTION) > 80
    with pytest.raises(InputError, match="no figure 'nonsense'"):
        figure_module("nonsense")


def test_success_figure_counts_what_the_store_has(swept):
    shares = swept.where(kind="share", solver="amp")
    assert len(shares) == 4 * 4 * 2
    assert (shares["trials"] == 2).all()
    assert np.allclose(shares["value"], shares["successes"] / 2, atol=1e-6)
    assert ((shares["low"] <= shares["value"]) & (shares["value"] <= shares["high"])).all()
    assert len(swept.where(kind="threshold")) == 4 * 2 + 2 * 2
    limits = swept.where(kind="limit", solver="amp")
    assert len(limits) <= 2
    assert swept.provenance["runs"] == "80 of the 80 of preset amp"
    assert swept.provenance["command"] == "phaselect figure success_amp --scale small"


def test_success_figure_draws_every_size(swept):
    figure = draw("success_amp", swept)
    fast, slow, thresholds, _ = figure.axes
    titles = [panel.get_title(loc="left") for panel in (fast, slow)]
    assert all(f"$\\epsilon = {eps}$" in title for eps, title in zip((0.2, 0.1), titles, strict=True))
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert [label for label in labels if label.startswith("$N")] == [
        f"$N = {n}$, 2 instances" for n in (30, 40, 50, 60)
    ]
    assert thresholds.get_xscale() == "log"
    assert any(line.get_xdata()[0] == 1.128 for line in fast.get_lines() if len(line.get_xdata()) == 2)


def test_theory_tables_are_computed_once(tmp_path, monkeypatch):
    calls = []
    module = figure_module("critical_product")
    columns = {
        "product": np.array([0.5, 1.0, 2.0]),
        "alpha": np.array([1.16, 1.1284719384, 1.15]),
        "alpha_bayes": 1.1285,
    }
    monkeypatch.setattr(
        module,
        "compute",
        lambda context: calls.append(context.scale) or {k: np.broadcast_to(v, 3) for k, v in columns.items()},
    )
    first = Studio(cache=tmp_path).table("critical_product")
    again = Studio(cache=tmp_path).table("critical_product")
    assert calls == ["small"]
    assert again.provenance == first.provenance
    assert {"figure", "command", "version", "revision", "date", "took"} <= set(first.provenance)
    assert again["alpha"][1] == 1.12847  # six digits
    monkeypatch.setattr(gallery, "sources", lambda: "changed")
    Studio(cache=tmp_path).table("critical_product")
    Studio(cache=tmp_path, scale="paper").table("critical_product")
    assert calls == ["small", "small", "paper"]


def test_tables_survive_a_file(tmp_path, swept):
    swept.save(tmp_path / "table.csv")
    again = load_table(tmp_path / "table.csv")
    assert again.provenance == swept.provenance
    for name, column in swept.columns.items():
        np.testing.assert_array_equal(again[name], column)


def test_stored_takes_what_is_there_and_computes_nothing(tmp_path, swept, monkeypatch):
    monkeypatch.setattr(gallery, "run_sweep", None)
    with pytest.raises(InputError, match="no such store"):
        Studio(store=tmp_path / "none.db", stored=True).table("success_amp")


def test_stored_draws_a_partial_store(tmp_path):
    """Of the preset some sizes, one rate, two instances and nothing that succeeded."""
    path = tmp_path / "runs.db"
    run_sweep([Grid(("sa",), (100,), (1.1, 1.15), instances=2, options={"eps": (0.1,)})], path, InProcess())
    table = Studio(store=path, stored=True).table("success_sa")
    assert table.provenance["runs"].startswith("4 of the ")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(draw("success_sa", table).axes) == 3


def test_common_instances():
    columns = {"n": [1, 1, 1, 2, 2], "alpha": [2.0] * 5, "seed": [0, 0, 1, 0, 0], "solver": ["a", "b", "a", "a", "b"]}
    rows = on_common_instances(Table({name: np.array(column) for name, column in columns.items()}))
    assert rows["seed"].tolist() == [0, 0, 0, 0]
    assert rows["n"].tolist() == [1, 1, 2, 2]


def test_trajectories_meet_the_theory(monkeypatch):
    from phaselect.figures import trajectories

    monkeypatch.setattr(trajectories, "N", 300)
    monkeypatch.setattr(trajectories, "AMP_ALPHAS", (1.4,))
    monkeypatch.setattr(trajectories, "SA_ALPHAS", (1.4,))
    table = Table(trajectories.compute(Context("small", None)))
    assert set(table.values("source")) == {"amp", "mean of amp", "sa", "mean of sa", "state evolution", "branch"}
    mean, runs = table.where(source="mean of amp"), table.where(source="amp")
    assert len(runs.values("seed")) == 2
    assert mean["m"][-1] == pytest.approx(1, abs=1e-3)
    assert 0 < mean["m_error"].max() < 0.3
    theory = table.where(source="branch")
    mean = table.where(source="mean of sa")
    assert mean["runs"].tolist() == [4] * len(mean)
    hot, predicted = mean["mu"] < 1.0, np.interp(mean["mu"], theory["mu"], theory["mse_y"])
    assert abs(np.mean(mean["mse_y"][hot] / predicted[hot]) - 1) < 0.05
    assert (mean["log_mse_y_error"] > 0).all()
    for seed in (0, 1):
        run = table.where(source="sa", seed=seed)
        predicted = np.interp(run["mu"], theory["mu"], theory["mse_y"])  # a trace is thinned at this size
        assert np.isin(run["mu"], theory["mu"]).all()
        hot = run["mu"] < 1.0
        assert hot.any()
        assert abs(np.mean(run["mse_y"][hot] / predicted[hot]) - 1) < 0.1
    assert len(draw("trajectories", table).axes) == 3


def test_a_damaged_cache_is_computed_again(tmp_path, monkeypatch):
    module = figure_module("critical_product")
    columns = {"product": np.array([0.5, 1.0]), "alpha": np.array([1.2, 1.1]), "alpha_bayes": np.array([1.1, 1.1])}
    monkeypatch.setattr(module, "compute", lambda context: columns)
    Studio(cache=tmp_path).table("critical_product")
    (cached,) = tmp_path.iterdir()
    cached.write_text("a,b\n1\n")
    assert len(Studio(cache=tmp_path).table("critical_product")) == 2


def test_figure_command(tmp_path, swept):
    swept.save(tmp_path / "amp.csv")
    done = run("figure", "success_amp", "--from", "amp.csv", "--out", "amp.svg", "--table", "copy.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "amp.svg").read_text().startswith("<?xml")
    assert (tmp_path / "copy.csv").read_text() == (tmp_path / "amp.csv").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["figure", "--out", "x.png"], "give the name of a figure"),
        (["figure", "rsb", "--all", "--out", "x"], "give the name of a figure"),
        (["figure", "rsb", "--out", "x.txt"], "name the file"),
        (["figure", "--all", "--table", "x.csv", "--out", "x"], "--table goes with one figure"),
        (["figure", "rsb", "--from", "amp.csv", "--out", "x.png"], "the table of figure success_amp, not of rsb"),
        (["figure", "rsb", "--from", "none.csv", "--out", "x.png"], "none.csv: no such file"),
        (["figure", "rsb", "--from", "bad.csv", "--out", "x.png"], "not a table of figure rsb"),
        (["figure", "success_sa", "--store", "none.db", "--stored", "--out", "x.png"], "no such store"),
        (["report", "--from", ".", "--out", "report"], "missing: complexity, branches"),
        (["report", "--out", "bad.csv/report"], "cannot make the folder"),
        (["figure", "solvers", "--workers", "1", "--local-cluster", "2", "--out", "x.png"], "give one of"),
    ],
)
def test_bad_input_gets_one_line(tmp_path, arguments, words):
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n")
    (tmp_path / "amp.csv").write_text("# figure: success_amp\na,b\n1,2\n")
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "x.png").exists()


def test_analysis_of_a_curve_without_a_threshold():
    rows = Table(
        {
            "solver": np.array(["raf"] * 4),
            "n": np.full(4, 50),
            **{name: np.full(4, np.nan) for name in OPTIONS},
            "ensemble": np.full(4, "gaussian"),
            "field": np.full(4, "real"),
            "plan": np.full(4, "plan-0"),
            "device": np.full(4, ""),
            "alpha": np.array([1.1, 1.1, 1.2, 1.2]),
            "seed": np.array([0, 1, 0, 1]),
            "m": np.full(4, 0.1),
            "mse_x": np.full(4, 1.0),
            "mse_y": np.full(4, 0.1),
            "status": np.array(["NOT_RECOVERED"] * 4),
            "seconds": np.full(4, 1.0),
        }
    )
    found = Table(analyse(rows))
    assert np.isnan(found.where(kind="threshold")["value"][0])
    assert found.where(kind="threshold")["low"][0] == 1.0  # two runs at each alpha exclude nothing
    assert (found.where(kind="share")["tts_99"] == np.inf).all()


def test_without_a_place_for_a_cache_tables_are_computed_all_the_same(monkeypatch):
    monkeypatch.setattr(figure_module("complexity"), "compute", lambda context: {"mu": np.ones(3)})
    assert len(Studio(cache=Path("/dev/null/cache")).table("complexity")) == 3


def test_ctrl_c_in_a_run_that_is_followed_to_its_end_stops_the_figure(monkeypatch):
    """A solver would return the best so far, a trace without its end."""
    trajectories = figure_module("trajectories")
    monkeypatch.setattr(trajectories, "state_evolution_curve", lambda alpha: {})
    monkeypatch.setattr(trajectories, "branch_curve", lambda alpha: {})
    begun = []

    def run_curve(*job):
        begun.append(job)
        os.kill(os.getpid(), signal.SIGINT)
        return {}

    monkeypatch.setattr(trajectories, "run_curve", run_curve)
    with pytest.raises(KeyboardInterrupt):
        trajectories.compute(Context("small", None, lambda share: None))
    assert len(begun) == 1


def test_an_interrupt_that_a_figure_took_for_its_own_keeps_its_table_out_of_the_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(figure_module("complexity"), "compute", lambda context: {"mu": np.ones(3)})

    def progress(share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Studio(cache=tmp_path, progress=progress).table("complexity")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["speed", "splitting", "descent", "spectrum_design", "trajectories"])
def test_ctrl_c_while_a_figure_runs_a_solver_ends_the_figure(name, tmp_path, monkeypatch):
    """The solver returns its best so far; a table made of such results is no table."""

    def interrupted(work, temperatures):
        signal.raise_signal(signal.SIGINT)
        return 1

    monkeypatch.setattr("phaselect.solvers.loop.temperatures_between_looks", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Studio(cache=tmp_path).table(name)
    assert not list(tmp_path.iterdir())


KILLED = """
import os, signal
from matplotlib.figure import Figure

def savefig(figure, stream, **options):
    stream.write(b"half of it")
    stream.flush()
    os.kill(os.getpid(), signal.SIGKILL)

Figure.savefig = savefig
from phaselect.__main__ import main
main()
"""


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path):
    words = ["figure", "complexity", "--from", TABLES / "complexity.csv", "--out", "figure.svg"]
    killed = subprocess.run([sys.executable, "-c", KILLED, *map(str, words)], cwd=tmp_path, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert [(path.suffix, path.read_bytes()) for path in tmp_path.iterdir()] == [(PART, b"half of it")]
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["figure.svg"]


def test_a_full_disk_is_not_blamed_on_the_table(monkeypatch):
    def full(figure, path):
        raise InputError(f"cannot write {path}: No space left on device")

    monkeypatch.setattr(gallery, "save", full)
    with pytest.raises(InputError, match=r"^cannot write f\.png"):
        write("complexity", None, "f.png")


def test_a_damaged_table_gets_one_line_and_no_picture(tmp_path):
    table, other = (load_table(TABLES / f"{name}.csv") for name in ("success_sa", "trajectories"))
    words = np.char.add(table["crashed"].astype(str), "abc")
    with pytest.raises(InputError, match="this table of figure success_sa is damaged or incomplete"):
        draw("success_sa", Table(table.columns | {"crashed": words}, table.provenance))
    without_anneals = draw(
        "trajectories", Table(other.take(other["mse_y"] != other["mse_y"]).columns, other.provenance)
    )
    with pytest.raises(InputError, match="this table of figure trajectories is damaged or incomplete"):
        write("trajectories", without_anneals, tmp_path / "figure.png")
    assert list(tmp_path.iterdir()) == []

from functools import partial

import numpy as np
import pytest

from phaselect.base.pictures import read_picture, save_picture
from phaselect.experiments import photograph
from tests.cli.program import run

PHOTO = np.add.outer(np.linspace(0, 0.4, 16) ** 2, np.linspace(0.1, 0.8, 12))


@pytest.fixture
def folder(tmp_path):
    save_picture(tmp_path / "photo.png", PHOTO)
    save_picture(tmp_path / "black.png", 0 * PHOTO)
    (tmp_path / "text.png").write_text("words")
    return tmp_path


def test_the_photograph_again_its_error_and_a_panel(folder):
    done = run("image", "photo.png", "--real", "--out", "again.png", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    report = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert report["photograph"] == "photo.png, 12 x 16 pixels, in grey"
    assert report["patterns"] == "2 for 192 real unknowns"
    assert report["status"].startswith("locally unique: ")
    assert float(report["error"].split(",")[0]) < 1e-12
    assert report["wrote"] == "again.png and again_panel.png"
    np.testing.assert_array_equal(read_picture(folder / "again.png"), read_picture(folder / "photo.png"))
    assert (folder / "again_panel.png").read_bytes().startswith(b"\x89PNG")


def test_too_few_patterns_are_told_before_the_search(folder, monkeypatch):
    monkeypatch.setattr(photograph, "solve", partial(photograph.solve, time_limit=0.01))
    done = run("image", "photo.png", "--patterns", 2, "--panel", "panel.svg", cwd=folder)
    assert done.returncode == 4
    assert done.stderr.startswith("warning: expected to fail")
    assert "time limit\n" in done.stdout
    assert "<svg" in (folder / "panel.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.png"], "missing.png: no such file"),
        (["text.png"], "text.png cannot be read"),
        (["black.png"], "all black"),
        (["photo.png", "--out", "never.jpg"], "name the file .png"),
        (["photo.png", "--panel", "never.txt"], "name the file .png, .pdf or .svg"),
        (["photo.png", "--out", "photo.png"], "must be three files"),
        (["photo.png", "--panel", "recovered.png"], "must be three files"),
        (["photo.png", "--out", "no/such/x.png"], "cannot write"),
        (["photo.png", "--patterns", 1], "give 2 or more"),
        (["photo.png", "--masks", "binary"], "or --masks phase"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(folder, arguments, message):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = run("image", *arguments, cwd=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before

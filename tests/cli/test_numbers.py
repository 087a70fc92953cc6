"""Unusual values in every option of every command there is: the largest and the smallest numbers, empty texts."""

import click
import numpy as np
import pytest

import phaselect
from phaselect.base.pictures import save_picture
from phaselect.cli.main import main
from phaselect.solvers.registry import OPTIONS
from tests.cli.program import run

LISTS = {"n", "alpha", "alphas", *OPTIONS}
"""Options whose values are lists of numbers, and so texts for click."""
QUICK = {
    "generate": "generate --n 10 --alpha 2 --out drawn.npz",
    "solve": "solve inst.npz --out x.npz",
    "image": "image photo.png --real --out again.png",
    "demo": "demo --n 10 --alpha 4 --out demo.png",
    "sweep": "sweep --store runs.db --solver amp,pa --n 10 --alpha 4 --instances 1 --replicas 2",
    "figure": "figure success_amp --stored --store none.db --out figure.png",
    "report": "report --stored --store none.db --out report",
    "export": "export runs.db --out runs.csv",
    "success": "success runs.db",
    "explore": "explore --no-open",
    "point": "theory point --alpha 1.2 --mu 5",
    "branch": "theory branch --alpha 1.2 --mu0 1 --mu-max 10 --eps 1",
    "threshold": "theory threshold --tolerance 0.1",
    "diagram": "theory diagram --alphas 1.7",
    "complexity": "theory complexity --sign-overlap 0.4 --points 2",
    "bayes": "theory bayes --alpha 1.1",
    "clusters": "theory clusters --alpha 1.7",
}
"""Each command as it takes the least time."""
WHERE = {"--workers", "--local-cluster"}
UNUSUAL = ("1e-308", "99999999999999999999", "-99999999999999999999", "1e308", "nan")


def leaves(command, name):
    if isinstance(command, click.Group):
        for inner in command.list_commands(None):
            yield from leaves(command.commands[inner], inner)
    else:
        yield name, command


def takes_numbers(option):
    return isinstance(option.type, click.types.IntParamType | click.types.FloatParamType) or option.name in LISTS


def takes_text(option):
    texts = isinstance(option.type, click.Path | click.types.StringParamType)
    return isinstance(option, click.Option) and texts


NUMERIC = [(name, option.opts[0]) for name, leaf in leaves(main, "") for option in leaf.params if takes_numbers(option)]


TEXTUAL = [(name, option.opts[0]) for name, leaf in leaves(main, "") for option in leaf.params if takes_text(option)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("numbers")
    phaselect.gaussian_instance(10, 4.0, seed=0).save(folder / "inst.npz")
    save_picture(folder / "photo.png", np.linspace(0.1, 0.9, 20).reshape(4, 5))
    return folder


@pytest.mark.parametrize(("name", "option"), NUMERIC)
def test_unusual_numbers_work_or_are_one_line(name, option, folder):
    here = "--workers 0" if name == "sweep" and option not in WHERE else ""
    for value in UNUSUAL:
        check(run(*f"{QUICK[name]} {here} {option} {value}".split(), cwd=folder))


@pytest.mark.parametrize(("name", "option"), TEXTUAL)
def test_an_empty_text_works_or_is_one_line(name, option, folder):
    check(run(*QUICK[name].split(), option, "", cwd=folder))


@pytest.mark.parametrize("name", [name for name, option in TEXTUAL if option == "--store"])
def test_a_store_without_a_name_is_refused_before_any_work(name, tmp_path):
    done = run(*QUICK[name].split(), "--store", "", cwd=tmp_path)
    assert check(done) == 2
    assert "Invalid value for '--store'" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words",
    [
        ["solve", ""],
        ["image", ""],
        ["export", "", "--out", "x.csv"],
        ["success", ""],
        ["merge", "", "b"],
        ["report", "--out", ""],
    ],
)
def test_a_file_without_a_name_is_one_line(words, folder):
    assert check(run(*words, cwd=folder)) == 2


def check(done):
    """The exit code, of work that was done or out of time, or of one line."""
    assert done.returncode in (0, 2, 124), done
    if done.returncode == 2:
        assert done.stdout == ""
        assert len(done.stderr.splitlines()) == 1, done
        assert done.stderr.startswith("phaselect: ")
    return done.returncode

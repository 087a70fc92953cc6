"""What there is on this machine; whatever is broken, the report is whole."""

import json
import subprocess
import tomllib
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

import phaselect
from phaselect.cli import doctor
from tests.cli.program import run

TITLES = ["program", "packages", "devices of JAX", "machine", "BLAS and threads", "caches", "environment"]
SAID = {**dict.fromkeys(doctor.NEEDED, ""), "jax": "", "devices": ["cpu:0, cpu"]}


@pytest.fixture
def child(monkeypatch):
    """The process of its own is not started: it tells what it is given."""

    def tells(said):
        lines = [json.dumps(pair) for pair in said.items()]
        done = subprocess.CompletedProcess([], 0, "\n".join(["noise of a library", *lines]).encode(), b"")
        monkeypatch.setattr(doctor.subprocess, "run", lambda *_, **__: done)
        monkeypatch.setattr("phaselect.experiments.revision.git_revision", lambda: "abc")

    return tells


def test_in_text_and_in_json(child, monkeypatch):
    child(SAID)
    monkeypatch.setenv("NUMBA_TRIED", "yes")
    done = run("doctor")
    assert (done.returncode, done.stderr) == (0, "")
    assert [line for line in done.stdout.splitlines() if not line.startswith(" ")] == TITLES
    report = json.loads(run("doctor", "--json").stdout)
    assert list(report) == TITLES
    assert report["program"]["phaselect"] == f"{phaselect.__version__}, abc"
    assert report["packages"]["numpy"] == np.__version__
    assert report["devices of JAX"] == {"0": "cpu:0, cpu"}
    assert any("openblas" in text or "mkl" in text for text in report["BLAS and threads"].values())
    assert "be written to" in report["caches"]["compiled kernels"]
    assert report["environment"]["NUMBA_TRIED"] == "yes"
    assert all(text in done.stdout for text in report["packages"].values())


def test_what_is_missing_or_broken(child, monkeypatch):
    def version(name):
        if name == "h5py":
            raise metadata.PackageNotFoundError(name)
        return "1.2"

    monkeypatch.setattr(metadata, "version", version)
    broken = {"jax": "RuntimeError: no driver\nand more", "h5py": "ModuleNotFoundError: No module named 'h5py'"}
    child(SAID | broken | {"devices": "RuntimeError: no driver"})
    monkeypatch.setattr(doctor, "_threads", lambda: 1 / 0)
    report = json.loads(run("doctor", "--json").stdout)
    assert report["packages"]["jax"] == "1.2, broken: RuntimeError: no driver"
    assert report["packages"]["h5py"] == "not installed (pip install 'phaselect[hdf5]')"
    assert report["devices of JAX"] == {"none": "RuntimeError: no driver"}
    assert report["BLAS and threads"] == {"broken": "ZeroDivisionError: division by zero"}


@pytest.mark.parametrize("error", [OSError, subprocess.TimeoutExpired("python", 1)])
def test_no_other_process(child, monkeypatch, error):
    child({})

    def refuse(*_, **__):
        raise error

    monkeypatch.setattr(doctor.subprocess, "run", refuse)
    assert run("doctor").returncode == 0


def test_a_module_that_ends_the_process(tmp_path, monkeypatch):
    (tmp_path / "deadly.py").write_text("import os; os._exit(9)")
    (tmp_path / "sound.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(doctor, "NEEDED", ("sound", "deadly", "never"))
    monkeypatch.setattr(doctor, "OPTIONAL", {})
    assert dict(doctor._heard()) == {"sound": "", "deadly": "import ends the process"}


def test_the_packages_are_those_of_the_project():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    needed = {text.split(">")[0] for text in project["dependencies"]}
    assert needed <= {*doctor.NEEDED, *doctor.OPTIONAL}
    for name, (_, extra) in doctor.OPTIONAL.items():
        assert any(text.startswith(name) for text in project["optional-dependencies"][extra]), (name, extra)

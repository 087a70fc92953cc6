import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import phaselect
from phaselect.base.kernels import kernel

SOURCE = "def double(x):\n    return 2 * x\n"


@pytest.fixture
def double(tmp_path, monkeypatch):
    """A function in a file of its own, compiled, with its cache beside it; each call is a new process to Numba."""
    path = tmp_path / "doubling.py"
    path.write_text(SOURCE)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    spec = importlib.util.spec_from_file_location("doubling", path)

    def compiled():
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        spec.loader.exec_module(module)
        return kernel()(module.double)

    return compiled


def cached(folder):
    return sorted(folder.glob("__pycache__/*.nb?"))


def test_the_second_process_finds_what_the_first_has_compiled(double, tmp_path):
    first, second = double(), double()
    assert (first(3), second(3)) == (6, 6)
    assert [path.suffix for path in cached(tmp_path)] == [".nbc", ".nbi"]
    assert sum(second.stats.cache_hits.values()) == 1


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("bytes_left", [0, 30])
def test_a_damaged_cache_is_made_anew(double, tmp_path, suffix, bytes_left):
    double()(3)
    (damaged,) = (path for path in cached(tmp_path) if path.suffix == suffix)
    damaged.write_bytes(damaged.read_bytes()[:bytes_left])
    assert double()(3) == 6
    mended = double()
    assert mended(3) == 6
    assert sum(mended.stats.cache_hits.values()) == 1


def test_without_a_place_for_a_cache(double, tmp_path, monkeypatch):
    """A file stands where the folder of the cache would be, and the home is no folder: so it is for root, too."""
    (tmp_path / "__pycache__").write_text("")
    monkeypatch.setenv("HOME", "/dev/null")
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null/cache")
    with pytest.raises(RuntimeError, match="no locator"):
        numba.njit(cache=True)(double().py_func)
    assert double()(3) == 6


@pytest.mark.slow
def test_the_program_where_nothing_can_be_written(tmp_path):
    """The package in a folder without a place for caches, and no home."""
    package = tmp_path / "phaselect"
    shutil.copytree(Path(phaselect.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [package, *(path for path in package.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_text("")
    phaselect.gaussian_instance(8, 3.0, seed=0).save(tmp_path / "inst.npz")
    nowhere = {"HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null/cache", "PYTHONPATH": str(tmp_path)}
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"} | nowhere
    before = sorted(tmp_path.rglob("*"))
    for words, said in (("--version", phaselect.__version__), ("solve inst.npz --solver amp --json", "recovered")):
        command = [sys.executable, "-m", "phaselect", *words.split()]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert said in done.stdout
    assert sorted(tmp_path.rglob("*")) == before


def test_a_cache_that_cannot_be_written_any_more(double, tmp_path):
    function = double()
    (tmp_path / "__pycache__").rmdir()
    (tmp_path / "__pycache__").write_text("")
    assert function(3) == 6


@pytest.mark.parametrize("value", ["0", "many"])
def test_settings_that_numba_refuses_are_one_line(value):
    environment = os.environ | {"NUMBA_NUM_THREADS": value}
    command = [sys.executable, "-m", "phaselect", "theory", "point", "--alpha", "1.2", "--mu", "5"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("phaselect: Numba refuses its settings")
    assert len(done.stderr.splitlines()) == 1


def test_numba_has_one_door():
    """What is compiled by another one dies where there is no place for a cache."""
    sources = (Path(phaselect.__file__).parent).rglob("*.py")
    assert [path.name for path in sources if re.search(r"^\s*(from|import) numba", path.read_text(), re.M)] == []

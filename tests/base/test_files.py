import os
import signal
import subprocess
import sys
import time
import warnings
import zipfile

import numpy as np
import pytest

from phaselect.base.array_files import read_npz
from phaselect.base.errors import InputError
from phaselect.base.files import PART, atomic_write, check_ending, save_arrays

WRITER = "from phaselect.base.files import atomic_write\nwith atomic_write('big.csv') as s: print(flush=True); input()"


def parts(folder):
    return sorted(path.name for path in folder.iterdir() if path.name.endswith(PART))


def writer(folder):
    """A process in the middle of writing."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder
    )
    process.stdout.readline()
    return process


def write(path, content):
    with atomic_write(path) as stream:
        stream.write(content)


def test_a_file_that_is_there_keeps_its_permissions(tmp_path):
    path, old = tmp_path / "x.npz", os.umask(0o027)
    try:
        write(path, b"new")
        assert path.stat().st_mode & 0o777 == 0o640
        for mode in (0o600, 0o666, 0o755):
            path.chmod(mode)
            write(path, b"again")
            assert path.stat().st_mode & 0o777 == mode
    finally:
        os.umask(old)


def test_leftovers_of_the_killed_are_removed_and_parts_of_the_living_are_not(tmp_path):
    with writer(tmp_path) as dead, writer(tmp_path) as alive:
        assert len(parts(tmp_path)) == 2
        dead.send_signal(signal.SIGKILL)
        dead.wait()
        write(tmp_path / "other.csv", b"whole")  # whatever is written next in that folder
        assert len(parts(tmp_path)) == 1
        alive.communicate("\n")
        assert alive.returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["big.csv", "other.csv"]


def test_what_looks_like_a_leftover_but_is_a_link_or_a_pipe_does_no_harm(tmp_path):
    (tmp_path / "victim").write_text("precious")
    (tmp_path / f".link{PART}").symlink_to(tmp_path / "victim")
    os.mkfifo(tmp_path / f".pipe{PART}")
    began = time.monotonic()
    write(tmp_path / "x.csv", b"whole")
    assert time.monotonic() - began < 5
    assert (tmp_path / "victim").read_text() == "precious"


def test_two_at_once_in_one_folder(tmp_path):
    """Each may take the other's file, just made and not yet locked, for a leftover."""
    script = "from phaselect.base.files import atomic_write\nfor k in range(300):\n with atomic_write('a.csv'): pass"
    both = [subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def archive(path, *names):
    """A file whose members cannot be inflated."""
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w") as members:
        warnings.simplefilter("ignore")  # of names that are there twice
        for name in names:
            members.writestr(name, b"not an array")


@pytest.mark.parametrize(
    "names",
    [
        ("A.npy",),
        ("A.npy", "y.npy", "y.npy"),
        ("A.npy", "y.npy", "y"),
        ("A.npy", "y.npy", "\x1b]0;owned\x07.npy"),
        ("A.npy", "y.npy", "../../evil.npy"),
    ],
)
def test_names_are_checked_before_anything_is_inflated_and_shown_harmless(tmp_path, names):
    archive(tmp_path / "a.npz", *names)
    with pytest.raises(InputError, match=r"must hold arrays A and y .*each once; it holds: ") as caught:
        read_npz(tmp_path / "a.npz", ("A", "y"), ("noise",))
    assert str(caught.value).isprintable()


def test_what_it_must_hold_and_what_it_may(tmp_path):
    arrays = {"A": np.eye(2), "y": np.ones(2), "noise": np.array(0.1)}
    save_arrays(tmp_path / "a.npz", arrays)
    found = read_npz(tmp_path / "a.npz", ("A", "y"), ("noise", "x0"))
    assert set(found) == set(arrays)
    assert (found["A"] == np.eye(2)).all()


def test_the_endings_that_a_file_may_have():
    assert check_ending("run.CSV", (".csv",)) == ".csv"
    for endings, said in (((".csv",), ".csv"), ((".a", ".b"), ".a or .b"), ((".a", ".b", ".c"), ".a, .b or .c")):
        with pytest.raises(InputError, match=f"^x.txt: name the file {said}$"):
            check_ending("x.txt", endings)

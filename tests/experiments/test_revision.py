"""Sources are known by their commit, wherever they run."""

import shutil
import subprocess

import pytest

from phaselect.experiments import revision
from phaselect.experiments.revision import committed, git_revision


def git(folder, *arguments):
    """A commit that is made here is nobody's."""
    who = ["-c", "user.name=nobody", "-c", "user.email=", "-c", "commit.gpgsign=false", "-c", "core.autocrlf=false"]
    return subprocess.run(["git", "-C", folder, *who, *arguments], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def ask(monkeypatch):
    """Ask as if the package were in another folder."""

    def ask(package, function, *arguments):
        monkeypatch.setattr(revision, "PACKAGE", package)
        git_revision.cache_clear()
        revision._history.cache_clear()
        return function(*arguments)

    yield ask
    git_revision.cache_clear()
    revision._history.cache_clear()


@pytest.fixture
def package(tmp_path):
    package = tmp_path / "project" / "src" / "package"
    (package / "room").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "room.toml").write_text("a = 1\n")  # git sorts it before what is in room/
    (package / "room" / "module.py").write_text("b = 2\n")
    git(package, "init", "--quiet", tmp_path / "project")
    git(package, "add", ".")
    git(package, "commit", "--quiet", "-m", "first")
    return package


def head(package):
    return git(package, "rev-parse", "--short=10", "HEAD").strip()


def test_a_copy_without_git_is_traced_to_its_commit(tmp_path, package, ask):
    copy = tmp_path / "copy"
    shutil.copytree(package, copy)
    (copy / "room" / "__pycache__").mkdir()
    (copy / "room" / "__pycache__" / "module.pyc").write_text("compiled")
    (copy / "gone" / "__pycache__").mkdir(parents=True)  # as a room that was renamed leaves it
    (copy / "room" / "module.py").chmod(0o755)
    (copy / "room.toml").write_bytes(b"a = 1\r\n")  # as some systems check it out
    told = ask(copy, git_revision)
    assert told == f"tree-{git(package, 'rev-parse', 'HEAD:./').strip()[:10]}"
    assert ask(copy, committed, told) == told  # nobody to ask
    assert ask(package, committed, told) == ask(package, git_revision) == head(package)


def test_uncommitted_sources_say_so_until_they_are_committed(package, ask):
    (package / "room" / "more.py").write_text("c = 3\n")
    told = ask(package, git_revision)
    assert told.startswith("tree-")
    assert told.endswith("-dirty")
    assert ask(package, committed, told) == ask(package, committed, told.removesuffix("-dirty")) == told
    git(package, "add", ".")
    git(package, "commit", "--quiet", "-m", "second")
    assert ask(package, committed, told) == ask(package, git_revision) == head(package)


def test_equal_sources_have_one_name(package, ask):
    """A commit that leaves the package alone, such as one of a table, makes no other sources."""
    first = head(package)
    git(package, "commit", "--quiet", "--allow-empty", "-m", "a table")
    assert ask(package, git_revision) == ask(package, committed, head(package)) == first != head(package)


@pytest.mark.parametrize("unknown", ["0123456789", "0123456789-dirty", "a1", "--help", "HEAD~1"])
def test_what_is_no_commit_here_is_left_as_it_is(package, ask, unknown):
    assert ask(package, committed, unknown) == unknown


def test_a_package_in_the_folder_of_another_project_is_no_checkout(package, ask):
    installed = package / "site-packages"
    installed.mkdir()
    (installed / "__init__.py").write_text("")
    told = ask(installed, git_revision)
    assert told.startswith("tree-")
    assert not told.endswith("-dirty")

"""Which sources computed a row: the commit that has them, or a digest of them where git cannot say.

The digest is git's own for the folder of the package, made from the files alone. A copy without git, or an installed
package, thus names its sources in a way that a checkout traces to their commit: nobody's word has to be taken for it.
"""

from __future__ import annotations

import subprocess
from functools import cache
from hashlib import sha1
from pathlib import Path

import phaselect

PACKAGE = Path(phaselect.__file__).parent
TREE = "tree-"
DIRTY = "-dirty"
DIGITS = 10


@cache
def git_revision() -> str:
    """Of the sources that run here: see `committed`."""
    return committed(f"{TREE}{sources()}")


def sources() -> str:
    """A digest of them."""
    return _tree(PACKAGE).hex()[:DIGITS]


def committed(revision: str) -> str:
    """The first commit that has these sources, so that equal sources have one name.

    `tree-DIGEST-dirty` if no commit has them, and `tree-DIGEST` where there is no history to ask.
    """
    name = revision.removesuffix(DIRTY)
    if name.startswith(TREE):
        return _history().get(name.removeprefix(TREE), f"{name}{DIRTY}") if _history() else revision
    return _history().get(_tree_of(revision), revision)


def _tree(folder: Path) -> bytes:
    """What git calls the tree of a folder; compiled files are no part of it."""
    entries = {}
    for path in folder.iterdir():
        if path.is_file():
            text = path.read_bytes().replace(b"\r\n", b"\n")
            entries[path.name] = b"100644 %b\0%b" % (path.name.encode(), _object(b"blob", text))
        elif path.name != "__pycache__" and (inside := _tree(path)) != EMPTY:
            entries[f"{path.name}/"] = b"40000 %b\0%b" % (path.name.encode(), inside)
    return _object(b"tree", b"".join(entries[name] for name in sorted(entries)))


def _object(kind: bytes, content: bytes) -> bytes:
    return sha1(b"%b %d\0%b" % (kind, len(content), content), usedforsecurity=False).digest()


EMPTY = _object(b"tree", b"")
"""Git does not know of empty folders."""


@cache
def _history() -> dict[str, str]:
    """Of every state that the sources had, the first commit; nothing if this is no checkout of them."""
    if not _git("ls-files", "__init__.py"):
        return {}
    commits = _git("log", "--reverse", "--full-history", f"--abbrev={DIGITS}", "--format=%h", "--", ".").split()
    asked = "".join(f"{commit}:./\n" for commit in commits)
    trees = _git("cat-file", "--batch-check=%(objectname)", asked=asked).splitlines()
    return {tree[:DIGITS]: commit for commit, tree in reversed(list(zip(commits, trees, strict=False)))}


def _tree_of(commit: str) -> str:
    """Nothing for what is no commit: stores may come from anyone."""
    return _git("rev-parse", "--verify", "--quiet", f"{commit}:./")[:DIGITS] if commit.isalnum() else ""


def _git(*arguments: str, asked: str = "") -> str:
    """What git says in the folder of the package; nothing if it fails."""
    command = ["git", "-C", str(PACKAGE), *arguments]
    try:
        done = subprocess.run(command, input=asked, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""

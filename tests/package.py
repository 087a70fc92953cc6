"""Builds the sdist and the wheel, and tries each in a clean environment of its own: `python -m tests.package`.

Those that pass are in dist/. Needs Python and an index of packages, no more; the environments are removed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PHASELECT", "NUMBA"))}


def main():
    with tempfile.TemporaryDirectory(prefix="phaselect-package-") as folder:
        archives = build(Path(folder))
        for archive in archives:
            began = time.perf_counter()
            try_out(archive)
            print(f"{archive.name}: installed and tried in {time.perf_counter() - began:.0f} s", flush=True)
        shutil.rmtree(DIST, ignore_errors=True)
        DIST.mkdir()
        for archive in archives:
            shutil.copy(archive, DIST)
    print(f"wrote {' and '.join(f'dist/{archive.name}' for archive in archives)}")


def build(folder):
    """The wheel is made of the sdist: whatever that lacks is found out."""
    print("building", flush=True)
    python = environment(folder / "env", "build")
    call(python, "-m", "build", "--outdir", folder / "dist", ROOT, stdout=subprocess.DEVNULL)
    return sorted((folder / "dist").iterdir(), key=lambda path: path.suffix, reverse=True)


def try_out(archive):
    with tempfile.TemporaryDirectory(prefix="phaselect-package-") as folder:
        python, empty = environment(Path(folder) / "env", archive), Path(folder) / "empty"
        empty.mkdir()
        call(python, "-m", "pip", "check", stdout=subprocess.DEVNULL)
        call(python, ROOT / "tests" / "smoke.py", ROOT / "docs" / "tables" / "rsb.csv", cwd=empty)


def environment(folder, *packages):
    """A new environment with these packages; the path of its Python."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    call(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    return python


def call(*command, **options):
    """Run a command that must succeed, with nothing of this Python in its environment."""
    done = subprocess.run(list(map(str, command)), env=CLEAN, check=False, **options)
    if done.returncode:
        sys.exit(f"package: {' '.join(map(str, command))} failed")


if __name__ == "__main__":
    main()

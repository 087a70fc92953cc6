"""Shared set-up: fresh kernels for changed sources, programs that compile quickly, property tests that repeat."""

import hashlib
import os
import signal
import tempfile
from pathlib import Path

import numpy as np
import pytest

# Numba's cache of a kernel does not notice a change in another file that the kernel calls: a cache for each state of
# the rooms that have kernels makes sure that the code tested is the code written. Must be set before Numba is imported.
KERNELS = ("base", "equations", "backends", "theory", "experiments")
package = Path(__file__).parent.parent / "src" / "phaselect"
sources = [path for room in KERNELS for path in sorted((package / room).rglob("*.py"))]
digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
os.environ["NUMBA_CACHE_DIR"] = str(Path(tempfile.gettempdir()) / f"phaselect-kernels-{digest}")

# Compiling is what takes the time of tests with JAX, and optimising the time of compiling. Must be set before JAX is
# imported; JAX_DISABLE_MOST_OPTIMIZATIONS=0 for programs as users have them.
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")

# A program that several files, processes or runs need is compiled once; JAX knows it by its text, and its own version.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(tempfile.gettempdir()) / "phaselect-programs"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")

# What a shell starts in the background ignores Ctrl-C, and so would everything that the tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

try:
    from hypothesis import settings
except ImportError:  # tests on a GPU machine do without
    pass
else:
    settings.register_profile("phaselect", deadline=None, derandomize=True, print_blob=True)
    settings.load_profile("phaselect")


@pytest.fixture(scope="module")
def few_programs():
    """A look at a run every ten temperatures, and batches that do not shrink: programs are compiled for one shape."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("phaselect.solvers.loop.temperatures_between_looks", lambda work, temperatures: 10)
        patch.setattr("phaselect.solvers.loop.WORTH_SHRINKING", np.inf)
        yield


@pytest.fixture(scope="session", autouse=True)
def coarse_pictures(tmp_path_factory):
    """Figures of few pixels: to render those of print takes the time of tests that look at none."""
    try:
        from phaselect.base import style
    except ImportError:  # tests on a GPU machine do without
        yield
        return
    coarse = tmp_path_factory.mktemp("style") / style.STYLE_FILE.name
    coarse.write_text(style.STYLE_FILE.read_text(encoding="utf-8") + "savefig.dpi: 80\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(style, "STYLE_FILE", coarse)
        yield

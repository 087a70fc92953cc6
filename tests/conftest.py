"""Shared set-up: fresh kernels for changed sources, and property tests that draw the same examples everywhere."""

import hashlib
import os
import tempfile
from pathlib import Path

from hypothesis import settings

# Numba's cache of a kernel does not notice a change in another file that the kernel calls: a cache for each state of
# the sources makes sure that the code tested is the code written. Must be set before Numba is imported.
sources = sorted((Path(__file__).parent.parent / "src").rglob("*.py"))
digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
os.environ["NUMBA_CACHE_DIR"] = str(Path(tempfile.gettempdir()) / f"phaselect-kernels-{digest}")

settings.register_profile("phaselect", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("phaselect")

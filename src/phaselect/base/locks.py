"""Locks on open files, which the system lifts however their holder ends. Windows has none of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import ModuleType

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:
    fcntl = None


def take(handle: int) -> bool:
    """Take the lock of a file, if nobody has it."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def holding(handle: int) -> Iterator[None]:
    """Hold the lock of an open file, once nobody else does, and close it in the end; at once if there are no locks."""
    if fcntl is None:
        os.close(handle)
        yield
        return
    try:
        with suppress(OSError):  # there are file systems without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)

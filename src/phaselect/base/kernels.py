"""Compiled functions: Numba's `njit`, kept on disk between processes wherever that can be done.

Numba gives up where it can write neither beside the sources nor below the user's home, and where a file of its cache is
damaged. Here the kernel is compiled anew in both cases.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from phaselect.base.errors import InputError

try:
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="Environment variable 'NUMBA")
        numba: Any = import_module("numba")
        FunctionCache: Any = import_module("numba.core.caching").FunctionCache
except (ValueError, RuntimeWarning) as error:  # of NUMBA_NUM_THREADS, for one, which is read by the import
    reason = str(error).splitlines()[0]
    raise InputError(f"Numba refuses its settings, the variables NUMBA_... of the environment: {reason}") from None


class Cache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of a function, in which what cannot be read or written is not there."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function; None if there is none."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # unpickling a damaged file can raise almost anything
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled function; a full disk is no reason not to use it."""
        with suppress(OSError):
            super().save_overload(sig, data)


def cache_folder() -> Path | None:
    """Where compiled functions are kept, as far as those of this folder tell; None if there is no place for them."""
    with suppress(RuntimeError):
        return Path(Cache(cache_folder).cache_path)
    return None


def kernel(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compiles a function with `numba.njit(**options)`, and caches it on disk where there is a place for that.

    Other threads go on while it runs: that of a progress bar's clock, for one.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        dispatcher = numba.njit(nogil=True, **options)(function)
        with suppress(RuntimeError):  # there is none
            dispatcher._cache = Cache(function)
        return dispatcher

    return compiled

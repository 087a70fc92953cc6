"""Numbers that people give, checked: whatever comes in, nothing is compared before it is known to be a number."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from phaselect.base.errors import InputError


def is_count(value: Any, least: int = 0) -> bool:
    """A whole number, Python's or NumPy's, not below `least`."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= least


def is_number(value: Any) -> bool:
    """A real number, Python's or NumPy's, that float64 has room for."""
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and bool(np.isfinite(float(value)))
    except OverflowError:
        return False


def check_seconds(time_limit: Any) -> None:
    """A time limit, or none."""
    endless = time_limit is None or (isinstance(time_limit, float) and time_limit == np.inf)
    if not endless and not (is_number(time_limit) and time_limit > 0):
        raise InputError(f"time_limit = {shortened(time_limit)}: give a positive number of seconds")


def shortened(value: Any) -> str:
    """A value as it is shown in a message, in one line; of an endless one the beginning."""
    try:
        shown = " ".join(repr(value).split())
    except ValueError:  # a whole number of more digits than Python is willing to write
        shown = "a number without end"
    return shown if len(shown) <= 40 else f"{shown[:37]}..."

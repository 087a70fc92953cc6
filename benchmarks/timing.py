"""How things are timed: the best of several calls after a first one, rivals in turn, so that noise hits all."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

PAUSE = 0.15
"""Seconds before each call: idle threads of BLAS spin for a tenth of a second, and slow down what comes next."""


def once(function: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of one call, and what it returned."""
    began = time.perf_counter()
    result = function()
    return time.perf_counter() - began, result


def in_turn(*functions: Callable[[], Any], repeat: int = 5) -> list[float]:
    """Least time of each function, called one after the other `repeat` times, after a first call that warms up."""
    for function in functions:
        function()
    least = [float("inf")] * len(functions)
    for _ in range(repeat):
        for k, function in enumerate(functions):
            time.sleep(PAUSE)
            least[k] = min(least[k], once(function)[0])
    return least


def best_seconds(function: Callable[[], Any], repeat: int = 5) -> float:
    """Least time of `repeat` calls of one function."""
    return in_turn(function, repeat=repeat)[0]

"""Control flow as Python has it; see backends/jax/loops.py for the same as parts of a compiled program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

State = TypeVar("State")


def scan(step: Callable[[State, Any, Any], State], state: State, mu: Any, lam: Any) -> State:
    """`step(state, mu, lam)` at each temperature in turn."""
    for level in zip(mu.tolist(), lam.tolist(), strict=True):
        state = step(state, *map(np.float64, level))
    return state


def repeat(times: int, step: Callable[[State], State], state: State) -> State:
    """`step(state)`, so many times."""
    for _ in range(times):
        state = step(state)
    return state


def until(unfinished: Callable[[State], Any], step: Callable[[State], State], state: State) -> State:
    """`step(state)` as long as it is unfinished."""
    while unfinished(state):
        state = step(state)
    return state


def branch(condition: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
    """The one or the other."""
    return yes() if condition else no()


def choose(condition: Any, yes: State, no: State) -> State:
    """The one state or the other."""
    return yes if condition else no

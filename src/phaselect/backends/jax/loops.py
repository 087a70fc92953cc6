"""Control flow as part of a compiled program; the same as backends/host/loops.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
from jax import lax

State = TypeVar("State")


def scan(step: Callable[[State, Any, Any], State], state: State, mu: Any, lam: Any) -> State:
    """`step(state, mu, lam)` at each temperature in turn."""
    return lax.scan(lambda now, level: (step(now, *level), None), state, (mu, lam))[0]  # type: ignore[no-any-return]


def repeat(times: Any, step: Callable[[State], State], state: State) -> State:
    """`step(state)`, so many times."""
    return lax.fori_loop(0, times, lambda _, now: step(now), state)  # type: ignore[no-any-return]


def until(unfinished: Callable[[State], Any], step: Callable[[State], State], state: State) -> State:
    """`step(state)` as long as it is unfinished."""
    return lax.while_loop(unfinished, step, state)  # type: ignore[no-any-return]


def branch(condition: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
    """The one or the other."""
    return lax.cond(condition, yes, no)


def choose(condition: Any, yes: State, no: State) -> State:
    """The one state or the other."""
    return jax.tree.map(lambda one, other: jnp.where(condition, one, other), yes, no)  # type: ignore[no-any-return]

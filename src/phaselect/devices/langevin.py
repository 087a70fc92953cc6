"""Langevin dynamics of one member as a device program: the step of `solvers/langevin.py`, one matrix product each."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from phaselect.devices import couplings as ridge
from phaselect.devices.member import Array, Member
from phaselect.solvers.langevin import langevin_step


class State(NamedTuple):
    """Relaxed signs in the dtype of A, and the data of a random key."""

    theta: Array
    key: Array
    iteration: Array
    mu: Array
    lam: Array


def start(member: Member, key: Array) -> State:
    """theta uniform in the cube, from the data of a key."""
    kept, used = ridge.fresh_key(key)
    bound = _wall(member)
    theta = jax.random.uniform(used, member.y.shape, member.A.dtype, -1, 1).clip(-bound, bound)
    return State(theta, kept, jnp.int64(0), jnp.float64(0), jnp.float64(jnp.inf))


def advance(member: Member, state: State, mu: Array, lam: Array, steps: int, eta: float = 1.0) -> State:
    """`steps` steps at each temperature of a segment."""
    dtype = member.A.dtype
    y, bound = member.y.astype(dtype), _wall(member)

    def temperature(state: State, level: tuple[Array, Array]) -> tuple[State, None]:
        mu, lam = level
        K = ridge.couplings(member, lam)
        pull = 2 * K - ridge.product(K, K)  # I - (I - K)^2
        kick = jnp.sqrt(2 / (mu * eta)).astype(dtype)
        kept, used = ridge.fresh_key(state.key)

        def step(t: Array, theta: Array) -> Array:
            noise = kick * jax.random.normal(jax.random.fold_in(used, t), theta.shape, dtype)
            return langevin_step(theta, y, lambda v: ridge.product(pull, v), noise, eta, bound)

        theta = lax.fori_loop(0, steps, step, state.theta)
        return State(theta, kept, state.iteration + steps, mu, lam), None

    last: State = lax.scan(temperature, state, (mu, lam))[0]
    return last


def columns(member: Member, state: State) -> dict[str, Array]:
    """A row of the trace: observables of the rounded signs, then of theta."""
    v = jnp.stack([ridge.signs_of(state.theta), state.theta.astype("float64")], axis=1) * member.y[:, None]
    v = v.astype(member.A.dtype)
    both = ridge.of_copies(member, v, ridge.product(ridge.couplings(member, state.lam), v), state.lam)
    relaxed = {"loss_relaxed": both["mse_y"][1], "m_relaxed": both["m"][1]}
    return {name: column[0] for name, column in both.items()} | relaxed | {"steps": state.iteration}


def average(member: Member, state: State) -> Array:
    """The ridge estimate of the rounded signs."""
    return ridge.ridge_map(member, state.lam).astype("float64") @ (ridge.signs_of(state.theta) * member.y)


def quench(member: Member, state: State) -> tuple[Array, Array]:
    """The signs that greedy flips reach from the rounded theta, and their E(lam = 0)/M."""
    return ridge.quench(member, ridge.signs_of(state.theta))


def _wall(member: Member) -> float:
    """theta stays within 1 - 1/N of zero."""
    return 1 - 1 / int(member.A.shape[1])

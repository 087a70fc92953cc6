"""Population annealing of one member as a device program; the physics of `solvers/population_annealing.py`.

Differs from it in the order of the proposals only: spins in sequence, in blocks (see `block_flips`), not at random.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from phaselect.devices import couplings as ridge
from phaselect.devices.block_flips import sweep
from phaselect.devices.member import Array, Member
from phaselect.solvers.population_annealing import COLD, QUENCH_SWEEPS


class State(NamedTuple):
    """The copies in columns, their fields at (mu, lam), and where each one comes from."""

    v: Array  # (M, R), the signs times y, in the dtype of A
    h: Array  # (M, R), K v at lam
    families: Array  # (R,) int32, which copy of the first population each one descends from
    log_Z: Array
    mu: Array
    lam: Array
    key: Array  # data of a random key
    proposals: Array


def start(member: Member, key: Array, replicas: int) -> State:
    """Random signs from the data of a key: equilibrium at mu = 0, where `Z = 2^M`; no couplings, as at lam = inf."""
    rows, dtype = member.y.size, member.A.dtype
    kept, used = ridge.fresh_key(key)
    v = jax.random.rademacher(used, (rows, replicas), dtype) * member.y.astype(dtype)[:, None]
    return State(
        v=v,
        h=jnp.zeros_like(v),
        families=jnp.arange(replicas, dtype="int32"),
        log_Z=rows * jnp.log(jnp.float64(2)),
        mu=jnp.float64(0),
        lam=jnp.float64(jnp.inf),
        key=kept,
        proposals=jnp.int64(0),
    )


def advance(member: Member, state: State, mu: Array, lam: Array, sweeps: int) -> State:
    """Reweight and resample, then sweep, at each temperature of a segment."""

    def temperature(state: State, level: tuple[Array, Array]) -> tuple[State, None]:
        mu, lam = level
        G = ridge.couplings(member, lam)
        state = resample(state, G, mu, lam)
        kept, used = ridge.fresh_key(state.key)
        v, h = sweep(state.v, state.h, G, mu, used, sweeps)
        return state._replace(v=v, h=h, key=kept, proposals=state.proposals + sweeps * v.size), None

    last: State = lax.scan(temperature, state, (mu, lam))[0]
    return last


def resample(state: State, G: Array, mu: Array, lam: Array) -> State:
    """Systematic resampling with weights `exp(-(mu' E_{lam'} - mu E_lam))`; adds their log mean to log Z.

    G is K at the new lam.
    """
    h = ridge.product(G, state.v)
    log_weights = state.mu * ridge.energies(state.v, state.h) - mu * ridge.energies(state.v, h)
    count, highest = log_weights.size, log_weights.max()
    weights = jnp.exp(log_weights - highest)
    total = weights.sum()
    kept, used = ridge.fresh_key(state.key)
    ticks = (jnp.arange(count) + jax.random.uniform(used, (), "float64")) / count
    heirs = jnp.searchsorted(jnp.cumsum(weights / total), ticks).clip(max=count - 1)
    return state._replace(
        v=state.v[:, heirs],
        h=h[:, heirs],
        families=state.families[heirs],
        log_Z=state.log_Z + highest + jnp.log(total / count),
        mu=mu,
        lam=lam,
        key=kept,
    )


def columns(member: Member, state: State) -> dict[str, Array]:
    """A row of the trace: averages over the population; `best_energy` is the lowest."""
    copies = ridge.of_copies(member, state.v, state.h, state.lam)
    alive = jnp.zeros(state.families.shape, "int32").at[state.families].set(1)
    return {
        **{name: jnp.mean(column) for name, column in copies.items()},
        "best_energy": jnp.min(copies["energy"]),
        "free_entropy": state.log_Z / member.A.shape[1],
        "families": jnp.sum(alive),
        "steps": state.proposals,
    }


def lowest(member: Member, state: State) -> Array:
    """Signs of the copy of lowest energy."""
    return ridge.signs_of(state.v[:, jnp.argmin(ridge.energies(state.v, state.h))])


def average(member: Member, state: State) -> Array:
    """The ridge estimate of the mean over the copies, each turned to the side of the lowest."""
    sides = ridge.signs_of(lowest(member, state) @ ridge.signs_of(state.v))
    return ridge.ridge_map(member, state.lam).astype("float64") @ (state.v @ sides / sides.size)


def quench(member: Member, state: State) -> tuple[Array, Array]:
    """The signs of lowest E(lam = 0) that cold sweeps of all copies, then greedy flips, lead to; and E/M."""
    K0 = ridge.couplings(member, 0.0)
    _, used = ridge.fresh_key(state.key)
    v, _ = sweep(state.v, ridge.product(K0, state.v), K0, jnp.float64(COLD), used, QUENCH_SWEEPS)
    best = jnp.argmin(jnp.sum((v - ridge.product(K0, v)) ** 2, axis=0))
    return ridge.quench(member, ridge.signs_of(v[:, best]))

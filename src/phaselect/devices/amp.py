"""Message passing on a device: the iteration of solvers/amp.py, many at a time inside one program."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from phaselect.devices.backend import on
from phaselect.devices.matrix import DeviceMatrix
from phaselect.devices.member import Array
from phaselect.devices.products import Copy, adjoint, forward
from phaselect.equations.channels import local_update_with, output_channel_with
from phaselect.problem.instance import Instance
from phaselect.problem.schedule import Schedule
from phaselect.solvers.amp import CONVERGED_ON_DEVICE, AMPState, Read, amp_iteration, diverged


def advance(problem: Instance, state: AMPState, schedule: Schedule, damping: float) -> AMPState:
    """A segment of schedule on one instance, on a half-precision copy of A as long as that will do.

    The state stays on the device.
    """
    matrix = problem.matrix
    assert isinstance(matrix, DeviceMatrix)
    far = not np.mean((problem.target - np.abs(np.asarray(state.z))) ** 2) < CONVERGED_ON_DEVICE
    copy = matrix.copy if far else Copy(matrix.A)
    with on(None):
        program, start = matrix.compiled(_segment), _as_arrays(state)
        anneal = schedule.mu, schedule.lam, schedule.steps, damping
        return program(copy, problem.gain, problem.target, start, *anneal)  # type: ignore[no-any-return]


def _segment(
    copy: Copy, gain: Array, y: Array, state: AMPState, mu: Array, lam: Array, steps: Array, damping: Array
) -> AMPState:
    """The program: A may have more rows than there are measurements, of zeros."""
    more = copy.A.shape[0] - y.size
    rows = jnp.arange(copy.A.shape[0]) < y.size
    wide = {name: jnp.pad(getattr(state, name), (0, more)) for name in ("w", "g", "z")}
    after = iterate(
        read_twice(copy, gain, jnp.pad(y, (0, more)), rows), state._replace(**wide), mu, lam, steps, damping
    )
    return after._replace(**{name: getattr(after, name)[: y.size] for name in wide})


def iterate(read: Read, state: AMPState, mu: Array, lam: Array, steps: Array, damping: Array) -> AMPState:
    """`steps` iterations at each (mu, lam); once it diverges, the last finite state stays, marked."""

    def temperature(state: AMPState, point: Any) -> Any:
        def once(_: Array, state: AMPState) -> AMPState:
            following = amp_iteration(state, point[0], point[1], damping, read)
            bad = state.diverged | diverged(following)
            kept = jax.tree.map(lambda new, old: jnp.where(bad, old, new), following, state)
            return kept._replace(diverged=bad)  # type: ignore[no-any-return]

        return jax.lax.fori_loop(0, steps, once, state), None

    return jax.lax.scan(temperature, state, (mu, lam))[0]  # type: ignore[no-any-return]


def read_twice(copy: Copy, gain: Array, y: Array, rows: Array | None = None) -> Read:
    """A pass over A as two products; `rows` marks the measurements that count, where A is padded with others."""
    local_update = local_update_with(output_channel_with(jnp.tanh))
    scale = gain * copy.scale

    def read(x: Array, V: Array, c: Array, psi: Array, w: Array, g: Array) -> tuple[Array, ...]:
        z = forward(copy.A, scale * x).astype("float64")
        w, g, curvature = local_update(z, y, w, g, V, c, psi)
        back = scale * adjoint(copy.A, g).astype("float64")
        return z, w, g, back, (curvature if rows is None else rows * curvature).sum()

    return read


def _as_arrays(state: AMPState) -> AMPState:
    """The state with numbers as arrays of the types that a program returns."""
    kinds = {"iteration": jnp.int64, "diverged": jnp.bool_}
    return AMPState(*(jnp.asarray(value, kinds.get(name, jnp.float64)) for name, value in state._asdict().items()))

"""JAX and its devices: found, named and asked for their memory, with one line when something is missing.

Programs run with 64-bit types switched on for their own calls alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np

from phaselect.base import memory
from phaselect.base.checks import shortened
from phaselect.base.errors import InputError, TooLarge

KINDS = ("gpu", "cpu")
NO_TUNING = {"xla_gpu_autotune_level": "0", "xla_gpu_enable_triton_gemm": False}
"""For `jax.jit`: the compiler would try variants of a product on copies of A, for which there may be no room. Without
trying, its own products are several times slower than those of the library, and take seconds to compile.
"""
MARGIN = 0.9
"""The part of a device's free memory that is planned with: compilers and fragments want some too."""


def devices(kind: Any) -> list[Any]:
    """All devices of a kind, `gpu` or `cpu`, those of other processes included (see jax.distributed); or the one
    given.
    """
    if isinstance(kind, jax.Device):
        return [kind]
    if kind not in KINDS:
        raise InputError(f"device {shortened(kind)}: use gpu or cpu")
    try:
        return list(jax.devices(kind))
    except (RuntimeError, AssertionError):
        if kind == "cpu":
            raise InputError("JAX has no device cpu here: JAX_PLATFORMS leaves it out") from None
        raise InputError(
            "no GPU that JAX can use: install phaselect[cuda] on a machine with an NVIDIA GPU, or use device cpu"
        ) from None


def pick(kind: str) -> Any:
    """The first device of a kind that this process can use."""
    mine = [device for device in devices(kind) if device.process_index == jax.process_index()]
    return mine[0]


def choose(device: Any) -> Any:
    """A device given as such or by its kind; the first GPU, if there is one, if None."""
    if device is None:
        return jax.local_devices()[0]
    if isinstance(device, jax.Device):
        return device
    return pick(device)


def checked_dtype(dtype: Any) -> str:
    """The name of a dtype that programs are written for."""
    name = dtype if isinstance(dtype, str) else str(getattr(dtype, "__name__", dtype))
    if name not in ("float32", "float64"):
        raise InputError(f"dtype = {shortened(dtype)}: use float32 or float64")
    return name


def field_dtype(dtype: str, like: Any) -> str:
    """float32 or float64; for complex entries the complex dtype of that precision."""
    return {"float32": "complex64", "float64": "complex128"}[dtype] if np.dtype(like).kind == "c" else dtype


def free_bytes(device: Any) -> float:
    """Memory that is left on a device."""
    stats = device.memory_stats()
    if stats and "bytes_limit" in stats:
        return float(stats["bytes_limit"] - stats["bytes_in_use"])
    return memory.free_bytes()


@contextmanager
def on(device: Any) -> Iterator[None]:
    """With 64-bit types, new arrays on this device (wherever their inputs are if None)."""
    with jax.enable_x64(True), jax.default_device(device):
        yield


def out_of_memory(error: BaseException) -> bool:
    """Is this the complaint of a device that cannot give more memory?"""
    return "RESOURCE_EXHAUSTED" in str(error) or "out of memory" in str(error).lower()


def answers(kind: str) -> bool:
    """Can this process still compute on the first device of a kind? After some errors of a GPU it never can again."""
    try:
        with on(pick(kind)):
            return float(jax.numpy.ones(1).sum()) == 1.0
    except Exception:
        return False


def too_large(what: str, needed: float, device: Any) -> TooLarge:
    """The line for a problem that does not fit."""
    gib = 2**30
    return TooLarge(
        f"{what} needs about {needed / gib:.3g} GiB on the device, which has {free_bytes(device) / gib:.3g} GiB left: "
        "use float32, fewer copies, more devices, or a smaller problem"
    )

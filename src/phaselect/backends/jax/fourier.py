"""Masked Fourier transforms on a device: `A^T A` is diagonal, so that least squares takes one step.

Masks are kept in double precision, for the last digits; message passing, and the corrections of an answer, work in
single precision, unless asked for more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from phaselect.backends.host import fourier
from phaselect.backends.interface import Accuracy, Vector
from phaselect.backends.jax import loops, random
from phaselect.backends.jax.devices import checked_dtype, choose, field_dtype, on
from phaselect.backends.jax.on_device import compiled
from phaselect.base.errors import InputError
from phaselect.equations.amp_iteration import Pass, pass_by_products
from phaselect.equations.arrays import Array, squared
from phaselect.equations.fields import REAL_SIGNAL, Field, field_of
from phaselect.equations.gaussian_node import NodeByDiagonal, NodeByGradients
from phaselect.equations.least_squares import CG_STEPS, GAIN, ConjugateGradients, Linear
from phaselect.equations.masked_transforms import Shape, masked_transforms, masked_transforms_adjoint


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["masks", "gain", "diagonal"],
    meta_fields=["pattern_shape", "dtype", "real"],
)
@dataclass(frozen=True, eq=False)
class DeviceFourier:
    """See `MaskedFourier` of the host. Products are in the precision of the masks.

    dtype: of the masks, and of all that is made with them, in message passing: "complex64" or "complex128".
    """

    masks: Any
    pattern_shape: Shape
    dtype: str
    real: bool = False
    gain: Any = 1.0
    diagonal: Any = None
    loops = loops
    random = random
    on_device = True
    has_entries = decomposed = False
    known_condition = None
    processes = 1
    rounding = float(np.finfo(np.float64).eps)
    accuracy = Accuracy(exact=1e-15, ties=1e-8, null=1e-5, handover=1e-6)

    @property
    def field(self) -> Field:
        """Of its entries, and of x."""
        own = field_of("complex128", self.real)
        return own.single if self.masks.dtype == "complex64" else own

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.masks) * prod(self.pattern_shape), prod(self.masks.shape[1:])

    @property
    def on_gpu(self) -> bool:
        """Is it on a GPU?"""
        return bool(self.device.platform == "gpu")

    @property
    def device(self) -> Any:
        """Where it is."""
        return next(iter(self.masks.devices()))

    @property
    def solves_directly(self) -> bool:
        """Is `A^T A` diagonal?"""
        return self.diagonal is not None

    @property
    def ready(self) -> DeviceFourier:
        """Itself."""
        return self

    @property
    def rough(self) -> DeviceFourier:
        """In single precision, unless asked for more; in a program, where the copy of the masks is short-lived."""
        return self if self.masks.dtype == self.dtype else replace(self, masks=self.masks.astype(self.dtype))

    # In a program

    def apply(self, x: Array) -> Array:
        """`A x`."""
        own = (self.gain * x).astype(self.masks.dtype)
        return masked_transforms(self.masks, own, self.pattern_shape)

    def apply_transposed(self, z: Array, spare: bool = False) -> Array:
        """`A^T z`."""
        back = masked_transforms_adjoint(self.masks, z.astype(self.masks.dtype), self.pattern_shape)
        return self.field.of_x(self.gain * back)

    def density(self) -> float:
        """Not known."""
        return 1.0

    def apply_magnitudes(self, x: Array) -> Array:
        """`|A| |x|`: entries have the magnitude of the mask."""
        each = prod(self.pattern_shape)
        sizes = self.gain * abs(self.masks).reshape(len(self.masks), -1) @ abs(x) / np.sqrt(each)
        return jnp.repeat(sizes, each)

    def with_message_pass(self, scale: Array, powers: Array, y: Array, close: Array, use: Callable[[Pass], Any]) -> Any:
        """Two products, of few digits."""
        rough = self.rough
        return use(
            pass_by_products(
                lambda x: scale * rough.apply(x).astype(self.field.z),
                lambda z: rough.apply_transposed(scale * z).astype(self.field.x),
                y,
                powers,
            )
        )

    def linear(self, scale: Array) -> Linear:
        """In one step, if that can be, or by conjugate gradients."""

        def forward(x: Array) -> Array:
            return weighted(scale, self.apply(x))

        def adjoint(z: Array) -> Array:
            return self.apply_transposed(weighted(scale, z))

        def look(x: Array, target: Array) -> tuple[Array, Array]:
            z = forward(x)
            return z, adjoint(target - z)

        def normal(p: Array, on: Array) -> Array:
            return adjoint(forward(p))

        correct: Any = (ConjugateGradients(normal, self.field.x, GAIN[self.field.x], CG_STEPS, loops),)
        if self.diagonal is not None:
            correct = (fourier.by_division(self.diagonal), *correct)
        return Linear(look, forward, adjoint, correct, loops)

    def gaussian_node(self, scale: Array, y: Array, x0: Array) -> NodeByDiagonal | NodeByGradients:
        """At once, if that can be."""
        own = self.linear(scale)
        if self.diagonal is None:
            return NodeByGradients(own, self.field)
        return NodeByDiagonal(own.forward, own.adjoint, self.diagonal, self.field.fold)

    def nonzeros(self, *what: Any) -> Any:
        """Never asked: it is for signs."""
        raise NotImplementedError

    ridge = some_rows = nonzeros

    # By itself

    def measure(self, x: Vector) -> Vector:
        """`A x` in double precision."""
        return np.array(self.compiled(DeviceFourier.apply)(self, x))

    def backproject(self, z: Vector) -> Vector:
        """`A^T z` in double precision."""
        return np.array(self.compiled(DeviceFourier.apply_transposed)(self, z))

    def row_powers(self) -> Vector:
        """Squared norm of each row: all rows of a pattern have the same."""
        powers = float(self.gain) ** 2 * np.asarray(self.compiled(_powers)(self.masks))
        return fourier.of_patterns(powers / prod(self.pattern_shape), prod(self.pattern_shape))

    def empty_column(self) -> None:
        """There is none."""
        return

    def entries(self) -> NDArray[Any]:
        """As in memory, where there are few."""
        return self.in_memory.entries()

    def prepared(self, scale: Vector) -> tuple[DeviceFourier, Vector]:
        """As in memory."""
        gain, each = fourier.scales_of_patterns(scale, len(self.masks))
        if each is None:
            return self, scale
        diagonal = self.compiled(fourier.scaled_gram)(self.masks, each)
        own = replace(self, gain=1.0 if gain is None else gain, diagonal=diagonal)
        return own, scale if gain is None else np.float64(1)  # type: ignore[return-value]

    def placed(self, vector: Vector) -> Array:
        """On the device, to stay there."""
        with on(self.device):
            return jax.device_put(vector, self.device)

    def rows_kept(self, kept: NDArray[np.bool_]) -> Any:
        """A mask that lets nothing through."""
        raise InputError("a mask lets no light through: leave that pattern out")

    @property
    def in_memory(self) -> fourier.MaskedFourier:
        """The same, in memory."""
        diagonal = None if self.diagonal is None else np.asarray(self.diagonal)
        return fourier.fourier(np.asarray(self.masks), self.pattern_shape, self.real, float(self.gain), diagonal)

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A program with the masks among its arguments."""
        return compiled(function, None, self.masks.nbytes, self.device)


def weighted(scale: Array, z: Array) -> Array:
    """Measurements, or a stack of them, times the scale of rows, in their precision."""
    return scale * z if scale.ndim else z


def _powers(masks: Array) -> Array:
    return squared(masks).reshape(len(masks), -1).sum(axis=1)


def put(found: fourier.MaskedFourier, kind: Any, dtype: str) -> DeviceFourier:
    """Masks in memory sent to the first device of a kind that this process can use."""
    precision = field_dtype(checked_dtype(dtype), "complex128")
    target = choose(kind)
    with on(target):
        masks = jax.device_put(found.masks.astype("complex128", copy=False), target)
    return DeviceFourier(masks, found.pattern_shape, precision, found.field == REAL_SIGNAL)

"""Masked Fourier transforms in memory: `A^T A` is diagonal, so that least squares takes one step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.host.by_products import Operator
from phaselect.backends.host.in_memory import Stack
from phaselect.backends.interface import Vector
from phaselect.equations.arrays import Array, squared
from phaselect.equations.fields import REAL_SIGNAL, field_of
from phaselect.equations.gaussian_node import GaussianNode, NodeByDiagonal
from phaselect.equations.least_squares import Linear
from phaselect.equations.masked_transforms import Shape, masked_transforms, masked_transforms_adjoint

SAME = 1e-12
"""Relative difference up to which powers of patterns are the same."""


@dataclass(frozen=True, eq=False)
class MaskedFourier(Operator):
    """`A x = gain FFT(mask_l * x)`; masks (L, *shape), transforms of `pattern_shape`.

    diagonal: of `A^T A` with the rows times the scale that it was prepared for, if it is diagonal.
    """

    masks: NDArray[Any] = None  # type: ignore[assignment]
    pattern_shape: Shape = ()
    gain: float = 1.0
    diagonal: Vector | None = None

    def measure(self, x: Stack) -> Stack:
        """`A x`, all of a stack at once."""
        return np.asarray(masked_transforms(self.masks, self.gain * x, self.pattern_shape))

    def backproject(self, z: Stack, spare: bool = False) -> Stack:
        """`A^T z`; spare: z may be overwritten."""
        back = masked_transforms_adjoint(self.masks, z, self.pattern_shape, spare)
        back *= self.gain
        return np.asarray(self.field.of_x(back))

    apply_transposed = backproject

    def row_powers(self) -> Vector:
        """Squared norm of each row: all rows of a pattern have the same."""
        powers = self.gain**2 * squared(self.masks).reshape(len(self.masks), -1).sum(axis=1)
        return of_patterns(powers / prod(self.pattern_shape), prod(self.pattern_shape))

    def apply_magnitudes(self, x: Vector) -> Vector:
        """`|A| |x|`: entries have the magnitude of the mask."""
        sizes = self.gain * np.abs(self.masks).reshape(len(self.masks), -1) @ np.abs(x)
        return of_patterns(sizes / np.sqrt(prod(self.pattern_shape)), prod(self.pattern_shape))

    @property
    def solves_directly(self) -> bool:  # type: ignore[override]
        """Is `A^T A` diagonal?"""
        return self.diagonal is not None

    def prepared(self, scale: Vector) -> tuple[MaskedFourier, Vector]:
        """It is diagonal, if all rows of a pattern have the same scale."""
        gain, each = scales_of_patterns(scale, len(self.masks))
        if each is None:
            return self, scale
        own = replace(self, gain=1.0 if gain is None else gain, diagonal=scaled_gram(self.masks, each))
        return own, scale if gain is None else np.float64(1)  # type: ignore[return-value]

    def gaussian_node(self, scale: Vector, y: Vector, x0: Vector) -> GaussianNode:
        """At once, if that can be."""
        if self.diagonal is None:
            return super().gaussian_node(scale, y, x0)
        if np.ndim(scale):
            own = self._linear(scale, ())
            return NodeByDiagonal(own.forward, own.adjoint, self.diagonal, self.field.fold)
        return NodeByDiagonal(self.measure, partial(self.backproject, spare=True), self.diagonal, self.field.fold)

    def linear(self, scale: Vector) -> Linear:
        """In one step, if that can be."""
        own: Linear = super().linear(scale)
        if self.diagonal is None:
            return own
        return own._replace(correct=(by_division(self.diagonal), *own.correct))

    def __reduce__(self) -> Any:
        """Pickled without an SVD."""
        return fourier, (self.masks, self.pattern_shape, self.field == REAL_SIGNAL, self.gain, self.diagonal)


def by_division(diagonal: Any) -> Callable[..., Any]:
    """A correction of least squares, as conjugate gradients are, where `A^T A` is diagonal."""
    return lambda residual, slope, enough, spectrum: (slope / diagonal, spectrum)


def scaled_gram(masks: Array, scales: Array) -> Array:
    """The diagonal of `A^T A` with the rows of each pattern times its scale."""
    return scales**2 @ squared(masks).reshape(masks.shape[0], -1)


def scales_of_patterns(scale: Vector, patterns: int) -> tuple[float | None, Vector | None]:
    """The scale of all rows, and of those of each pattern; None where they differ."""
    if not scale.strides[0]:
        return float(scale[0]), np.full(patterns, scale[0])
    rows = scale.reshape(patterns, -1)
    if not (rows == rows[:, :1]).all():
        return None, None
    return float(scale[0]) if (rows[:, 0] == scale[0]).all() else None, rows[:, 0]


def of_patterns(values: Vector, rows: int) -> Vector:
    """For each of so many rows that of its pattern; where they are all but equal, in no memory."""
    if np.ptp(values) <= SAME * values.max():
        return np.broadcast_to(values.mean(), rows * values.size)
    return np.repeat(values, rows)


def fourier(
    masks: NDArray[Any], pattern_shape: Shape, real: bool = False, gain: float = 1.0, diagonal: Vector | None = None
) -> MaskedFourier:
    """From masks; real: is x real?"""
    shape = len(masks) * prod(pattern_shape), int(masks[0].size)
    own = field_of("complex128", real)
    nothing: Any = None  # products are those of the class
    products = nothing, nothing, shape, own
    return MaskedFourier(*products, masks=masks, pattern_shape=pattern_shape, gain=gain, diagonal=diagonal)

"""Masked Fourier transforms in memory: `A^T A` is diagonal, so that least squares takes one step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.host.in_memory import Operator, Stack
from phaselect.backends.interface import Vector
from phaselect.equations.arrays import squared
from phaselect.equations.fields import REAL_SIGNAL, field_of
from phaselect.equations.fourier import Shape, masked_transforms, masked_transforms_adjoint
from phaselect.equations.gaussian_node import GaussianNode, NodeByDiagonal
from phaselect.equations.least_squares import Linear


@dataclass(frozen=True, eq=False)
class MaskedFourier(Operator):
    """`A x = FFT(mask_l * x)`; masks (L, *shape), transforms of `pattern_shape`.

    diagonal: of `A^T A` with the rows times the scale that it was prepared for, if it is diagonal.
    """

    masks: NDArray[Any] = None  # type: ignore[assignment]
    pattern_shape: Shape = ()
    diagonal: Vector | None = None

    def measure(self, x: Stack) -> Stack:
        """`A x`, all of a stack at once."""
        return np.asarray(masked_transforms(self.masks, x, self.pattern_shape))

    def backproject(self, z: Stack) -> Stack:
        """`A^T z`."""
        back = np.asarray(masked_transforms_adjoint(self.masks, z, self.pattern_shape))
        return np.ascontiguousarray(back.real) if self.field == REAL_SIGNAL else back

    def row_powers(self) -> Vector:
        """Squared norm of each row: all rows of a pattern have the same."""
        each = prod(self.pattern_shape)
        return np.repeat(squared(self.masks).reshape(len(self.masks), -1).sum(axis=1) / each, each)

    def apply_magnitudes(self, x: Vector) -> Vector:
        """`|A| |x|`: entries have the magnitude of the mask."""
        each = prod(self.pattern_shape)
        return np.repeat(np.abs(self.masks).reshape(len(self.masks), -1) @ np.abs(x) / np.sqrt(each), each)

    @property
    def solves_directly(self) -> bool:
        """Is `A^T A` diagonal?"""
        return self.diagonal is not None

    def prepared(self, scale: Vector) -> MaskedFourier:
        """It is diagonal, if all rows of a pattern have the same scale."""
        return replace(self, diagonal=scaled_gram(self.masks, scale))

    def gaussian_node(self, scale: Vector, y: Vector, x0: Vector) -> GaussianNode:
        """At once, if that can be."""
        if self.diagonal is None:
            return super().gaussian_node(scale, y, x0)
        own = self._linear(scale, ())
        return NodeByDiagonal(own.forward, own.adjoint, self.diagonal, self.field.fold)

    def linear(self, scale: Vector) -> Linear:
        """In one step, if that can be."""
        own: Linear = super().linear(scale)
        if self.diagonal is None:
            return own
        return own._replace(correct=(by_division(self.diagonal), *own.correct))

    def __reduce__(self) -> Any:
        """Pickled without an SVD."""
        return fourier, (self.masks, self.pattern_shape, self.field == REAL_SIGNAL)


def by_division(diagonal: Any) -> Callable[..., Any]:
    """A correction of least squares, as conjugate gradients are, where `A^T A` is diagonal."""
    return lambda residual, slope, enough, spectrum: (slope / diagonal, spectrum)


def scaled_gram(masks: NDArray[Any], scale: Vector) -> Vector | None:
    """The diagonal of `A^T A` with rows times scale; None if that differs within a pattern."""
    patterns = scale.reshape(len(masks), -1)
    if not (patterns == patterns[:, :1]).all():
        return None
    return np.asarray(patterns[:, 0] ** 2 @ squared(masks).reshape(len(masks), -1))


def fourier(masks: NDArray[Any], pattern_shape: Shape, real: bool = False) -> MaskedFourier:
    """From masks; real: is x real?"""
    shape = len(masks) * prod(pattern_shape), int(masks[0].size)
    own = field_of("complex128", real)
    nothing: Any = None  # products are those of the class
    return MaskedFourier(nothing, nothing, shape, own, masks=masks, pattern_shape=pattern_shape)

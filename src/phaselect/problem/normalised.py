"""The problem as solvers see it: in normalised units, wherever A is. One instance, or a stack of them in a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from phaselect.backends.interface import Matrix, Ridge, Vector
from phaselect.equations.amp_iteration import Pass
from phaselect.equations.arrays import Array
from phaselect.equations.belief_iteration import Nonzeros
from phaselect.equations.fields import Field
from phaselect.equations.gaussian_node import GaussianNode
from phaselect.equations.least_squares import Linear


class Normalised(NamedTuple):
    """Rows of A times `scale` have unit mean square, y has unit mean square; the matched product is mu*lam = 1.

    What is the same in every place is a number: a scale or powers of 1; nan where x0 and its signs are not known.
    """

    matrix: Matrix
    scale: Array  # (M,), or the number 1 if the matrix has taken it upon itself
    y: Array  # (M,)
    x0: Array  # (N,), or nan
    signs: Array  # (M,), or nan
    powers: Array  # (M,): squared norms of the rows times scale, where they are uneven, else the number 1
    rounding: Array  # relative precision of the data
    all_digits: Any = None  # A and y as they were given, if to more digits than float64 has

    @property
    def vectors(self) -> tuple[Array, ...]:
        """What there is besides the matrix, in float64."""
        return self[1:7]

    @property
    def field(self) -> Field:
        """What x and `A x` are made of."""
        return self.matrix.field

    @property
    def m_rows(self) -> int:
        """Number of measurements, M."""
        return int(self.y.shape[-1])

    @property
    def n(self) -> int:
        """Number of unknowns, N."""
        return int(self.matrix.shape[1])

    def placed(self, matrix: Matrix) -> Normalised:
        """With this form of the matrix, and all vectors where it is."""
        digits = None if matrix.on_device else self.all_digits
        return Normalised(matrix, *map(matrix.placed, self.vectors))._replace(all_digits=digits)

    @property
    def rough(self) -> Normalised:
        """In the precision of vector message passing, which may be less than that of answers."""
        matrix = self.matrix.rough
        if matrix is self.matrix:
            return self
        scale, y, powers = (own.astype("float32") if own.ndim else own for own in (self.scale, self.y, self.powers))
        return self._replace(matrix=matrix, scale=scale, y=y, powers=powers)

    def forward(self, x: Array) -> Array:
        """`A x`."""
        z = self.matrix.apply(x)
        return self.scale * z if self.scale.ndim else z

    def adjoint(self, z: Array) -> Array:
        """`A^T z`."""
        return self.matrix.apply_transposed(self.scale * z if self.scale.ndim else z)

    def magnitudes(self, x: Array) -> Array:
        """`|A| |x|`: the size of what is added up in `A x`."""
        return self.scale * self.matrix.apply_magnitudes(x)

    def dense(self) -> tuple[Vector, Vector]:
        """A, with its scale, and y as arrays in memory, for what looks at every entry."""
        A = np.asarray(self.scale).reshape(-1, 1) * self.matrix.entries().astype(self.field.z)
        return A, np.asarray(self.y)

    def with_message_pass(self, close: Array, use: Callable[[Pass], Any]) -> Any:
        """`use` of a pass of message passing over A; close: is the fit so good that all digits count?"""
        return self.matrix.with_message_pass(self.scale, self.powers, self.y, close, use)

    @property
    def linear(self) -> Linear:
        """Least squares on A."""
        return self.matrix.linear(self.scale)

    @property
    def gaussian_node(self) -> GaussianNode:
        """The linear part of vector message passing."""
        return self.matrix.gaussian_node(self.scale, self.y, self.x0)

    @property
    def nonzeros(self) -> Nonzeros:
        """The entries of A that are not zero."""
        return self.matrix.nonzeros(self.scale)

    @property
    def ridge(self) -> Ridge:
        """The regression of signs on A."""
        return self.matrix.ridge(self.scale, self.y, self.x0)

    @property
    def loops(self) -> Any:
        """How loops are run where A is."""
        return self.matrix.loops

    @property
    def random(self) -> Any:
        """How random numbers are drawn where A is."""
        return self.matrix.random

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of this problem, made ready to run where A is."""
        return self.matrix.compiled(function)
